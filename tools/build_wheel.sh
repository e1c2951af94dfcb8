#!/usr/bin/env bash
# Builds the Python package's wheel for machines other than this one, and tests it: into the folder OUT, alone there.
#
# tools/build_wheel.sh OUT [OPTION...]   # options of pip wheel
#
# The wheel has the tag manylinux_2_34 (glibc of 2021) and carries the libraries that such machines may lack. Its test is
# an install into an empty venv, without any path of this checkout: a map smoothed there, the tool on a PATH without
# compilers, and C++ programs that use the library. Needs the Debian packages of ./demo.sh. PYTHON: a Python whose
# modules build it (tests/requirements.txt); without it, a new venv.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
most_bytes=$((10 * 1000 * 1000))

. tools/wheel_python.sh

"$PYTHON" -m pip wheel . --disable-pip-version-check --no-deps --no-build-isolation -w "$scratch/built" \
    -C cmake.define.ZONAL_TARGETS=all -C cmake.define.ZONAL_FOR_OLD_GLIBC=ON -C cmake.define.ZONAL_FMT_HEADER_ONLY=ON "${@:2}"
# The extension alone, as abi3audit would take libzonal.so, a text for linkers, for another one.
python3 -m zipfile -e "$scratch"/built/*.whl "$scratch/unpacked"
"$PYTHON" -m abi3audit --strict --assume-minimum-abi3 3.10 "$scratch/unpacked/zonal/_core.abi3.so"
# Zonal's own libraries are in the wheel, where auditwheel does not find them for the tool, which lies elsewhere until
# it is installed.
"$PYTHON" -m auditwheel repair --plat "manylinux_2_34_$(uname -m)" --exclude 'libzonal.so.*' --exclude 'libzonal_io.so.*' \
    -w "$scratch/repaired" "$scratch"/built/*.whl
wheel=$(echo "$scratch"/repaired/*.whl)
bytes=$(stat -c %s "$wheel")
[ "$bytes" -le $most_bytes ] || { echo "$wheel: has $bytes bytes, more than $most_bytes" >&2; exit 1; }

# Nothing of this machine but Python: an empty environment, another folder, isolated from the user's modules.
python3 -m venv "$scratch/empty"
"$scratch/empty/bin/python" -m pip install -q --disable-pip-version-check "$wheel"
(cd / && env -i "$scratch/empty/bin/python" -I - "$PWD" "$OLDPWD") <<'END'
import re, sys
import numpy as np, zonal
from zonal import _core
smoothed = zonal.smooth(np.arange(12 * 16**2, dtype=float), fwhm="20deg", error=1e-3)
assert np.isfinite(smoothed).all()
open_files = open("/proc/self/maps").read()
assert sys.argv[2] not in open_files, "a library of the checkout is in use"
foreign = {name for name in re.findall(r"/\S*\.so\S*", open_files)
           if not name.startswith((sys.prefix, sys.base_prefix, "/lib", "/usr/lib"))}
assert not foreign, foreign
print("zonal", zonal.__version__, "works without the checkout")
END
tests/install/package.sh "$scratch/empty" "$scratch/package-test"
mkdir -p "$out"
rm -f "$out"/zonal-*.whl
mv "$wheel" "$out"
echo "$out/$(basename "$wheel"): $bytes bytes"
