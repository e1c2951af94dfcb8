"""Tests of count_tests.py."""

import pytest

import count_tests

SUITE = """<testsuites><testsuite name="S"><testcase name="a" status="run"/><testcase name="b" status="run"><failure message="x"/></testcase>
<testcase name="c" status="run"><skipped message="/src/c.cu:12&#10;needs two devices"/></testcase><testcase name="d" status="notrun"/>
</testsuite></testsuites>"""


def test_shards_of_a_program_count_together(tmp_path):
    paths = [tmp_path / "backend-0.xml", tmp_path / "backend-1.xml"]
    for path in paths:
        path.write_text(SUITE)
    assert count_tests.summary(paths) == {
        "backend": {"passed": 2, "failed": 2, "skipped": 2, "skipped_because": ["needs two devices"]}}


def test_a_program_without_a_test_is_refused(tmp_path):
    (tmp_path / "unit.xml").write_text('<testsuites><testcase name="d" status="notrun"/></testsuites>')
    with pytest.raises(SystemExit, match="no test ran"):
        count_tests.summary([tmp_path / "unit.xml"])
