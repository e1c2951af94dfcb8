"""Plans that zonal plan and zonal smooth keep, and smooth follows."""

import json

import healpy
import numpy as np
import pytest
from attack_maps import Grid
from certificate_attacks import sum_over_pixels
from conftest import read_map, runner_with_white_map

NSIDE, LMAX = 64, 128
KERNEL = ("--fwhm", "6deg", "--lmax", LMAX)
ERROR = ("--error", "1e-4")
DISCRETE = ("--reference", "discrete")


@pytest.fixture
def run(tmp_path):
    """A run as below of white.fits of nside 64, where by costs.json sums over pixels are fastest."""
    return runner_with_white_map(tmp_path, NSIDE, legendre=100)


@pytest.fixture
def plan(run, tmp_path):
    """plan.json by zonal plan; returns its content."""
    run("plan", "--nside", NSIDE, *KERNEL, *ERROR, *DISCRETE, "--costs", "costs.json", "-o", "plan.json")
    return json.loads((tmp_path / "plan.json").read_text())


@pytest.mark.parametrize("method, reference, spectrum", [
    ("auto", "discrete", ()), ("auto", "continuous", ()), ("split", "discrete", ()),
    ("auto", "discrete", ("--input-cl", "white")), ("split", "discrete", ("--input-cl", "white"))])
def test_a_plan_gives_the_same_map_again(run, tmp_path, method, reference, spectrum):
    saved = run("smooth", "white.fits", "a.fits", *KERNEL, *ERROR, "--costs", "costs.json", "--method", method, "--reference",
                reference, *spectrum, "--save-plan", "plan.json")
    assert saved["plan_output"] == "plan.json" and saved["reference"] == reference
    assert (saved["method"] == "harmonic") == (reference == "continuous")
    used = run("smooth", "white.fits", "b.fits", *KERNEL, *spectrum, "--plan", "plan.json")
    assert np.array_equal(read_map(tmp_path / "a.fits"), read_map(tmp_path / "b.fits"))
    sums = () if reference == "continuous" else ("precision",)
    for key in ("method", "estimated_error" if spectrum else "certified_error", "device", "predicted_seconds", "reference", *sums):
        assert used[key] == saved[key], key
    assert used["plan"] == "plan.json" and used["error_bound"] == 1e-4
    if method == "split":
        assert used["l_cut"] == saved["l_cut"] and used["theta_cut_arcmin"] == saved["theta_cut_arcmin"]
        assert used["plan_seconds"] < 0.5 * saved["plan_seconds"]


def test_zonal_plan_keeps_what_smooth_follows(run, plan):
    assert plan["zonal_plan"] == 4 and plan["spin"] == 0 and plan["grid"] == "healpix nside=64" and plan["lmax"] == LMAX
    assert plan["error_bound"] == 1e-4 and plan["reference"] == "discrete" and plan["c_l"] == []
    assert plan["costs"] == "made up" and "threads" in plan["machine"] and 0 < plan["gain"] < 1
    choice = plan["choice"]
    assert {"method", "device", "precision", "support_rad", "accuracy", "iterations", "lmax", "tolerance", "predicted_seconds",
            "predicted_error"} <= choice.keys()
    report = run("smooth", "white.fits", "out.fits", *KERNEL, "--error", "1e-3", "--plan", "plan.json")
    assert report["method"] == choice["method"]
    assert report["support_deg"] == pytest.approx(np.degrees(choice["support_rad"]))
    assert report["certified_error"] <= 1e-4  # as planned, though less is asked for


def test_where_less_is_left_than_a_plan_allows_for_another_is_made(run, plan, tmp_path):
    """Plans foresee maps like noise, of which this kernel leaves a tenth; of this mode it leaves a fortieth."""
    l, m = 60, 20
    alm = np.zeros(healpy.Alm.getsize(LMAX), complex)
    alm[healpy.Alm.getidx(LMAX, l, m)] = 1
    healpy.write_map(tmp_path / "mode.fits", healpy.alm2map(alm, NSIDE), dtype=np.float64)
    report = run("smooth", "mode.fits", "out.fits", *KERNEL, "--plan", "plan.json")
    assert report["attempts"] == 2 and report["certified_error"] <= report["error_bound"] == 1e-4
    mode = read_map(tmp_path / "mode.fits")
    expected = sum_over_pixels(Grid(NSIDE), mode[None], [healpy.gauss_beam(np.radians(6), lmax=3 * LMAX)])[0]
    assert np.std(expected) < plan["gain"] / 3 * np.std(mode)
    assert np.std(read_map(tmp_path / "out.fits") - expected) <= report["certified_error"] * np.std(expected)


def test_a_plan_without_a_gain_is_for_maps_of_a_spectrum(run, fails, tmp_path):
    request = ("smooth", "white.fits", "a.fits", *KERNEL, *ERROR, "--costs", "costs.json", "--method", "auto", *DISCRETE)
    run(*request, "--input-cl", "white", "--save-plan", "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text())["gain"] == 0
    line = fails(2, "smooth", "white.fits", "b.fits", *KERNEL, "--plan", "plan.json")
    assert "plan.json" in line and "--input-cl" in line


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
    ("error_bound", 1e-3, ["--error", "1e-4"], ["error_bound = 0.001", "at most 0.0001"]),
    ("reference", "continuous", ["--reference", "discrete"], ["reference = continuous", "discrete"]),
    ("c_l", [1.0] * 129, [], ["c_l = a spectrum: must be white"]),
    ("choice.device", "cuda:0", ["--device", "cpu"], ["device = cuda:0: must be cpu"]),
    ("error_bound", 1e-4, ["--fwhm", "7deg"], ["kernel", "gaussian fwhm=0.10472", "gaussian fwhm=0.122173"]),
    ("error_bound", 1e-4, ["--input-cl", "cl.txt"], ["gain = 0.0", "must be none, as a spectrum is given"]),
    ("gain", 0, ["--input-cl", "cl.txt"], ["c_l = white: must be the maps'"]),
])
def test_a_request_that_is_another_is_an_error(run, plan, fails, tmp_path, key, value, arguments, words):
    np.savetxt(tmp_path / "cl.txt", np.transpose([np.arange(200), np.arange(200) + 1.0]), header="l TT")
    edit(plan, key, value)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    kernel = arguments if "--fwhm" in arguments else ["--fwhm", "6deg", *arguments]
    line = fails(2, "smooth", "white.fits", "out.fits", *kernel, "--plan", "plan.json")
    for word in ["plan.json", *words]:
        assert word in line, line


@pytest.mark.parametrize("kernel", [("--fwhm", "6deg"), ("--fwhm", "6deg", "--cl", "cl.txt")])
def test_a_map_that_cannot_hold_the_plans_lmax_is_told_of_its_grid(run, plan, fails, tmp_path, kernel):
    np.savetxt(tmp_path / "cl.txt", np.transpose([np.arange(200), np.ones(200)]), header="l TT")
    healpy.write_map(tmp_path / "small.fits", np.ones(12 * 32**2), dtype=np.float64)
    line = fails(2, "smooth", "small.fits", "out.fits", *kernel, "--plan", "plan.json")
    assert "plan.json: grid = healpix nside=64: must be healpix nside=32, the map's" in line


@pytest.mark.parametrize("text, word", [
    ("{", "no plan"), ("{}", "zonal_plan: is missing"), ('{"zonal_plan": 3}', "zonal_plan = 3: must be 4"),
    ('{"zonal_plan": 4, "machine": 3}', "machine = 3: must be text"), ("[1]", "[1]: must be an object with zonal_plan"),
    ('{"zonal_plan": 1e999}', "no plan"), ('{"zonal_plan": 4, "machine": "\\', "no plan"), ("", "no plan"),
])
def test_what_is_no_plan_is_an_error(run, fails, tmp_path, text, word):
    (tmp_path / "plan.json").write_text(text)
    line = fails(1, "smooth", "white.fits", "out.fits", "--fwhm", "6deg", "--plan", "plan.json")
    assert "plan.json" in line and word in line and "json.exception" not in line


@pytest.mark.parametrize("key, value, words", [
    ("zonal_plan", True, "zonal_plan = true: must be 4"),
    ("zonal_plan", 1.5, "zonal_plan = 1.5: must be 4"),
    ("gain", -1, "gain = -1: must be a number from 0"),
    ("gain", None, "gain = null: must be a number from 0"),
    ("gain", "0.5", 'gain = "0.5": must be a number from 0'),
    ("choice.lmax", -2, "choice.lmax = -2: must be an integer from -1 to"),
    ("choice.tolerance", -1, "choice.tolerance = -1: must be "),
    ("lmax", 1.5, "lmax = 1.5: must be an integer from 0 to"),
    ("lmax", True, "lmax = true: must be an integer"),
    ("lmax", -1, "lmax = -1: must be an integer from 0"),
    ("lmax", 1 << 63, "lmax = 9223372036854775808: must be an integer"),
    ("lmax", "128", 'lmax = "128": must be an integer'),
    ("error_bound", 0, "error_bound = 0: must be a number from 1e-13 to 0.5"),
    ("error_bound", 3, "error_bound = 3: must be a number"),
    ("error_bound", None, "error_bound = null: must be a number"),
    ("n_maps", 0, "n_maps = 0: must be an integer from 1"),
    ("kernel", 3, "kernel = 3: must be an object with name"),
    ("kernel.profile_per_sr", [1, 2], "kernel.profile_per_sr: 2 values, must be 129"),
    ("kernel.profile_per_sr", [1, "x"], 'kernel.profile_per_sr[1] = "x": must be a number'),
    ("reference", "mine", 'reference = "mine": must be one of discrete, continuous'),
    ("choice.method", "magic", 'choice.method = "magic": must be one of pixel-sum'),
    ("choice.device", "cuda:x", 'choice.device = "cuda:x": must be cpu or cuda:N'),
    ("choice.support_rad", 4, "choice.support_rad = 4: must be a number from"),
    ("choice.support_rad", 0, "choice.support_rad = 0: must be a number from"),
    ("choice.accuracy", 0.1, "choice.accuracy = 0.1: must be a number from 1e-12 to 1e-06"),
    ("choice.iterations", 0.5, "choice.iterations = 0.5: must be an integer from 0"),
    ("choice.iterations", -1, "choice.iterations = -1: must be an integer from 0"),
    ("choice.predicted_seconds", -1, "choice.predicted_seconds = -1: must be 0 or more"),
    ("choice.predicted_error", 1e-3, "choice.predicted_error = 0.001: must be a number from 0 to 0.0001"),
])
def test_values_that_no_plan_has_are_errors_that_name_them(run, plan, fails, tmp_path, key, value, words):
    edit(plan, key, value)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    line = fails(1, "smooth", "white.fits", "out.fits", "--fwhm", "6deg", "--plan", "plan.json")
    assert "plan.json: " + words in line


@pytest.fixture
def split_plan(run, tmp_path):
    """plan.json of a split; returns its content."""
    run("smooth", "white.fits", "a.fits", *KERNEL, *ERROR, "--costs", "costs.json", "--method", "split", "--save-plan",
        "plan.json")
    return json.loads((tmp_path / "plan.json").read_text())


@pytest.mark.parametrize("name, place, factor", [
    ("window", 0, 1.001), ("window", -1, -1), ("coefficients_per_sr", 0, 1.01), ("coefficients_per_sr", 3, 0),
    ("knots_rad", 4, 1.02),
])
def test_a_split_that_was_damaged_is_not_followed(split_plan, fails, tmp_path, name, place, factor):
    split_plan["choice"]["split"][name][place] *= factor
    (tmp_path / "plan.json").write_text(json.dumps(split_plan))
    line = fails(1, "smooth", "white.fits", "out.fits", *KERNEL, "--plan", "plan.json")
    assert "plan.json: choice.split: window and profile" in line and "_error = " in line


@pytest.mark.parametrize("key, value, words", [
    ("window", [1.0], "choice.split.window: 1 values, must be"),
    ("coefficients_per_sr", [1.0], "choice.split.coefficients_per_sr: 1 values, must be"),
    ("knots_rad", [0, 1], "choice.split.knots_rad = [0,1]: must have at least 8 values"),
    ("knots_rad", [0.1, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6], "choice.split.knots_rad[0] = 0.1: must be 0"),
    ("knots_rad", [0, 1, 1, 1.2, 1.3, 1.4, 1.5, 1.6], "choice.split.knots_rad[2] = 1: must be above the one before"),
    ("knots_rad", [0, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 3.5], "choice.split.knots_rad[7] = 3.5: must be at most pi"),
    ("rank", 1.5, "choice.split.rank = 1.5: must be an integer from 0 to"),
    ("leakage", -1, "choice.split.leakage = -1: must be 0 or more"),
    ("estimated_error", "0", 'choice.split.estimated_error = "0": must be 0 or more'),
    ("actual_error", 1, "choice.split.actual_error = 1: must be a number from 0 to 0.0001"),
    ("../l_cut", 128, "choice.l_cut = 128: must be an integer from 0 to 127"),
    ("../support_rad", 0.25, "choice.support_rad = 0.25: must be "),
])
def test_values_that_no_split_has_are_errors_that_name_them(split_plan, fails, tmp_path, key, value, words):
    edit(split_plan, "choice." + key[3:] if key.startswith("../") else "choice.split." + key, value)
    (tmp_path / "plan.json").write_text(json.dumps(split_plan))
    line = fails(1, "smooth", "white.fits", "out.fits", *KERNEL, "--plan", "plan.json")
    assert "plan.json: " + words in line


SPECTRUM = ("--input-cl", "flat.txt")


@pytest.mark.parametrize("key, value, spectrum, words", [
    ("support_rad", 0.001, SPECTRUM, "support_rad = 0.001: must be at least 0."),
    ("method", "harmonic", SPECTRUM, "the kernel goes on above lmax"),
    ("support_rad", 0.001, (), "its error has no bound that holds for every map"),
    ("support_rad", 0.1, (), "its certified error is"),
    ("accuracy", 1e-6, (), "its certified error is"),
    ("method", "harmonic", (), "its certified error is"),
])
def test_a_choice_that_cannot_keep_the_error_is_not_followed(run, fails, tmp_path, key, value, spectrum, words):
    """smooth with this plan once said: estimated error 1.99998, error bound 0.001, exit 0."""
    np.savetxt(tmp_path / "flat.txt", np.transpose([np.arange(101), np.ones(101)]), header="l TT")
    kernel = ("--fwhm", "3deg", "--lmax", 100, *spectrum)
    run("plan", "--nside", NSIDE, *kernel, "--error", "1e-4", "--costs", "costs.json", *DISCRETE, "-o", "plan.json")
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert plan["choice"]["method"] in ("ring-fft", "pixel-sum")
    plan["choice"][key] = value
    if key == "method":
        plan["choice"].update(support_rad=0, accuracy=0)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    line = fails(1, "smooth", "white.fits", "out.fits", *kernel, "--plan", "plan.json")
    assert "plan.json: choice does not keep the error 0.0001: " + words in line and "plan anew" in line


def test_a_plan_with_too_large_a_tolerance_is_not_followed(run, fails, tmp_path):
    run("plan", "--nside", NSIDE, *KERNEL, *ERROR, "--costs", "costs.json", "-o", "plan.json")
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert plan["choice"]["method"] == "harmonic" and 0 < plan["choice"]["tolerance"] < 1e-4
    for tolerance, words in ((10 * plan["choice"]["tolerance"], "its certified error is 9.0e-04"), (0.1, "its error has no bound that holds for every map")):
        plan["choice"]["tolerance"] = tolerance
        (tmp_path / "plan.json").write_text(json.dumps(plan))
        line = fails(1, "smooth", "white.fits", "out.fits", *KERNEL, "--plan", "plan.json")
        assert f"does not keep the error 0.0001: {words}; plan anew" in line


def test_a_plan_with_too_few_iterations_is_not_followed(run, fails, tmp_path):
    np.savetxt(tmp_path / "flat.txt", np.transpose([np.arange(129), np.ones(129)]), header="l TT")
    kernel = ("--fwhm", "6deg", "--reference", "continuous", *SPECTRUM)
    run("plan", "--nside", NSIDE, "--lmax", 128, *kernel, *ERROR, "--costs", "costs.json", "-o", "plan.json")
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert plan["choice"]["method"] == "harmonic" and plan["choice"]["iterations"] > 0
    plan["choice"]["iterations"] = 0
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    line = fails(1, "smooth", "white.fits", "out.fits", *kernel, "--plan", "plan.json")
    assert "does not keep the error 0.0001: its iterations do not reach the error" in line


def test_json_that_is_nested_without_end_is_an_error(run, plan, fails, tmp_path):
    """What walks through it calls itself for each level, and had no stack left."""
    deep = "[" * 100_000 + "]" * 100_000
    inside = json.dumps(plan).replace('"n_maps": 1', f'"n_maps": {deep}')
    assert deep in inside
    for text in (deep, inside, '{"a":' * 100_000 + "1" + "}" * 100_000, "[" * 100_000):
        (tmp_path / "plan.json").write_text(text)
        line = fails(1, "smooth", "white.fits", "out.fits", "--fwhm", "6deg", "--plan", "plan.json")
        assert "plan.json: is no plan" in line and "nested deeper than 16 levels" in line
        line = fails(1, "plan", "--nside", 8, "--fwhm", "30deg", "--costs", "plan.json")
        assert "plan.json: is no file of costs" in line and "nested deeper than 16 levels" in line


def test_a_link_stays_and_its_file_gets_the_plan(run, plan, fails, tmp_path):
    """As maps do (zonal::io::AtomicFile)."""
    request = ("--nside", NSIDE, *KERNEL, "--error", "1e-3", "--costs", "costs.json")
    (tmp_path / "link.json").symlink_to("plan.json")
    assert "exists already" in fails(1, "plan", *request, "--save-plan", "link.json")
    run("plan", *request, "--save-plan", "link.json", "--overwrite")
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "plan.json").read_text())["error_bound"] == 1e-3
    (tmp_path / "nowhere.json").symlink_to("missing.json")
    assert "link to a file that does not exist" in fails(1, "plan", *request, "--save-plan", "nowhere.json", "--overwrite")


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
