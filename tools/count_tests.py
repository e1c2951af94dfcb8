#!/usr/bin/env python3
"""Counts the tests of JUnit files, as a record.

count_tests.py COMMIT GPU FILE.xml...: prints a JSON object with the numbers of tests that passed, failed and were skipped in each file, and
the reasons of those that were skipped. Parts of one program, NAME-PART.xml, count together as NAME. Exits with 1 where a NAME has no test.
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree

PLACE = re.compile(r"\A\S+:\d+\n")  # GoogleTest begins a reason with the file and the line


def count(path):
    """How many tests of a file passed, how many failed, and why the others were skipped."""
    cases = list(xml.etree.ElementTree.parse(path).getroot().iter("testcase"))
    run = [case for case in cases if case.get("status") != "notrun"]
    failed = [case for case in run if case.find("failure") is not None or case.find("error") is not None]
    skipped = [case.find("skipped").get("message", "") for case in run if case.find("skipped") is not None]
    return len(run) - len(failed) - len(skipped), len(failed), [PLACE.sub("", reason).strip() for reason in skipped]


def summary(paths):
    """name -> counts, over the files of each name."""
    result = {}
    for path in map(pathlib.Path, paths):
        row = result.setdefault(path.stem.split("-")[0], {"passed": 0, "failed": 0, "skipped": 0})
        passed, failed, reasons = count(path)
        row["passed"] += passed
        row["failed"] += failed
        row["skipped"] += len(reasons)
        if reasons:
            row["skipped_because"] = sorted({*row.get("skipped_because", []), *reasons})
    for name, row in result.items():
        if not row["passed"] + row["failed"] + row["skipped"]:
            raise SystemExit(f"{name}: no test ran")
    return result


if __name__ == "__main__":
    print(json.dumps({"what": "GPU tests", "commit": sys.argv[1], "gpu": sys.argv[2], **summary(sys.argv[3:])}, indent=1))
