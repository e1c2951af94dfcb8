#!/usr/bin/env bash
# Builds the documentation and fails on Doxygen's warnings. Every public class, function and constant must say what
# it is; members of a class whose name says it all may be bare.
#
# check_docs.sh BUILD
set -euo pipefail
cmake --build "$1" --target docs
if grep -Ev 'Member .* of (class|struct|union) .* is not documented' "$1/docs/warnings.txt"; then
    exit 1
fi
echo "Documentation: no warnings"
