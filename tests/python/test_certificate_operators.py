"""Certificates of plans on small grids under attack by singular vectors (bench/attack_operators.py)."""

import pathlib
import sys

import numpy as np
import pytest

import zonal

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import attack_operators

CHUNKS, SEEDS = 4, 20
# Certificates that were false once: float maps whose partial sums or alm were rounded, rounding of sharp windows, and
# maps of one call whose analyses had different numbers of iterations.
FALSE_ONCE = (1181, 1888, 2455, 2793, 2777, 2216, 2440, 2046, 2194, 2593, 2647, 5679, 5685, 1828, 1658)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_singular_vector_shows_a_certificate_false(chunk):
    cases = [attack_operators.singular_case(seed) for seed in range(chunk * SEEDS, (chunk + 1) * SEEDS)]
    assert [case for case in cases if not case.get("certified", True)] == []
    assert 2 * sum("refused" not in case for case in cases) >= len(cases)


@pytest.mark.parametrize("seed", FALSE_ONCE)
def test_what_was_false_once_holds(seed):
    case = attack_operators.singular_case(seed)
    assert "refused" not in case and case["certified"], case


def test_maps_of_one_call_are_certified_each_by_its_own_analysis(rng):
    """A constant map, of which this kernel leaves nothing, takes as many iterations as there are; the others need none."""
    nside, lmax = 8, 12
    grid, kernel = zonal.Grid.healpix(nside), zonal.Kernel.mexican_hat(0.4)
    maps = rng.normal(size=(9, 12 * nside**2))
    maps[0] = 1
    found, parts = zonal.convolve(maps, kernel, lmax=lmax, method="harmonic", error=0.2, keep_missed=True, return_report=True)
    truth = attack_operators.Pixels(grid).least_squares(kernel.window(lmax)).astype(float)
    for values, result, certificate in list(zip(maps, found, parts[0].certificates, strict=True))[1:]:
        answer = truth @ values
        error = np.sqrt(np.mean((result - answer) ** 2) / np.mean(answer**2))
        assert error <= certificate.error
