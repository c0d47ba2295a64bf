"""Samples in chunks, on the workers of Dask: the same steps as in memory, for each chunk, and sums over chunks.

Importing this package registers the functions that differ for views in chunks. It is imported when the first such views
are read.
"""

from jella.distributed import completion, samples, start
from jella.distributed.read import read_chunked

__all__ = ["completion", "read_chunked", "samples", "start"]
