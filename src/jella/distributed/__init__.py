"""Samples in chunks, on the workers of Dask: the same steps as in memory, chunk by chunk, and sums over chunks."""
