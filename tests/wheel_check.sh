#!/bin/sh
# Builds the wheel, installs it into an empty environment outside the checkout, and plays the demo from there.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
"$BIN/uv" build --quiet --wheel --out-dir "$here/dist"
"$BIN/python" -m venv "$here/venv"
"$BIN/uv" pip install --quiet --python "$here/venv/bin/python" "$here"/dist/*.whl
cd "$here"
mkdir memory
echo "- a diary, no package" > memory/2026-01-01.md
./venv/bin/python -c 'import dreaming, memory, sys; assert memory.__file__.startswith(sys.prefix), memory.__file__'
./venv/bin/dream demo demo > demo.txt
tail -n 5 demo.txt
grep -q '真实数据库' demo/MEMORY.md
grep -q '## Deep Sleep' demo/DREAMS.md
./venv/bin/dream --workspace demo --now 2026-06-22T03:00 --json > again.json
echo "the wheel plays the demo by itself"
