"""A check of zip archives (.npz, .xlsx) by their table of contents, before anything is unpacked."""

from __future__ import annotations

import zipfile
from pathlib import Path

from jella.io.guard import OBJECT_BYTES, check_size, damaged


def check_archive(path: Path, weight: int = 1) -> list[str]:
    """The names of the members; refused if they unpack to far more than the archive stores.

    Parameters
    ----------
    path : Path
    weight : int, default=1
        Bytes in memory for each byte that is unpacked.
    """
    with zipfile.ZipFile(path) as archive:  # it never unpacks more than the table of contents declares
        members = archive.infolist()
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        raise damaged(path, "two members of one name")
    check_size(path, sum(weight * member.file_size + 10 * OBJECT_BYTES for member in members))
    return names
