"""What the tests of zonal.jax and zonal.torch, whose functions have the same names, go through."""

import os

import numpy as np
import pytest

DEVICE = os.environ.get("ZONAL_TEST_DEVICE", "cpu")
# A sum of some hundred terms of order 1, in another order: sqrt(300) 1e-16, and a margin of ten.
ROUNDING = {"rtol": 0, "atol": 2e-14}
# On the CPU the library computes what both ways ask for by the same code, in the same order.
SAME = {"rtol": 0, "atol": 0} if DEVICE == "cpu" else {"rtol": 1e-6, "atol": 1e-5}


def arrays(sht, rng, dtype=np.float64):
    """A map and alm of a transform; those of m = 0 have imaginary parts, which must have no effect."""
    components = (2,) if sht.spin else ()
    alm = rng.standard_normal((*components, sht.n_alm)) + 1j * rng.standard_normal((*components, sht.n_alm))
    sky = rng.standard_normal((*components, sht.grid.n_pixels))
    return sky.astype(dtype), alm.astype(np.result_type(dtype, np.complex64))


def functions_of(z, sht, beam, weights, turn):
    """Every function of a map or alm of a transform in the module z: its name, the function, and what of them it takes."""
    lmax, mmax = sht.lmax, sht.mmax
    return [("synthesize", lambda a: z.synthesize(a, sht), "alm"),
            ("adjoint", lambda f: z.adjoint(f, sht), "map"),
            ("analyze", lambda f: z.analyze(f, sht, iterations=2), "map"),
            ("analyze with weights", lambda f: z.analyze(f, sht, iterations=1, weights=weights), "map"),
            ("convolve", lambda f: z.convolve(f, beam, sht), "map"),
            ("smooth", lambda f: z.smooth(f, "20deg", sht), "map"),
            ("almxfl", lambda a: z.almxfl(a, beam, lmax, mmax), "alm"),
            ("alm2cl", lambda a: z.alm2cl(a, lmax=lmax, mmax=mmax), "alm"),
            ("synalm", lambda a: z.synalm(beam, a, lmax, mmax), "alm"),
            ("rotate_alm", lambda a: z.rotate_alm(a, turn, lmax, mmax, mmax_out=2), "alm")]


def cases(functions_of, transforms):
    """The functions of several transforms as parameters of a test: sht, function, kind."""
    return [pytest.param(sht, function, kind, id=f"{name}, spin {sht.spin}")
            for sht in transforms for name, function, kind in functions_of(sht)]
