#!/usr/bin/env bash
# Builds the wheel of zonal-cuda13, the CUDA code of the Python package, and tests it: into the folder OUT, alone there.
#
# tools/cuda_wheel.sh OUT WHEEL [OPTION...]: WHEEL is zonal's own of the same version (tools/build_wheel.sh), OPTION are options
# of pip wheel. Needs nvcc of CUDA 13, and takes half an hour on two cores. No GPU is needed: the tests are that the
# wheel has the code of all architectures, that it needs no library but cuFFT and those of every system, that zonal
# works with it where there is no GPU, and that zonal says why where it cannot use it.
# PYTHON: a Python whose modules build it (tests/requirements.txt); without it, a new venv.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "$1")
zonal=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
most_bytes=$((100 * 1000 * 1000))
fail() { echo "$*" >&2; exit 1; }

. tools/wheel_python.sh

"$PYTHON" -m pip wheel python/cuda13 --disable-pip-version-check --no-deps --no-build-isolation -w "$scratch/built" "${@:3}"
"$PYTHON" -m abi3audit --strict "$scratch"/built/*.whl
# cuFFT comes from NVIDIA's package, to which the extension has a path.
"$PYTHON" -m auditwheel repair --plat "manylinux_2_34_$(uname -m)" --exclude libcufft.so.12 -w "$scratch/repaired" \
    "$scratch"/built/*.whl
wheel=$(echo "$scratch"/repaired/*.whl)
bytes=$(stat -c %s "$wheel")
[ "$bytes" -le $most_bytes ] || fail "$wheel: has $bytes bytes, more than $most_bytes"

"$PYTHON" -m zipfile -e "$wheel" "$scratch/unpacked"
extension=$scratch/unpacked/zonal_cuda13/_core.abi3.so
dynamic=$(readelf -d "$extension")
[[ $dynamic == *'$ORIGIN/../nvidia/cu13/lib'* ]] || fail "$wheel: has no path to NVIDIA's packages"
needed=$(echo "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
others=$(echo "$needed" | grep -Ev '^(libcufft\.so\.12|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.[0-9]+|ld-linux.*|libz\.so\.1|lib(hwy|bz2|lzma|z|fmt)-.*)$' || true)
[ -z "$others" ] || fail "$wheel: needs $others, which machines without CUDA lack"
# Each piece of code says how it was made.
architectures=$(grep -ao -- '-arch sm_[0-9]*' "$extension" | sort -u | tr -d '\n')
[ "$architectures" = "-arch sm_100-arch sm_120-arch sm_80-arch sm_90" ] || fail "$wheel: has code for $architectures"

python3 -m venv "$scratch/empty"
pip=("$scratch/empty/bin/python" -m pip install -q --disable-pip-version-check)
"${pip[@]}" "$zonal"
"${pip[@]}" --no-deps "$wheel"
# reason PATTERN: what zonal says of a GPU must match it, and the CPU must work.
reason() {
    (cd / && env -i CUDA_VISIBLE_DEVICES= "$scratch/empty/bin/python" -I - "$1") <<'END'
import re, sys
import numpy as np, zonal
assert np.isfinite(zonal.SHT(zonal.Grid.healpix(16), 32, device="auto").analyze(np.arange(12.0 * 16**2))).all()
try:
    zonal.SHT(zonal.Grid.healpix(16), 32, device="cuda")
except zonal.BackendUnavailable as error:
    assert re.search(sys.argv[1], str(error)), error
    print(error)
END
}
if [[ $(ldconfig -p) != *libcufft.so.12\ * ]]; then reason "zonal-cuda13 cannot be loaded: libcufft.so.12"; fi
"${pip[@]}" --no-deps "nvidia-cufft>=12,<13"
reason "CUDA|no driver for NVIDIA GPUs"
mkdir -p "$out"
rm -f "$out"/zonal_cuda13-*.whl
mv "$wheel" "$out"
echo "$out/$(basename "$wheel"): $bytes bytes"
