# Sourced by the tests of installs, which set "work", a folder: counts in "failed" whether a case failed.
failed=0

# check NAME COMMAND...: one test case; shows what the command said only when it fails.
check() {
    local name=$1; shift
    if "$@" >"$work/log" 2>&1; then
        echo "ok $name"
    else
        echo "not ok $name"; sed 's/^/    /' "$work/log" | tail -n 40; failed=1
    fi
}
