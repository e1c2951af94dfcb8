"""zonal.ducc0 refuses what it cannot do, and names the argument."""

import numpy as np
import pytest

import zonal
import zonal.ducc0

RINGS = {"theta": np.array([0.3, 1.0, 2.0]), "phi0": np.zeros(3), "nphi": np.array([9, 9, 9]), "ringstart": np.array([0, 9, 18])}
ALM, PAIR, SKY = np.zeros((1, 15), complex), np.zeros((2, 15), complex), np.zeros((1, 27))
SHT = zonal.ducc0.sht
THETA = RINGS["theta"]
LEG = np.zeros((1, 3, 5), complex)
FOURIER = {name: RINGS[name] for name in ("phi0", "nphi", "ringstart")}


def synthesis(**other):
    return SHT.synthesis(**{"alm": ALM, "lmax": 4, "spin": 0, **RINGS, **other})


def adjoint(**other):
    return SHT.adjoint_synthesis(**{"map": SKY, "lmax": 4, "spin": 0, **RINGS, **other})


def pseudo(**other):
    return SHT.pseudo_analysis(**{"map": SKY, "lmax": 4, "spin": 0, "maxiter": 2, "epsilon": 1e-3, **RINGS, **other})


def on_grid(**other):
    return SHT.synthesis_2d(**{"alm": ALM, "lmax": 4, "spin": 0, "geometry": "CC", "ntheta": 6, "nphi": 9, **other})


def analysis(**other):
    return SHT.analysis_2d(**{"map": np.zeros((1, 6, 9)), "lmax": 4, "spin": 0, "geometry": "CC", **other})


def legs(**other):
    return SHT.alm2leg(**{"alm": ALM, "lmax": 4, "theta": THETA, **other})


def rotated(**other):
    return SHT.rotate_alm(**{"alm": ALM, "lmax": 4, "psi": 1.0, "theta": 2.0, "phi": 3.0, **other})


REFUSED = [
    (lambda: synthesis(alm=ALM.real), "alm = an array of float64: must be a NumPy array of complex64 or complex128"),
    (lambda: synthesis(alm=ALM.tolist()), r"alm = .*: must be a NumPy array"),
    (lambda: synthesis(alm=ALM[0]), r"alm: has shape \(15,\): must be \(\[transform,\] 1, x\)"),
    (lambda: synthesis(alm=PAIR), r"alm: has shape \(2, 15\): must be \(\[transform,\] 1, x\)"),
    (lambda: synthesis(spin=2), r"alm: has shape \(1, 15\): must be \(\[transform,\] 2, x\)"),
    (lambda: synthesis(alm=ALM[:, :14]), "alm: has a last axis of 14: must be 15 or more"),
    (lambda: synthesis(map=SKY.astype(np.float32)), "map = an array of float32: must be a NumPy array of float64"),
    (lambda: synthesis(map=SKY[:, :26]), "map: has a last axis of 26: must be 27 or more"),
    (lambda: synthesis(map=np.zeros((2, 27))), r"map: has shape \(2, 27\): must be \(1, 27\)"),
    (lambda: synthesis(map=np.broadcast_to(0.0, (1, 27))), "map: is read-only"),
    (lambda: synthesis(lmax=-1), "lmax = -1: must be 0 or more"),
    (lambda: synthesis(mmax=5), "mmax = 5: must be from 0 to lmax = 4"),
    (lambda: synthesis(mmax=-1), "mmax = -1: must be from 0 to lmax = 4"),
    (lambda: synthesis(spin=-1), "spin = -1: must be 0 or more"),
    (lambda: synthesis(alm=PAIR, spin=5), "spin = 5: must be from 0 to lmax = 4"),
    (lambda: synthesis(spin=0.5), "spin = 0.5: must be an integer"),
    (lambda: synthesis(mode="GRAD"), "mode = 'GRAD': must be one of STANDARD, GRAD_ONLY, DERIV1"),
    (lambda: synthesis(mode="GRAD_ONLY"), "mode = 'GRAD_ONLY': must be STANDARD for spin = 0"),
    (lambda: synthesis(mstart=np.array([0, 4]), mmax=2), "mstart: has length 2: must be mmax \\+ 1 = 3"),
    (lambda: synthesis(mstart=np.array([0.0])), "mstart: must hold integers"),
    (lambda: synthesis(mstart=np.array([-3])), "mstart: and lstride = 1 put a coefficient at index -3"),
    (lambda: synthesis(mstart=np.array([0]), lstride=0), "lstride = 0: must not be 0"),
    (lambda: adjoint(mstart=np.array([0, 0])), "mstart: puts two coefficients at one place"),
    (lambda: synthesis(theta=THETA[:2]), r"phi0|nphi: has shape \(3,\): must be \[2\]"),
    (lambda: synthesis(theta=THETA + 2), r"theta\[2\] = 4.0: must be from 0 to pi"),
    (lambda: synthesis(theta=np.array([0, np.nan, 1])), r"theta\[1\] = nan: must be from 0 to pi"),
    (lambda: synthesis(theta=THETA.astype(np.float32)), "theta: must hold float64, not float32"),
    (lambda: synthesis(phi0=np.array([0, np.inf, 0])), r"phi0\[1\] = inf: must be finite"),
    (lambda: synthesis(nphi=np.array([9, 0, 9])), "nphi: must hold one ring or more, of 1 pixel or more each"),
    (lambda: synthesis(nphi=np.array([9.0, 9, 9])), "nphi: must hold integers"),
    (lambda: synthesis(ringstart=np.array([0, 9, 2**63], np.uint64)), "ringstart = 9223372036854775808: must be below 2\\^63"),
    (lambda: synthesis(ringstart=np.array([-1, 9, 18])), "ringstart: and pixstride = 1 put a pixel at index -1"),
    (lambda: synthesis(pixstride=-1), "ringstart: and pixstride = -1 put a pixel at index -8"),
    (lambda: synthesis(pixstride=0), "ringstart: puts two pixels at one place"),
    (lambda: synthesis(ringfactor=np.ones(2)), r"ringfactor: has shape \(2,\): must be \[3\]"),
    (lambda: synthesis(nthreads=-1), "nthreads = -1: must be from 0"),
    (lambda: synthesis(nthreads=10000), "nthreads = 10000: must be from 0"),
    (lambda: synthesis(nside=4), "synthesis\\(\\) got an unexpected keyword argument 'nside'"),
    (lambda: adjoint(map=SKY.astype(int)), "map = an array of int64: must be a NumPy array of float32 or float64"),
    (lambda: adjoint(map=SKY[:, :26]), "map: has a last axis of 26: must be 27 or more"),
    (lambda: adjoint(alm=ALM.astype(np.complex64)), "alm = an array of complex64: must be a NumPy array of complex128"),
    (lambda: adjoint(alm=ALM[:, :14].copy()), "alm: has a last axis of 14: must be 15 or more"),
    (lambda: pseudo(maxiter=-1), "maxiter = -1: must be 0 or more"),
    (lambda: pseudo(epsilon=0.0), "epsilon = 0.0: must be above 0 and finite"),
    (lambda: pseudo(epsilon=np.nan), "epsilon = nan: must be above 0 and finite"),
    (lambda: pseudo(alm_contains_initial_guess=True), "alm: must be given where alm_contains_initial_guess = True"),
    (lambda: on_grid(geometry="cc"), "geometry = 'cc': must be one of CC, F1, MW, GL, DH, F2, MWflip"),
    (lambda: on_grid(ntheta=None), "ntheta: must be given where map is not"),
    (lambda: on_grid(nphi=0), "nphi = 0: must be 1 or more"),
    (lambda: on_grid(ntheta=1), "ntheta = 1"),
    (lambda: on_grid(map=np.zeros((1, 7, 9))), "ntheta = 6: must be 7, as of map"),
    (lambda: on_grid(map=np.zeros((1, 6, 9)), nphi=8), "nphi = 8: must be 9, as of map"),
    (lambda: on_grid(map=np.zeros((2, 6, 9))), r"map: has shape \(2, 6, 9\): must be \(1, ntheta, nphi\)"),
    (lambda: on_grid(phi0=np.inf), "phi0 = inf: must be finite"),
    (lambda: on_grid(alm=np.zeros((3, 1, 15), complex)), r"alm: has shape \(3, 1, 15\): must be \(1, x\)"),
    (lambda: analysis(lmax=5), "lmax = 5: must be at most 4"),
    (lambda: analysis(map=np.zeros((1, 6, 8))), "mmax = 4: must be at most 3"),
    (lambda: analysis(ringfactor=np.ones(5)), r"ringfactor: has shape \(5,\): must be \[6\]"),
    (lambda: SHT.maximum_safe_l("CC", 1), "ntheta = 1"),
    (lambda: SHT.get_gridweights("GL", 0), "ntheta = 0: must be 1 or more"),
    (lambda: legs(mval=np.array([1])), "mval: and mstart must be given together"),
    (lambda: legs(mval=np.array([1, 1]), mstart=np.array([0, 9])), "mval: must hold orders from 0 to lmax = 4, each once"),
    (lambda: legs(mval=np.array([5]), mstart=np.array([0])), "mval: must hold orders from 0 to lmax = 4, each once"),
    (lambda: legs(mval=np.array([2, -1]), mstart=np.array([0, 9])), "mval: must hold orders from 0 to lmax = 4, each once"),
    (lambda: legs(mval=np.array([2, 5]), mstart=np.array([0, 9])), "mval: must hold orders from 0 to lmax = 4, each once"),
    (lambda: legs(leg=np.zeros((1, 3, 4), complex)), r"leg: has shape \(1, 3, 4\): must be \(1, 3, 5\)"),
    (lambda: legs(lmax=-1), "lmax = -1: must be 0 or more"),
    (lambda: SHT.leg2alm(leg=LEG[..., :4], lmax=4, theta=THETA), r"leg: has shape \(1, 3, 4\): must be \(1, 3, 5\)"),
    (lambda: SHT.leg2map(leg=LEG[0], **FOURIER), r"leg: has shape \(3, 5\): must be \(ncomp, ntheta, mmax \+ 1\)"),
    (lambda: SHT.map2leg(map=SKY, mmax=-1, **FOURIER), "mmax = -1: must be 0 or more"),
    (lambda: SHT.map2leg(map=SKY[0], mmax=3, **FOURIER), r"map: has shape \(27,\): must be \(ncomp, x\)"),
    (lambda: rotated(alm=ALM[:, :9]), r"alm: has shape \(1, 9\): must be \(\[ncomp,\] 15\)"),
    (lambda: rotated(mmax_in=5), "mmax_in = 5: must be from 0 to lmax = 4"),
    (lambda: rotated(mmax_out=-1), "mmax_out = -1: must be from 0 to lmax = 4"),
    (lambda: rotated(out=np.zeros((1, 9), complex)), r"out: has shape \(1, 9\): must be \(1, 15\)"),
    (lambda: rotated(alm=ALM.real), "alm = an array of float64"),
]


@pytest.mark.parametrize("call, message", REFUSED, ids=[message for _, message in REFUSED])
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_nothing_of_an_output_is_written_where_an_argument_is_refused():
    out = np.full((1, 27), 3.0)
    with pytest.raises(ValueError, match="ringfactor"):
        synthesis(map=out, ringfactor=np.ones(2))
    assert np.all(out == 3)


@pytest.mark.parametrize("call", [synthesis, adjoint, pseudo, on_grid, analysis, legs, rotated])
@pytest.mark.parametrize("nthreads", [0, 1, 2])
def test_threads_are_those_asked_for(call, nthreads, monkeypatch):
    # What the extension is told; results do not depend on it, and small calls take fewer.
    from zonal.ducc0 import _arguments, _transforms  # noqa: F401
    told = []
    asked = _arguments.resolve
    monkeypatch.setattr(_arguments, "resolve", lambda n: told.append(asked(n)) or told[-1])
    with zonal.threads(3):
        call(nthreads=nthreads)
    assert told == [nthreads or 3]
