"""A campaign of attacks on the command line and the library; `python -m campaign --help` (with `tests` on the path)."""
