"""The scikit-learn face: base classes, one declaration per method, and the compared methods."""
