"""Keywords of vector fields and derivatives; healpy's derivatives, and those two times, say what is right."""

import healpy
import numpy as np

import zonal
from keyword_cases import Sent, With
from keywords_of_healpy import LMAX, NSIDE, RNG, TEB
from keywords_of_zonal import DEFAULT, NARROW, of

PAIR = np.stack([TEB[0], TEB[1]])
PAIR[:, 0] = 0
NARROW_PAIR = np.stack([NARROW, 2 * NARROW])
RINGS = zonal.Grid.gauss_legendre(12, 64)  # as many pixels as HEALPix of nside 8
FLOW = RNG.standard_normal((2, 12 * NSIDE**2))


def slopes(alm, lmax=None, mmax=None):
    """Towards south and east."""
    return np.array(healpy.alm2map_der1(alm, NSIDE, lmax, mmax)[1:])


def turned(vectors):
    """r x v."""
    return np.stack([-vectors[1], vectors[0]])


def vectors(alm, lmax=None, mmax=None):
    return slopes(alm[0], lmax, mmax) + turned(slopes(alm[1], lmax, mmax))


def east_north(vectors):
    return np.stack([vectors[1], -vectors[0]])


def degrees(lmax, mmax=None):
    return healpy.Alm.getlm(lmax)[0] if mmax is None else np.concatenate([np.arange(m, lmax + 1) for m in range(mmax + 1)])


def potentials(flow, lmax, mmax=None, grid=None, **options):
    """By a transform of spin 1."""
    grid = zonal.Grid.healpix(NSIDE) if grid is None else grid
    sht = zonal.SHT(grid, lmax, mmax, 1)
    l = degrees(lmax, mmax)
    return sht.analyze(flow, **options, return_report=True)[0] / np.sqrt(np.maximum(1, l * (l + 1)))


def second(alm, lmax=None, mmax=None):
    """[3, pixel], by spin 2 and the Laplacian."""
    lmax = LMAX if lmax is None else lmax
    l = degrees(lmax, mmax).astype(float)
    trace = zonal.SHT(zonal.Grid.healpix(NSIDE), lmax, mmax).synthesize(-l * (l + 1) * alm) / 2
    shear = -np.sqrt((l + 2) * (l + 1) * l * np.maximum(0, l - 1)) / 2 * alm
    q, u = zonal.SHT(zonal.Grid.healpix(NSIDE), lmax, mmax, 2).synthesize(np.stack([shear, 0 * alm]))
    return np.stack([trace + q, u, trace - q])


def _of_one(name, expected, power):
    def call(alm, **options):
        return getattr(zonal, name)(alm, NSIDE, **options)

    def towards_east(values):
        return east_north(values) if len(values) == 2 else values[::-1] * [[1], [-1], [1]]
    return [
        of(name, lambda **k: call(NARROW, **k), {"lmax": 8, "mmax": 3},
           lmax=(With(7, mmax=4), DEFAULT, lambda: expected(NARROW, 7, 4)),
           mmax=(With(4, lmax=7), DEFAULT, lambda: expected(NARROW, 7, 4)), within=1e-11),
        of(name, lambda **k: call(TEB[0], **k), radius=(2.0, 1.0, lambda: expected(TEB[0]) / 2**power),
           components=("east-north", "theta-phi", lambda: towards_east(expected(TEB[0]))), within=1e-11),
    ]


def _of_two():
    def to_vector(**options):
        return zonal.alm2vector(PAIR, NSIDE, **({"scalars": "potentials"} | options))

    def to_alm(**options):
        return zonal.vector2alm(FLOW, 8, **({"scalars": "potentials"} | options))

    l = degrees(8)
    ring_weights, pixel_weights = np.linspace(0.9, 1.1, 4 * NSIDE - 1), np.linspace(0.9, 1.1, 12 * NSIDE**2)
    return [
        of("alm2vector", lambda **k: zonal.alm2vector(NARROW_PAIR, NSIDE, scalars="potentials", **k), {"lmax": 8, "mmax": 3},
           lmax=(With(7, mmax=4), DEFAULT, lambda: vectors(NARROW_PAIR, 7, 4)),
           mmax=(With(4, lmax=7), DEFAULT, lambda: vectors(NARROW_PAIR, 7, 4)), within=1e-11),
        of("alm2vector", to_vector, radius=(2.0, 1.0, lambda: vectors(PAIR) / 2),
           components=("east-north", "theta-phi", lambda: east_north(vectors(PAIR))),
           scalars=("spheroidal-toroidal", DEFAULT, lambda: slopes(PAIR[0]) - turned(slopes(PAIR[1]))), within=1e-11),
        of("vector2alm", lambda **k: zonal.vector2alm(FLOW, scalars="potentials", **k), within=1e-11,
           lmax=(8, 3 * NSIDE - 1, lambda: potentials(FLOW, 8))),
        of("vector2alm", to_alm, within=1e-11,
           mmax=(4, 8, lambda: potentials(FLOW, 8, 4)),
           radius=(2.0, 1.0, lambda: 2 * potentials(FLOW, 8)),
           components=("east-north", "theta-phi", lambda: potentials(np.stack([-FLOW[1], FLOW[0]]), 8)),
           scalars=("divergence-vorticity", DEFAULT, lambda: -l * (l + 1) * potentials(FLOW, 8)),
           iterations=(0, 3, lambda: potentials(FLOW, 8, iterations=0)),
           tolerance=(1e-12, DEFAULT, lambda: potentials(FLOW, 8, tolerance=1e-12)),
           ring_weights=(ring_weights, DEFAULT, lambda: potentials(FLOW, 8, ring_weights=ring_weights)),
           pixel_weights=(pixel_weights, DEFAULT, lambda: potentials(FLOW, 8, pixel_weights=pixel_weights))),
        of("vector2alm", to_alm, {"tolerance": 1e-12}, within=1e-11,
           max_iterations=(1, 200, lambda: Sent(potentials(FLOW, 8, tolerance=1e-12, max_iterations=1), ["ZonalWarning"]))),
        of("vector2alm", to_alm, within=1e-11, grid=(RINGS, DEFAULT, lambda: potentials(FLOW, 8, grid=RINGS))),
    ]


def cases():
    """All of them."""
    return [case for group in (*_of_one("gradient", slopes, 1), *_of_one("curl", lambda *given: turned(slopes(*given)), 1),
                               *_of_one("hessian", second, 2), *_of_two()) for case in group]
