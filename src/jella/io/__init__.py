"""Reading multi-view data from files, and writing completed views back."""

from jella.io.dataset import Dataset
from jella.io.errors import DataError
from jella.io.partitions import read_partitions
from jella.io.read import read
from jella.io.write import write_views

__all__ = ["DataError", "Dataset", "read", "read_partitions", "write_views"]
