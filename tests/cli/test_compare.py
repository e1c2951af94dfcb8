"""zonal compare: how two maps differ, and whether by more than --limit."""

import json

import healpy
import numpy as np
import pytest

from conftest import DATA, UNSEEN, call

WMAP = DATA / "wmap" / "wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits"
WMAP_F90 = DATA / "wmap" / "wmap_W_smoothed10deg_healpix_f90.fits"


@pytest.fixture
def other(sky, tmp_path):
    """sky.fits with pixel 77 of Q off by 1e-3 of Q's scale, as other.fits."""
    maps = np.array(sky)
    maps[1][77] += 1e-3 * np.abs(sky[1]).max()
    healpy.write_map(tmp_path / "other.fits", maps, dtype=np.float64, extra_header=[("POLCCONV", "COSMO")])


def test_equal_maps_are_within_any_limit(sky, zonal):
    for limit in ("1e-15", "0"):
        report = zonal("compare", "sky.fits", "sky.fits", "--limit", limit)
        assert report["within_limit"] is True and report["limit"] == float(limit)


def test_limit_of_zero_permits_no_difference(other, tmp_path):
    assert call("compare", "other.fits", "sky.fits", "--limit", "0", cwd=tmp_path).code == 1


def test_smoothed_wmap_agrees_with_healpix_f90_to_a_millionth(zonal):
    zonal("smooth", WMAP, "out.fits", "--fwhm", "10deg", "--lmax", "64", "--iter", "3")
    report = zonal("compare", "out.fits", WMAP_F90, "--limit", "1e-6")
    assert report["within_limit"] is True and "equal" in report["verdict"]


def test_limit_is_relative_to_each_columns_scale(other, zonal):
    assert zonal("compare", "other.fits", "sky.fits", "--limit", "1.01e-3")["within_limit"] is True


def test_difference_beyond_the_limit_is_exit_code_1_with_the_report(other, tmp_path):
    result = call("compare", "other.fits", "sky.fits", "--limit", "0.99e-3", cwd=tmp_path)
    assert result.code == 1 and "within limit  no" in result.out and "max difference" in result.out
    assert len(result.err.splitlines()) == 1
    for word in ("other.fits", "sky.fits", "Q_POLARISATION", "0.001", "pixel 77", "--limit is 0.00099"):
        assert word in result.err, result.err


def test_difference_beyond_the_limit_is_one_json_object(other, tmp_path):
    result = call("compare", "other.fits", "sky.fits", "--limit", "1e-6", "--json", cwd=tmp_path)
    report = json.loads(result.out)
    assert result.code == 1 and report["exit_code"] == 1 and report["within_limit"] is False
    assert "Q_POLARISATION" in report["error"] and len(report["columns"]) == 3


def test_quiet_leaves_the_verdict_alone(other, tmp_path):
    result = call("compare", "other.fits", "sky.fits", "--limit", "1e-6", "--quiet", cwd=tmp_path)
    assert result.code == 1 and result.out == "" and len(result.err.splitlines()) == 1


def test_without_a_limit_any_difference_is_success(other, zonal):
    assert "within_limit" not in zonal("compare", "other.fits", "sky.fits")


@pytest.mark.parametrize("unseen, words", [(slice(5, 8), "3 pixels are UNSEEN in one map only"),
                                           (slice(None), "3072 pixels are UNSEEN")])
def test_pixels_of_one_map_only_are_beyond_any_limit(sky, tmp_path, unseen, words):
    holes = np.array(sky)
    holes[0][unseen] = UNSEEN
    healpy.write_map(tmp_path / "holes.fits", holes, dtype=np.float64)
    result = call("compare", "holes.fits", "sky.fits", "--limit", "1", cwd=tmp_path)
    assert result.code == 1 and words in result.err


def test_maps_without_a_common_pixel_are_not_equal(tmp_path):
    healpy.write_map(tmp_path / "none.fits", np.full(48, UNSEEN), dtype=np.float64)
    result = call("compare", "none.fits", "none.fits", "--limit", "1", cwd=tmp_path)
    assert result.code == 1 and "no pixel" in result.err


@pytest.mark.parametrize("limit", ["-1", "nan", "1e-6x", ""])
def test_limit_must_be_a_number_and_not_negative(sky, fails, limit):
    assert "--limit" in fails(2, "compare", "sky.fits", "sky.fits", f"--limit={limit}")


def test_limit_zero_asks_for_equal_maps(sky, zonal, tmp_path):
    assert zonal("compare", "sky.fits", "sky.fits", "--limit", "0")["within_limit"]
    healpy.write_map(tmp_path / "other.fits", sky * (1 + 1e-15), dtype=np.float64)
    assert call("compare", "sky.fits", "other.fits", "--limit", "0", cwd=tmp_path).code == 1
