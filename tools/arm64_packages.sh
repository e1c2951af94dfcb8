# Sourced by tools/arm64_check.sh and tools/arm64_wheel.sh: the cross compiler, the emulator, and Debian's libraries for arm64.
. tools/packages.sh

install_packages "
cmake                 | command -v cmake
ninja-build           | command -v ninja
pkgconf               | command -v pkg-config
g++-aarch64-linux-gnu | command -v aarch64-linux-gnu-g++
qemu-user-static      | command -v qemu-aarch64-static
"

# unpack_arm64 FOLDER PACKAGE...: into FOLDER/root, what the build needs and these. apt has lists and settings of its own
# for them in FOLDER, so that the machine's remain as they are.
unpack_arm64() {
    local folder=$1 package; shift
    if [ -e "$folder/complete" ]; then return; fi
    mkdir -p "$folder"/{root,debs,apt/lists/partial,apt/cache/archives/partial}
    touch "$folder/apt/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" \
        >"$folder/apt/sources.list"
    cat >"$folder/apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State "$folder/apt";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt/cache";
Dir::Etc::sourcelist "$folder/apt/sources.list";
Dir::Etc::sourceparts "-";
END
    (cd "$folder/debs"
        export APT_CONFIG=$folder/apt/apt.conf
        apt-get update -qq
        apt-get download -qq libhwy-dev libhwy1 libfmt-dev libfmt9 libeigen3-dev nlohmann-json3-dev libcfitsio-dev \
            libbz2-dev libbz2-1.0 liblzma-dev liblzma5 zlib1g-dev zlib1g "$@")
    for package in "$folder"/debs/*.deb; do dpkg -x "$package" "$folder/root"; done
    touch "$folder/complete"
}
