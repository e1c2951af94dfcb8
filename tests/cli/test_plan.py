"""zonal plan, zonal-bench plan and zonal calibrate: ways to convolve, by their cost."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from conftest import BENCH, ZONAL, call, largest, write_costs

CONTINUOUS = ("plan", "--nside", 256, "--lmax", 512, "--fwhm", "60arcmin", "--error", "1e-4", "--threads", 1)
DISCRETE = ("--reference", "discrete")
NARROW = (*CONTINUOUS, *DISCRETE)


def plan(tmp_path, *arguments, program=ZONAL, **environment):
    result = call(*arguments, "--json", program=program, cwd=tmp_path,
                  env={"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path), **environment})
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


def test_continuous_reference_is_certified_in_harmonic_space_alone(tmp_path):
    report = plan(tmp_path, *CONTINUOUS)
    assert report["reference"] == "continuous" and report["error_is"].startswith("certified for maps of which the kernel leaves")
    # What the kernel leaves of white noise, of which the plan takes a little less.
    l = np.arange(513)
    kept = np.sum((2 * l + 1) * np.exp(-l * (l + 1) * np.radians(1) ** 2 / (8 * np.log(2)))) / (12 * 256**2)
    assert 0.9 * np.sqrt(kept) <= float(report["error_is"].split()[-3]) <= np.sqrt(kept)
    best, *others = report["choices"]
    assert best["method"] == "harmonic" and best["iterations"] > 0 and best["error"] <= 1e-4
    assert {row["method"] for row in others} == {"ring-fft", "pixel-sum"}
    assert all("depends on the map" in row["excluded"] for row in others)


def test_lmax_is_no_higher_than_analyses_are_certified_to(tmp_path):
    narrow = ("plan", "--nside", 64, "--fwhm", "1deg", "--threads", 1)
    assert plan(tmp_path, *narrow)["lmax"] == 153  # 2.4 nside
    assert plan(tmp_path, *narrow[:3], "--fwhm", "20deg", "--threads", 1)["lmax"] < 64
    result = call(*narrow, "--lmax", 160, "--json", cwd=tmp_path)
    assert result.code == 1 and result.report["error"] == "no way can keep --error 1e-05"
    assert all("excluded" in row for row in result.report["choices"])
    assert "above lmax = 153 has no bound" in next(
        row["excluded"] for row in result.report["choices"] if row["method"] == "harmonic")


def test_splits_the_skys_kernel(tmp_path):
    l = np.arange(1025)
    np.savetxt(tmp_path / "cl.txt", np.transpose([l, np.where(l > 1, 1 / np.maximum(l, 1.0) ** 2, 0)]), header="l TT")
    write_costs(tmp_path / "costs.json", legendre=10)  # transforms so dear that planning a split pays
    report = plan(tmp_path, "plan", "--nside", 512, "--lmax", 1024, "--kernel", "cl-beam", "--cl", "cl.txt", "--fwhm",
                  "30arcmin", "--error", "1e-3", "--threads", 1, "--maps", 100, "--costs", "costs.json", *DISCRETE)
    splits = [row for row in report["choices"] if row["method"] == "split"]
    assert splits and all(0 <= row["l_cut"] < 1024 and row["support_arcmin"] > 0 for row in splits)


def test_calibration_is_kept_and_taken_and_a_damaged_one_is_a_note(tmp_path):
    report = plan(tmp_path, "calibrate", "--threads", 1)
    file = json.loads((tmp_path / "zonal" / report["output"].rsplit("/", 1)[1]).read_text())
    assert file["machine"] == report["machine"] and "1 threads" in file["machine"]
    costs = file["devices"][0]
    assert costs["device"] == "cpu" and file["zonal_costs"] == 4
    for spin in ("scalar", "polarization"):
        assert costs[spin]["smoothing"]["legendre_flop"] > 0 and costs[spin]["ring_fft_double"]["fft_pixel"] > 0
    assert plan(tmp_path, *NARROW)["costs"] == file["machine"]
    older = {**file, "devices": [{"device": "cpu", **costs["scalar"]}]}
    del older["zonal_costs"]
    negative = json.loads(json.dumps(file))
    negative["devices"][0]["scalar"]["smoothing"]["pixel"] = -1
    Path(report["output"]).unlink()
    by_default = plan(tmp_path, *NARROW)
    for text in ("{", json.dumps(older), json.dumps(negative)):
        Path(report["output"]).write_text(text)
        result = plan(tmp_path, *NARROW)
        assert result["costs"] == "default"
        assert [row["seconds"] for row in result["choices"]] == [row["seconds"] for row in by_default["choices"]]
        assert any("cannot be read, or is of another machine or version" in note for note in result["notes"])


def test_costs_of_a_file_are_taken(tmp_path):
    before = plan(tmp_path, *NARROW)["choices"]
    write_costs(tmp_path / "costs.json", legendre=1000)
    report = plan(tmp_path, *NARROW, "--costs", "costs.json")
    assert report["costs"] == "made up" and not any("default" in note for note in report["notes"])
    slow, fast = (next(row["seconds"] for row in rows if row["method"] == "harmonic") for rows in (report["choices"], before))
    assert slow > 100 * fast
    (tmp_path / "costs.json").write_text('{"zonal_costs": 4, "machine": "x", "devices": []}')
    result = call(*NARROW, "--costs", "costs.json", cwd=tmp_path)
    assert result.code == 1 and "costs.json: unit: is missing" in result.err


def test_costs_of_an_older_form_are_not_read(fails, tmp_path):
    """They had no version and no costs of Q and U."""
    def make_old(costs, device):
        del costs["zonal_costs"]
        costs["devices"] = [{"device": "cpu", **device["scalar"]}]

    edited_costs(tmp_path / "costs.json", make_old)
    line = fails(1, *NARROW, "--costs", "costs.json")
    assert "costs.json: holds costs of an older form" in line and "zonal calibrate" in line


def edited_costs(path, edit):
    write_costs(path)
    costs = json.loads(path.read_text())
    edit(costs, costs["devices"][0])
    path.write_text(json.dumps(costs))


def free(costs, device):
    for values in device["polarization"].values():
        values.update({name: 0 for name in values if name != "others"})


DAMAGES = [
    (lambda costs, device: device["scalar"]["smoothing"].update(pixel=-1), "devices[0].scalar.smoothing.pixel = -1: must be 0 or more"),
    (lambda costs, device: device["scalar"]["iteration"].update(call="1"), 'devices[0].scalar.iteration.call = "1": must be 0 or more'),
    (lambda costs, device: device["scalar"]["ring_fft_single"].update(map=None), "devices[0].scalar.ring_fft_single.map = null: must be 0 or more"),
    (lambda costs, device: device["scalar"]["pixel_sum_double"].pop("map"), "devices[0].scalar.pixel_sum_double.map: is missing"),
    (lambda costs, device: device["scalar"]["smoothing"].update(others={"pixels": [2, 1], "seconds": [1, 1]}),
     "devices[0].scalar.smoothing.others.pixels = [2,1]: must be ascending, above 0"),
    (lambda costs, device: device["scalar"]["smoothing"].update(others={"pixels": [1, 2], "seconds": [1, -1]}),
     "devices[0].scalar.smoothing.others.seconds = [1,-1]: must be 0 or more"),
    (lambda costs, device: device["scalar"]["smoothing"].update(others={"pixels": [1, 2], "seconds": [1]}),
     "devices[0].scalar.smoothing.others.seconds: 1 values, must be 2"),
    (lambda costs, device: device.update(device="gpu"), 'devices[0].device = "gpu": must be cpu or cuda:N'),
    (lambda costs, device: costs["devices"].append(device), 'devices[1].device = "cpu": must be there once'),
    (lambda costs, device: costs["devices"].clear(), "devices = []: must have costs of a device"),
    (lambda costs, device: costs.update(devices=3), "devices = 3: must be an array"),
    (lambda costs, device: costs.update(unit="ms"), 'unit = "ms": must be "s"'),
    (lambda costs, device: costs.pop("machine"), "machine: is missing"),
    (free, 'devices[0].device = "cpu": must have costs above 0, of scalar and of polarization'),
    (lambda costs, device: costs.update(zonal_costs=3), "zonal_costs = 3: must be 4"),
    (lambda costs, device: device.pop("polarization"), "devices[0].polarization: is missing"),
]


@pytest.mark.parametrize("edit, words", DAMAGES)
def test_costs_that_cannot_be_are_errors_that_name_them(fails, tmp_path, edit, words):
    edited_costs(tmp_path / "costs.json", edit)
    assert "costs.json: " + words in fails(1, *NARROW, "--costs", "costs.json")


def test_costs_that_are_no_json_are_an_error_in_plain_words(fails, tmp_path):
    for text in ("{", '{"machine": 1e999}', ""):
        (tmp_path / "costs.json").write_text(text)
        line = fails(1, *NARROW, "--costs", "costs.json")
        assert "costs.json: is no file of costs" in line and "json.exception" not in line


def test_calibrate_finds_that_it_cannot_write_before_it_measures(tmp_path):
    report = call("calibrate", cwd=tmp_path, env={"XDG_CACHE_HOME": "/proc/self"})
    assert report.code == 1 and "/proc/self/zonal" in report.err and report.cpu_seconds < 1
    folder = tmp_path / "zonal"
    folder.mkdir()
    folder.chmod(0o500)
    if not os.access(folder, os.W_OK):  # to root it is
        report = call("calibrate", cwd=tmp_path, env={"XDG_CACHE_HOME": str(tmp_path)})
        assert report.code == 1 and "cannot be written" in report.err and report.cpu_seconds < 1


def test_costs_of_devices_that_are_not_here_are_left_out(fails, tmp_path):
    def add_another(costs, device):
        costs["devices"].append({**device, "device": "cuda:99"})

    def make_another(costs, device):
        device["device"] = "cuda:99"

    edited_costs(tmp_path / "costs.json", add_another)
    report = plan(tmp_path, *NARROW, "--costs", "costs.json")
    assert {row["device"] for row in report["choices"]} == {"cpu"}
    assert any("costs.json: costs of cuda:99 are left out" in note for note in report["notes"])
    edited_costs(tmp_path / "costs.json", make_another)
    assert "costs.json: has costs of cuda:99 alone" in fails(1, *NARROW, "--costs", "costs.json")


SMALL = ("plan", "--nside", 64, "--lmax", 128, "--error", "1e-4", "--threads", 1)


@pytest.mark.parametrize("kernel", [("--fwhm", "2deg", *DISCRETE), ("--fwhm", "12deg", *DISCRETE), ("--fwhm", "8deg")])
def test_measures_what_may_be_taken_and_finds_errors_within_the_bound(tmp_path, kernel):
    report = plan(tmp_path, *SMALL, *kernel, program=BENCH)
    allowed = [row for row in report["choices"] if "excluded" not in row]
    for row in allowed:
        assert row["measured_seconds"] > 0 and row["measured_plan_seconds"] > 0
        assert 0 <= row["measured_error"] <= 1e-4, row
    assert not any("measured_seconds" in row for row in report["choices"] if "excluded" in row)
    fastest = min(row["measured_seconds"] for row in allowed)
    measured = report["measured"]
    assert measured["chosen_over_fastest"] == pytest.approx(allowed[0]["measured_seconds"] / fastest)
    assert measured["chosen_error_over_wanted"] == pytest.approx(allowed[0]["measured_error"] / 1e-4)
    assert measured["largest_error_over_wanted"] == pytest.approx(largest(row["measured_error"] for row in allowed) / 1e-4)


def test_measures_splits_and_finds_their_errors_below_what_is_said(tmp_path):
    l = np.arange(384)
    np.savetxt(tmp_path / "sky.txt", np.transpose([l, np.maximum(l, 1.0) ** -2.5]), header="l TT")
    # Transforms so dear that planning a split pays, and sums less so.
    write_costs(tmp_path / "costs.json", legendre=1e5, sums=30)
    report = plan(tmp_path, "plan", "--nside", 128, "--lmax", 383, "--kernel", "cl-beam", "--cl", "sky.txt", "--fwhm", "2deg",
                  "--error", "1e-3", "--costs", "costs.json", "--threads", 1, *DISCRETE, program=BENCH)
    best = report["choices"][0]
    assert best["method"] == "split" and 0 < best["l_cut"] < 383 and best["measured_seconds"] > 0
    assert 0 < best["measured_error"] <= best["error"] <= 1e-3
    assert report["measured"]["chosen_error_over_wanted"] == pytest.approx(best["measured_error"] / 1e-3)


def test_measures_splits_of_q_and_u_too(tmp_path):
    l = np.arange(257)
    beam = np.exp(-l * (l + 1) * np.radians(3) ** 2 / 2 / (8 * np.log(2))) / (l + 1)
    np.savetxt(tmp_path / "beam.txt", np.transpose([l, beam, beam, beam]), header="l T E B")
    write_costs(tmp_path / "costs.json", legendre=3e4, sums=30)
    report = plan(tmp_path, "plan", "--fields", "QU", "--nside", 128, "--lmax", 256, "--kernel", "window", "--beam", "beam.txt",
                  "--normalize", "none", "--error", "1e-4", "--costs", "costs.json", "--threads", 1, *DISCRETE, program=BENCH)
    best = report["choices"][0]
    assert best["method"] == "split" and 0 <= best["l_cut"] < 256 and best["measured_seconds"] > 0
    assert 0 < best["measured_error"] <= best["error"] <= 1e-4
    assert report["measured"]["chosen_error_over_wanted"] == pytest.approx(best["measured_error"] / 1e-4)


def test_profile_of_a_file_is_planned_as_the_kernel_it_is(tmp_path):
    # A Gaussian of 2 degrees on the plane, which differs from that on the sphere by 4e-5 of the peak.
    theta = np.linspace(0, np.radians(6), 2001)
    sigma = np.radians(2) / np.sqrt(8 * np.log(2))
    np.savetxt(tmp_path / "profile.txt", np.transpose([theta, np.exp(-theta**2 / (2 * sigma**2)) / (2 * np.pi * sigma**2)]),
               header="theta [rad] value [1/sr]")
    ours, theirs = (plan(tmp_path, *SMALL, *kernel, "--double")["choices"] for kernel in (("--profile", "profile.txt"), ("--fwhm", "2deg", *DISCRETE)))
    supports = [next(row["support_arcmin"] for row in rows if row["method"] == "pixel-sum") for rows in (ours, theirs)]
    assert supports[0] == pytest.approx(supports[1], rel=1e-3)


def test_devices_are_those_asked_for(tmp_path):
    assert {row["device"] for row in plan(tmp_path, *NARROW, "--device", "cpu")["choices"]} == {"cpu"}


@pytest.mark.parametrize("arguments, words", [
    (["--nside", "64", "--lmax", "128", "--profile", "p.txt", "--fwhm", "1deg"], ["--profile", "--fwhm"]),
    (["--lmax", "64", "--fwhm", "1deg"], ["--nside"]),
    (["--nside", "64", "--lmax", "128"], ["--fwhm"]),
    (["--nside", "64", "--lmax", "192", "--fwhm", "1deg"], ["--lmax = 192", "3*nside-1 = 191"]),
    (["--nside", "64", "--lmax", "128", "--fwhm", "1deg", "--error", "2"], ["--error", "2"]),
    (["--nside", "64", "--fwhm", "1deg", "--seed", "2"], ["--seed", "not an option"]),
    (["--nside", "64", "--fwhm", "1deg", "--extend", "zero"], ["--extend", "--cl"]),
])
def test_wrong_use_is_one_line(fails, arguments, words):
    line = fails(2, "plan", *arguments)
    for word in words:
        assert word in line


def test_plans_without_a_cache_folder(tmp_path):
    report = plan(tmp_path, *NARROW, XDG_CACHE_HOME="/proc/nope")
    assert report["costs"] == "default"
    result = call("calibrate", cwd=tmp_path, env={"XDG_CACHE_HOME": "/proc/nope"})
    assert result.code == 1 and "/proc/nope/zonal: the cache folder cannot be made" in result.err


def test_where_nothing_keeps_the_error_the_list_says_why_and_the_exit_is_1(tmp_path):
    write_costs(tmp_path / "costs.json")
    arguments = ("plan", "--nside", 64, "--lmax", 40, "--fwhm", "3deg", "--error", "1e-12", "--costs", "costs.json")
    result = call(*arguments, "--json", cwd=tmp_path)
    report = result.report
    assert result.code == 1 and report["exit_code"] == 1 and report["error"] == "no way can keep --error 1e-12"
    assert report["error_bound"] == 1e-12 and all("excluded" in row for row in report["choices"])


def test_a_gpu_that_is_not_here_is_named_by_its_option(tmp_path):
    result = call(*NARROW, "--device", "cuda", cwd=tmp_path, env={"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)})
    # where there is one, what it costs was not measured (the cache is empty)
    assert result.code in (1, 2) and "--device = cuda" in result.err


def edge(theta, end):
    return np.where(theta <= end, 1 + np.cos(9 * theta / end), 0)


# (nside, lmax, error, kernel, fields): kernels about as wide as pixels alias much.
ALIASED = [
    (64, 137, 5.7e-6, ["--fwhm", "0.0268rad"], "I"),
    (64, 82, 4e-6, ["--fwhm", "0.02rad"], "I"),
    (32, 68, 3.8e-6, ["--fwhm", "0.0503rad"], "QU"),
    (32, 60, 1e-4, ["--profile", "edge.txt"], "I"),
    (16, 44, 3e-6, ["--profile", "edge.txt"], "I"),
]


@pytest.mark.parametrize("nside, lmax, error, kernel, fields", ALIASED)
def test_errors_keep_the_bound_where_pixels_alias(tmp_path, nside, lmax, error, kernel, fields):
    theta = np.linspace(0, 0.3, 60)
    np.savetxt(tmp_path / "edge.txt", np.transpose([theta, edge(theta, 0.3)]), header="theta [rad] value [1/sr]")
    for seed in (1, 2):
        report = plan(tmp_path, "plan", "--nside", nside, "--lmax", lmax, "--error", error, *DISCRETE,
                      "--fields", fields, "--seed", seed, "--threads", 1, *kernel, program=BENCH)
        assert 0 <= report["measured"]["largest_error_over_wanted"] <= 1
