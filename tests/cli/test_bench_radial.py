"""zonal-bench radial: what it reports, and that the errors are what the methods promise."""

import numpy as np
import pytest

SMALL = ("radial", "--nside", "64", "--fwhm", "3deg", "--repeat", "1")


@pytest.mark.parametrize("method", ["pixel-sum", "ring-fft", "harmonic"])
def test_report_has_times_errors_method_and_reference(bench, method):
    report = bench(*SMALL, "--method", method, "--lmax", "128", "--maps", "2", "--threads", "1")
    for key in ("seconds", "seconds_with_transfers", "plan_seconds", "total_seconds"):
        assert report[key] > 0, key
    assert report["method"] == method and report["reference"] == "discrete" and report["maps"] == 2
    assert "sum over pixels" in report["reference_is"] and report["weights"] == "none"
    assert ("parts_seconds" in report) == (method != "harmonic")
    # The default error 1e-5 chose the cut, which a harmonic run sees: its kernel's window ends at lmax.
    assert 0.99e-5 < report["truncation_error"] <= 1e-5
    assert report["rms_error"] <= (1e-12 if method != "harmonic" else 1e-4)


@pytest.mark.parametrize("method", ["pixel-sum", "ring-fft"])
def test_float_is_right_to_float(bench, method):
    report = bench(*SMALL, "--method", method, "--precision", "float", "--cut", "8deg")
    assert report["precision"] == "float" and 1e-9 < report["max_error"] <= 1e-6


@pytest.mark.parametrize("method", ["pixel-sum", "ring-fft", "harmonic"])
@pytest.mark.parametrize("precision", ["float", "double"])
def test_q_and_u_have_the_same_report(bench, method, precision):
    arguments = (*SMALL, "--method", method, "--lmax", "128", "--maps", "2", "--threads", "1", "--precision", precision)
    report, scalar = bench(*arguments, "--spin", "2"), bench(*arguments)
    assert report.keys() == scalar.keys() and (report["spin"], scalar["spin"]) == (2, 0)
    assert 0.99e-5 < report["truncation_error"] <= 1e-5 and "sum over pixels" in report["reference_is"]
    assert report["rms_error"] <= (1e-4 if method == "harmonic" else 1e-6 if precision == "float" else 1e-12)


def test_q_and_u_from_the_alm_that_they_are_made_of(bench, tmp_path):
    report = bench("radial", "--nside", "64", "--repeat", "1", "--fwhm", "8deg", "--spin", "2", "--method", "harmonic", "--reference", "continuous", "--lmax", "96",
                   "--iter", "3", "--error", "1e-9")
    assert report["reference"] == "continuous" and report["rms_error"] < 1e-6
    l = np.arange(97)
    np.savetxt(tmp_path / "cl.txt", np.transpose([l, *[1 / (l + 1.0)] * 2]), header="l TT EE")
    report = bench("radial", "--nside", "64", "--repeat", "1", "--fwhm", "8deg", "--spin", "2", "--method", "ring-fft", "--lmax", "96", "--cl", "cl.txt")
    assert report["rms_error"] < 1e-11  # the default accuracy of the kernel's values


def test_pixel_weights_bring_the_sum_to_the_continuous_answer(bench, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    # The weights integrate degrees up to 160, the map's 40 times the kernel's, of which above 120 1e-11 is left.
    arguments = ("radial", "--nside", "64", "--fwhm", "8deg", "--method", "pixel-sum", "--reference", "continuous",
                 "--lmax", "40", "--error", "1e-9", "--repeat", "1")
    plain, weighted = bench(*arguments), bench(*arguments, "--weights", "pixel")
    assert plain["rms_error"] > 1e-6 and weighted["rms_error"] < 3e-9
    assert weighted["weights"] == "pixel" and weighted["reference"] == "continuous"


def test_other_grids_are_measured_too(bench):
    report = bench("radial", "--gauss", "64", "--fwhm", "4deg", "--method", "ring-fft", "--lmax", "63", "--repeat", "1")
    assert report["grid"] == "gauss-legendre rings=64" and report["rms_error"] < 1e-11


@pytest.mark.parametrize("arguments, words", [
    ("radial --nside 16 --fwhm 9deg", ["--method"]),
    ("radial --nside 16 --method ring-fft", ["--fwhm"]),
    ("radial --nside 16 --fwhm 9deg --method fft", ["fft", "ring-fft"]),
    ("radial --nside 16 --fwhm 9deg --method ring-fft --iter 3", ["--iter", "harmonic"]),
    ("radial --nside 16 --fwhm 9deg --method ring-fft --cut 20deg --error 1e-3", ["--cut", "--error"]),
    ("radial --nside 16 --fwhm 9deg --method ring-fft --cut 200deg", ["--cut", "180deg"]),
    ("radial --nside 16 --fwhm 9deg --method ring-fft --spin 1", ["--spin = 1", "0, or 2"]),
    ("radial --gauss 16 --fwhm 9deg --method ring-fft --weights pixel", ["--weights", "HEALPix"]),
    ("sht --nside 16 --fwhm 9deg", ["--fwhm", "zonal-bench sht"]),
])
def test_misuse_is_one_line(bench_fails, arguments, words):
    line = bench_fails(2, *arguments.split())
    for word in words:
        assert word in line, line
