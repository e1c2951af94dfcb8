"""Pixels in regions, and the edges of pixels, against healpy."""
import healpy
import numpy as np
import pytest

import zonal.healpy
from pixel_cases import SIDES, pixels

EPS = np.finfo(float).eps
SMALL = [case for case in SIDES if case[0] <= 100]


def check(name, nside, arguments, nest):
    """Centres: the same pixels. Overlaps: not more than twice the edge that healpy adds."""
    ours, theirs = getattr(zonal.healpy, name), getattr(healpy, name)
    inside = ours(nside, *arguments, nest=nest)
    np.testing.assert_array_equal(inside, theirs(nside, *arguments, nest=nest))
    overlaps, their_overlaps = (query(nside, *arguments, inclusive=True, nest=nest) for query in (ours, theirs))
    assert np.unique(overlaps).size == overlaps.size
    assert np.isin(inside, overlaps).all()
    assert overlaps.size - inside.size <= 2 * (their_overlaps.size - inside.size) + 4


@pytest.mark.parametrize("nside, nest", SMALL)
def test_discs(nside, nest):
    random = np.random.default_rng(1)
    for _ in range(60):
        check("query_disc", nside, (random.normal(size=3), np.pi * random.uniform()**2), nest)
    for radius in (0.01, 0.3, 1.5, 3.1):
        for z in (-2, 1):
            check("query_disc", nside, ([0, 0, z], radius), nest)


@pytest.mark.parametrize("nside, nest", SMALL)
def test_strips(nside, nest):
    random = np.random.default_rng(2)
    for _ in range(30):
        check("query_strip", nside, tuple(random.uniform(0, np.pi, 2)), nest)
    for strip in ((0, np.pi), (np.pi, 0), (0.4, 0.4)):
        check("query_strip", nside, strip, nest)


@pytest.mark.parametrize("nside, nest", SMALL)
def test_polygons(nside, nest):
    random = np.random.default_rng(3)
    for n in range(3, 33):
        rotation = np.linalg.qr(random.normal(size=(3, 3)))[0]
        angles = np.sort(random.uniform(0, 2 * np.pi, n % 6 + 3))
        radius = random.uniform(0.01, 1.5)
        vertices = np.stack([np.sin(radius) * np.cos(angles), np.sin(radius) * np.sin(angles),
                             np.full(angles.size, np.cos(radius))], axis=1) @ rotation
        check("query_polygon", nside, (vertices,), nest)


@pytest.mark.parametrize("nside, nest", SIDES)
def test_boundaries(nside, nest):
    wanted = pixels(nside, n=300)
    for step in (1, 3):
        ours, theirs = zonal.healpy.boundaries(nside, wanted, step, nest), healpy.boundaries(nside, wanted, step, nest)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=16 * EPS)
