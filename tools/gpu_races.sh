#!/usr/bin/env bash
# compute-sanitizer's racecheck on each test of the CUDA backend by itself, several at once, as kernels take up to a
# thousand times as long under it: maps are smaller by ZONAL_TEST_DIVISOR (default 4). Left out are tests that fill the
# device's memory or measure times, which others would disturb.
#
# tools/gpu_races.sh BUILD [SECONDS]: the time allowed for a test (default 300).
set -uo pipefail
program=$1/bin/zonal_backend_tests
seconds=${2:-300}
export ZONAL_TEST_DIVISOR=${ZONAL_TEST_DIVISOR:-4} ZONAL_REQUIRE_GPU=1
logs=$(mktemp -d)
trap 'rm -r "$logs"' EXIT

check() {
    local name=$1 log=$2/$1.log summary
    timeout "$3" compute-sanitizer --tool racecheck --report-api-errors no --print-limit 5 \
        "$4" --gtest_brief=1 --gtest_filter="$name" >"$log" 2>&1
    summary=$(grep -o 'RACECHECK SUMMARY: .*' "$log") || summary="not ended after $3 s"
    printf '%s: %s\n' "$name" "$summary"
    [[ $summary == *": 0 hazards"* ]]
}
export -f check

tests=$("$program" --gtest_list_tests | awk '/^[^ ]/ {suite = $1} /^  / {print suite $1}' |
    grep -vE 'FitIntoWhatIsFree|OutOfMemory|AllocateNothing|CalibrationOnCuda')
xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'check "$@"' check {} "$logs" "$seconds" "$program" <<<"$tests"
status=$?
printf '%s tests, %s\n' "$(wc -l <<<"$tests")" "$([ $status = 0 ] && echo "no hazard" || echo "SOME FAILED")"
[ $status = 0 ]
