"""Keywords of beams that are not round; turned beams, other calls and identities say what is right."""

import numpy as np

import zonal
from keywords_of_healpy import RNG
from keywords_of_zonal import DEFAULT, of

LMAX, KMAX = 12, 3
SKY = zonal.synalm(np.ones(LMAX + 1), seed=1)
SKY_TEB = np.stack([SKY, *(zonal.synalm(np.ones(LMAX + 1) * (np.arange(LMAX + 1) > 1), seed=k) for k in (2, 3))])
BEAM = RNG.standard_normal(zonal.alm_size(LMAX, KMAX)) + 0j
BEAM_TEB = np.stack([BEAM, *(zonal.elliptical_beam(0.5, 1.5, lmax=LMAX, polarization=0.3, error=0.01)[1:, :len(BEAM)])])
AT = {"theta": np.array([0.3, 1.5, 2.9]), "phi": np.array([1.0, 4.0, 6.2]), "psi": np.array([2.0, 0.5, 5.0])}
ALPHA = np.array([0.3, 1.0, 2.0])
ELLIPSE = {"fwhm": 0.5, "ellipticity": 1.4, "lmax": LMAX}


def degrees(kmax):
    return np.concatenate([np.full(LMAX + 1 - k, k) for k in range(kmax + 1)])


def turned(beam, angle):
    """A beam turned about its axis."""
    kmax = next(k for k in range(LMAX + 1) if zonal.alm_size(LMAX, k) == beam.shape[-1])
    return beam * np.exp(-1j * degrees(kmax) * angle)


def behind_plate(alpha):
    """A narrow beam behind the plate: conj of Q + i U of the beam's frame, turned."""
    q, u = zonal.PointTransform(AT["theta"], AT["phi"], LMAX, spin=2).synthesize(SKY_TEB[1:])
    seen = np.exp(4j * alpha) * np.exp(2j * AT["psi"]) * (q - 1j * u)
    return zonal.PointTransform(AT["theta"], AT["phi"], LMAX).synthesize(SKY) + seen.real


def by_adjoint(call):
    """Sums of a time-ordered array with the signal of SKY_TEB, by the transpose."""
    weight = np.where(np.arange(SKY.size) <= LMAX, 1, 2)
    return lambda **k: (weight * (call(**k).conj() * SKY_TEB).real).sum()


def _of_convolvers():
    signal = lambda **k: zonal.BeamConvolver(SKY, BEAM, **k)(**AT)
    narrow = zonal.BeamConvolver(SKY_TEB, zonal.elliptical_beam(1e-4, lmax=LMAX, polarization=0, error=1e-9), error=1e-9)
    one = zonal.BeamConvolver(SKY, BEAM)
    return [
        of("BeamConvolver.__init__", signal, {"error": 1e-10}, within=1e-9,
           kmax=(1, KMAX, lambda: zonal.BeamConvolver(SKY, BEAM[:zonal.alm_size(LMAX, 1)], error=1e-10)(**AT))),
        of("BeamConvolver.__init__", lambda **k: zonal.BeamConvolver(SKY, BEAM, **k).bound < 1e-9, error=(1e-9, 1e-6, lambda: True)),
        of("BeamConvolver.__init__", lambda **k: zonal.BeamConvolver(SKY, BEAM, **k).n_samples > 48,
           n_pointings=(10**9, 0, lambda: True)),
        of("BeamConvolver.__init__", lambda **k: zonal.BeamConvolver(SKY, BEAM, **k).n_bytes < one.n_bytes,
           theta_range=((0.2, 0.3), (0, np.pi), lambda: True)),
        of("BeamConvolver.__call__", lambda **k: narrow(**AT, **k), within=1e-6, hwp=(ALPHA, None, lambda: behind_plate(ALPHA))),
        of("BeamConvolver.__call__", lambda **k: type(one(**AT, **k)).__name__, return_report=(True, False, lambda: "tuple")),
        of("BeamConvolver.adjoint", by_adjoint(lambda **k: narrow.adjoint(ALPHA, **AT, **k)), within=1e-6,
           hwp=(ALPHA, None, lambda: ALPHA @ behind_plate(ALPHA))),
    ]


def _of_beams():
    make = lambda **k: zonal.elliptical_beam(**ELLIPSE | {"error": 1e-9} | k)
    polarized = make(polarization=0)
    return [
        of("elliptical_beam", lambda **k: zonal.elliptical_beam(0.5, lmax=LMAX, **k).size,
           ellipticity=(1.4, 1.0, lambda: make(error=1e-6).size)),
        of("elliptical_beam", lambda **k: zonal.elliptical_beam(0.5, 1.4, **k).size, {"lmax": 5},
           lmax=(LMAX, DEFAULT, lambda: make(error=1e-6).size)),
        of("elliptical_beam", make, within=1e-13, orientation=(0.7, 0.0, lambda: turned(make(), 0.7))),
        of("elliptical_beam", make, within=1e-13,
           polarization=(0.0, None, lambda: np.stack([polarized[0], *polarized[1:]]))),
        of("elliptical_beam", lambda **k: make(**k)[1:], {"polarization": 0.2}, within=1e-13,
           efficiency=(0.5, 1.0, lambda: 0.5 * make(polarization=0.2)[1:])),
        of("elliptical_beam", lambda **k: zonal.elliptical_beam(**ELLIPSE, **k).size,
           error=(0.1, 1e-6, lambda: zonal.alm_size(LMAX, 2))),
        of("elliptical_beam", lambda **k: type(make(**k)).__name__, return_report=(True, False, lambda: "tuple")),
    ]


def cases():
    """All of them."""
    return [case for group in (*_of_convolvers(), *_of_beams()) for case in group]
