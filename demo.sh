#!/usr/bin/env bash
# Installs Zonal into a virtual environment, build/env, and shows what it does (tools/demo.py). Pictures and a page of them go
# to demo/. May be run again at any time. Needs the network to install packages of Debian and PyPI that are missing.
set -euo pipefail
cd "$(dirname "$0")"
. tools/packages.sh

say() { printf '\n== %s\n' "$*"; }
# Runs a command after printing it, as one would type it.
run() { printf '$ %s\n' "$*"; "$@"; }
# A GPU that runs, and a compiler for it.
has_cuda() { command -v nvcc >/dev/null && nvidia-smi -L >/dev/null 2>&1; }

say "Packages that the build needs"
install_packages "$BUILD_PACKAGES"

say "Install Zonal: Python package, tool and C++ library"
[ -x build/env/bin/python ] || run python3 -m venv build/env
pip=(build/env/bin/pip --disable-pip-version-check -q install --no-compile)
options=()
if has_cuda; then
    echo "nvcc and a GPU are here: with CUDA."
    options+=(-C cmake.define.ZONAL_WITH_CUDA=ON -C cmake.define.CMAKE_CUDA_ARCHITECTURES=native)
else
    echo "No GPU with nvcc here: for the CPU, with kernels for the best of AVX-512, AVX2 and SSE that this one has."
fi
if command -v ccache >/dev/null; then options+=(-C cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
# With the modules that build it in the environment itself, pip need not fetch JAX, of which the build takes some headers
# where it finds them.
run "${pip[@]}" 'scikit-build-core>=0.11' 'nanobind>=3.1,<4' 'nanobind-backend>=1.0,<2' numpy
CMAKE_GENERATOR=Ninja CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) run "${pip[@]}" --no-build-isolation '.[plot]' ${options[@]+"${options[@]}"}
# To compare with. It is no part of Zonal, so that its absence stops nothing.
run "${pip[@]}" healpy || echo "healpy cannot be installed here: it is left out."

build/env/bin/python tools/demo.py
