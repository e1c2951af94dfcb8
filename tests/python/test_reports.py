"""What functions tell beside their results can be read, copied and kept in files."""
import copy
import pickle

import numpy as np
import pytest

import zonal
from public_calls import _files as files_to_read
from zonal import _core, gwrm

SKY = np.random.default_rng(4).normal(size=768)
GRID = zonal.Grid.healpix(8)
KERNEL = zonal.Kernel.gaussian("20deg")
PLAN = zonal.plan(KERNEL, GRID, error=1e-3)
U = gwrm.Unknown("u")
SOLUTION = gwrm.solve({U: -U}, {U: 1}, t=(0, 1))


PARAGRAPHS = zonal.SmoothedPart  # which say in words what users ask first


def fields_of(report):
    """Values by their names, in depth."""
    if isinstance(report, list):
        return [fields_of(one) for one in report]
    names = [name for name, value in vars(type(report)).items() if type(value) is property]
    return {name: fields_of(getattr(report, name)) for name in names} if names else report


def reports():
    analysis = zonal.SHT(GRID, 16).analyze(SKY, return_report=True)[1]
    result = PLAN(SKY, return_report=True)[1]
    part = zonal.smooth(SKY, "20deg", error=1e-3, return_report=True)[1][0]
    harmonic = zonal.smooth(SKY, "20deg", method="harmonic", return_report=True)[1][0]
    resampled = zonal.resample(SKY, 4, return_report=True)[1]
    return [analysis, result, part, harmonic, PLAN.choice, result.certificates[0], result.certificates[0].bound,
            SOLUTION.report, resampled]


REPORTS = reports()


@pytest.mark.parametrize("report", REPORTS, ids=[type(report).__name__ for report in REPORTS])
def test_reports_are_readable_and_can_be_copied_and_pickled(report):
    fields = fields_of(report)
    assert len(fields) >= 5
    text = repr(report)
    assert text.startswith(f"<{type(report).__module__}.{type(report).__name__}: ") and " object at 0x" not in text
    if not isinstance(report, PARAGRAPHS):
        assert [name for name in fields if f"{name}=" not in text] == []
    assert getattr(__import__(type(report).__module__, fromlist=["_"]), type(report).__name__) is type(report)
    for other in (pickle.loads(pickle.dumps(report)), copy.copy(report), copy.deepcopy(report)):
        assert type(other) is type(report) and repr(other) == text
        np.testing.assert_equal(fields_of(other), fields)  # also what is NaN because nobody measured it


def test_the_numbers_of_a_report_are_in_its_text():
    assert f"error={PLAN.choice.error:.6g}, " in repr(PLAN.choice)
    for part in (REPORTS[2], REPORTS[3]):
        line, paragraph = repr(part), str(part)
        assert "\n" not in line and line.startswith("<zonal.SmoothedPart: harmonic, lmax ")
        assert 3 <= len(paragraph.splitlines()) <= 8 and part.stands_for in line and part.stands_for in paragraph
    assert f"certified {REPORTS[2].certified_error:.2g} of the answer" in repr(REPORTS[2])


@pytest.mark.parametrize("made", [
    GRID, KERNEL, PLAN, zonal.SHT(GRID, 8), zonal.Split(zonal.gaussian_window("20deg", 32), "40deg", l_cut=10), SOLUTION,
    SOLUTION[U], U, U * 2 - 1, gwrm.Axis("x"), gwrm.Parameter("nu"), gwrm.dirichlet(U, gwrm.Axis("x")),
    zonal.chebyshev.Series([1, 2]), zonal.ErrorNotKept("no"), gwrm.NotConverged("no"), zonal.threads(),
    zonal.Map(SKY[None], unit="K", columns=["I"]),
], ids=lambda made: type(made).__name__)
def test_all_that_functions_return_is_readable_and_can_be_copied_and_pickled(made):
    assert " object at 0x" not in repr(made)
    for other in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
        assert type(other) is type(made) and repr(other) == repr(made)


NOTING = {
    "analyze_maps": lambda files: zonal.map2alm(np.ones(192)),
    "read_map": lambda files: zonal.io.read_map(files["read_map"]),
    "read_alm": lambda files: zonal.io.read_alm(files["read_alm"]),
    "read_spectrum": lambda files: zonal.io.read_cl(files["read_cl"]),
    "read_beam": lambda files: zonal.io.read_beam(files["read_beam"]),
    "read_events": lambda files: zonal.io.read_events(files["read_events"]),
    "find_weights": lambda files: zonal.io.quadrature_weights(2),
}


@pytest.mark.parametrize("name", NOTING)
def test_what_the_library_notes_becomes_a_warning(monkeypatch, name):
    """Even where no arguments are known with which it has something to tell."""
    function = getattr(_core, name)

    def noting(*arguments):
        result = function(*arguments)
        if isinstance(result, dict):
            return result | {"notes": ["a note"]}
        return ["a note"] if isinstance(result, list) else (*result[:-1], ["a note"])

    files = files_to_read()
    monkeypatch.setattr(_core, name, noting)
    with pytest.warns(zonal.ZonalWarning, match="^a note$"):
        NOTING[name](files)
