"""Tests of check_claims.py and claims.py."""

import subprocess

import pytest

import check_claims
import claims

RECORD = {"seconds": 0.1898, "results": [{"spin": 0, "threads": 1, "ratio": 1.5007}, {"spin": 2, "threads": 1, "ratio": 1.27}],
          "machine": {"commit": "abc1234"}, "errors": [3.18e-13, 1e-14]}


def read(path):
    if path != "r.json":
        raise FileNotFoundError(path)
    return RECORD


def check(text, claims=""):
    return check_claims.check_page(text, claims, read)


@pytest.mark.parametrize("text, value, half", [
    ("0.19 s", 0.19, 0.005), ("29 ms", 0.029, 0.0005), ("3.2e-13", 3.2e-13, 5e-15), ("12 %", 0.12, 0.005),
    ("60,347", 60347, 0.5)])
def test_a_figure_is_good_to_half_of_its_last_digit(text, value, half):
    assert claims.parse_figure(text) == pytest.approx((value, half), rel=1e-12)


@pytest.mark.parametrize("claim", [
    "0.19 s = seconds", "190 ms = seconds", "1.5 = results(spin=0).ratio", "3.2e-13 = max(errors)",
    "1.27 <= min(r.ratio for r in results)", "1.6 >= results(spin=0, threads=1).ratio", "2 = len(results)",
    "1.18 = results[0].ratio / results[1].ratio", "1 = sum(r.ratio > 1.4 for r in results)"])
def test_a_figure_of_the_record_passes(claim):
    figure = claim.split(" = ")[0].split(" <= ")[0].split(" >= ")[0]
    assert check(f"# Speed\n\nIt is {figure}.", f"# Speed\nr.json\n{claim}") == []


@pytest.mark.parametrize("claim", [
    "0.18 s = seconds", "0.1899 s = seconds", "1.51 = results(spin=0).ratio", "2e-13 = max(errors)",
    "1.28 <= min(r.ratio for r in results)", "1.5 >= results(spin=0).ratio", "1.5 = results(threads=1).ratio",
    "1.5 = nothing", "1.5 = results(spin=0)", "1.5 = machine.commit", "1.5 = __import__('os')", "1.5 = seconds.__class__",
    "1.5 = [1.5]"])
def test_a_figure_that_is_not_the_records_is_reported(claim):
    figure = claims.LINE.fullmatch(claim)["figure"]
    assert len(check(f"# Speed\n\nIt is {figure}.", f"# Speed\nr.json\n{claim}")) == 1


@pytest.mark.parametrize("text", ["It is 0.190 s long.", "It is quick.", "It is 10.19 s.", "`0.19 s`"])
def test_a_figure_must_stand_in_its_section(text):
    problems = check(f"# Speed\n\n{text}\n\n# Other\n\nIt is 0.19.", "# Speed\nr.json\n0.19 s = seconds")
    assert problems[0].startswith("0.19 s: is not in this section")


def test_figures_are_named_in_the_order_of_the_text():
    lines = ["1.5 = results(spin=0).ratio", "1.27 = results(spin=2).ratio"]
    text = "# Speed\n\n1.27 and 1.5"
    assert len(check(text, "\n".join(["# Speed", "r.json", *lines]))) == 1
    assert check(text, "\n".join(["# Speed", "r.json", *lines[::-1]])) == []


def test_a_figure_serves_one_claim():
    lines = "# Speed\nr.json\n1.5 = results(spin=0).ratio\nr.json\n1.5 = results(spin=0).ratio"
    assert check("# Speed\n\n1.5 and 1.5", lines) == []
    assert len(check("# Speed\n\nonly 1.5", lines)) == 1


@pytest.mark.parametrize("lines, problem", [
    ("# Speed\nnone.json\n1 s = seconds", "none.json"), ("# Gone\nr.json\n0.19 s = seconds", "no such heading"),
    ("# Speed\n0.19 s = seconds", "name a record first")])
def test_claims_that_lead_nowhere_are_reported(lines, problem):
    assert problem in check("# Speed\n\nIt is 0.19 s.", lines)[0]


@pytest.mark.parametrize("text", ["It is 1.5 times as fast.", "| 29 ms |", "takes 0.6 s", "3 x faster"])
def test_a_speed_without_a_claim_is_reported(text):
    assert check("# Page\n\n" + text) != []
    assert check(text) != []
    assert check(f"# Page\n\n{text}", "# Page\nr.json") != []


@pytest.mark.parametrize("text, lines", [
    ("A ring has 4 nside pixels.", ""), ("`takes 5 s`", ""), ("```\nseconds 5 s\n```\n", ""), ("    wait 5 s\n", ""),
    ("# Page\n\ntakes 5 s", "# Page\nno record: a demonstration"), ("# Page\n\ntakes 5 s", "no records: history")])
def test_what_needs_no_claim_is_not_reported(text, lines):
    assert check(text, lines) == []


def test_an_excuse_ends_at_the_heading():
    assert len(check("# First\n\ntakes 5 s\n\n## Next `code`\n\ntext", "# Next `code`\nno record: why")) == 1


@pytest.mark.parametrize("page, path", [("README.md", "docs/claims/README.txt"), ("docs/guide/a.md", "docs/claims/guide/a.txt")])
def test_claims_lie_at_the_path_of_their_page(page, path):
    assert check_claims.claims_of(page) == path


@pytest.mark.parametrize("commit, known, problem", [
    ("abc1234", False, None), ("abc1234-dirty", True, None), ("abc1234", True, "as it is"),
    ("abc1234-dirty", False, "what was changed"), ("fff0000", False, "not in the history"),
    ("fff0000-dirty", True, "not in the history")])
def test_commits_of_records_are_checked(commit, known, problem):
    found = check_claims.check_commits("r.json", {"runs": [{"machine": {"commit": commit}}]}, known, lambda c: c == "abc1234")
    assert found == [] if problem is None else problem in found[0]


def test_a_record_without_a_commit_is_reported():
    assert check_claims.check_commits("r.json", {"machine": {}}, False, lambda c: True) == ["r.json: names no commit"]


def test_a_commit_that_was_replaced_is_not_in_the_history(tmp_path):
    def git(*arguments):
        command = ["git", "-C", tmp_path, "-c", "user.name=n", "-c", "user.email=e", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    git("init")
    git("commit", "--allow-empty", "--message", "first")
    replaced = git("rev-parse", "--short", "HEAD")
    git("commit", "--amend", "--allow-empty", "--message", "second")
    in_history = check_claims.commit_finder(tmp_path)
    assert in_history(git("rev-parse", "--short", "HEAD")) and not in_history(replaced) and not in_history("fff0000")
