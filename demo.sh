#!/usr/bin/env bash
# Builds Zonal for this machine and shows what it does: smooths a WMAP map and compares the result with that of the
# HEALPix Fortran package, then simulates and smooths a sky of 12 million pixels. Pictures go to demo/.
# May be run again at any time; needs the network only to install Debian packages that are missing.
set -euo pipefail
cd "$(dirname "$0")"
. tools/packages.sh

say() { printf '\n== %s\n' "$*"; }
# Runs a command after printing it, as one would type it.
run() {
    local word words=()
    for word in "${@/#$PWD\//}"; do
        if [[ $word == *[[:space:]]* ]]; then word="'$word'"; fi
        words+=("$word")
    done
    printf '$ %s\n' "${words[*]}"
    "$@"
}
# timed VARIABLE COMMAND...: runs it and sets VARIABLE to its seconds.
timed() {
    local -n seconds=$1; shift
    local start=$EPOCHREALTIME
    run "$@"
    seconds=$(awk "BEGIN {printf \"%.2f\", $EPOCHREALTIME - $start}")
}
# A GPU that runs and a compiler for it, and code of ours to run on it.
has_cuda() {
    command -v nvcc >/dev/null && nvidia-smi -L >/dev/null 2>&1 && compgen -G 'src/core/*.cu' >/dev/null
}

say "1. Packages that the build needs"
install_packages "$BUILD_PACKAGES"

say "2. Build (release) in build/"
options=(-DZONAL_WITH_TESTS=OFF -DZONAL_WITH_BENCH=OFF)
if has_cuda; then
    echo "nvcc and a GPU are here: with CUDA."
    options+=(-DZONAL_WITH_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native)
else
    echo "No GPU with nvcc here: for the CPU. The kernels pick the best of AVX-512, AVX2 and SSE when they run."
    options+=(-DZONAL_WITH_CUDA=OFF)
fi
if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
run cmake --preset release --log-level=WARNING "${options[@]}"
run cmake --build --preset release
zonal=build/bin/zonal
mkdir -p demo

say "3. Smooth the WMAP W-band map (I, Q, U, nside 32) by a Gaussian of 10 degrees"
wmap=data/wmap/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits
run $zonal smooth $wmap demo/wmap_smoothed.fits --fwhm 10deg --lmax 64 --iter 3 --overwrite

say "4. Compare with the answer of the HEALPix Fortran package (single precision): I, Q, U must agree to 1e-6 of their scale"
run $zonal compare demo/wmap_smoothed.fits data/wmap/wmap_W_smoothed10deg_healpix_f90.fits --limit 1e-6

say "5. Simulate a sky from the Planck 2018 spectra: nside 1024, lmax 2048, I, Q, U, 12,582,912 pixels each"
planck=data/theory/planck2018_lcdm_cl_v3.fits
timed simulate $zonal synfast $planck demo/sky.fits --nside 1024 --lmax 2048 \
    --seed 2018 --overwrite

say "6. Smooth it by 1 degree: analysis with 3 iterations, window, synthesis, for I and for Q, U"
timed smooth $zonal smooth demo/sky.fits demo/sky_smoothed.fits --fwhm 1deg --lmax 2048 --iter 3 --overwrite

say "7. Its power spectra"
timed analyse $zonal anafast demo/sky.fits demo/sky_cl.fits --lmax 2048 --iter 3 --overwrite

say "8. Pictures"
run $zonal plot $wmap demo/wmap.png --unit mK --title "WMAP 7 years, W band, I" --overwrite
run $zonal plot demo/wmap_smoothed.fits demo/wmap_smoothed.png --unit mK \
    --title "WMAP 7 years, W band, I, smoothed to 10°" --overwrite
run $zonal plot demo/sky.fits demo/sky.png --title "Simulated sky, Planck 2018, I" --overwrite
run $zonal plot demo/sky_smoothed.fits demo/sky_smoothed.png \
    --title "Simulated sky, Planck 2018, I, smoothed to 1°" --overwrite
run $zonal plot demo/sky_cl.fits demo/sky_cl.png --theory $planck --spectra TT,EE,BB,TE \
    --title "Spectra of the simulated sky (points) and Planck 2018 theory (lines)" --overwrite

say "Done"
cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
echo "On $(nproc) CPUs (${cpu:-$(uname -m)}), with reading and writing of files:"
printf '  %-42s %s s\n' "simulate I, Q, U at nside 1024, lmax 2048" "$simulate" "smooth them, iter 3" "$smooth" \
    "their six spectra, iter 3" "$analyse"
echo "Pictures:"
printf '  %s\n' demo/*.png
