"""The version, read by the build and by `jella.__version__`."""

__version__ = "0.2.0"
