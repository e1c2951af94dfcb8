"""Single harmonics a_lm = 1 against mpmath on HEALPix rings, from the first at the pole to the equator.

bench/accuracy.py does the same on more rings and with ducc0 beside."""
import mpmath
import pytest

import accuracy
import exact_modes
from sht_peers import EPS

FIRST_RINGS = (1, 60, 450, 502, 1000, 4090, 7000, 8060, 8120, 8185)


@pytest.fixture(scope="module")
def rings():
    return accuracy.ModeRings(FIRST_RINGS)


@pytest.mark.parametrize("l, orders, spin", [
    (8000, (0, 1, 2, 3, 6), 0), (8000, (0, 1, 2, 3, 6), 2), (8000, (4000, 8000), 0), (2000, (0, 100, 1999, 2000), 2)])
def test_modes_are_exact(rings, l, orders, spin):
    worst = accuracy.mode_errors(rings, {"zonal": rings.zonal}, l, orders, spin)["zonal"]
    # The recurrence of two degrees sees cos^2 theta rounded by eps / 4, at sin theta >= 0.1: the phase l theta moves
    # by l eps / (4 sin 2 theta), at most 2e-12 of the mode's amplitude at sin theta = 0.1. But low orders peak at the
    # pole, ten times as high, and high ones where sin 2 theta is near 1. Near the poles and the equator other
    # recurrences work, and only their roundings remain, 4 eps sqrt(l) = 8e-14.
    assert worst["middle"]["error"] <= 1e-12, worst
    for region in ("polar", "equatorial"):
        assert worst[region]["error"] <= 1e-13, worst


@pytest.mark.parametrize("spin", [0, 2])
def test_modes_of_whole_maps_are_exact(spin):
    """Their rings are resampled in theta."""
    nside, l = 128, 256
    rings = accuracy.MapRings((1, 20, 60, 100, 180, 249), nside)
    worst = accuracy.mode_errors(rings, {"zonal": rings.zonal}, l, (0, 1, 2, 3, 100, 255, 256), spin)["zonal"]
    # Every ring takes part in every other one's error. As above, but sin 2 theta is 0.04 where the recurrence changes
    # near the equator: l eps / (4 sin 2 theta) of the amplitude.
    assert set(worst) == {"polar", "middle", "equatorial"}
    for error in worst.values():
        assert error["error"] <= l * EPS / (4 * 0.04), worst


def test_exact_modes_match_mpmaths_own_harmonics():
    """Legendre functions of mpmath itself, by another method, at a low degree."""
    ring = exact_modes.Ring(16, 7)
    for l, m in ((5, 0), (12, 3), (12, 12)):
        norm = mpmath.sqrt((2 * l + 1) / (4 * mpmath.pi) * mpmath.factorial(l - m) / mpmath.factorial(l + m))
        expected = norm * mpmath.legenp(l, m, ring.cos, type=2)
        assert abs(exact_modes.exact(ring, l, m, 0)[0] - expected) < mpmath.mpf(10) ** -40
    # Goldberg et al. (1967): 2Y_2,+-2 = sqrt(5/64pi) (1 -+ cos)^2, F+- = (2Y_22 +- -2Y_22) / 2
    plus, minus = exact_modes.exact(ring, 2, 2, 2)
    norm = mpmath.sqrt(5 / (64 * mpmath.pi))
    assert abs(plus - norm * (1 + ring.cos ** 2)) < mpmath.mpf(10) ** -40
    assert abs(minus + 2 * norm * ring.cos) < mpmath.mpf(10) ** -40


def test_peaks_are_those_of_known_modes():
    assert abs(exact_modes.peak(8000, 0, 0) / (16001 / (4 * 3.141592653589793)) ** 0.5 - 1) < 1e-3
    sectoral = abs(exact_modes.exact(exact_modes.Ring(4096, 8192), 8000, 8000, 0)[0])
    assert abs(exact_modes.peak(8000, 8000, 0) / float(sectoral) - 1) < 1e-3
