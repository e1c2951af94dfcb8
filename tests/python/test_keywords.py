"""Every keyword of every public function has an effect, and the right one."""

import ast
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import keywords_of_beams
import keywords_of_convolutions
import keywords_of_ducc0
import keywords_of_files
import keywords_of_healpy
import keywords_of_lensing
import keywords_of_maps
import keywords_of_masks
import keywords_of_plots
import keywords_of_points
import keywords_of_ranks
import keywords_of_series
import keywords_of_spectra
import keywords_of_vectors
import keywords_of_views
import keywords_of_zonal
from keyword_names import ABSENT, ALL

FOLDER = Path(__file__).parent
TABLES = (keywords_of_healpy, keywords_of_zonal, keywords_of_maps, keywords_of_masks, keywords_of_convolutions, keywords_of_files,
          keywords_of_beams, keywords_of_lensing, keywords_of_plots, keywords_of_points, keywords_of_ranks,
          keywords_of_series, keywords_of_spectra, keywords_of_vectors, keywords_of_views, keywords_of_ducc0)
CASES = [case for table in TABLES for case in table.cases()]
# Function, keyword and a test that fails without the keyword; tools/check_keywords.py runs these without it.
ELSEWHERE = [line.split() for line in (FOLDER / "keywords_elsewhere.txt").read_text().splitlines() if not line.startswith("#")]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_a_keyword_does_what_it_says(case):
    case.check()


def test_every_keyword_has_a_test():
    tested = {(case.function, case.keyword) for case in CASES} | {(function, keyword) for function, keyword,
                                                                  _ in ELSEWHERE}
    tested = {one for one in tested if one[0].rpartition(".")[0] not in ABSENT}
    assert sorted(ALL - tested) == [], "have no test: add a case, or name a test in keywords_elsewhere.txt"
    assert sorted(tested - ALL) == [], "are no keywords"


def test_the_tests_named_elsewhere_are_there():
    tests = {f"{path.name}::{node.name}" for path in FOLDER.glob("test_*.py") for node in ast.walk(ast.parse(path.read_text()))
             if isinstance(node, ast.FunctionDef)}
    assert sorted({test for _, _, test in ELSEWHERE} - tests) == []
