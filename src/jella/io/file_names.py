"""Names of views as names of files, and back: a name is data, and never becomes a path.

Ordinary names are kept as they are. In others, the characters that a file system does not take or gives a meaning are
written as the percent signs and hexadecimal bytes of URLs: ``rna/2`` becomes ``rna%2F2``. This covers separators,
control characters, what Windows reserves (characters, devices such as CON, a dot or a space at the end), a dot at the
beginning, characters that are no text, and a percent sign that could be read as such a code. Names that differ only
in case or in how accents are stored would be one file on some systems: these are written in lower-case ASCII, other
characters as codes. The empty name is ``%_``. A name that is too long is cut and ends in a hash; `NAMES`, a file in
the same folder, then says what it was.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from jella.io.errors import DataError

#: the file with names that are too long, by the name of their file
NAMES = "_names.json"
#: bytes of a name; file systems take 255, with an ending and the encoding of encrypted folders
MOST_BYTES = 140
_NO_NAME = "%_"
_CUT = re.compile(r".*%~[0-9a-f]{16}", re.DOTALL)
_UNSAFE = re.compile('[\x00-\x1f\x7f-\x9f<>:"/\\\\|?*\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]')
_UNSAFE_AT_ENDS = re.compile(r"^\.|[. ]\Z|%(?=[0-9A-Fa-f]{2}|[_~])")
_UNEQUAL = re.compile(r"[^a-z0-9 ._%-]")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?= *(?:\.|$))", re.IGNORECASE)


def file_name(name: str) -> str:
    """The name of a file, without its ending, for any name.

    >>> file_name("gene expression"), file_name("../rna"), file_name("NUL"), file_name("100%"), file_name("%41")
    ('gene expression', '%2E.%2Frna', '%4EUL', '100%', '%2541')
    """
    return _short(_encoded(name), name)


def name_of(stem: str, folder: Path | None = None) -> str:
    """The name that a file stands for; a file that was named by others is called as it is.

    >>> name_of("%2E.%2Frna"), name_of("gene%20expression")
    ('../rna', 'gene%20expression')
    """
    if stem == _NO_NAME:
        return ""
    if _CUT.fullmatch(stem):
        known = {} if folder is None else _listed(folder)
        name = known.get(stem, stem)
        return name if isinstance(name, str) and stem in (file_name(name), _short(_encoded(name, True), name)) else stem
    try:
        name = re.sub(r"(?:%[0-9A-F]{2})+", lambda found: _text(found[0]), stem)
    except UnicodeDecodeError:
        return stem
    return name if stem in (_encoded(name), _encoded(name, True)) else stem


def file_names(names: Iterable[str], *, cut: bool = True) -> dict[str, str]:
    """The names of files of one folder by name; they differ on all file systems, and long ones are cut if asked to.

    >>> file_names(["RNA", "rna", "adt"])
    {'RNA': '%52%4E%41', 'rna': 'rna', 'adt': 'adt'}
    """
    given = list(names)
    same = Counter(_folded(name) for name in given)
    stems = {name: _encoded(name, equal_case=same[_folded(name)] > 1) for name in given}
    return {name: _short(stem, name) for name, stem in stems.items()} if cut else stems


def target_in(folder: Path, stem: str, ending: str = "") -> Path:
    """The path of a file of this name in the folder; refused if it would lie elsewhere."""
    path = folder / f"{stem}{ending}"
    if path.parent != folder or path.name in ("", "..") or path == folder or "\0" in stem:
        raise DataError(f"expected the name of a file in {str(folder)!r}, got {stem!r}; rename it")
    return path


def names_to_list(stems: dict[str, str]) -> str | None:
    """The content of `NAMES` for names by their stems; None if no name was cut."""
    cut = {stem: name for name, stem in stems.items() if _CUT.fullmatch(stem)}
    return json.dumps(cut, indent=2) + "\n" if cut else None


def _encoded(name: str, equal_case: bool = False) -> str:
    if name in ("", _NO_NAME):
        return "%25_" if name else _NO_NAME
    out = _UNSAFE_AT_ENDS.sub(_code, name)
    out = _UNSAFE.sub(_code, out)
    if equal_case:
        out = re.sub(r"%[0-9A-F]{2}|" + _UNEQUAL.pattern, lambda c: c[0] if c[0][0] == "%" else _code(c), out)
    device = _DEVICE.match(out)
    return f"%{ord(out[0]):02X}{out[1:]}" if device else out


def _code(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def _text(codes: str) -> str:
    return bytes.fromhex(codes.replace("%", "")).decode("utf-8", "surrogatepass")


def _short(stem: str, name: str) -> str:
    """The stem, or its beginning with a hash of the name."""
    if len(stem.encode("utf-8")) <= MOST_BYTES:
        return stem
    start = stem.encode("utf-8")[:80].decode("utf-8", "ignore")
    start = re.sub(r"%[0-9A-F]?$", "", start)
    return f"{start}%~{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())


def _listed(folder: Path) -> dict[str, str]:
    try:
        listed = json.loads((folder / NAMES).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return listed if isinstance(listed, dict) else {}
