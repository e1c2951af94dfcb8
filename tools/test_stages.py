"""Tests of stages.sh: what makes a stage fail, and what its last lines say."""

import pathlib
import subprocess

import pytest

STAGES = pathlib.Path(__file__).with_name("stages.sh")
SUITE = '<testsuites tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}" disabled="0"></testsuites>'


def run(folder, body, least=""):
    (folder / "least.txt").write_text(least)
    script = f"set -uo pipefail; . {STAGES}; begin_stages logs least.txt\n{body}\nend_stages"
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)


def leaves(tests, failures=0, skipped=0):
    """A function of the shell that leaves a JUnit file."""
    return f"leave() {{ echo '{SUITE.format(tests=tests, failures=failures, skipped=skipped)}' > $reports/unit.xml; }}"


def test_counts_cases_of_files_and_of_the_log(tmp_path):
    done = run(tmp_path, leaves(5, skipped=2) + "\nalso() { leave; echo 'ok style'; }\nstage 'C++ tests' also", "4 C++ tests\n")
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("4 passed, 0 failed\n")


@pytest.mark.parametrize("tests, skipped", [(0, 0), (5, 5), (4, 0)])
def test_a_stage_that_runs_fewer_tests_than_before_fails(tmp_path, tests, skipped):
    done = run(tmp_path, leaves(tests, skipped=skipped) + "\nstage 'C++ tests' leave", "7 other\n5 C++ tests\n")
    assert done.returncode == 1
    assert f"Only {tests - skipped} test cases passed" in done.stdout and "FAILED in stage: C++ tests" in done.stdout
    assert done.stdout.endswith(f"{tests - skipped} passed, 1 failed\n")


def test_a_file_may_be_larger_than_a_pipe(tmp_path):
    """More suites than a pipe holds, of which the root element is the sum."""
    suites = '<testsuite name="some" tests="3" failures="0"/>\n' * 10_000
    (tmp_path / "many.xml").write_text(f'<testsuites tests="30000" failures="0" errors="0">\n{suites}</testsuites>\n')
    done = run(tmp_path, f"leave() {{ cp {tmp_path}/many.xml $reports/; }}\nstage many leave")
    assert done.returncode == 0 and "30000 passed, 0 failed" in done.stdout


def test_a_command_that_fails_ends_the_stages(tmp_path):
    done = run(tmp_path, "broken() { false; echo 'ok not reached'; }\nstage broken broken\necho 'not reached'")
    assert done.returncode == 1 and "not reached" not in done.stdout and done.stdout.endswith("0 passed, 1 failed\n")


def test_a_stage_that_cannot_be_counted_fails(tmp_path):
    done = run(tmp_path, "count_cases() { : $((1 +)); }\nstage broken true")
    assert done.returncode != 0 and "BROKEN in stage: broken" in done.stdout and done.stdout.endswith("0 passed, 1 failed\n")


def test_what_is_left_out_is_named_at_the_end(tmp_path):
    done = run(tmp_path, "leave_out cuda 'there is no nvcc'; leave_out mpich 'it is not installed'")
    assert "== left out: cuda (there is no nvcc); mpich (it is not installed)\n" in done.stdout


@pytest.mark.parametrize("end", ["true", "false"])
def test_temporary_files_go_with_their_stage(tmp_path, end):
    done = run(tmp_path, f"litter() {{ mktemp > made.txt; test -s made.txt; {end}; }}\nstage litter litter")
    assert done.returncode == (end == "false")
    assert not pathlib.Path((tmp_path / "made.txt").read_text().strip()).exists()
