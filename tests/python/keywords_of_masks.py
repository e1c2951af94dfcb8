"""Keywords of what works on masks; healpy, formulas and transforms say what is right."""

import healpy
import numpy as np

import zonal
from keywords_of_healpy import NSIDE
from keywords_of_healpy import of as of_healpy
from keywords_of_zonal import HEALPIX, N, of, raises, to_nest, to_ring

RNG = np.random.default_rng(48)
SCATTERED = np.where(RNG.random(N) < 0.05, 0.0, 1.0)
QU = RNG.standard_normal((2, N))
EDGE = zonal.masks.apodize((zonal.Grid.healpix(NSIDE).angles()[0] < 1.2).astype(float), "50deg")
WIDE = zonal.masks.apodize(SCATTERED, 0.5)
RINGS = zonal.Grid.fejer1(16, 48)  # as many pixels as HEALPix of nside 8


def apodised(kind, scale=0.5, distance=np.sin, mask=SCATTERED):
    d = healpy.dist2holes(1 - mask, maxdist=scale)
    x = np.sin(d / 2) / np.sin(scale / 2) if distance is np.sin else d / scale
    return mask * ((1 - np.cos(np.pi * x)) / 2 if kind == "cosine" else x - np.sin(2 * np.pi * x) / (2 * np.pi))


def filled(size):
    """Holes of fewer pixels, by healpy's distances."""
    return (healpy.dist2holes(1 - SCATTERED, hole_min_size=size) > 0).astype(float)


def plain(**options):
    return zonal.map2alm(EDGE * QU, 6, pol=True, **{"iterations": 0} | options)


def _of_masks():
    area = 4 * np.pi / N
    return [
        of("masks.distance", lambda **k: zonal.masks.distance(SCATTERED, **k), within=1e-13,
           max_distance=(0.2, np.pi, lambda: healpy.dist2holes(1 - SCATTERED, maxdist=0.2)),
           nest=(True, False, lambda: to_nest(healpy.dist2holes(1 - to_ring(SCATTERED))))),
        of("masks.apodize", lambda **k: zonal.masks.apodize(SCATTERED, 0.5, **k), within=1e-13,
           kind=("sine", "cosine", lambda: apodised("sine")), like=("grain", "namaster", lambda: apodised("cosine", distance=None)),
           nest=(True, False, lambda: to_nest(apodised("cosine", mask=to_ring(SCATTERED))))),
        of("masks.fill_holes", lambda **k: zonal.masks.fill_holes(SCATTERED, **k), {"min_pixels": 2},
           min_area=(2.5 * area, 0.0, lambda: filled(3)), nest=(True, False, lambda: to_nest(_filled_nest()))),
        of("masks.fill_holes", lambda **k: zonal.masks.fill_holes(SCATTERED, **k), {"min_area": 1.5 * area},
           min_pixels=(3, 0, lambda: filled(3))),
        of("masks.moments", lambda **k: zonal.masks.moments(WIDE, **k), within=1e-13,
           other=(EDGE, np.ones(N), lambda: [np.mean((WIDE * EDGE) ** k) for k in (1, 2, 3, 4)]),
           grid=(RINGS, HEALPIX, lambda: [np.repeat(RINGS.weight, 48) @ WIDE**k / (4 * np.pi) for k in (1, 2, 3, 4)])),
        of("pixel_window", lambda **k: zonal.pixel_window(NSIDE, **k), lmax=(10, 3 * NSIDE - 1, lambda: zonal.healpy.pixwin(NSIDE, lmax=10)),
           polarization=(True, False, lambda: np.array(zonal.healpy.pixwin(NSIDE, pol=True)))),
        *(of_healpy("dist2holes", 1 - SCATTERED, within=1e-13, twice=False, maxdist=0.2, hole_min_size=2,
                    hole_min_surf_arcmin2=1.5 * area * (60 * 180 / np.pi) ** 2),),
    ]


def _filled_nest():
    ring = to_ring(SCATTERED)
    return (healpy.dist2holes(1 - ring, hole_min_size=2) > 0).astype(float)


def _of_purification():
    def pure(**options):
        return zonal.spectra.pure_alm(QU, EDGE, 6, **options)

    def longer(values, lmax):
        return np.array([healpy.resize_alm(one, lmax, lmax, 6, 6) for one in values])
    return [
        of("spectra.pure_alm", lambda **k: pure(**k)[0], {}, within=1e-11, iterations=(2, 0, lambda: plain(iterations=2)[0])),
        of("spectra.pure_alm", lambda **k: pure(**k)[1], {}, within=1e-11, pure=("E", "B", lambda: plain()[1])),
        of("spectra.pure_alm", lambda **k: longer(zonal.spectra.pure_alm(QU, EDGE, **{"lmax": 3 * NSIDE - 1} | k), k.get("lmax", 3 * NSIDE - 1)),
           {}, within=1e-11, lmax=(1, 3 * NSIDE - 1, raises)),
        of("spectra.pure_coupling_matrices", lambda **k: zonal.spectra.pure_coupling_matrices([4 * np.pi], 4, **k),  # of a mask of ones
           kinds=("pp", ("0p", "2p", "pp"), lambda: np.diag([0.0, 0, 1, 1, 1]))),
    ]


def cases():
    """All of them."""
    return [case for group in (*_of_masks(), *_of_purification()) for case in (group if isinstance(group, list) else [group])]
