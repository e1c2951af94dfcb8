# Sourced by demo.sh and test.sh: installs the Debian packages that are missing, and only those.

# What each package is needed for, as a command that succeeds once it is there: so nothing is asked of machines
# that have the same things by other ways.
BUILD_PACKAGES="
g++             | echo 'int main() {}' | c++ -std=c++20 -x c++ - -o /dev/null
cmake           | command -v cmake
ninja-build     | command -v ninja
pkgconf         | command -v pkg-config
libhwy-dev      | pkg-config --exists libhwy
libfmt-dev      | pkg-config --exists fmt
libeigen3-dev   | pkg-config --exists eigen3 || test -e /usr/include/eigen3/Eigen/SVD
libcfitsio-dev  | pkg-config --exists cfitsio
zlib1g-dev      | pkg-config --exists zlib
libbz2-dev      | echo 'int main() {}' | c++ -x c++ - -lbz2 -o /dev/null
liblzma-dev     | pkg-config --exists liblzma
libcli11-dev    | pkg-config --exists CLI11 || test -e /usr/include/CLI/CLI.hpp
python3-dev     | test -e \"\$(python3 -c 'import sysconfig; print(sysconfig.get_path(\"include\"))')/Python.h\"
python3-venv    | python3 -c 'import venv, ensurepip'
nlohmann-json3-dev | pkg-config --exists nlohmann_json
"
TEST_PACKAGES="
ccache          | command -v ccache
make            | command -v make
git             | command -v git
libgtest-dev    | pkg-config --exists gtest
libgmock-dev    | pkg-config --exists gmock
libopenmpi-dev  | command -v mpicc
openmpi-bin     | command -v mpirun
clang           | command -v clang++
libclang-rt-dev | echo 'int main() {}' | clang++ -fsanitize=address,undefined -x c++ - -o /dev/null
llvm            | command -v llvm-symbolizer
clang-tidy      | command -v clang-tidy && command -v run-clang-tidy
doxygen         | command -v doxygen
"

# Packages of the given lists that are missing.
missing_packages() {
    local package check
    while IFS='|' read -r package check; do
        [ -z "${package// /}" ] || (eval "$check") >/dev/null 2>&1 </dev/null || echo "${package// /}"
    done <<<"$*"
}

# install_packages LIST...: installs what is missing of them or says, in one line, why it cannot.
install_packages() {
    local missing sudo=()
    missing=$(missing_packages "$@" | xargs)
    [ -n "$missing" ] || { echo "All packages are there."; return 0; }
    echo "Missing: $missing"
    command -v apt-get >/dev/null || {
        echo "error: no apt-get here; install what corresponds to these Debian packages: $missing" >&2
        return 1
    }
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || {
            echo "error: neither root nor sudo; ask the administrator for: apt-get install $missing" >&2
            return 1
        }
        sudo=(sudo)
        [ -t 0 ] || sudo=(sudo -n)  # nobody is there to type a password
    fi
    echo "Installing them with: ${sudo[*]} apt-get install $missing"
    # shellcheck disable=SC2086  # a list of words
    { "${sudo[@]}" apt-get update -qq || true
      "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } \
        </dev/null >/dev/null || {
        echo "error: apt-get could not install: $missing (no network, or no right to)" >&2
        return 1
    }
    missing=$(missing_packages "$@" | xargs)
    [ -z "$missing" ] || { echo "error: installed, yet still missing: $missing" >&2; return 1; }
}
