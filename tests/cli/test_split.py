"""zonal split and zonal-bench split: kernels split between harmonic and pixel space."""

import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from numpy.polynomial.legendre import leggauss
from processes import interrupt
from scipy.interpolate import BSpline

from conftest import BENCH, DATA, EPS, ZONAL, assert_close

WMAP7 = DATA / "theory" / "wmap_lcdm_sz_lens_wmap7_cl_v4.fits"
SKY = ("--kernel", "cl-beam", "--cl", WMAP7, "--lmax", 4096, "--alpha", 5, "--cutoff", "1e-6", "--extend", "powerlaw")
SMALL = ("split", "--fwhm", "40arcmin", "--lmax", 1500, "--theta-cut", "5deg")


def sky_kernel(fwhm_arcmin):
    """sqrt(C_l) B_l of the paper's study."""
    c_l = np.array(fits.getdata(WMAP7).field(0), float)
    l = np.arange(4097)
    last = np.arange(len(c_l) - 400, len(c_l))
    power = np.polyfit(np.log(last), np.log(c_l[last]), 1)
    with np.errstate(divide="ignore"):
        c_l = np.append(c_l, np.exp(np.polyval(power, np.log(l[len(c_l):]))))
    sigma = np.radians(fwhm_arcmin / 60) / np.sqrt(8 * np.log(2))
    return np.sqrt(c_l) * np.exp(-l * (l + 1) * sigma**2 / 2)


def spline(table):
    """The profile of HDU SPLINE by scipy, from B-splines mirrored at 0."""
    knots, c = table["KNOT"], table["COEFFICIENT"][:-3]
    n = len(knots) - 1
    mirrored = np.concatenate([-knots[:0:-1], knots])
    parts = [BSpline.basis_element(mirrored[j : j + 7], extrapolate=False) for j in range(2 * n - 5)]
    coefficients = np.zeros(2 * n - 5)
    coefficients[n - 3 :] = c
    coefficients[: n - 3] = c[:0:-1]
    return lambda theta: sum(a * np.nan_to_num(b(theta)) for a, b in zip(coefficients, parts))


def window(knots, profile, lmax):
    """2 pi int profile P_l sin theta d theta, by another quadrature and another recurrence than zonal's."""
    x, w = leggauss(24)
    half = np.diff(knots)[:, None] / 2
    theta, weight = ((knots[:-1, None] + half) + half * x).ravel(), (half * w).ravel()
    f = 2 * np.pi * weight * np.sin(theta) * profile(theta)
    mu, before, p = np.cos(theta), np.zeros_like(theta), np.ones_like(theta)
    result = []
    for l in range(lmax + 1):
        result.append(f @ p)
        before, p = p, ((2 * l + 1) * mu * p - l * before) / (l + 1)
    return np.array(result)


@pytest.mark.parametrize("fwhm, theta_cut, at_most", [(7, 390, 772), (9, 360, 760), (12, 330, 712), (15, 270, 628)])
def test_finds_smaller_l_cut_than_the_paper_and_its_true_error_is_that_of_the_files(zonal, tmp_path, fwhm, theta_cut, at_most):
    report = zonal("split", *SKY, "--fwhm", f"{fwhm}arcmin", "--theta-cut", f"{theta_cut}arcmin", "--error", "1e-5",
                   "-o", "split.fits")
    assert report["l_cut"] <= at_most
    assert report["theta_cut_arcmin"] == pytest.approx(theta_cut)
    assert report["estimated_error"] <= 1e-5 and report["amplification"] <= 1 and report["leakage"] <= 1e-5
    kernel = sky_kernel(fwhm)
    with fits.open(tmp_path / "split.fits") as file:
        harmonic = np.array(file["WINDOW"].data["TEMPERATURE"])
        # WMAP's file has single precision, and the power law is fitted to it.
        assert_close(file["KERNEL"].data["KERNEL"], kernel, rtol=1e-6)
        kernel = np.array(file["KERNEL"].data["KERNEL"])
        profile = spline(file["SPLINE"].data)
        knots = np.array(file["SPLINE"].data["KNOT"])
        theta, values = file["PROFILE"].data["THETA"], file["PROFILE"].data["PROFILE"]
        assert knots[-1] == pytest.approx(np.radians(theta_cut / 60), rel=8 * EPS, abs=0)
        assert_close(profile(theta), values, rtol=0, atol=1e-13 * np.abs(values).max())
    assert not harmonic[report["l_cut"] + 1 :].any()
    l = np.arange(4097)
    error = harmonic + window(knots, profile, 4096) - kernel
    actual = np.sqrt(np.sum((2 * l + 1) * error**2) / np.sum((2 * l + 1) * kernel**2))
    assert actual <= 1e-5 / 5
    # Windows right to some eps, beside an error of 1e-6.
    assert report["actual_error"] == pytest.approx(actual, rel=0, abs=100 * EPS)


def test_reproduces_table_1(bench):
    table = bench("split", *SKY, "--reproduce-table1")["table"]
    assert [row["fwhm_arcmin"] for row in table] == list(range(7, 16))
    assert [row["l_cut_paper"] for row in table] == [1158, 1070, 1055, 979, 1014, 960, 940, 929, 961]
    for row in table:
        assert row["l_cut"] < 0.8 * row["l_cut_paper"]
        assert row["speedup"] >= row["speedup_paper"]
    # figure 10 of the paper
    assert table[0]["speedup_paper"] == pytest.approx(12.5, abs=0.1)


def test_fixed_l_cut_is_taken_and_its_error_reported(zonal):
    report = zonal(*SMALL, "--l-cut", 30, "--error", "1e-9")
    assert report["l_cut"] == 30 and report["estimated_error"] > 0
    assert report["notes"] == []
    narrow = zonal("split", "--fwhm", "40arcmin", "--lmax", 1500, "--theta-cut", "1deg", "--l-cut", 60, "--error", "1e-4")
    assert narrow["estimated_error"] > 1e-4
    assert any("--l-cut = 60" in note and "above --error = 0.0001" in note for note in narrow["notes"])


def test_window_of_a_file_gives_what_the_gaussian_gives(zonal, tmp_path):
    sigma = np.radians(40 / 60) / np.sqrt(8 * np.log(2))
    l = np.arange(1501)
    np.savetxt(tmp_path / "beam.txt", np.exp(-l * (l + 1) * sigma**2 / 2))
    ours = zonal(*SMALL, "--error", "1e-7")
    theirs = zonal("split", "--kernel", "window", "--beam", "beam.txt", "--lmax", 1500, "--theta-cut", "5deg", "--error", "1e-7")
    assert ours["l_cut"] == theirs["l_cut"]
    # Windows that are the same to some eps, beside an error of 1e-7.
    assert ours["estimated_error"] == pytest.approx(theirs["estimated_error"], rel=0, abs=16 * EPS)


def test_input_spectrum_and_noise_weight_the_error(zonal, tmp_path):
    l = np.arange(1501)
    np.savetxt(tmp_path / "cl.txt", np.transpose([l, 1 / (l + 10.0) ** 2]), header="l TT")
    near = ("split", "--fwhm", "40arcmin", "--lmax", 1500, "--theta-cut", "1deg", "--l-cut", 60)
    white = zonal(*near)
    steep = zonal(*near, "--input-cl", "cl.txt")
    wiener = zonal(*near, "--input-cl", "cl.txt", "--input-noise", "1e-4")
    assert wiener["estimated_error"] < steep["estimated_error"] < white["estimated_error"]


def test_draws_a_picture(zonal, tmp_path):
    zonal(*SMALL, "--plot", "split.png")
    assert (tmp_path / "split.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("precision, rounding", [("double", 1e-10), ("float", 3e-6)])
def test_verification_finds_errors_below_the_estimate(bench, tmp_path, precision, rounding):
    report = bench("split", "--fwhm", "4.5deg", "--lmax", 128, "--theta-cut", "18deg", "--error", "1e-3",
                   "--nside", 64, "--precision", precision, "--plot", "verify.png")
    assert len(report["verify"]) == 6
    for row in report["verify"]:
        # What leaks above lmax adds to the error of the windows. One sky of 129 degrees, of which a few near lmax
        # make the error, scatters by a few per cent.
        actual = np.hypot(row["window_error"], row["leakage"])
        assert row["map_error"] == pytest.approx(actual, rel=0.2, abs=rounding), row
        assert row["map_error"] <= 1e-3, row
        assert row["spectrum_error"] <= row["estimated_error"] + rounding, row
    assert (tmp_path / "verify.png").exists()


def test_draws_maps_of_the_verification(bench, tmp_path):
    report = bench("split", "--fwhm", "4.5deg", "--lmax", 128, "--theta-cut", "18deg", "--error", "1e-3",
                   "--nside", 64, "--verify-plot", "maps.png")
    picture = (tmp_path / "maps.png").read_bytes()
    assert report["verify_plot"] == "maps.png" and picture.startswith(b"\x89PNG")
    # Two full skies, three patches and three graphs, in rows of one width.
    assert int.from_bytes(picture[16:20], "big") == 1200 and int.from_bytes(picture[20:24], "big") == 975


def test_harmonic_part_is_a_beam_for_smooth(sky, zonal, tmp_path):
    report = zonal("split", "--fwhm", "20deg", "--lmax", 32, "--theta-cut", "30deg", "--l-cut", 5, "-o", "split.fits")
    zonal("smooth", "sky.fits", "out.fits", "--beam", "split.fits", "--lmax", 32)
    assert report["l_cut"] == 5


@pytest.mark.parametrize("outputs, words", [
    (["--plot", "a.png", "--verify-plot", "./a.png"], ["--verify-plot = ./a.png", "--plot is the same file"]),
    (["-o", "a", "--plot", "a"], ["--plot = a", "--output is the same file"]),
    (["-o", "a", "--verify-plot", "b/../a"], ["--verify-plot = b/../a", "--output is the same file"]),
])
def test_one_file_for_two_outputs_is_refused(bench_fails, tmp_path, outputs, words):
    (tmp_path / "b").mkdir()
    line = bench_fails(2, *SMALL, "--nside", 512, *outputs)
    for word in words:
        assert word in line


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("program, work", [
    # Windows and blocks of the fit; and then a singular value decomposition, which looks for no signal.
    (ZONAL, ["--fwhm", "40arcmin", "--lmax", 3000, "--theta-cut", "5deg", "--knots", 2000]),
    (ZONAL, ["--fwhm", "40arcmin", "--lmax", 60, "--theta-cut", "5deg", "--knots", 1200, "--l-cut", 20]),
    (BENCH, [*SMALL[1:], "--l-cut", 30, "--nside", 2048]),
])
def test_interrupted_split_ends_soon_and_leaves_nothing(tmp_path, number, program, work):
    command = [program, "split", *map(str, work), "-o", "out.fits", "--threads", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    out, err, computed = interrupt(process, number, after=1.5)  # the run would take much longer
    assert process.returncode == 130, err
    assert err == f"{Path(program).name} split: interrupted\n" and out == ""
    assert computed < 3
    assert {path.name for path in tmp_path.iterdir()} <= {"out.fits"}
    if program == ZONAL:  # a verification comes after the output
        assert not list(tmp_path.iterdir())


def test_says_when_there_is_no_split(tmp_path):
    from conftest import call

    result = call("split", "--fwhm", "10arcmin", "--lmax", "300", "--theta-cut", "5arcmin", "--error", "1e-12",
                  "--max-amplification", "1e-6", "--json", cwd=tmp_path)
    assert result.code == 1
    assert result.report["l_cut"] is None
    assert "no l_cut was found" in result.err and "of 65 below lmax = 300" in result.err and "fade" in result.err


@pytest.mark.parametrize("arguments, words", [
    (["--lmax", "100"], ["--fwhm"]),
    (["--fwhm", "1deg"], ["--theta-cut"]),
    (["--kernel", "cl-beam", "--fwhm", "1deg", "--theta-cut", "1deg"], ["--cl"]),
    (["--kernel", "window", "--theta-cut", "1deg"], ["--beam"]),
    (["--fwhm", "1deg", "--theta-cut", "1deg", "--beam", "b.txt"], ["--beam", "--kernel window"]),
    (["--fwhm", "1deg", "--theta-cut", "200deg"], ["--theta-cut = 200deg", "180deg"]),
    (["--fwhm", "1deg", "--theta-cut", "1deg", "--lmax", "100", "--l-cut", "100"], ["--l-cut = 100", "lmax = 100"]),
    (["--fwhm", "1deg", "--theta-cut", "1deg", "--input-noise", "1"], ["--input-noise", "--input-cl"]),
    (["--fwhm", "1deg", "--theta-cut", "1deg", "-o", "out.png"], ["out.png", "FITS"]),
    (["--fwhm", "1deg", "--theta-cut", "1deg", "--plot", "out.fits"], ["out.fits", "png"]),
    (["--fwhm", "1deg", "--theta-cut", "1deg", "--knots", "3"], ["--knots = 3", "7"]),
    (["--fwhm", "1deg", "--theta-cut", "1deg", "--extend", "zero"], ["--extend", "--cl"]),
    (["--kernel", "cl-beam", "--cl", str(WMAP7), "--fwhm", "7arcmin", "--theta-cut", "6deg"], ["--cl", "3726", "--extend"]),
])
def test_wrong_use_is_one_line(fails, arguments, words):
    line = fails(2, "split", *arguments)
    for word in words:
        assert word in line


TABLE1 = ("--reproduce-table1", "--kernel", "cl-beam", "--cl", str(WMAP7), "--extend", "powerlaw")


@pytest.mark.parametrize("arguments, words", [
    (["--fwhm", "1deg", "--theta-cut", "1deg"], ["--nside", "--reproduce-table1"]),
    (["--fwhm", "1deg", "--theta-cut", "1deg", "--verify-plot", "v.png"], ["--nside"]),
    (["--fwhm", "1deg", "--theta-cut", "1deg", "--nside", "32"], ["--lmax = 4096", "3*nside-1 = 95"]),
    (["--fwhm", "1deg", "--nside", "2048"], ["--theta-cut"]),
    (["--reproduce-table1"], ["--reproduce-table1", "cl-beam"]),
    ([*TABLE1, "--fwhm", "1deg"], ["--reproduce-table1", "--fwhm"]),
    ([*TABLE1, "-o", "out.fits"], ["--reproduce-table1", "--output"]),
    ([*TABLE1, "--seed", "2"], ["--reproduce-table1", "--seed"]),
    ([*TABLE1, "--precision", "float"], ["--reproduce-table1", "--precision"]),
    ([*TABLE1, "--input-noise", "1"], ["--input-noise", "--input-cl"]),
    ([*TABLE1, "--knots", "3"], ["--knots = 3", "7"]),
])
def test_wrong_use_of_the_verification_is_one_line(bench_fails, arguments, words):
    line = bench_fails(2, "split", *arguments)
    for word in words:
        assert word in line
