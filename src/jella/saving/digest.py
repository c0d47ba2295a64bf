"""The digest at the end of a model file: SHA-256 of all bytes before it, so that a file with any changed byte is seen.

It is the end of the comment of the zip archive, so the file stays one that all tools open. It shows damage and careless
edits; it is no signature, since whoever changes a file can compute it again. So the content is checked as well.
"""

from __future__ import annotations

import hashlib
import os
from typing import IO

#: the comment of the archive, up to the digest in hexadecimal
LABEL = b"jella model; SHA-256 of all bytes before this sum: "
#: length of the digest
N_DIGITS = 64
#: a file is hashed in pieces of this many bytes
PIECE = 2**20
UNSEALED = LABEL + b"0" * N_DIGITS


def seal(file: IO[bytes]) -> None:
    """Write the digest into a file that ends with the comment `UNSEALED`; the file is open for reading and writing."""
    digest = _digest(file, file.seek(0, os.SEEK_END) - N_DIGITS)
    file.seek(-N_DIGITS, os.SEEK_END)
    file.write(digest)


def check_seal(file: IO[bytes]) -> None:
    """Refuse a file that does not end with its digest; the file is read once, in pieces."""
    size = file.seek(0, os.SEEK_END)
    begins = max(size - N_DIGITS - len(LABEL), 0)
    file.seek(begins)
    label, found = file.read(size - begins - N_DIGITS), file.read(N_DIGITS)
    if label != LABEL:
        raise ValueError(
            "expected a model file that ends with its digest, got one that is cut short or damaged, or that was saved "
            "by a version of jella before format 3; save the model again, or fit it again with this version"
        )
    if _digest(file, size - N_DIGITS) != found:
        raise ValueError(
            "expected a model file whose content has the digest at its end, got another: bytes were changed after it "
            "was saved, so it is damaged; save the model again, or take another copy of the file"
        )


def _digest(file: IO[bytes], size: int) -> bytes:
    """The digest of the first bytes of a file."""
    digest = hashlib.sha256()
    file.seek(0)
    while size > 0 and (piece := file.read(min(PIECE, size))):
        digest.update(piece)
        size -= len(piece)
    return digest.hexdigest().encode()
