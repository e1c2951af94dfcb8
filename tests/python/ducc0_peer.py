"""Random fields and rings for zonal.ducc0 and ducc0, and how their results are compared."""

import ducc0
import numpy as np

import zonal
import zonal.ducc0

LMAX = 24
EPS = np.finfo(float).eps
GEOMETRIES = ["CC", "F1", "MW", "MWflip", "GL", "DH", "F2"]


def random_alm(lmax, mmax, components, spin=0, *, seed=1, transforms=None):
    """([transforms,] components, n_alm) of unit variance, real for m = 0 and 0 below the spin."""
    rng = np.random.default_rng(seed)
    shape = (*([] if transforms is None else [transforms]), components, zonal.alm_size(lmax, mmax))
    alm = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    alm[..., :lmax + 1].imag = 0
    l = np.concatenate([np.arange(m, lmax + 1) for m in range(mmax + 1)])
    alm[..., l < spin] = 0
    return alm


def rings(count=13, seed=2):
    """Rings at random latitudes, with 1 to 60 pixels, in a map in which they lie in another order with gaps, and both poles."""
    rng = np.random.default_rng(seed)
    theta = np.sort(rng.uniform(0, np.pi, count))
    theta[0], theta[-1], theta[count // 2] = 0, np.pi, np.pi / 2
    nphi = rng.integers(1, 60, count)
    order, starts, at = rng.permutation(count), np.empty(count, int), 3
    for ring in order:
        starts[ring], at = at, at + nphi[ring] + rng.integers(0, 3)
    return {"theta": theta, "nphi": nphi.astype(np.uint64), "phi0": rng.uniform(-3, 7, count), "ringstart": starts.astype(np.uint64)}


def length(rings, pixstride=1):
    return int((rings["ringstart"] + np.uint64(pixstride) * (rings["nphi"] - np.uint64(1))).max()) + 1


def tolerance(dtype, lmax, operations=1):
    """Of the largest value: each of the two rounds by up to 8 lmax eps in the recurrence, and to the array's precision."""
    return operations * (16 * lmax * EPS + (4 * np.finfo(np.float32).eps if np.dtype(dtype) in (np.float32, np.complex64) else 0))


def agree(found, expected, within):
    """Same shapes and types; differences are at most `within` of the largest value."""
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=0, atol=within * np.abs(expected).max())


def both(function, within, **arguments):
    """Calls the function of sht of both packages, compares, and returns what zonal.ducc0 gives. Arrays of outputs are copied."""
    ours, theirs = ({name: value.copy() if name in ("map", "alm", "leg") and isinstance(value, np.ndarray) else value
                     for name, value in arguments.items()} for _ in range(2))
    found, expected = getattr(zonal.ducc0.sht, function)(**ours), getattr(ducc0.sht, function)(**theirs)
    agree(found, expected, within)
    return found
