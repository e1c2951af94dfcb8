#!/usr/bin/env bash
# Builds the documentation site into OUT: pages, the Python reference, the notebooks, which it executes, and under cpp/ the
# C++ reference where BUILD/docs/html has it (ninja docs). Fails on warnings.
#
# tools/build_site.sh PYTHON BUILD OUT      # PYTHON: with zonal, sphinx, myst-nb, furo and matplotlib
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "$3")
# Where the notebooks find the checkout's data, and where sphinx keeps what it has read.
export ZONAL_DATA=$PWD/data MPLBACKEND=Agg
"$1" -m sphinx -b html -W --keep-going -q -d "$2/site-cache" docs "$out"
if [ -d "$2/docs/html" ]; then rm -rf "$out/cpp"; cp -r "$2/docs/html" "$out/cpp"; fi
echo "$out/index.html"
