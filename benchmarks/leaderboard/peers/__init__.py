"""One file per peer. To add a peer, add a file; nothing else changes.

A file has NAME; PACKAGES, whose versions are recorded; ENVIRONMENT, the folder of the virtual environment that has them
(None: the environment of the runner); ENTRIES, whether it takes views that lack single entries; HOW, one sentence on
what is done; and `labels(views, k, seed)`. The views are dense arrays, samples as rows, NaN where a value is missing;
each sample has at least one value. The runner reads these files without the packages: they are imported in `labels`.
"""
