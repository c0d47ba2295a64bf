"""Arrays of any library, sparse arrays, blocks of rows, eigenvectors, k-means: this room knows nothing of views."""
