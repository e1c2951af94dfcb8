#!/usr/bin/env bash
# Builds the documentation and fails on Doxygen's warnings. Every public class must say what it is. A function or
# member may be bare: its name may say it all, or the comment above it may be about both.
#
# check_docs.sh BUILD
set -euo pipefail
cmake --build "$1" --target docs
if grep -Ev 'Member .* is not documented' "$1/docs/warnings.txt"; then
    exit 1
fi
echo "Documentation: no warnings"
