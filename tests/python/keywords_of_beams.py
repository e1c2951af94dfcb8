"""Keywords of beams that are not round; turned beams, other calls and identities say what is right."""

import numpy as np

import zonal
from keywords_of_healpy import RNG
from keywords_of_zonal import DEFAULT, of
from zonal import healpy

LMAX, KMAX = 12, 3
SKY = zonal.synalm(np.ones(LMAX + 1), seed=1)
SKY_TEB = np.stack([SKY, *(zonal.synalm(np.ones(LMAX + 1) * (np.arange(LMAX + 1) > 1), seed=k) for k in (2, 3))])
BEAM = RNG.standard_normal(zonal.alm_size(LMAX, KMAX)) + 0j
BEAM_TEB = np.stack([BEAM, *(zonal.elliptical_beam(0.5, 1.5, lmax=LMAX, polarization=0.3, error=0.01)[1:, :len(BEAM)])])
ROUND = np.sqrt((2 * np.arange(LMAX + 1) + 1) / (4 * np.pi)) * zonal.gaussian_window(0.5, LMAX)
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
        of("BeamConvolver.__init__", lambda **k: zonal.BeamConvolver(SKY, ROUND, **k).method,
           method=("displaced", "auto", lambda: "displaced")),
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


NSIDE = 8
MAPS = zonal.alm2map(SKY_TEB, NSIDE)
MASK = (np.arange(12 * NSIDE**2) % 7 > 0) * 0.5


def at_pixels(maps, beam=BEAM, grid=None, psi=0.0, lmax=LMAX, **analysis):
    """What a detector measures at the centres of a map's pixels, from its alm."""
    alm = zonal.map2alm(maps, lmax, grid=grid, pol=maps.ndim == 2, **analysis)
    where = (zonal.Grid.healpix(int(np.sqrt(maps.shape[-1] / 12))) if grid is None else grid).angles()
    return zonal.BeamConvolver(alm, beam, error=1e-12)(*where, psi)


def unseen(values, mask):
    return np.where(mask == 0, zonal.UNSEEN, values)


def _on_pixels():
    """The interpolation of the convolver errs by 1e-12 of the largest value."""
    smooth = lambda maps=MAPS[0], beam=BEAM, **k: zonal.smooth_with_beam(maps, beam, **{"lmax": LMAX} | k)
    flat = lambda **k: zonal.smooth_with_beam(MAPS[0, :192], np.ones(k.get("lmax", 11) + 1), **k)
    rings = zonal.Grid.equidistant_cylindrical(8, 24)
    name, within = "smooth_with_beam", 1e-11
    return [
        of(name, smooth, within=within, psi=(0.7, 0.0, lambda: at_pixels(MAPS[0], turned(BEAM, 0.7))),
           kmax=(1, KMAX, lambda: at_pixels(MAPS[0], BEAM[:zonal.alm_size(LMAX, 1)])),
           iterations=(0, 3, lambda: at_pixels(MAPS[0], iterations=0)),
           tolerance=(1e-12, DEFAULT, lambda: at_pixels(MAPS[0], tolerance=1e-12)),
           mask=(MASK, None, lambda: unseen(at_pixels(MAPS[0] * MASK), MASK)),
           nest=(True, False, lambda: healpy.reorder(at_pixels(healpy.reorder(MAPS[0], n2r=True)), r2n=True))),
        of(name, smooth, {"mask": MASK}, within=within, fill_masked=(True, False, lambda: at_pixels(MAPS[0] * MASK))),
        of(name, flat, within=within, lmax=(6, 11, lambda: at_pixels(MAPS[0, :192], np.ones(7), lmax=6))),
        of(name, lambda **k: zonal.smooth_with_beam(MAPS[0, :192], np.ones(7), lmax=6, **k), within=within,
           grid=(rings, zonal.Grid.healpix(4), lambda: at_pixels(MAPS[0, :192], np.ones(7), rings, lmax=6))),
        of(name, lambda **k: smooth(MAPS, BEAM_TEB, **k), within=within, pol=(True, False, lambda: at_pixels(MAPS, BEAM_TEB))),
    ]


def cases():
    """All of them."""
    return [case for group in (*_of_convolvers(), *_of_beams(), *_on_pixels()) for case in group]
