#!/usr/bin/env bash
# Tests, sanitizes and measures the CUDA backend on this machine's first GPU, measures two ranks where there are two, and writes the record with the commit.
#
# tools/gpu_check.sh [BUILD [PART...]]: BUILD is a build of the preset cuda; without it, one is made in build-cuda.
# PART: tests, figures, sanitizers; without any, all three, and only then is a record kept without ".part" in its name.
# Environment: OUT, the folder for the record (default bench/results/<GPU>); COMMIT, where there is no git.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build-cuda}
if [ $# = 0 ]; then
    cmake --preset cuda -DCMAKE_CUDA_ARCHITECTURES=native
    cmake --build --preset cuda
fi
commit=${COMMIT:-$(git describe --always --dirty)}
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader --id=0 | tr -c 'A-Za-z0-9\n' '-')
out=${OUT:-bench/results/$gpu}
record=$out/$(date -u +%Y-%m-%d).json
mkdir -p "$out"
export ZONAL_TEST_DEVICE=cuda ZONAL_REQUIRE_GPU=1

run_tests() {
    local program
    for program in zonal_backend_tests zonal_property_tests zonal_unit_tests; do
        "$build/bin/$program" --gtest_brief=1
    done
}

print_figures() {
    local case method precision maps spin
    printf '{"commit": "%s", "driver": "%s", "figures":\n' "$commit" \
        "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader --id=0)"
    "$build/bin/sht_cuda" healpix:512:1024:0 gauss:1024:1023:0 healpix:2048:4096:0 healpix:2048:4096:2 \
        gauss:4096:4095:0 healpix:2048:4096:0:8 healpix:8192:16384:0
    if [ "$(nvidia-smi -L | wc -l)" -gt 1 ]; then
        printf ', "two_ranks":\n'
        "$build/bin/ranks_cuda" 2048:4096:0 2048:4096:2
    fi
    printf ', "smoothing":\n'
    "$build/bin/smoothing_cuda" 2048:4096 2048:4096:3 2048:4096:0:4
    printf ', "chebyshev":\n'
    "$build/bin/chebyshev_cuda"
    printf ', "gwrm":\n'
    "$build/bin/gwrm_cuda" --cpu-limit 2
    printf ', "radial": [\n'
    for case in "ring-fft float 1 0" "ring-fft double 1 0" "ring-fft float 8 0" "pixel-sum float 1 0" \
        "pixel-sum double 1 0" "ring-fft float 1 2" "pixel-sum float 1 2"; do
        read -r method precision maps spin <<<"$case"
        [ "$case" = "ring-fft float 1 0" ] || printf ',\n'
        "$build/bin/zonal-bench" radial --nside 2048 --fwhm 4.7arcmin --cut 15arcmin --method "$method" \
            --precision "$precision" --maps "$maps" --spin "$spin" --device cuda --json
    done
    echo ']}'
}

# sanitize TOOL PROGRAM FILTER
sanitize() {
    compute-sanitizer --tool "$1" --error-exitcode 1 --print-limit 5 "$build/bin/$2" --gtest_brief=1 --gtest_filter="$3"
}

# Slow: races and uninitialised reads are looked for in one test of all the kernels.
run_sanitizers() {
    local tool small short
    small='CudaTransform.TakesHostAndDeviceMemoryAlike:CudaBatches.Share*:RingFftOnCuda.ComputesSubsets*:PixelSumOnCuda.AgreesWithTheCpuOnOther*'
    small+=':ChebyshevCallsOnCuda.Take*:*ChebyshevOnCudaBy.SumsMatch*:*ChebyshevOnCudaBy.LargeBatches*:GwrmOnCuda.SystemsMatch*:GwrmOnCuda.Triangular*'
    short='Chebyshev*OnCuda.*:LongChebyshevProductsOnCuda.*'
    for tool in memcheck racecheck initcheck; do
        sanitize $tool zonal_backend_tests "$small"
        ZONAL_TEST_DIVISOR=4 sanitize $tool zonal_backend_tests 'PolarizationSumOnCuda.EqualsTheCpuOnOther*'
        ZONAL_TEST_DIVISOR=50 sanitize $tool zonal_backend_tests "$short"
    done
    sanitize memcheck zonal_backend_tests \
        'CudaTransfers.Arrays*:LongChebyshevRootsOnCuda.EqualTheHosts:*TakesHostAndDeviceMemoryAlike:GwrmOnCuda.*:CudaBands.Serve*:LatitudeBandsOnCuda.TakeArrays*:*ChebyshevOnCudaBy*'
    sanitize memcheck zonal_property_tests '*RoundTrip*'
}

parts=${*:2}
for part in ${parts:-tests figures sanitizers}; do
    echo "== $part"
    case $part in
        tests) run_tests ;;
        figures) print_figures >"$record.part"; cat "$record.part" ;;
        sanitizers) run_sanitizers ;;
        *) echo "PART = $part: must be tests, figures or sanitizers" >&2; exit 2 ;;
    esac
done
[ -n "$parts" ] || mv "$record.part" "$record"
echo "all passed: ${parts:-$record}"
