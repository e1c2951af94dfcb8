"""zonal plan and zonal smooth --method auto: the same request, the same list."""

import json

import pytest

from conftest import EPS, runner_with_white_map, write_costs

NSIDE, LMAX = 64, 128
KERNEL = ("--fwhm", "6deg", "--lmax", LMAX)
ERROR = ("--error", "1e-4")


@pytest.fixture
def run(tmp_path):
    """white.fits of nside 64, costs.json, and a function that runs zonal with --costs where it plans."""
    return runner_with_white_map(tmp_path, NSIDE)


@pytest.mark.parametrize("fwhm, lmax, error", [("6deg", 128, "1e-4"), ("20deg", 150, "1e-3"), ("60deg", 64, "1e-5")])
@pytest.mark.parametrize("reference", [(), ("--reference", "discrete")])
def test_plan_and_smooth_list_the_same(run, fwhm, lmax, error, reference):
    request = ("--fwhm", fwhm, "--lmax", lmax, "--error", error, "--costs", "costs.json", *reference)
    listed = run("plan", "--nside", NSIDE, *request)["choices"]
    report = run("smooth", "white.fits", "out.fits", *request, "--method", "auto", "--explain")
    assert len(listed) == len(report["choices"]) >= (1 if fwhm == "60deg" else 3)
    for ours, theirs in zip(report["choices"], listed):
        assert ours.keys() == theirs.keys()
        for key, value in ours.items():
            assert value == (theirs[key] if isinstance(value, str) else pytest.approx(theirs[key], rel=1e-9)), key
    best = listed[0]
    assert report["method"] == best["method"]
    if best["method"] != "harmonic":
        assert report["support_deg"] == pytest.approx(best["support_arcmin"] / 60)
        assert report["precision"] == best["precision"]


def test_auto_cuts_further_out_where_that_is_faster(run, tmp_path):
    """A hard cut makes the ring FFT sum over pixels in the polar caps."""
    write_costs(tmp_path / "costs.json", legendre=1e6)
    costs = json.loads((tmp_path / "costs.json").read_text())
    for name, values in costs["devices"][0]["scalar"].items():
        if name.startswith("ring_fft"):
            values["pixel_product"] *= 1e4
            values["uneven_product"] *= 1e4
        if name.startswith("pixel_sum"):
            values["pixel_product"] *= 1e6
            values["uneven_product"] *= 1e6
    (tmp_path / "costs.json").write_text(json.dumps(costs))
    report = run("smooth", "white.fits", "out.fits", *KERNEL, *ERROR, "--costs", "costs.json", "--method", "auto", "--explain",
                 "--precision", "double", "--reference", "discrete")
    supports = sorted(row["support_arcmin"] for row in report["choices"] if row["method"] == "ring-fft")
    assert report["method"] == "ring-fft" and len(supports) == 2 and supports[0] < supports[1]
    assert report["support_deg"] == pytest.approx(supports[1] / 60, rel=8 * EPS, abs=0)
    assert report["certified_error"] <= 1e-4
