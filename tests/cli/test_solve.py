"""zonal solve: initial-value problems in Chebyshev series."""

import csv

import numpy as np
import pytest
from astropy.io import fits
from numpy.polynomial import chebyshev

from conftest import call, largest

# Burgers' equation with nu = 0.1 at t = 1 and x = 1/4, 1/2, 3/4, by the Cole-Hopf transform.
BURGERS = [0.16256485711067047, 0.29191595712583554, 0.28747440591697595]


def test_solves_burgers_at_points_with_errors(zonal):
    report = zonal("solve", "burgers", "--set", "nu=0.1", "--set", "t1=1", "--at", "0.25,0.5,0.75")
    assert report["values"] == pytest.approx(BURGERS, rel=0, abs=1e-12)  # the default tolerance
    assert len(report["errors"]) == 3 and largest(report["errors"]) < 1e-11
    assert report["iterations"] > 0 and report["seconds"] > 0 and report["notes"] == []
    assert report["settings"] == {"nu": 0.1, "parabola": 0, "t0": 0, "t1": 1}


def test_one_box_by_hand_and_its_error_is_told(zonal):
    report = zonal("solve", "burgers", "--modes", "8,10", "--interval", 1, "--highest-mode", "tau")
    error = largest(abs(value - exact) for value, exact in zip(report["values"], BURGERS))
    assert 0.5 * error < largest(report["errors"]) < 50 * error
    assert report["intervals"] == 1


def test_ordinary_equations_report_all_fields(zonal):
    report = zonal("solve", "lorenz63", "--tolerance", "1e-13")
    assert report["values"] == pytest.approx([-4.90268754113464573, -3.74387292180291962, 24.6908581027905555], rel=1e-12)


@pytest.mark.parametrize("solver", ["newton", "newton-krylov", "sir"])
def test_solvers_agree(zonal, solver):
    report = zonal("solve", "burgers", "--modes", "8,14", "--solver", solver, "--tolerance", "1e-9", "--no-errors")
    assert report["values"] == pytest.approx(BURGERS, rel=1e-4)  # 14 modes leave less than that of the front
    assert report["errors"] == [None] * 3


def test_device_is_told_and_named_where_there_is_none(zonal):
    assert zonal("solve", "heat", "--modes", "6,8", "--tolerance", "1e-6")["device"] == "cpu"  # few unknowns
    assert zonal("solve", "heat", "--modes", "6,8", "--tolerance", "1e-6", "--device", "cpu")["device"] == "cpu"
    result = call("solve", "heat", "--modes", "6,8", "--tolerance", "1e-6", "--device", "cuda", "--json")
    if result.code != 0:
        assert result.code == 1 and "--device = cuda: " in result.err and "permitted: cpu, auto" in result.err
    else:
        assert '"device": "cuda:0"' in result.out


def test_planes_and_parameters_take_points_of_two_coordinates(zonal):
    report = zonal("solve", "burgers-viscosity", "--modes", "6,14,4", "--set", "t1=0.2", "--set", "force=0",
                   "--tolerance", "1e-6", "--at", "0.5:0.2,0.5:0.4")
    single = [zonal("solve", "burgers", "--set", f"nu={nu}", "--set", "t1=0.2", "--at", 0.5)["values"][0] for nu in (0.2, 0.4)]
    assert report["values"] == pytest.approx(single, abs=largest(report["errors"]) + 1e-6)


def test_writes_csv_and_picture(zonal, tmp_path):
    zonal("solve", "burgers", "--modes", "8,24", "--tolerance", "1e-8", "-o", "u.csv", "--plot", "u.png")
    rows = list(csv.reader((tmp_path / "u.csv").open()))
    assert rows[0] == ["t", "x", "u"] and len(rows) == 1 + 11 * 101
    middle = [row for row in rows[1:] if (row[0], row[1]) == ("1", "0.5")]
    assert float(middle[0][2]) == pytest.approx(BURGERS[1], rel=0, abs=1e-7)  # intervals of the tolerance asked for add up
    assert (tmp_path / "u.png").read_bytes().startswith(b"\x89PNG")


def reference(z, lower, upper):
    return ((z - lower) - (upper - z)) / (upper - lower)


def evaluate(path, point, field=0):
    """The series of the file at (t, axes..), as docs/guide/file-formats.md says; the sum of coefficients bounds its rounding."""
    with fits.open(path) as file:
        header, rows = file["SOLUTION"].header, file["SOLUTION"].data
        row = rows[np.searchsorted(rows["T_UPPER"], point[0])]
        sigma, part = [reference(point[0], row["T_LOWER"], row["T_UPPER"])], 0
        for i, z in enumerate(point[1:], 1):
            low, high, parts = (header[f"{key}{i}"] for key in ("AXLOW", "AXHIGH", "AXPARTS"))
            edges = low + np.arange(parts + 1) / parts * (high - low)
            number = max(np.searchsorted(edges, z) - 1, 0)
            part = number if i == 1 else part
            sigma.append(reference(z, edges[number], edges[number + 1]))
        coefficients = np.array(row["COEFFICIENTS"][field, part], dtype=float)
    values = (chebyshev.chebval, chebyshev.chebval2d, chebyshev.chebval3d)[len(sigma) - 1]
    return values(*sigma, coefficients), np.abs(coefficients).sum()


@pytest.mark.parametrize("arguments, points", [
    (["burgers", "--modes", "8,12", "--tolerance", "1e-6", "--subdomains", 2], ["0.1", "0.5", "0.75", "1"]),
    (["burgers-viscosity", "--modes", "6,12,4", "--set", "t1=0.2", "--tolerance", "1e-5"], ["0.25:0.2", "0.9:0.33"]),
])
def test_fits_file_evaluates_to_the_printed_values(zonal, tmp_path, arguments, points):
    report = zonal("solve", *arguments, "--at", ",".join(points), "-o", "u.fits")
    assert report["output"] == "u.fits"
    for text, value in zip(points, report["values"]):
        result, size = evaluate(tmp_path / "u.fits", [report["settings"]["t1"], *map(float, text.split(":"))])
        # Clenshaw's recurrence on some 20 coefficients an axis, in another order of axes.
        assert result == pytest.approx(value, rel=0, abs=20 * np.finfo(float).eps * size)


def test_fits_file_of_ordinary_equations_holds_every_field(zonal, tmp_path):
    report = zonal("solve", "lorenz63", "--set", "t1=2", "--tolerance", "1e-9", "--highest-mode", "tau", "-o", "l.fits.gz")
    with fits.open(tmp_path / "l.fits.gz") as file:
        file.verify("exception")
        header, rows = file["SOLUTION"].header, file["SOLUTION"].data
        assert header["PROBLEM"] == "lorenz63" and header["HIGHMODE"] == "tau" and header["TOL"] == 1e-9
        assert [header[f"FIELD{i}"] for i in (1, 2, 3)] == ["x", "y", "z"] and header["N_AXES"] == 0
        n_parameters = len(header["PARAM*"])
        assert {header[f"PARAM{i}"]: header[f"PVALUE{i}"] for i in range(1, n_parameters + 1)} == report["settings"]
        assert header["ESTERROR"] == largest(report["errors"]) and header["STEPS"] == report["iterations"]
        assert rows["COEFFICIENTS"].shape == (report["intervals"], 3, 1, header["TMODES"] + 1)
        assert rows["ERRORS"][-1] == pytest.approx(report["errors"], rel=0, abs=0)
        assert rows["T_LOWER"][0] == 0 and rows["T_UPPER"][-1] == 2
        assert np.array_equal(rows["T_LOWER"][1:], rows["T_UPPER"][:-1])
        assert "zonal solve lorenz63" in "".join(header["HISTORY"])
    for field, value in enumerate(report["values"]):
        result, size = evaluate(tmp_path / "l.fits.gz", [2.0], field)
        assert result == pytest.approx(value, rel=0, abs=20 * np.finfo(float).eps * size)


def test_fits_file_without_errors_and_its_description(zonal, tmp_path):
    zonal("solve", "heat", "--modes", "6,8", "--tolerance", "1e-6", "--no-errors", "-o", "u.fits")
    with fits.open(tmp_path / "u.fits") as file:
        assert file["SOLUTION"].columns.names == ["T_LOWER", "T_UPPER", "COEFFICIENTS"]
        assert "ESTERROR" not in file["SOLUTION"].header
        intervals = len(file["SOLUTION"].data)
    report = zonal("info", "u.fits")
    assert report["kind"] == "solution" and report["problem"] == "heat" and report["fields"] == ["u"]
    assert report["intervals"] == intervals and report["t"] == [0, 1]


def test_damaged_fits_file_is_one_line(zonal, tmp_path, fails):
    zonal("solve", "heat", "--modes", "6,8", "--tolerance", "1e-6", "-o", "u.fits")
    with fits.open(tmp_path / "u.fits", mode="update") as file:
        del file["SOLUTION"].header["AXLOW1"]
    line = fails(1, "info", "u.fits")
    assert "u.fits: HDU 1 'SOLUTION': AXLOW1 is missing" in line


def test_replaces_fits_files_only_when_told(zonal, tmp_path, fails):
    (tmp_path / "u.fits").write_text("mine")
    assert "--overwrite" in fails(1, "solve", "heat", "-o", "u.fits")
    assert (tmp_path / "u.fits").read_text() == "mine"
    zonal("solve", "heat", "--modes", "6,8", "--tolerance", "1e-6", "-o", "u.fits", "--overwrite")
    assert (tmp_path / "u.fits").read_bytes().startswith(b"SIMPLE")


def test_keeps_existing_files(tmp_path, fails):
    (tmp_path / "u.csv").write_text("mine")
    assert "--overwrite" in fails(1, "solve", "heat", "-o", "u.csv")
    assert (tmp_path / "u.csv").read_text() == "mine"


@pytest.mark.parametrize("arguments, words", [
    (["flow"], ["problem = flow", "burgers"]),
    (["burgers", "--set", "mu=1"], ["mu", "nu, parabola, t0, t1"]),
    (["burgers", "--set", "nu=-1"], ["nu = -1", "0.0001"]),
    (["burgers", "--set", "nu=x"], ["--set nu", "x", "number"]),
    (["burgers", "--set", "nu"], ["--set = nu", "NAME=VALUE"]),
    (["burgers", "--set", "nu=1", "--set", "nu=2"], ["nu", "twice"]),
    (["burgers", "--set", "t1=0"], ["t1 = 0", "above t0"]),
    (["burgers", "--at", "2"], ["--at = 2", "from 0 to 1"]),
    (["burgers", "--at", "0.5:0.5"], ["--at", "one coordinate"]),
    (["advection-diffusion", "--at", "0.5"], ["--at", "two coordinates"]),
    (["heat", "--modes", "4"], ["modes = 4", "takes 2"]),
    (["heat", "--modes", "1,8"], ["time_modes = 1", "2 to 1024"]),
    (["heat", "--modes", "8,1"], ["modes = 1", "boundary conditions"]),
    (["lorenz63", "--at", "0.5"], ["--at", "lorenz63", "no space"]),
    (["lorenz63", "--subdomains", "2"], ["subdomains = 2"]),
    (["heat", "--solver", "guess"], ["--solver", "guess", "newton-krylov"]),
    (["heat", "--tolerance", "1"], ["--tolerance", "0.1"]),
    (["heat", "--device", "tpu"], ["--device", "tpu", "auto, cpu, cuda"]),
    (["heat", "-o", "u.txt"], ["u.txt", "CSV", ".fits"]),
    (["heat", "-o", "u"], ["u: ", "CSV or FITS"]),
    (["heat", "-o", "u.csv.gz"], ["u.csv.gz", "CSV or FITS"]),
    (["heat", "--plot", "u.jpg"], ["u.jpg", ".png, .pdf or .svg"]),
])
def test_wrong_use_is_one_line_that_names_what(fails, arguments, words):
    line = fails(2, "solve", *arguments)
    for word in words:
        assert word in line, line


def test_failure_says_where_and_how(fails):
    line = fails(1, "solve", "burgers", "--set", "nu=0.0005", "--modes", "6,20", "--interval", 1)
    for word in ("t = [0, 1]", "residual", "steps"):
        assert word in line, line


def test_unresolved_solution_comes_with_a_note():
    result = call("solve", "burgers", "--set", "nu=0.01", "--modes", "8,24", "--tolerance", "1e-3")
    assert result.code == 0 and "estimated error" in result.err
