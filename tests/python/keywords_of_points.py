"""Keywords of transforms at points; rings of one pixel each say what is right."""

import importlib.util

import numpy as np

import zonal
from keyword_cases import With
from keywords_of_zonal import DEFAULT, of, raises

RNG = np.random.default_rng(8)
LMAX = 8
THETA, PHI = np.arccos(RNG.uniform(-1, 1, 300)), RNG.uniform(0, 6, 300)
PAIR = zonal.synalm({"TT": np.ones(LMAX + 1), "EE": np.arange(LMAX + 1) > 1.0, "BB": np.arange(LMAX + 1) > 1.0}, seed=3)[1:]
ALM = PAIR[0]
NARROW = zonal.synalm(np.ones(8), seed=4, mmax=4)  # of degrees up to 7
VALUES = RNG.standard_normal(300)
STEP = 1e-5


def direct(alm, lmax=LMAX, mmax=None, spin=0, theta=THETA, phi=PHI):
    return zonal.SHT(zonal.Grid(theta, np.ones(theta.size, int), 1.0, phi), lmax, mmax, spin).synthesize(alm)


def with_slopes(alm):
    return (direct(alm), (direct(alm, theta=THETA + STEP) - direct(alm, theta=THETA - STEP)) / (2 * STEP),
            (direct(alm, phi=PHI + STEP) - direct(alm, phi=PHI - STEP)) / (2 * STEP))


def best(weights):
    """The least-squares solution of the real problem, by NumPy."""
    alm = np.zeros((ALM.size, ALM.size), complex)
    np.fill_diagonal(alm, 1)
    real, imaginary = (np.array([direct(row * factor) for row in alm]).T for factor in (1, 1j))
    columns = np.concatenate([real, imaginary[:, LMAX + 1:]], 1)
    root = np.sqrt(weights)
    x = np.linalg.lstsq(columns * root[:, None], VALUES * root, rcond=None)[0]
    return x[:ALM.size] + 1j * np.concatenate([np.zeros(LMAX + 1), x[ALM.size:]])


def _of_class(name, made, narrow):
    """made: the values of PAIR or ALM by a class with these options. narrow: those of NARROW."""
    error_of = lambda **k: bool(abs(made(**k) - direct(ALM)).max() > 1e-9)
    return [of(name, made, {}, within=1e-9, spin=(2, 0, lambda: direct(PAIR, spin=2)), threads=(-1, DEFAULT, raises)),
            of(name, error_of, {}, error=(1e-3, 1e-10, lambda: True)),
            of(name, narrow, {}, within=1e-9, mmax=(With(4, lmax=7), DEFAULT, lambda: direct(NARROW, 7, 4)))]


def _transform(**options):
    lmax = options.pop("lmax", LMAX)
    return zonal.PointTransform(THETA, PHI, lmax, **options)


def _written(call, out):
    """The result, and whether it is `out`, which then holds it."""
    made = call(out)
    return made.copy(), made is out


def cases():
    transform = zonal.PointTransform(THETA, PHI, LMAX)
    function = zonal.SphereFunction(ALM)
    weights, many = RNG.uniform(0.1, 2, 300), np.zeros(zonal.alm_size(200), complex)
    analyzed = lambda **k: transform.analyze(VALUES, return_report=True, **k)[1]
    groups = [
        *_of_class("PointTransform.__init__", lambda **k: _transform(**k).synthesize(PAIR if k.get("spin") else ALM),
                   lambda **k: _transform(**k).synthesize(NARROW)),
        of("PointTransform.synthesize", lambda **k: transform.synthesize(ALM, **k), {}, within=1e-6,
           gradient=(True, DEFAULT, lambda: with_slopes(ALM))),
        of("PointTransform.synthesize", lambda **k: isinstance(transform.synthesize(ALM, **k), tuple), {},
           return_report=(True, DEFAULT, lambda: True)),
        of("PointTransform.synthesize", lambda out=None: _written(lambda space: transform.synthesize(ALM, out=space), out), {}, within=1e-6,
           out=(np.zeros(300), DEFAULT, lambda: (direct(ALM), True))),
        of("PointTransform.adjoint", lambda out=None: _written(lambda space: transform.adjoint(VALUES, out=space), out), {}, within=1e-6,
           out=(np.zeros(zonal.alm_size(LMAX), complex), DEFAULT, lambda: (transform.adjoint(VALUES), True))),
        of("PointTransform.analyze", lambda **k: transform.analyze(VALUES, **k), {"tolerance": 1e-9}, within=1e-6,
           weights=(weights, DEFAULT, lambda: best(weights))),
        of("PointTransform.analyze", lambda **k: bool(analyzed(**k).residual > 1e-8), {}, tolerance=(1e-2, 1e-8, lambda: True)),
        of("PointTransform.analyze", lambda **k: analyzed(**k).iterations, {}, max_iterations=(2, 1000, lambda: 2)),
        of("PointTransform.analyze", lambda **k: isinstance(transform.analyze(VALUES, **k), tuple), {},
           return_report=(True, DEFAULT, lambda: True)),
        of("PointTransform.analyze", lambda **k: transform.analyze(VALUES, **k), {}, progress=(lambda done: False, DEFAULT, raises)),
        *_of_class("SphereFunction.__init__", lambda **k: zonal.SphereFunction(PAIR if k.get("spin") else ALM, **k)(THETA, PHI),
                   lambda **k: zonal.SphereFunction(NARROW, **k)(THETA, PHI)),
        of("SphereFunction.__init__", lambda **k: zonal.SphereFunction(NARROW, **k)(THETA, PHI), {"lmax": 8, "mmax": 3}, within=1e-9,
           lmax=(With(7, mmax=4), DEFAULT, lambda: direct(NARROW, 7, 4))),
        of("SphereFunction.__init__", lambda **k: zonal.SphereFunction(many, **k).n_samples > zonal.SphereFunction(many).n_samples, {},
           n_points=(10**9, 0, lambda: True)),
        of("SphereFunction.__call__", lambda **k: function(THETA, PHI, **k), {}, within=1e-6,
           gradient=(True, DEFAULT, lambda: with_slopes(ALM))),
    ]
    for name in ("jax", "torch"):
        if importlib.util.find_spec(name) is not None:
            groups += _of_library(name)
    return [case for group in groups for case in group]


def _of_library(name):
    module, given = importlib.import_module(f"zonal.{name}"), np.asarray
    if name == "jax":
        importlib.import_module("jax").config.update("jax_enable_x64", True)
    else:
        given = importlib.import_module("torch").from_numpy
    run = lambda alm, **k: np.asarray(module.evaluate(given(alm), given(THETA), given(PHI), **k))
    return [*_of_class(f"{name}.evaluate", lambda **k: run(PAIR if k.get("spin") else ALM, **k), lambda **k: run(NARROW, **k)),
            of(f"{name}.evaluate", lambda **k: run(NARROW, **k), {"lmax": 8, "mmax": 3}, within=1e-9,
               lmax=(With(7, mmax=4), DEFAULT, lambda: direct(NARROW, 7, 4)))]
