# Sourced by test.sh: runs named stages, counts the test cases in them, stops at the first stage that fails.
#
# A stage is a function. It runs in a subshell with errexit, standard input empty, its output in a log file and a folder of its
# own for temporary files, which is removed after it.
# Test cases are counted from the JUnit files that it leaves in $reports and from lines "ok ..." and "not ok ..." of
# its log. A stage in which fewer pass than $least_counts says fails: a filter that matches nothing, or a file whose
# tests are all skipped, is no success.

passed=0 failed=0 left_out=() unfinished=

# begin_stages LOGS LEAST: the folder for logs and reports, emptied first, and a file of lines "COUNT STAGE".
begin_stages() {
    logs=$1 reports=$1/reports least_counts=$2
    rm -rf "$logs" && mkdir -p "$reports"
}

# leave_out STAGE WHY: says at the end what did not run.
leave_out() { left_out+=("$1 ($2)"); }

# least_count STAGE: 0 where the file does not name it.
least_count() { awk -v name="$1" '{count = $1; sub(/^[0-9]+ /, "")} $0 == name {found = count} END {print found + 0}' "$least_counts"; }

# attribute FILE NAME: a number of the root element of a JUnit file, which comes first; 0 when it is not there.
# sed reads on to the end: grep, cut off, would make the pipe fail.
attribute() {
    local found
    found=$(grep -o "[[:space:]<]$2=\"[0-9]*\"" "$1" | sed -n '1s/[^0-9]//gp') || true
    echo "${found:-0}"
}

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
    stage_passed=$good stage_cases="$good passed, $bad failed"
}

# CPU seconds of everything that has run so far.
cpu_seconds() { awk '{printf "%.0f", ($14 + $15 + $16 + $17) / '"$(getconf CLK_TCK)"'}' "/proc/$$/stat"; }

# stage NAME FUNCTION [ARGUMENT...]
stage() {
    local name=$1 log start=$SECONDS cpu status least scratch; shift
    unfinished=$name
    cpu=$(cpu_seconds)
    log=$logs/${name// /-}.log
    printf '== %s\n' "$name"
    scratch=$(mktemp -d)
    (set -e; export TMPDIR=$scratch; "$@") >"$log" 2>&1 </dev/null
    status=$?
    rm -rf "$scratch"
    count_cases "$log"
    least=$(least_count "$name")
    if [ $status = 0 ] && [ "$stage_passed" -lt "$least" ]; then
        status=1
        printf 'Only %d test cases passed, and %s asks for %d: some were left out. Lower that number if this is meant.\n' \
            "$stage_passed" "$least_counts" "$least" >>"$log"
    fi
    if [ $status != 0 ]; then
        [[ $stage_cases == *" 0 failed" ]] && failed=$((failed + 1))
        tail -n 150 "$log"
        printf '== FAILED in stage: %s (%d s; all of its output is in %s)\n' "$name" $((SECONDS - start)) "$log"
        unfinished=
        end_stages
        exit 1
    fi
    unfinished=
    printf '   %s, %d s (CPU %d s)\n' "$stage_cases" $((SECONDS - start)) $(($(cpu_seconds) - cpu))
}

# Fails where a stage did not come to its end, as an error of the shell in these functions ends them, but not the script.
end_stages() {
    if [ -n "$unfinished" ]; then
        failed=$((failed + 1))
        printf '== BROKEN in stage: %s (what it left could not be counted)\n' "$unfinished"
    fi
    if [ ${#left_out[@]} != 0 ]; then printf '== left out: %s\n' "$(printf '%s; ' "${left_out[@]}" | sed 's/; $//')"; fi
    printf '== %d s in all (CPU %d s)\n%d passed, %d failed\n' $SECONDS "$(cpu_seconds)" $passed $failed
    [ -z "$unfinished" ]
}
