"""Keywords of Zonal's own functions of maps and coefficients; healpy, NumPy or an identity says what is right."""

import os
import tempfile
from unittest.mock import patch

import healpy
import numpy as np

import zonal
from keyword_cases import ROUNDING, Case, Raised, Sent, With, split_with
from keywords_of_healpy import BEAM, CL, FULL, LMAX, NARROW, NSIDE, RNG, TEB, L
from public_calls import public_calls

DEFAULT = object()
"""In place of a default that is stated: none is, as it is None or False and means that nothing is done."""
N = 12 * NSIDE**2
UNSEEN = zonal.UNSEEN
HEALPIX, RINGS = zonal.Grid.healpix(NSIDE), zonal.Grid.fejer1(20, 40)
CAR = RNG.standard_normal(RINGS.n_pixels)
MASK = RNG.uniform(size=N) * (RNG.uniform(size=N) < 0.9)
MASK[300:400] = 0
CENTRES = np.array(healpy.pix2vec(NSIDE, np.arange(N)))
PLAIN = FULL[0]
GAUSS = healpy.gauss_beam(0.3, 3 * NSIDE - 1)


def to_nest(maps):
    return healpy.reorder(np.asarray(maps), r2n=True)


def to_ring(maps):
    return healpy.reorder(np.asarray(maps), n2r=True)


def of(name, call, base=None, /, *, within=ROUNDING, **changes):
    """Cases of a function. changes: by keyword the value, the default that is stated, and what makes the expected result."""
    found = []
    for keyword, (value, stated, expected) in changes.items():
        before, after = split_with(base or {}, keyword, value)
        given = {} if stated is DEFAULT else {"stated": stated}
        found.append(Case(f"zonal.{name}", keyword, call, before, after, expected, within, **given))
    return found


def raises():
    return Raised()


def _everywhere():
    """Keywords that mean the same in all functions which have them."""
    values = {"threads": -1, "progress": lambda share: False, "device": "cuda:99", "overwrite": False, "stream": 5}
    for call in public_calls():
        for keyword in (p.name for p in call.parameters if p.name in values):
            run = _in_new_cache(call) if call.name == "zonal.io.quadrature_weights" else call
            yield Case(call.name, keyword, run, {}, {keyword: values[keyword]}, raises, 0, label="-refused")


def _in_new_cache(call):
    """The call with an empty folder of weights, as those that are kept take no time."""
    def run(**options):
        with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, XDG_CACHE_HOME=folder):
            return call(**options)
    return run


def _of_coefficients():
    quantity = {"TT": CL, "EE": CL / 2, "BB": CL / 3, "TE": CL / 9}
    return [
        of("almxfl", lambda **k: zonal.almxfl(NARROW, BEAM, **k), {"lmax": 8, "mmax": 3}, lmax=(7, DEFAULT, raises),
           mmax=(4, DEFAULT, raises)),
        of("almxfl", lambda **k: zonal.almxfl(NARROW, BEAM, **k),
           mmax=(With(3, lmax=8), DEFAULT, lambda: healpy.almxfl(NARROW, BEAM[:9], mmax=3))),
        of("resize_alm", lambda **k: zonal.resize_alm(NARROW, 6, **k), {"lmax": 8, "mmax": 3},
           mmax_out=(3, 6, lambda: healpy.resize_alm(NARROW, 8, 3, 6, 3)),
           lmax=(With(7, mmax=4), DEFAULT, lambda: healpy.resize_alm(NARROW, 7, 4, 6, 6)),
           mmax=(With(4, lmax=7), DEFAULT, lambda: healpy.resize_alm(NARROW, 7, 4, 6, 6))),
        of("wavelet_transform", lambda **k: zonal.wavelet_transform(NARROW, [BEAM], **k), {"lmax": 8, "mmax": 3},
           lmax=(With(7, mmax=4), DEFAULT, lambda: [healpy.almxfl(NARROW, BEAM[:8], mmax=4)]),
           mmax=(With(4, lmax=7), DEFAULT, lambda: [healpy.almxfl(NARROW, BEAM[:8], mmax=4)])),
        of("inverse_wavelet_transform", lambda **k: zonal.inverse_wavelet_transform([NARROW], [BEAM], **k),
           {"lmax": 8, "mmax": 3},
           lmax=(With(7, mmax=4), DEFAULT, lambda: healpy.almxfl(NARROW, BEAM[:8], mmax=4)),
           mmax=(With(4, lmax=7), DEFAULT, lambda: healpy.almxfl(NARROW, BEAM[:8], mmax=4))),
        of("alm2cl", lambda **k: zonal.alm2cl(TEB[0], **k),
           alm2=(TEB[1], TEB[0], lambda: healpy.alm2cl(TEB[0], TEB[1]))),
        of("alm2cl", lambda **k: zonal.alm2cl(NARROW, **k), {"lmax": 8, "mmax": 3},
           lmax=(With(7, mmax=4), DEFAULT, lambda: healpy.alm2cl(NARROW, lmax=7, mmax=4)),
           mmax=(With(4, lmax=7), DEFAULT, lambda: healpy.alm2cl(NARROW, lmax=7, mmax=4))),
        of("alm2map", lambda **k: zonal.alm2map(NARROW, NSIDE, **k), {"lmax": 8, "mmax": 3},
           lmax=(With(7, mmax=4), DEFAULT, lambda: healpy.alm2map(NARROW, NSIDE, lmax=7, mmax=4)),
           mmax=(With(4, lmax=7), DEFAULT, lambda: healpy.alm2map(NARROW, NSIDE, lmax=7, mmax=4))),
        of("alm_size", lambda **k: zonal.alm_size(8, **k), mmax=(3, 8, lambda: healpy.Alm.getsize(8, 3))),
        of("synalm", lambda **k: zonal.synalm(quantity, **({"seed": 3} | k)),
           seed=(4, DEFAULT, lambda: zonal.synalm({**quantity, "TB": 0 * CL}, seed=4)),
           lmax=(6, LMAX, lambda: healpy.resize_alm(list(zonal.synalm(quantity, seed=3)), LMAX, LMAX, 6, 6)),
           mmax=(4, LMAX, lambda: healpy.resize_alm(list(zonal.synalm(quantity, seed=3)), LMAX, LMAX, LMAX, 4)),
           dtype=(np.complex64, np.complex128, lambda: zonal.synalm(quantity, seed=3).astype(np.complex64)),
           within=1e-6),
        of("synfast", lambda **k: zonal.synfast(quantity, NSIDE, **({"seed": 3} | k)),
           seed=(4, DEFAULT, lambda: healpy.alm2map(zonal.synalm(quantity, seed=4), NSIDE)),
           lmax=(6, LMAX, lambda: healpy.alm2map(zonal.synalm(quantity, 6, seed=3), NSIDE)),
           mmax=(4, LMAX, lambda: healpy.alm2map(zonal.synalm(quantity, LMAX, 4, seed=3), NSIDE, lmax=LMAX, mmax=4)),
           fwhm=(0.3, DEFAULT, lambda: healpy.alm2map(zonal.synalm(quantity, seed=3), NSIDE, fwhm=0.3)),
           window=(BEAM, np.ones(LMAX + 1),
                   lambda: healpy.alm2map([healpy.almxfl(a, BEAM) for a in zonal.synalm(quantity, seed=3)], NSIDE)),
           dtype=(np.float32, np.float64, lambda: zonal.synfast(quantity, NSIDE, seed=3).astype(np.float32)),
           within=1e-6),
        of("synfast", lambda **k: zonal.synfast(CL, NSIDE, seed=3, fwhm=0.3, **k),
           return_alm=(True, False, lambda: (lambda a: (healpy.alm2map(a, NSIDE),
                                                        a))(healpy.smoothalm(zonal.synalm(CL, seed=3), fwhm=0.3)))),
        of("rotate_alm", lambda **k: (lambda a: (zonal.rotate_alm(a, (0.1, 0.2, 0.3), **k), a))(TEB.copy()),
           lmax=(9, LMAX, raises), inplace=(True, False, lambda: (_rotated(TEB), _rotated(TEB)))),
        of("rotate_alm", lambda **k: zonal.rotate_alm(NARROW, (0.1, 0.2, 0.3), **k), {"lmax": 8, "mmax": 3},
           mmax=(With(4, lmax=7), DEFAULT, lambda: _rotated(healpy.resize_alm(NARROW, 7, 4, 7, 7))),
           mmax_out=(2, 8, lambda: healpy.resize_alm(_rotated(healpy.resize_alm(NARROW, 8, 3, 8, 8)), 8, 8, 8, 2))),
        of("gaussian_window", lambda **k: zonal.gaussian_window(0.3, LMAX, **k),
           spin=(2, 0, lambda: healpy.gauss_beam(0.3, LMAX, pol=True)[:, 1] * (L > 1))),
    ]


def _of_transforms():
    sht = zonal.SHT(HEALPIX, LMAX)
    ill_conditioned = zonal.SHT(HEALPIX, 26)  # as many alm as the grid can tell apart: needs more than a thousand iterations
    rings = zonal.SHT(zonal.Grid.fejer1(12, 24).subset(range(12)), LMAX)  # of which nobody knows an inverse
    on_rings = np.cos(np.arange(rings.grid.n_pixels + 0.0) ** 2)
    once = rings.analyze(on_rings, iterations=0)
    return [
        of("SHT.__init__", lambda **k: zonal.SHT(HEALPIX, 8, **k).synthesize(NARROW), {"mmax": 3},
           mmax=(4, DEFAULT, raises)),
        of("SHT.__init__", lambda **k: zonal.SHT(HEALPIX, LMAX, **k).adjoint(FULL[1:]),
           spin=(2, 0, lambda: _adjoint(FULL[1:], 2))),
        of("SHT.__init__", lambda **k: repr(zonal.SHT(HEALPIX, LMAX, **k)), max_workspace_bytes=(-1, 0, raises)),
        of("SHT.synthesize", lambda **k: _written(lambda **o: sht.synthesize(TEB[0], **o), N, **k),
           out=(True, DEFAULT, lambda: (healpy.alm2map(TEB[0], NSIDE), True))),
        of("SHT.adjoint", lambda **k: _written(lambda **o: sht.adjoint(PLAIN, **o), sht.n_alm, complex, **k),
           out=(True, DEFAULT, lambda: (_adjoint(PLAIN), True))),
        of("SHT.adjoint_analysis", lambda **k: _written(lambda **o: sht.adjoint_analysis(TEB[0], **o), N, **k),
           out=(True, DEFAULT, lambda: (4 * np.pi / N * healpy.alm2map(TEB[0], NSIDE), True))),
        of("SHT.analyze", lambda **k: _written(lambda **o: sht.analyze(PLAIN, **o), sht.n_alm, complex, **k),
           out=(True, DEFAULT, lambda: (healpy.map2alm(PLAIN, LMAX), True))),
        of("SHT.analyze", lambda **k: sht.analyze(PLAIN, **k),
           iterations=(1, 3, lambda: healpy.map2alm(PLAIN, LMAX, iter=1)),
           pixel_weights=(With(MASK, iterations=0), np.ones(N), lambda: healpy.map2alm(PLAIN * MASK, LMAX, iter=0)),
           ring_weights=(With(np.linspace(0.5, 1, 31), iterations=0), np.ones(31),
                         lambda: healpy.map2alm(PLAIN * _by_ring(np.linspace(0.5, 1, 31)), LMAX, iter=0))),
        of("SHT.analyze", lambda **k: rings.analyze(on_rings, **k), within=1e-12,
           iterations=(1, 0, lambda: once + rings.analyze(on_rings - rings.synthesize(once)))),
        of("SHT.analyze", lambda **k: (lambda r: (r.iterations < 5,
                                                  r.residual < 0.1))(sht.analyze(PLAIN, return_report=True, **k)[1]), {"tolerance": 1e-12},
           tolerance=(0.05, DEFAULT, lambda: (True, True))),
        of("SHT.analyze", lambda **k: ill_conditioned.analyze(PLAIN, return_report=True, tolerance=1e-12, **k)[1].iterations,
           max_iterations=(2, 200, lambda: 2)),
        of("SHT.analyze", lambda **k: sht.analyze(PLAIN, tolerance=1e-12, **k).shape,
           max_iterations=(1, 200, lambda: Sent((sht.n_alm,), ["ZonalWarning"]))),
        of("SHT.analyze", lambda **k: type(sht.analyze(PLAIN, **k)).__name__,
           return_report=(True, False, lambda: "tuple")),
    ]


def _rotated(alm):
    turned = alm.copy()
    healpy.rotate_alm(turned, 0.1, 0.2, 0.3)
    return turned


def _by_ring(weights):
    return weights[healpy.pix2ring(NSIDE, np.arange(N)) - 1]


def _adjoint(maps, spin=0):
    scale = N / (4 * np.pi)
    return scale * (np.array(healpy.map2alm_spin(maps, spin, LMAX)) if spin else healpy.map2alm(maps, LMAX, iter=0))


def _written(call, length, kind=float, out=None):
    """What a call returns, and whether it wrote to out."""
    if out is None:
        return call(), False
    space = np.zeros(length, kind)
    result = call(out=space)
    return space, result is space


def cases():
    """All of them."""
    return [*_everywhere(), *(case for group in (*_of_coefficients(), *_of_transforms()) for case in group)]
