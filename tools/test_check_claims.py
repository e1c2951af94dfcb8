"""Tests of check_claims.py and claims.py."""

import subprocess

import check_claims
import claims
import pytest

RECORD = {"seconds": 0.1898, "results": [{"spin": 0, "threads": 1, "ratio": 1.5007}, {"spin": 2, "threads": 1, "ratio": 1.27}],
          "machine": {"commit": "abc1234"}, "errors": [3.18e-13, 1e-14]}


def check(text):
    def read(path):
        if path != "r.json":
            raise FileNotFoundError(path)
        return RECORD
    return check_claims.check_page(text, read)


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
    assert check(f"It is {claim.split(' = ')[0].split(' <= ')[0].split(' >= ')[0]}.\n\n<!-- claims: r.json\n{claim}\n-->") == []


@pytest.mark.parametrize("claim", [
    "0.18 s = seconds", "0.1899 s = seconds", "1.51 = results(spin=0).ratio", "2e-13 = max(errors)",
    "1.28 <= min(r.ratio for r in results)", "1.5 >= results(spin=0).ratio", "1.5 = results(threads=1).ratio",
    "1.5 = nothing", "1.5 = results(spin=0)", "1.5 = machine.commit", "1.5 = __import__('os')", "1.5 = seconds.__class__",
    "1.5 = [1.5]"])
def test_a_figure_that_is_not_the_records_is_reported(claim):
    figure = claims.LINE.fullmatch(claim)["figure"]
    assert len(check(f"It is {figure}.\n\n<!-- claims: r.json\n{claim}\n-->")) == 1


def test_a_figure_must_stand_in_the_text_above():
    assert check("It is 0.190 s long.\n\n<!-- claims: r.json\n0.19 s = seconds\n-->")[0].startswith("0.19 s: is not in the text")


def test_figures_are_cited_in_the_order_of_the_text():
    text = "1.27 and 1.5\n\n<!-- claims: r.json\n1.5 = results(spin=0).ratio\n1.27 = results(spin=2).ratio\n-->"
    assert len(check(text)) == 1


def test_a_record_that_is_not_there_is_reported():
    assert "none.json" in check("1 s\n\n<!-- claims: none.json\n1 s = seconds\n-->")[0]


@pytest.mark.parametrize("text", ["It is 1.5 times as fast.", "| 29 ms |", "takes 0.6 s", "3 x faster"])
def test_a_speed_without_a_record_is_reported(text):
    assert check("# Page\n\n" + text) != []


@pytest.mark.parametrize("text", [
    "A ring has 4 nside pixels.", "`takes 5 s`", "```\nseconds 5 s\n```\n", "    wait 5 s\n",
    "takes 5 s\n\n<!-- no record: a demonstration -->", "<!-- no records: history -->\n\n# Page\n\ntakes 5 s"])
def test_what_needs_no_record_is_not_reported(text):
    assert check(text) == []


def test_an_excuse_ends_at_the_heading():
    assert len(check("takes 5 s\n\n## Next\n\ntext\n\n<!-- no record: why -->")) == 1


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
