"""`python -m jella` is the command `jella`."""

from jella.cli.main import main

raise SystemExit(main())
