# Sourced by test.sh: runs named stages, counts the test cases in them, stops at the first stage that fails.
#
# A stage is a function. It runs in a subshell with errexit, standard input empty and its output in a log file.
# Test cases are counted from the JUnit files that it leaves in $reports and from lines "ok ..." and "not ok ..." of
# its log.

passed=0 failed=0

# begin_stages LOGS: the folder for logs and reports, emptied first.
begin_stages() {
    logs=$1 reports=$1/reports
    rm -rf "$logs" && mkdir -p "$reports"
}

# attribute FILE NAME: a number of the root element of a JUnit file, which comes first; 0 when it is not there.
attribute() { grep -o "[[:space:]<]$2=\"[0-9]*\"" "$1" | head -n 1 | grep -o '[0-9]*' || echo 0; }

# Adds what the last stage left to the counts. What was skipped has not passed, and is not counted.
count_cases() {
    local log=$1 file good=0 bad=0 broken
    for file in "$reports"/*.xml; do
        [ -e "$file" ] || continue
        broken=$(($(attribute "$file" failures) + $(attribute "$file" errors)))
        good=$((good + $(attribute "$file" tests) - broken - $(attribute "$file" skipped) - $(attribute "$file" disabled)))
        bad=$((bad + broken))
        mv "$file" "$log-$(basename "$file")"
    done
    good=$((good + $(grep -c '^ok ' "$log" || true)))
    bad=$((bad + $(grep -c '^not ok ' "$log" || true)))
    passed=$((passed + good)) failed=$((failed + bad))
    stage_cases="$good passed, $bad failed"
}

# CPU seconds of everything that has run so far.
cpu_seconds() { awk '{printf "%.0f", ($14 + $15 + $16 + $17) / '"$(getconf CLK_TCK)"'}' "/proc/$$/stat"; }

# stage NAME FUNCTION [ARGUMENT...]
stage() {
    local name=$1 log start=$SECONDS cpu status; shift
    cpu=$(cpu_seconds)
    log=$logs/${name// /-}.log
    printf '== %s\n' "$name"
    (set -e; "$@") >"$log" 2>&1 </dev/null
    status=$?
    count_cases "$log"
    if [ $status != 0 ]; then
        [[ $stage_cases == *" 0 failed" ]] && failed=$((failed + 1))
        tail -n 150 "$log"
        printf '== FAILED in stage: %s (%d s; all of its output is in %s)\n' "$name" $((SECONDS - start)) "$log"
        end_stages
        exit 1
    fi
    printf '   %s, %d s (CPU %d s)\n' "$stage_cases" $((SECONDS - start)) $(($(cpu_seconds) - cpu))
}

end_stages() {
    printf '== %d s in all (CPU %d s)\n%d passed, %d failed\n' $SECONDS "$(cpu_seconds)" $passed $failed
}
