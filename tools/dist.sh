#!/usr/bin/env bash
# Build wheel and sdist into dist/, check both, and try the wheel in a clean environment as a new user would.
set -euo pipefail
cd "$(dirname "$0")/.."
install="-m pip install --quiet --quiet --disable-pip-version-check"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${PYTHON:-python3}" -m venv "$work/build"
"$work/build/bin/python" $install build twine
rm -rf dist
"$work/build/bin/python" -m build --outdir dist . > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/build/bin/python" -m twine check --strict dist/*
"$work/build/bin/python" tools/check_wheel.py dist/*.whl

"${PYTHON:-python3}" -m venv "$work/clean"
"$work/clean/bin/python" $install dist/*.whl
cp examples/first_steps.py "$work"
cd "$work"  # so that nothing of the repository is imported
clean/bin/jella --version
clean/bin/jella --help > /dev/null
clean/bin/python first_steps.py
clean/bin/python - << 'PYTHON'
import statistics, subprocess, sys, time

def seconds(code):
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - started

bare, whole = (statistics.median(seconds(code) for _ in range(5)) for code in ("pass", "import jella"))
print(f"import jella takes {1000 * (whole - bare):.0f} ms")
PYTHON
