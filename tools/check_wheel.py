"""Check that a wheel holds the library only, and print its size.

Run: python tools/check_wheel.py dist/jella-*.whl
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path


def check(wheel: Path) -> None:
    """Raise SystemExit if the wheel has a file that does not belong to the library."""
    with zipfile.ZipFile(wheel) as archive:
        members = archive.infolist()
    strange = [
        one.filename for one in members if not one.filename.startswith("jella/") and ".dist-info/" not in one.filename
    ]
    if strange:
        raise SystemExit(f"expected only the library in {wheel.name}, found {', '.join(strange[:5])}")
    unpacked = sum(one.file_size for one in members)
    print(f"{wheel.name}: {len(members)} files, {wheel.stat().st_size / 1e6:.2f} MB, {unpacked / 1e6:.2f} MB unpacked")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        check(Path(name))
