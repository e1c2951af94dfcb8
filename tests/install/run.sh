#!/usr/bin/env bash
# Installs Zonal shared, static and without its options, and builds a project outside the tree against each, with
# find_package and with pkg-config. Prints "ok NAME" or "not ok NAME" per case. tools/build_wheel.sh does the same with the
# Python package (package.sh).
#
# run.sh WORK BUILD [cmake option...]: WORK is a folder to build in, emptied first; BUILD is a build of everything, whose
# tool is installed and run.
set -uo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(realpath -m "$1"); shift
whole_build=$(realpath -m "$1"); shift
# What is looked at is what gets installed, not how fast it is: unoptimised code for one instruction set builds in a
# quarter of the time, and with clang in half of that. Make compiles in each part's own folder, so that ccache finds the
# same object again where Zonal is a subdirectory.
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
options=(-G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Release -DZONAL_WARNINGS_AS_ERRORS=ON -DCMAKE_UNITY_BUILD=ON
    -DCMAKE_UNITY_BUILD_BATCH_SIZE=24 -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DZONAL_TARGETS=native "$@")
if command -v clang++ >/dev/null; then options+=(-DCMAKE_CXX_COMPILER=clang++); fi
. "$source/tests/install/check.sh"

# install_zonal PREFIX [cmake option...]
install_zonal() {
    local prefix=$1; shift
    cmake "${options[@]}" -S "$source" -B "$prefix-build" -DCMAKE_INSTALL_PREFIX="$prefix" \
        -DZONAL_WITH_TESTS=OFF -DZONAL_WITH_BENCH=OFF "$@" &&
        cmake --build "$prefix-build" && cmake --install "$prefix-build"
}

# pkg-config finds nothing here but the one library that the library alone may ask for.
install_alone() {
    local only=$work/only-highway
    mkdir -p "$only"
    cp "$(pkg-config --variable=pcfiledir libhwy)/libhwy.pc" "$only/" || return 1
    PKG_CONFIG_LIBDIR=$only PKG_CONFIG_PATH='' install_zonal "$1" -DZONAL_WITH_IO=OFF \
        -DZONAL_FMT_HEADER_ONLY=ON -DCMAKE_INSTALL_LIBDIR=lib
}

# Moves the installed tree, so that nothing in it may know where it was built or installed.
move_away() { mv "$1" "$1-moved" && rm -rf "$1-build"; }

# use_cmake PREFIX WITH_IO
use_cmake() {
    local build=$1-cmake-consumer
    cmake "${options[@]}" -S "$source/tests/install/consumer" -B "$build" -DCMAKE_PREFIX_PATH="$1" \
        -DCONSUMER_WITH_IO="$2" && cmake --build "$build" && "$build/smooth" || return 1
    [ "$2" = OFF ] || "$build/read_map"
}

says_that_it_has_no_io() {
    local said
    said=$(use_cmake "$1" ON 2>&1) && return 1
    echo "$said"
    grep -q "built without the component io" <<<"$said"
}

use_mpi() {
    local build=$1-mpi-consumer
    cmake "${options[@]}" -S "$source/tests/install/consumer" -B "$build" -DCMAKE_PREFIX_PATH="$1" \
        -DCONSUMER_WITH_IO=OFF -DCONSUMER_WITH_MPI=ON && cmake --build "$build" --target join_job && "$build/join_job"
}

use_as_subdirectory() {
    cmake "${options[@]}" -S "$source/tests/install/superproject" -B "$1" -DZONAL_SOURCE_DIR="$source" &&
        cmake --build "$1" && "$1/smooth"
}

# use_pkg_config PREFIX PACKAGE PROGRAM
use_pkg_config() {
    local prefix=$1 package=$2 program=$3 flags
    flags=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --cflags --libs "$package") || return 1
    # shellcheck disable=SC2086  # a list of flags
    c++ -std=c++20 "$source/tests/install/consumer/$program.cpp" -o "$prefix-$program" \
        $flags -Wl,-rpath,"$prefix/lib" && "$prefix-$program"
}

# Every public header compiles by itself, with nothing but the installed headers and the standard library.
headers_are_self_contained() {
    local header
    (cd "$1/include" && find zonal -name '*.hpp') | while read -r header; do
        echo "#include <$header>" | c++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I"$1/include" -x c++ - || exit 1
    done
}

# The library alone needs, beyond the compiler's own run time, Highway.
needs_only_highway() {
    local others
    others=$(objdump -p "$1/lib/libzonal.so" | awk '$1 == "NEEDED" {print $2}' |
        grep -Ev '^(libhwy|libstdc\+\+|libgcc_s|libm|libc|ld-linux-.*)\.so')
    echo "NEEDED: $others"
    [ -z "$others" ]
}

soname_has_the_version() {
    local version
    version=$(sed -n 's/^project(zonal VERSION \([0-9]*\.[0-9]*\).*/\1/p' "$source/CMakeLists.txt")
    objdump -p "$1/lib/libzonal.so" | grep -E "SONAME +libzonal.so.$version\$"
}

# The tool runs from wherever its tree is moved to, has its manual, and is completed in shells.
install_tool() {
    cmake --install "$whole_build" --prefix "$1" && mv "$1" "$1-moved" &&
        "$1-moved/bin/zonal" --version && grep '^.TH ZONAL 1' "$1-moved/share/man/man1/zonal.1" &&
        grep '^complete .* zonal$' "$1-moved/share/bash-completion/completions/zonal" &&
        grep '^#compdef zonal$' "$1-moved/share/zsh/site-functions/_zonal" &&
        grep '^complete -c zonal' "$1-moved/share/fish/vendor_completions.d/zonal.fish"
}

rm -rf "$work" && mkdir -p "$work" || exit 1
alone=$work/alone shared=$work/shared static=$work/static

check "LibraryAloneInstallsWithHighwayOnly" install_alone "$alone"
check "LibraryAloneNeedsOnlyHighway" needs_only_highway "$alone"
check "SonameHasTheVersion" soname_has_the_version "$alone"
check "LibraryAloneServesFindPackage" use_cmake "$alone" OFF
check "LibraryAloneSaysThatItHasNoIo" says_that_it_has_no_io "$alone"

for kind in shared static; do
    prefix=$work/$kind
    [ $kind = shared ] && library=ON || library=OFF
    check "${kind^}Installs" install_zonal "$prefix" -DBUILD_SHARED_LIBS=$library -DCMAKE_INSTALL_LIBDIR=lib \
        -DZONAL_WITH_CLI=OFF -DZONAL_WITH_MPI=ON
    check "${kind^}TreeCanBeMoved" move_away "$prefix"
    prefix=$prefix-moved
    check "${kind^}ServesFindPackage" use_cmake "$prefix" ON
    check "${kind^}ServesPkgConfig" use_pkg_config "$prefix" zonal smooth
    check "${kind^}IoServesPkgConfig" use_pkg_config "$prefix" zonal_io read_map
    check "${kind^}MpiServesFindPackage" use_mpi "$prefix"
done
check "SharedMpiServesPkgConfig" use_pkg_config "$work/shared-moved" zonal_mpi join_job
check "PublicHeadersAreSelfContained" headers_are_self_contained "$work/shared-moved"
check "ToolInstallsWithItsManual" install_tool "$work/tool"
check "ServesAsSubdirectory" use_as_subdirectory "$work/super"
exit $failed
