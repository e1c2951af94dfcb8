"""zonal plan and zonal calibrate: ways to convolve, by their cost."""

import json

import numpy as np
import pytest
from conftest import call, write_costs

NARROW = ("plan", "--nside", 256, "--lmax", 512, "--fwhm", "60arcmin", "--error", "1e-4", "--threads", 1)


def plan(tmp_path, *arguments, **environment):
    result = call(*arguments, "--json", cwd=tmp_path, env={"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path), **environment})
    assert result.code == 0, result.err
    return result.report


def test_lists_the_fastest_first_and_keeps_the_error(tmp_path):
    report = plan(tmp_path, *NARROW)
    assert report["costs"] == "default" and any("zonal calibrate" in note for note in report["notes"])
    allowed = [row for row in report["choices"] if "excluded" not in row]
    assert {row["method"] for row in report["choices"]} >= {"ring-fft", "pixel-sum", "harmonic"}
    assert [row["seconds"] for row in allowed] == sorted(row["seconds"] for row in allowed)
    assert all(row["error"] <= 1e-4 for row in allowed)
    assert "excluded" not in report["choices"][0]


def test_continuous_reference_takes_iterations(tmp_path):
    report = plan(tmp_path, *NARROW, "--reference", "continuous", "--quadrature-error", "2e-3")
    best = report["choices"][0]
    assert best["method"] == "harmonic" and best["iterations"] == 2  # 2e-3 / 8^2 = 3e-5
    assert all("wrong by" in row["excluded"] for row in report["choices"][1:])


def test_quadrature_error_is_measured(tmp_path):
    report = plan(tmp_path, *NARROW, "--reference", "continuous")
    assert 1e-4 < report["quadrature_error"] < 1e-1  # white maps
    assert report["choices"][0]["method"] == "harmonic"


def test_splits_the_skys_kernel(tmp_path):
    l = np.arange(1025)
    np.savetxt(tmp_path / "cl.txt", np.transpose([l, np.where(l > 1, 1 / np.maximum(l, 1.0) ** 2, 0)]), header="l TT")
    report = plan(tmp_path, "plan", "--nside", 512, "--lmax", 1024, "--kernel", "cl-beam", "--cl", "cl.txt", "--fwhm",
                  "30arcmin", "--error", "1e-3", "--threads", 1, "--maps", 100)
    splits = [row for row in report["choices"] if row["method"] == "split"]
    assert splits and all(0 <= row["l_cut"] < 1024 and row["support_arcmin"] > 0 for row in splits)


def test_calibration_is_kept_and_taken_and_a_damaged_one_is_a_note(tmp_path):
    report = plan(tmp_path, "calibrate", "--threads", 1)
    file = json.loads((tmp_path / "zonal" / report["output"].rsplit("/", 1)[1]).read_text())
    assert file["machine"] == report["machine"] and "1 threads" in file["machine"]
    costs = file["devices"][0]
    assert costs["device"] == "cpu" and costs["synthesis"]["legendre_flop"] > 0
    assert costs["ring_fft_double"]["fft_pixel"] > 0
    assert plan(tmp_path, *NARROW)["costs"] == file["machine"]
    with open(report["output"], "w") as damaged:
        damaged.write("{")
    result = plan(tmp_path, *NARROW)
    assert result["costs"] == "default" and any("cannot be read" in note for note in result["notes"])


def test_costs_of_a_file_are_taken(tmp_path):
    before = plan(tmp_path, *NARROW)["choices"]
    write_costs(tmp_path / "costs.json", legendre=1000)
    report = plan(tmp_path, *NARROW, "--costs", "costs.json")
    assert report["costs"] == "made up" and not any("default" in note for note in report["notes"])
    slow, fast = (next(row["seconds"] for row in rows if row["method"] == "harmonic") for rows in (report["choices"], before))
    assert slow > 100 * fast
    (tmp_path / "costs.json").write_text('{"machine": "x", "devices": []}')
    result = call(*NARROW, "--costs", "costs.json", cwd=tmp_path)
    assert result.code == 1 and "costs.json: is no file of costs" in result.err


@pytest.mark.parametrize("arguments, words", [
    (["--lmax", "64", "--fwhm", "1deg"], ["--nside"]),
    (["--nside", "64", "--lmax", "128"], ["--fwhm"]),
    (["--nside", "64", "--lmax", "192", "--fwhm", "1deg"], ["--lmax = 192", "3*nside-1 = 191"]),
    (["--nside", "64", "--lmax", "128", "--fwhm", "1deg", "--quadrature-error", "1e-4"], ["--reference continuous"]),
    (["--nside", "64", "--lmax", "128", "--fwhm", "1deg", "--error", "2"], ["--error", "2"]),
])
def test_wrong_use_is_one_line(fails, arguments, words):
    line = fails(2, "plan", *arguments)
    for word in words:
        assert word in line
