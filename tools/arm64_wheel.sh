#!/usr/bin/env bash
# Cross-compiles the Python package's wheel for 64-bit ARM, and runs tests of it under qemu: into the folder OUT, alone
# there. On Debian 12, with the network.
#
# tools/arm64_wheel.sh OUT [BUILD [TEST...]]: BUILD is the build's folder (default build-arm64-wheel), TEST are files of tests
# (default: those of transforms, grids, smoothing, threads, files and maps, 3 minutes).
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "$1")
build=$(realpath -m "${2:-build-arm64-wheel}")
tests=("${@:3}")
if [ ${#tests[@]} = 0 ]; then tests=(tests/python/test_{sht,grid,smoothing,threads,io,map}.py); fi
packages=$build/packages
root=$packages/root

. tools/arm64_packages.sh
unpack_arm64 "$packages" libpython3.11-dev python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libexpat1-dev \
    libexpat1 libffi8 libssl3 liblzma5 libc6 libgcc-s1 libstdc++6 libcli11-dev

# This machine's Python drives the build; the other one has the modules of ARM, is what CMake asks, and imports the
# extension to read its types.
python3 -m venv "$build/venv"
pip=("$build/venv/bin/python" -m pip --disable-pip-version-check -q)
"${pip[@]}" install -c tests/requirements.txt scikit-build-core nanobind nanobind-backend auditwheel abi3audit
platforms=()
for glibc in 17 26 27 28 34; do platforms+=(--platform "manylinux_2_${glibc}_aarch64"); done
"${pip[@]}" install --upgrade --target "$build/modules" --only-binary=:all: --python-version 3.11 "${platforms[@]}" \
    --platform manylinux2014_aarch64 -c tests/requirements.txt nanobind nanobind-backend numpy pytest astropy ducc0 healpy \
    matplotlib scipy tqdm
cat >"$build/python" <<END
#!/bin/sh
PYTHONPATH=$build/modules:$build/unpacked exec qemu-aarch64-static -L $root $root/usr/bin/python3.11 "\$@"
END
chmod +x "$build/python"

rm -rf "$build/built" "$build/unpacked"
PATH=$build/venv/bin:$PATH _PYTHON_HOST_PLATFORM=manylinux_2_34_aarch64 SETUPTOOLS_EXT_SUFFIX=.abi3.so CMAKE_GENERATOR=Ninja \
    CMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" CMAKE_BUILD_PARALLEL_LEVEL="${JOBS:-$(nproc)}" \
    "${pip[@]}" wheel . --no-deps --no-build-isolation -w "$build/built" -C build-dir="$build/cmake" \
    -C cmake.define.CMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" -C cmake.define.ZONAL_ARM64_PACKAGES="$root" \
    -C cmake.define.Python_EXECUTABLE="$build/python" -C cmake.define.nanobind_DIR="$build/modules/nanobind/cmake" \
    -C cmake.define.nanobind_backend_DIR="$build/modules/nanobind_backend" -C cmake.define.ZONAL_WARNINGS_AS_ERRORS=ON \
    -C cmake.define.ZONAL_TARGETS=all -C cmake.define.ZONAL_FOR_OLD_GLIBC=ON -C cmake.define.ZONAL_FMT_HEADER_ONLY=ON
wheel=$(echo "$build"/built/*.whl)
python3 -m zipfile -e "$wheel" "$build/unpacked"
"$build/venv/bin/python" -m abi3audit --strict --assume-minimum-abi3 3.10 "$build/unpacked/zonal/_core.abi3.so"
# The tag is a promise of the oldest glibc, which the symbols must keep.
report=$("$build/venv/bin/python" -m auditwheel show "$wheel" | tr '\n' ' ')
[[ $report =~ tag:\ \"manylinux_2_([12][0-9]|3[0-4])_aarch64\" ]] ||
    { echo "$wheel: needs more than glibc 2.34" >&2; exit 1; }

# Left out are tests that start Python anew, which only qemu can start.
"$build/python" -B -m pytest -q -p no:cacheprovider \
    -k "not keep_python_from_ending and not processes_forked and not imported_unasked" "${tests[@]}"
mkdir -p "$out"
rm -f "$out"/zonal-*aarch64.whl
cp "$wheel" "$out"
echo "$out/$(basename "$wheel"): $(stat -c %s "$wheel") bytes"
