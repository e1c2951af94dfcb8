#!/usr/bin/env bash
# Tests, sanitizes and measures the CUDA backend on this machine's first GPU, two ranks on two GPUs where there are two, and writes records
# with the commit.
#
# tools/gpu_check.sh [BUILD [PART...]]: BUILD is a build of the preset cuda; without it, one is made in build-cuda.
# PART: tests, python, figures, sanitizers; without any, all but python, for which the package must be installed.
# Environment: OUT, the folder for the records (default bench/results/<GPU>); COMMIT, where there is no git; JOBS, how many programs
# of tests run at once (default 8).
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
tests=$out/tests-$(date -u +%Y-%m-%d).json
mkdir -p "$out"
logs=$(mktemp -d)
trap 'rm -r "$logs"' EXIT
export ZONAL_TEST_DEVICE=cuda ZONAL_REQUIRE_GPU=1

# count_tests RECORD FILE...: of JUnit files.
count_tests() {
    tools/count_tests.py "$commit" "$(nvidia-smi --query-gpu=name --format=csv,noheader | paste -sd,)" "${@:2}" | tee "$1"
}

# Tests that fill the device's memory, count allocations or measure times: others would disturb them.
alone='*FitIntoWhatIsFree*:*TakeTheMemoryThatTheyReport*:*OutOfMemory*:*AllocateNothing*:CalibrationOnCuda.*'

# run_program LOG SHARD SHARDS PROGRAM FILTER: prints the end of the log of a program that fails, which names the test that it died in.
run_program() {
    if ! GTEST_SHARD_INDEX=$2 GTEST_TOTAL_SHARDS=$3 "$4" --gtest_filter="$5" --gtest_output="xml:$1.xml" >"$1" 2>&1; then
        tail -n 60 "$1"
        return 1
    fi
}
export -f run_program

# All programs at once, in shards, and then the tests that run alone.
run_tests() {
    local shard result=0
    {
        for shard in 0 1 2 3 4 5; do
            printf '%s\0' "$logs/unit-$shard" $shard 6 "$build/bin/zonal_unit_tests" '*' "$logs/backend-$shard" $shard 6 "$build/bin/zonal_backend_tests" "-$alone"
        done
        printf '%s\0' "$logs/property" 0 1 "$build/bin/zonal_property_tests" '*'
    } | xargs -0 -n 5 -P "${JOBS:-8}" bash -c 'run_program "$@"' run_program || result=1
    run_program "$logs/backend-alone" 0 1 "$build/bin/zonal_backend_tests" "$alone" || result=1
    count_tests "$tests" "$logs"/*.xml
    return $result
}

# The package, installed with zonal-cuda13 (tools/cuda_wheel.sh). Three ranks share the GPUs there are.
run_python() {
    local result=0 files
    for files in tests/python_gpu tests/python/test_torch.py tests/python/test_jax.py; do
        python3 -m pytest -q -p no:cacheprovider --junitxml="$logs/$(basename "$files" .py).xml" "$files" || result=1
    done
    count_tests "$tests" "$logs"/*.xml
    return $result
}

print_figures() {
    local case method precision maps spin
    printf '{"commit": "%s", "driver": "%s", "figures":\n' "$commit" \
        "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader --id=0)"
    "$build/bin/sht_cuda" healpix:512:1024:0 gauss:1024:1023:0 healpix:2048:4096:0 healpix:2048:4096:2 \
        healpix:2048:4096:4 gauss:4096:4095:0 healpix:2048:4096:0:8 healpix:8192:16384:0
    if [ "$(nvidia-smi -L | wc -l)" -gt 1 ]; then
        printf ', "two_ranks":\n'
        "$build/bin/ranks_cuda" 2048:4096:0 2048:4096:2
    fi
    printf ', "points":\n'
    "$build/bin/points_cuda" 4096:5e7:0 4096:5e7:02 4096:5e7:0:shuffled 1023:1e6:0
    printf ', "coupling":\n'
    "$build/bin/coupling_cuda" 1000 3000 6000
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

# sanitize LOG TOOL DIVISOR PROGRAM FILTER: prints how long it took, or the log of what fails. On any of the GPUs.
# Ranks that are threads take turns (tests/distributed_helpers.hpp).
sanitize() {
    local number=$((RANDOM % $(nvidia-smi -L | wc -l)))
    if CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES-$number} ZONAL_TEST_TURNS=1 ZONAL_TEST_DIVISOR=$3 compute-sanitizer --tool "$2" --error-exitcode 1 --print-limit 5 "$4" --gtest_brief=1 --gtest_filter="$5" \
        --gtest_output="xml:$1.xml" >"$1" 2>&1 && grep -q 'PASSED  \] [1-9]' "$1"; then
        printf '%s: no error in %s s: %s\n' "$2" $SECONDS "$5"
    else
        printf '%s: FAILED: %s\n' "$2" "$5"
        tail -n 60 "$1"
        return 1
    fi
}
export -f sanitize

# Slow: races and uninitialised reads are looked for in one test of all the kernels, with sizes divided where they would take minutes.
run_sanitizers() {
    local tool filters result=0 group backend=$build/bin/zonal_backend_tests
    filters=(  # the slowest first
        1 'ChebyshevCallsOnCuda.Take*'
        1 'GwrmOnCuda.SystemsMatch*:GwrmOnCuda.Triangular*'
        1 'DeviceBands.TakeBatches'
        1 'CudaRankSums.AreThoseOfOneProcessThroughHostMemory'
        50 'Chebyshev*OnCuda.*:LongChebyshevProductsOnCuda.*:*ChebyshevOnCudaBy.LargeBatches*'
        16 'CudaBatches.AdjointsOf*'
        16 '*CudaRingBands*:CudaLarge*'
        1 'CudaTransform.TakesHostAndDeviceMemoryAlike:CudaBatches.Share*:*ChebyshevOnCudaBy.SumsMatch*'
        1 'CudaResampling.RingsOfOnePixel*:RingFftOnCuda.ComputesSubsets*:PixelSumOnCuda.AgreesWithTheCpuOnOther*'
        1 'CouplingOnCuda.MakesWhat*:CouplingOnCuda.Writes*'
        20 'PointsOnCuda.*'
        4 'PolarizationSumOnCuda.EqualsTheCpuOnOther*'
    )
    {
        for tool in racecheck memcheck initcheck; do
            for ((group = 0; group < ${#filters[@]}; group += 2)); do
                printf '%s\0' "$logs/$tool-$group" $tool "${filters[group]}" "$backend" "${filters[group + 1]}"
            done
        done
        printf '%s\0' "$logs/memcheck-of-gwrm" memcheck 1 "$backend" 'GwrmOnCuda.*'
        printf '%s\0' "$logs/memcheck-of-chebyshev" memcheck 1 "$backend" 'LongChebyshevRootsOnCuda.EqualTheHosts:*ChebyshevOnCudaBy*'
        printf '%s\0' "$logs/memcheck-of-arrays" memcheck 1 "$backend" \
            'CudaTransfers.Arrays*:*TakesHostAndDeviceMemoryAlike:CudaBands.Serve*:LatitudeBandsOnCuda.TakeArrays*'
        printf '%s\0' "$logs/memcheck-of-orders" memcheck 1 "$backend" 'CudaTransform.*OrdersAreFew'
        printf '%s\0' "$logs/memcheck-of-properties" memcheck 1 "$build/bin/zonal_property_tests" '*RoundTrip*'
        for tool in racecheck memcheck initcheck; do
            printf '%s\0' "$logs/$tool-of-lensing" "$tool" 1 "$build/bin/zonal_unit_tests" 'LensedSkies.OfPart*:LensingGradient.*:BeamDevices.AddUp*'
        done
    } | xargs -0 -n 5 -P "${JOBS:-8}" bash -c 'sanitize "$@"' sanitize || result=1
    [ $result = 1 ] || count_tests "$out/sanitizers-$(date -u +%Y-%m-%d).json" "$logs"/*check-*.xml
    return $result
}

parts=${*:2}
for part in ${parts:-tests figures sanitizers}; do
    echo "== $part"
    case $part in
        tests) run_tests ;;
        python) run_python ;;
        figures) print_figures >"$record.part"; cat "$record.part" ;;
        sanitizers) run_sanitizers ;;
        *) echo "PART = $part: must be tests, python, figures or sanitizers" >&2; exit 2 ;;
    esac
done
[ -n "$parts" ] || mv "$record.part" "$record"
echo "all passed: ${parts:-$record}"
