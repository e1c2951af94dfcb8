"""Directions and pixels for tests of zonal.healpy against healpy."""
import numpy as np

SIDES = [(nside, nest) for nside in (1, 2, 3, 8, 100, 1024, 2**20, 2**29) for nest in (False, True)
         if not nest or nside & (nside - 1) == 0]


def directions(n, seed=1):
    """theta, phi: [n]; everywhere on the sphere, phi from one turn below 0 to one beyond the first."""
    random = np.random.default_rng(seed)
    return np.arccos(random.uniform(-1, 1, n)), random.uniform(-2 * np.pi, 4 * np.pi, n)


def pixels(nside, n=10000, seed=1):
    """All pixels of a map that has at most n, else n of them."""
    if 12 * nside**2 <= n:
        return np.arange(12 * nside**2)
    return np.random.default_rng(seed).integers(0, 12 * nside**2, n)
