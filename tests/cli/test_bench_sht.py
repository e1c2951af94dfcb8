"""zonal-bench sht and distributed: what they report, and what wrong use of zonal-bench is answered with."""

import pytest

from conftest import EPS


@pytest.mark.parametrize("grid", [["--nside", "16"], ["--gauss", "33"]])
@pytest.mark.parametrize("spin", [0, 2])
def test_reports_times_share_of_peak_and_machine(bench, grid, spin):
    report = bench("sht", *grid, "--lmax", "32", "--spin", spin, "--maps", "2", "--repeat", "2", "--threads", "1")
    for key in ("synthesis_seconds", "adjoint_seconds", "analysis_seconds", "plan_seconds", "workspace_bytes"):
        assert report[key] > 0 or key == "workspace_bytes", key
    # On a busy machine the peak may be measured too low; the work that the shares stand for is that of the sizes.
    share, adjoint = report["legendre_peak_fraction"], report["adjoint_legendre_peak_fraction"]
    work = share * report["fma_peak_flops"] * report["synthesis_legendre_seconds"]
    assert work > 1000 and adjoint * report["fma_peak_flops"] * report["adjoint_legendre_seconds"] == pytest.approx(work, rel=8 * EPS, abs=0)
    assert 0 < report["synthesis_legendre_seconds"] < report["synthesis_seconds"]
    assert report["fma_peak_flops"] > 1e8
    assert report["machine"]["zonal"] and report["machine"]["simd"] and report["machine"]["cpu"]
    if grid[0] == "--gauss":
        assert report["round_trip_error"] < 1e-12  # exact quadrature


@pytest.mark.parametrize("options, n_measured", [([], 3), (["--shares", "1,2,1"], 3), (["--solo"], None)])
def test_ranks_are_measured_beside_one_process(bench, options, n_measured):
    report = bench("distributed", "--nside", "32", "--ranks", "3", "--repeat", "1", "--threads", "1", *options)
    assert n_measured is None or len(report["ranks"]) == n_measured
    for row in (report["one_process"], *report["ranks"]):
        for name in ("synthesis", "adjoint"):
            assert 0 < row[name]["legendre"] + row[name]["rings"] < row[name]["seconds"]
    slowest = max(row["adjoint"]["seconds"] for row in report["ranks"])
    assert report["adjoint_efficiency"] == pytest.approx(
        report["one_process"]["adjoint"]["seconds"] / slowest / (3 if "--solo" in options else 1))


@pytest.mark.parametrize("arguments, words", [
    ([], ["zonal-bench SUBCOMMAND", "sht, distributed, radial"]),
    (["sht"], ["--nside", "--gauss"]),
    (["fft", "--nside", "4"], ["fft", "is not a subcommand", "zonal-bench --help"]),
    (["shd", "--nside", "4"], ["did you mean sht?"]),
])
def test_wrong_use_is_one_line_that_names_what(bench_fails, arguments, words):
    line = bench_fails(2, *arguments)
    for word in words:
        assert word in line, line


def test_refuses_what_the_grid_or_the_machine_cannot_hold(bench_fails):
    line = bench_fails(2, "sht", "--gauss", "4", "--lmax", "1000000")
    assert "--lmax = 1000000" in line and "at most 3" in line
    line = bench_fails(1, "sht", "--nside", "65536", "--lmax", "1000000")
    assert "memory" in line and "lmax 1000000" in line
