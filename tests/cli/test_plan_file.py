"""Plans that zonal plan and zonal smooth keep, and smooth follows."""

import json

import numpy as np
import pytest
from conftest import read_map, runner_with_white_map

NSIDE, LMAX = 64, 128
KERNEL = ("--fwhm", "6deg", "--lmax", LMAX)
ERROR = ("--error", "1e-4")


@pytest.fixture
def run(tmp_path):
    """A run as below of white.fits of nside 64, where by costs.json sums over pixels are fastest."""
    return runner_with_white_map(tmp_path, NSIDE, legendre=4)


@pytest.fixture
def plan(run, tmp_path):
    """plan.json by zonal plan; returns its content."""
    run("plan", "--nside", NSIDE, *KERNEL, *ERROR, "--costs", "costs.json", "-o", "plan.json")
    return json.loads((tmp_path / "plan.json").read_text())


@pytest.mark.parametrize("method", ["auto", "split"])
def test_a_plan_gives_the_same_map_again(run, tmp_path, method):
    saved = run("smooth", "white.fits", "a.fits", *KERNEL, *ERROR, "--costs", "costs.json", "--method", method, "--save-plan",
                "plan.json")
    assert saved["plan_output"] == "plan.json"
    used = run("smooth", "white.fits", "b.fits", *KERNEL, "--plan", "plan.json")
    assert np.array_equal(read_map(tmp_path / "a.fits"), read_map(tmp_path / "b.fits"))
    for key in ("method", "estimated_error", "device", "precision", "predicted_seconds"):
        assert used[key] == saved[key], key
    assert used["plan"] == "plan.json" and used["error"] == 1e-4
    if method == "split":
        assert used["l_cut"] == saved["l_cut"] and used["theta_cut_arcmin"] == saved["theta_cut_arcmin"]
        assert used["plan_seconds"] < 0.5 * saved["plan_seconds"]


def test_zonal_plan_keeps_what_smooth_follows(run, plan):
    assert plan["zonal_plan"] == 1 and plan["grid"] == "healpix nside=64" and plan["lmax"] == LMAX
    assert plan["error"] == 1e-4 and plan["reference"] == "discrete" and plan["spectrum"] == "white"
    assert plan["costs"] == "made up" and "threads" in plan["machine"]
    choice = plan["choice"]
    assert {"method", "device", "precision", "support_rad", "accuracy", "iterations", "predicted_seconds",
            "predicted_error"} <= choice.keys()
    report = run("smooth", "white.fits", "out.fits", *KERNEL, "--error", "1e-3", "--plan", "plan.json")
    assert report["method"] == choice["method"]
    assert report["support_deg"] == pytest.approx(np.degrees(choice["support_rad"]))


def test_a_plan_of_another_machine_is_a_note(run, plan, tmp_path):
    plan["machine"] = "an abacus"
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    report = run("smooth", "white.fits", "out.fits", *KERNEL, "--plan", "plan.json")
    assert any("an abacus" in note for note in report["notes"]) and "predicted_seconds" not in report


def edit(plan, key, value):
    *path, last = key.split(".")
    for part in path:
        plan = plan[part]
    plan[last] = value


@pytest.mark.parametrize("key, value, arguments, words", [
    ("grid", "healpix nside=32", [], ["grid = healpix nside=32", "healpix nside=64"]),
    ("lmax", 100, [*KERNEL], ["lmax = 100", "128"]),
    ("error", 1e-3, ["--error", "1e-4"], ["error = 0.001", "at most 0.0001"]),
    ("reference", "continuous", ["--reference", "discrete"], ["reference = continuous", "discrete"]),
    ("spectrum", "hash 1", [], ["spectrum = hash 1", "white"]),
    ("choice.device", "cuda:0", ["--device", "cpu"], ["device = cuda:0", "--device", "cpu"]),
    ("error", 1e-4, ["--fwhm", "7deg"], ["kernel", "gaussian fwhm=0.10472", "gaussian fwhm=0.122173"]),
    ("error", 1e-4, ["--input-cl", "cl.txt"], ["spectrum = white", "--input-cl"]),
])
def test_a_request_that_is_another_is_an_error(run, plan, fails, tmp_path, key, value, arguments, words):
    np.savetxt(tmp_path / "cl.txt", np.transpose([np.arange(200), np.arange(200) + 1.0]), header="l TT")
    edit(plan, key, value)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    kernel = arguments if "--fwhm" in arguments else ["--fwhm", "6deg", *arguments]
    line = fails(2, "smooth", "white.fits", "out.fits", *kernel, "--plan", "plan.json")
    for word in ["plan.json", *words]:
        assert word in line, line


@pytest.mark.parametrize("text, word", [
    ("{", "no plan"), ("{}", "zonal_plan"), ('{"zonal_plan": 2}', "zonal_plan = 2: must be 1"),
    ('{"zonal_plan": 1, "machine": 3}', "no plan"),
])
def test_what_is_no_plan_is_an_error(run, fails, tmp_path, text, word):
    (tmp_path / "plan.json").write_text(text)
    line = fails(1, "smooth", "white.fits", "out.fits", "--fwhm", "6deg", "--plan", "plan.json")
    assert "plan.json" in line and word in line


def test_plans_are_kept_and_not_overwritten(run, plan, fails):
    request = ("--nside", NSIDE, *KERNEL, *ERROR, "--costs", "costs.json")
    assert "exists already" in fails(1, "plan", *request, "--save-plan", "plan.json")
    run("plan", *request, "--save-plan", "plan.json", "--overwrite")
    assert ".json" in fails(2, "plan", *request, "--save-plan", "plan.fits")


@pytest.mark.parametrize("arguments, words", [
    (["--save-plan", "p.json"], ["--save-plan", "--method auto"]),
    (["--plan", "p.json", "--cut", "1deg"], ["--plan", "--cut"]),
    (["--plan", "p.json", "--explain"], ["--plan", "--explain"]),
    (["--plan", "p.json"], ["p.json", "cannot be opened"]),
])
def test_wrong_use_is_one_line(sky, fails, arguments, words):
    code = 1 if "cannot be opened" in words else 2
    line = fails(code, "smooth", "sky.fits", "out.fits", "--fwhm", "9deg", "--field", "0", "--no-pol", *arguments)
    for word in words:
        assert word in line
