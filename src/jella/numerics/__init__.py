"""Arrays of any library, sparse arrays, blocks of rows, eigenvectors, k-means, text: nothing of it depends on views."""
