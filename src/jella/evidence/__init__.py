"""What speaks for the clusters of a fit: refits on parts of the samples, clouds without groups, probabilities."""
