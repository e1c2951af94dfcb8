"""What the tests of zonal.jax and zonal.torch, whose functions have the same names, go through."""

import pytest


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
            *([("rotate_alm", lambda a: z.rotate_alm(a, turn), "alm")] if mmax == lmax else [])]


def cases(functions_of, transforms):
    """The functions of several transforms as parameters of a test: sht, function, kind."""
    return [pytest.param(sht, function, kind, id=f"{name}, spin {sht.spin}")
            for sht in transforms for name, function, kind in functions_of(sht)]
