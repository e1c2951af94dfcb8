#!/usr/bin/env bash
# Uses what `pip install` has put into a virtual environment: the tool, and the C++ library in a project outside the tree.
# Prints "ok NAME" or "not ok NAME" per case.
#
# package.sh ENV WORK [cmake option...]: WORK is a folder to build in, emptied first.
set -uo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
env=$(realpath -s "$1"); shift
work=$(realpath -m "$1"); shift
options=("$@")
. "$source/tests/install/check.sh"
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1

# ask EXPRESSION: its value in the environment's Python, which sees none of this checkout.
ask() { "$env/bin/python" -I -c "import zonal; print($1)"; }

# As a user with that environment alone, and no compiler, has it.
tool() { env -i PATH="$env/bin" zonal "$@"; }

tool_runs() {
    tool --version && tool smooth "$source/fuzz/corpus/iqu.fits" smoothed.fits --fwhm 60deg --overwrite
}

tool_is_a_native_program() { [ "$(head -c 4 "$env/bin/zonal" | tail -c 3)" = ELF ]; }

# It finds its library from wherever pip puts packages beside programs.
tool_finds_its_library() {
    local prefix packages
    for packages in lib/python3.10/site-packages lib/python3.14/site-packages lib64/python3.12/site-packages \
        lib/python3.11/dist-packages lib/python3/dist-packages .; do
        prefix=$work/elsewhere
        rm -rf "$prefix" && mkdir -p "$prefix/bin" "$prefix/$packages" && cp "$env/bin/zonal" "$prefix/bin" &&
            cp -r "$(dirname "$(ask zonal.__file__)")"/../zonal* "$prefix/$packages" &&
            (cd / && env -i "$prefix/bin/zonal" --version) || return 1
    done
}

serves_find_package() {
    cmake "${options[@]}" -S "$source/tests/install/consumer" -B consumer -DCONSUMER_PYTHON="$env/bin/python" &&
        cmake --build consumer && consumer/smooth && consumer/read_map
}

# compile PROGRAM OPTION...
compile() {
    c++ -std=c++20 "$source/tests/install/consumer/$1.cpp" -o "$1" "${@:2}" -Wl,-rpath,"$lib" && "./$1"
}

serves_pkg_config() {
    local flags
    read -ra flags <<<"$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs zonal_io)"
    compile read_map "${flags[@]}"
}

serves_the_compiler() { compile smooth -I"$include" -L"$lib" -lzonal; }

# Python, the tool and programs in C++ have the same library in use.
has_one_library() {
    local library=$lib/libzonal.so.$version
    [ "$(find "$lib/.." -name 'libzonal.so.*' | wc -l)" = 1 ] && [ -f "$library" ] && [ ! -L "$library" ] &&
        [[ $(ask 'open("/proc/self/maps").read()') == *" $library"$'\n'* ]] &&
        [ "$(readlink -f "$(ldd "$env/bin/zonal" | awk '$1 ~ /^libzonal\./ {print $3}')")" = "$library" ] &&
        [[ $(ldd consumer/smooth) == *" $library "* ]]
}

# Names of CFITSIO, fmt and others that are linked in would meet those of other extensions.
exports_only_its_own_names() {
    local others file
    for file in "$lib"/libzonal*.so.*; do
        others=$(nm -DC --defined-only "$file" | grep -v ' [[:alpha:]] .*zonal')
        [ -z "$others" ] || { echo "$file: exports $others"; return 1; }
    done
    # Beside it there are templates of the standard library, which are weak.
    [ "$(nm -D --defined-only "$lib"/../_core.abi3.so | awk '$2 !~ /[WVu]/ {print $3}')" = PyInit__core ]
}

include=$(ask "zonal.get_include()") && lib=$(realpath "$include/../lib") && version=$(ask "'.'.join(zonal.__version__.split('.')[:2])") || exit 1
check "PackageToolRunsWithoutCompilers" tool_runs
check "PackageToolIsANativeProgram" tool_is_a_native_program
check "PackageToolFindsItsLibrary" tool_finds_its_library
check "PackageServesFindPackage" serves_find_package
check "PackageServesPkgConfig" serves_pkg_config
check "PackageServesTheCompiler" serves_the_compiler
check "PackageHasOneLibrary" has_one_library
check "PackageExportsOnlyItsOwnNames" exports_only_its_own_names
exit $failed
