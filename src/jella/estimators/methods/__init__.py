"""The published methods, each a declaration on the shared framework, and the generic estimator."""
