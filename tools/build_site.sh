#!/usr/bin/env bash
# Builds the documentation site: pages, tutorials, the gallery, which it draws, the Python reference, and under cpp/ the C++ reference
# where build/docs/html has it (cmake --build build --target docs). Fails on warnings.
#
# tools/build_site.sh                 # into build/site; installs the package and what the site needs into build/site-venv
# tools/build_site.sh OUT [PYTHON]    # into OUT; PYTHON: one that has all of this
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-build/site}")
python=${2:-build/site-venv/bin/python}
if [ $# -lt 2 ]; then
    python3 -m venv build/site-venv
    # In the versions of the tests.
    "$python" -m pip install --disable-pip-version-check -q -c tests/requirements.txt '.[all,jax]' furo myst-nb sphinx
fi
# Without MPLBACKEND, pictures go into the pages.
env -u MPLBACKEND "$python" -m sphinx -E -b html -W --keep-going -q -d build/site-cache docs "$out"
if [ -d build/docs/html ]; then rm -rf "$out/cpp"; cp -r build/docs/html "$out/cpp"; fi
echo "$out/index.html"
