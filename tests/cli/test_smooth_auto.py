"""zonal smooth --method auto: the planner's choice, and what it was chosen from."""

import healpy
import numpy as np
import pytest

from attack_maps import Grid
from certificate_attacks import sum_over_pixels
from conftest import EPS, call, write_costs

DISCRETE = ("--reference", "discrete")


@pytest.fixture
def map_256(tmp_path):
    rng = np.random.default_rng(3)
    size = healpy.Alm.getsize(128)
    alm = rng.normal(size=size) + 1j * rng.normal(size=size)
    alm[:129] = alm[:129].real
    healpy.write_map(tmp_path / "map.fits", healpy.alm2map(alm, 64), dtype=np.float64)


def smooth(tmp_path, *arguments):
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    result = call("smooth", "map.fits", *arguments, "--json", cwd=tmp_path, env=environment)
    assert result.code == 0, result.err
    return result.report


def read(path):
    return healpy.read_map(path, dtype=np.float64)


def relative(found, expected):
    return np.sqrt(np.mean((found - expected) ** 2) / np.mean(expected**2))


@pytest.mark.parametrize("fwhm, is_harmonic", [("2deg", False), ("70deg", True)])
def test_takes_the_first_of_the_list_that_keeps_the_error(map_256, tmp_path, fwhm, is_harmonic):
    report = smooth(tmp_path, "auto.fits", "--fwhm", fwhm, "--method", "auto", "--error", "1e-4", "--explain", *DISCRETE)
    best = next(row for row in report["choices"] if "excluded" not in row)
    assert report["method_asked_for"] == "auto" and report["method"] == best["method"]
    assert (best["method"] == "harmonic") == is_harmonic
    assert report["predicted_seconds"] == best["seconds"]
    assert report["reference"] == "discrete" and report["error_is"] == "certified for this map"
    # the sum over all pixels, by all degrees of the window
    window = healpy.gauss_beam(np.radians(float(fwhm[:-3])), lmax=600)
    whole = sum_over_pixels(Grid(64), read(tmp_path / "map.fits")[None], [window])[0]
    assert relative(read(tmp_path / "auto.fits"), whole) <= report["certified_error"] <= report["error_bound"] == 1e-4


def test_does_what_the_first_row_of_its_list_says(map_256, tmp_path):
    report = smooth(tmp_path, "auto.fits", "--fwhm", "2deg", "--method", "auto", "--error", "1e-4", "--explain", *DISCRETE)
    best = report["choices"][0]
    assert report["support_deg"] == pytest.approx(best["support_arcmin"] / 60) and report["precision"] == best["precision"]
    # The same cut, and the factor that the report states.
    smooth(tmp_path, "named.fits", "--fwhm", "2deg", "--method", report["method"], "--cut", f"{report['support_deg']!r}deg",
           "--precision", report["precision"], "--normalize", "none")
    auto, named = read(tmp_path / "auto.fits"), report["scale"] * read(tmp_path / "named.fits")
    # By name and with --cut the kernel's values are as good as can be; a plan has `accuracy`, of the peak.
    assert np.std(auto - named) <= 10 * best["accuracy"] * np.std(named)


@pytest.mark.parametrize("error", ["1e-3", "1e-5", "1e-7"])
def test_continuous_reference_takes_the_iterations_that_it_needs(tmp_path, error):
    rng = np.random.default_rng(4)
    l, m = healpy.Alm.getlm(128)
    alm = (rng.normal(size=l.size) + 1j * rng.normal(size=l.size)) / (l + 3.0)
    alm[:129] = alm[:129].real
    healpy.write_map(tmp_path / "map.fits", healpy.alm2map(alm, 64), dtype=np.float64)
    report = smooth(tmp_path, "out.fits", "--fwhm", "4deg", "--method", "auto", "--reference", "continuous", "--error",
                    error, "--lmax", 128, "--explain")
    expected = healpy.alm2map(healpy.almxfl(alm, healpy.gauss_beam(np.radians(4), lmax=128)), 64)
    assert np.std(read(tmp_path / "out.fits") - expected) <= float(error) * np.std(expected)
    assert report["certified_error"] <= float(error) and report["reference"] == "continuous"
    if error == "1e-7":
        assert report["method"] == "harmonic" and report["iterations"] >= 2


def test_counts_are_kept(map_256, tmp_path):
    report = smooth(tmp_path, "out.fits", "--fwhm", "70deg", "--method", "auto", "--error", "1e-3", "--normalize", "pixel")
    assert report["method"] != "harmonic"
    before, after = read(tmp_path / "map.fits"), read(tmp_path / "out.fits")
    # A random walk of the roundings of each pixel's kernel, of the convolution and of the sum.
    assert after.sum() == pytest.approx(before.sum(), rel=0, abs=4 * np.sqrt(before.size) * EPS * np.abs(before).sum())


@pytest.mark.parametrize("arguments, words", [
    (["--method", "auto", "--cut", "1deg"], ["method auto", "--cut"]),
])
def test_wrong_use_is_one_line(sky, fails, arguments, words):
    line = fails(2, "smooth", "sky.fits", "out.fits", "--fwhm", "9deg", "--field", "0", "--no-pol", *arguments)
    for word in words:
        assert word in line


@pytest.mark.parametrize("fwhm", ["5arcmin", "30arcmin"])
def test_kernels_narrower_than_a_pixel_are_not_summed_over_pixels(tmp_path, fwhm):
    # Pixels of nside 64 are 55 arcmin wide.
    healpy.write_map(tmp_path / "map.fits", np.full(12 * 64**2, 3.0), dtype=np.float64)
    report = smooth(tmp_path, "auto.fits", "--fwhm", fwhm, "--method", "auto")
    assert (report["method"], report["reference"]) == ("harmonic", "continuous")
    assert relative(read(tmp_path / "auto.fits"), np.full(12 * 64**2, 3.0)) <= report["certified_error"] <= 1e-5
    for arguments in (("--method", "pixel-sum"), ("--method", "ring-fft"), DISCRETE):
        refused = call("smooth", "map.fits", "no.fits", "--fwhm", fwhm, *arguments, cwd=tmp_path)
        assert refused.code == 2 and "so narrow" in refused.err and "normalization pixel" in refused.err
        assert not (tmp_path / "no.fits").exists()


@pytest.mark.parametrize("fwhm", ["5arcmin", "30arcmin"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernels_narrower_than_a_pixel_keep_counts(tmp_path, fwhm, dtype):
    counts = np.random.default_rng(3).poisson(1.3, 12 * 64**2).astype(dtype)
    healpy.write_map(tmp_path / "map.fits", counts, dtype=dtype)
    smooth(tmp_path, "out.fits", "--fwhm", fwhm, "--normalize", "pixel", "--keep-missed")
    found = read(tmp_path / "out.fits").astype(float)
    # Each pixel rounds when it is written: as floats by 2^-24 of itself.
    assert abs(found.sum() - counts.sum(dtype=float)) <= (2.0**-24 if dtype == np.float32 else 1e-12) * counts.sum(dtype=float)


@pytest.mark.parametrize("unit", [1e-46, 1e40])
def test_maps_beyond_the_range_of_single_precision_are_summed_in_double(tmp_path, unit):
    write_costs(tmp_path / "costs.json", legendre=1000)
    arguments = ("--fwhm", "5deg", "--method", "auto", "--costs", "costs.json", "--error", "1e-4", *DISCRETE)
    values = np.random.default_rng(5).normal(size=12 * 64**2)
    healpy.write_map(tmp_path / "map.fits", values, dtype=np.float64)
    one = smooth(tmp_path, "one.fits", *arguments)
    healpy.write_map(tmp_path / "map.fits", values * unit, dtype=np.float64, overwrite=True)
    report = smooth(tmp_path, "scaled.fits", *arguments)
    assert (one["precision"], report["precision"]) == ("float", "double")
    most = one["certified_error"] + report["certified_error"]
    assert relative(read(tmp_path / "scaled.fits") / unit, read(tmp_path / "one.fits")) <= most <= 2e-4


@pytest.mark.parametrize("unit", [1e-46, 1e40])
def test_maps_beyond_the_range_of_single_precision_are_not_summed_in_it(fails, tmp_path, unit):
    healpy.write_map(tmp_path / "map.fits", np.random.default_rng(5).normal(size=12 * 64**2) * unit, dtype=np.float64)
    line = fails(2, "smooth", "map.fits", "no.fits", "--fwhm", "5deg", "--method", "ring-fft", "--error", "1e-4", "--precision",
                 "float")
    assert "1e-25 to 1e25" in line
