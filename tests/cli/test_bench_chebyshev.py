"""zonal-bench chebyshev: what it reports, and that the errors are what the methods promise."""

import pytest

from conftest import EPS


@pytest.mark.parametrize("shape", ["40", "9x14", "5x4x6"])
@pytest.mark.parametrize("method", ["direct", "transform", "auto"])
def test_report_has_times_errors_and_method(bench, shape, method):
    report = bench("chebyshev", "--shape", shape, "--batch", "3", "--method", method, "--repeat", "1", "--threads", "1")
    assert report["seconds_per_product"] > 0
    assert report["seconds_with_transfers"] == report["seconds_per_product"]  # of the CPU
    assert report["shape"] == [int(n) for n in shape.split("x")] and report["batch"] == 3
    assert report["method"] in ("direct", "transform") if method == "auto" else report["method"] == method
    assert report["device"] == "cpu" and report["machine"]["simd"] and report["coefficients_compared"] > 0
    if report["method"] == "direct":
        assert report["componentwise_error"] <= 1  # in units of n eps (|a| * |b|)
    # The transforms' error is eps times the logarithm of their length, and a sum of n products has no larger one at random.
    assert report["normwise_error"] <= 16 * EPS


def test_full_products_have_all_coefficients(bench):
    report = bench("chebyshev", "--shape", "7x6", "--full", "--method", "direct", "--repeat", "1")
    assert report["coefficients_compared"] == 13 * 11 and report["componentwise_error"] <= 1


def test_residual_is_31_products_of_12_fields_in_8_sums(bench):
    report = bench("chebyshev", "--shape", "12x12", "--terms", "residual", "--repeat", "1")
    assert len(report["terms"]) == 31
    assert {field for term in report["terms"] for field in term["factors"]} == set(range(12))
    assert {term["output"] for term in report["terms"]} == set(range(8))
    # Six products of normal numbers with errors of some eps each, in other orders.
    assert report["difference"] <= 100 * EPS
    assert report["seconds_per_sum"] > 0 and report["seconds_product_by_product"] > 0 and report["fused_speedup"] > 0


@pytest.mark.parametrize("arguments, words", [
    ("chebyshev", ["--shape"]),
    ("chebyshev --shape 3x3x3x3", ["--shape", "1 to 3"]),
    ("chebyshev --shape 0", ["--shape", "0"]),
    ("chebyshev --shape 3x", ["--shape"]),
    ("chebyshev --shape 8 --method ring-fft", ["--method", "ring-fft", "transform"]),
    ("chebyshev --shape 8 --nside 4", ["--nside", "zonal-bench chebyshev"]),
    ("sht --nside 4 --shape 8", ["--shape", "zonal-bench sht"]),
    ("radial --nside 16 --fwhm 9deg --method direct", ["--method", "direct", "harmonic"]),
])
def test_misuse_is_one_line(bench_fails, arguments, words):
    line = bench_fails(2, *arguments.split())
    for word in words:
        assert word in line, line


def test_more_memory_than_there_is_is_refused(bench_fails):
    assert "memory" in bench_fails(1, "chebyshev", "--shape", "100000x100000")
