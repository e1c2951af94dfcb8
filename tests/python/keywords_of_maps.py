"""Keywords of Zonal's own functions of maps; healpy, NumPy or an identity says what is right.

Where a function has nest=, whatever else is given must do the same in both orders.
"""

import healpy
import numpy as np

import zonal
from keyword_cases import With
from keywords_of_healpy import FULL, IQU, LMAX, NSIDE, RNG, SKY, TEB
from keywords_of_zonal import CENTRES, DEFAULT, HEALPIX, MASK, PLAIN, N, of, raises, to_nest, to_ring

RINGS = zonal.Grid.fejer1(20, 40)
CAR = RNG.standard_normal(RINGS.n_pixels)
WEIGHTS = 0.5 + MASK / 2
MOST = 3 * NSIDE - 1
GAUSS = healpy.gauss_beam(0.3, MOST)
KERNEL = zonal.Kernel.gaussian(0.3)
QU = FULL[1:]


def least_squares(sky, weights, terms=4):
    """The monopole and the dipole by NumPy."""
    good = (sky > -1e30) & (weights > 0)
    design = np.vstack([np.ones(N), CENTRES])[:terms, good] * np.sqrt(weights[good])
    return np.linalg.lstsq(design.T, sky[good] * np.sqrt(weights[good]), rcond=None)[0]


def without(sky, weights, terms):
    fit = np.zeros(4)
    fit[:terms] = least_squares(sky, weights, terms)
    return np.where(sky > -1e30, sky - fit[0] - fit[1:] @ CENTRES, sky)


def alm_of(maps, lmax=8, mask=1.0, pol=True, **options):
    """The alm by healpy, of maps whose bad pixels are 0; Q and U have theirs together."""
    return healpy.map2alm(np.where(bad_of(maps, pol), 0, maps) * mask, lmax=lmax, pol=pol, **options)


def bad_of(maps, pol):
    bad = np.asarray(maps) < -1e30
    if pol and bad.ndim == 2:
        bad[-2:] = bad[-2:].any(0)
    return bad


def fitted(sky, weights, terms=4):
    """The monopole and the dipole as fit_dipole returns them."""
    found = least_squares(sky, weights, terms)
    return found[0], found[1:]


def smoothed(maps, window=GAUSS, mask=1.0, lmax=MOST, iter=3, nside=NSIDE, fill=True, pol=False):
    """By healpy. window: [lmax + 1], for all fields."""
    maps = np.asarray(maps)
    bad = (maps < -1e30) | (np.broadcast_to(mask, maps.shape) == 0)
    alm = healpy.map2alm(np.where(maps < -1e30, 0, maps * mask), lmax, iter=iter, pol=pol)
    alm = healpy.almxfl(alm, window) if alm.ndim == 1 else [healpy.almxfl(a, window) for a in alm]
    result = healpy.alm2map(alm, nside, pol=pol)
    return result if fill else np.where(bad, zonal.UNSEEN, result)


def _of_dipoles():
    def mean(sky, weights=None):
        weights = np.ones(N) if weights is None else weights
        return np.where(sky > -1e30, sky - least_squares(sky, weights, 1)[0], sky)
    return [
        of("fit_dipole", lambda **k: zonal.fit_dipole(SKY, **k), within=1e-12,
           mask=(MASK, np.ones(N), lambda: fitted(SKY, MASK)),
           nest=(True, False, lambda: fitted(to_ring(SKY), np.ones(N))), grid=(RINGS, HEALPIX, raises)),
        of("fit_dipole", lambda **k: zonal.fit_dipole(SKY, **k), {"mask": MASK}, within=1e-12,
           nest=(True, False, lambda: fitted(to_ring(SKY), to_ring(MASK)))),
        of("remove_dipole", lambda **k: zonal.remove_dipole(SKY, **k), within=1e-12,
           mask=(MASK, np.ones(N), lambda: without(SKY, MASK, 4)), monopole_only=(True, False, lambda: mean(SKY)),
           nest=(True, False, lambda: to_nest(without(to_ring(SKY), np.ones(N), 4))), grid=(RINGS, HEALPIX, raises)),
        of("remove_dipole", lambda **k: zonal.remove_dipole(SKY, **k), {"mask": MASK}, within=1e-12,
           nest=(True, False, lambda: to_nest(without(to_ring(SKY), to_ring(MASK), 4))),
           monopole_only=(True, False, lambda: mean(SKY, MASK))),
        of("integral", lambda **k: zonal.integral(PLAIN, **k),
           pixels=(np.array([1, 5, 99]), DEFAULT, lambda: PLAIN[[1, 5, 99]].sum() * 4 * np.pi / N)),
        of("integral", lambda **k: zonal.integral(CAR, **k),
           grid=(RINGS, DEFAULT, lambda: (CAR.reshape(20, 40).sum(1) @ RINGS.weight))),
        of("credible_levels", lambda **k: zonal.credible_levels(CAR**2, **k), grid=(RINGS, DEFAULT, _levels)),
        of("udgrade", lambda **k: zonal.udgrade(IQU, 4, **k),
           nest=(True, False, lambda: healpy.ud_grade(IQU, 4, order_in="NEST")),
           combine=("sum", "mean", lambda: _sums(IQU)),
           pessimistic=(True, False, lambda: healpy.ud_grade(IQU, 4, pess=True))),
        of("udgrade", lambda **k: zonal.udgrade(IQU, 4, **k), {"nest": True},
           combine=("sum", "mean", lambda: to_nest(_sums(to_ring(IQU)))),
           pessimistic=(True, False, lambda: healpy.ud_grade(IQU, 4, pess=True, order_in="NEST"))),
    ]


def _levels():
    area = np.repeat(RINGS.weight, 40)
    order = np.argsort(-CAR**2, kind="stable")
    levels = np.empty(CAR.size)
    levels[order] = np.cumsum((CAR**2 * area)[order]) / np.sum(CAR**2 * area)
    return levels


def _sums(maps):
    parts = to_nest(maps).reshape(len(maps), -1, 4)
    good = parts > -1e30
    return to_ring(np.where(good.any(-1), np.where(good, parts, 0).sum(-1), zonal.UNSEEN))


def _of_analyses():
    call = lambda maps: lambda **k: zonal.map2alm(maps, **({"lmax": 8} | k))
    rings = np.linspace(0.5, 1, 4 * NSIDE - 1)
    spread = rings[healpy.pix2ring(NSIDE, np.arange(N)) - 1]
    fit = lambda terms: [without(IQU[0], MASK, terms), *IQU[1:]]
    return [
        of("map2alm", lambda **k: zonal.map2alm(IQU[0], **k), lmax=(6, MOST, lambda: alm_of(IQU[0], 6)),
           mmax=(With(4, lmax=8), DEFAULT, lambda: alm_of(IQU[0], 8, mmax=4))),
        of("map2alm", call(IQU), nest=(True, False, lambda: alm_of(to_ring(IQU), pol=False)),
           pol=(True, False, lambda: alm_of(IQU)),
           iterations=(1, 3, lambda: alm_of(IQU, iter=1, pol=False)),
           mask=(MASK, np.ones(N), lambda: alm_of(IQU, mask=MASK, pol=False)),
           pixel_weights=(WEIGHTS, np.ones(N), lambda: _weighted(IQU, WEIGHTS)),
           ring_weights=(rings, np.ones(rings.size), lambda: _weighted(IQU, spread)),
           mask_mode=("error", "zero", raises),
           remove=("monopole", DEFAULT, raises),
           grid=(RINGS, HEALPIX, raises), within=1e-12),
        of("map2alm", call(IQU), {"pol": True}, within=1e-12, iterations=(1, 3, lambda: alm_of(IQU, iter=1)),
           nest=(True, False, lambda: alm_of(to_ring(IQU))),
           remove=("dipole", DEFAULT, lambda: alm_of([without(IQU[0], np.ones(N), 4), *IQU[1:]])),
           mask=(MASK, np.ones(N), lambda: alm_of(IQU, mask=MASK))),
        of("map2alm", call(IQU), {"pol": True, "mask": MASK}, within=1e-12,
           remove=("dipole", DEFAULT, lambda: alm_of(fit(4), mask=MASK)),
           nest=(True, False, lambda: alm_of(to_ring(IQU), mask=to_ring(MASK)))),
        of("map2alm", call(SKY), {"nest": True}, within=1e-12,
           mask=(MASK, np.ones(N), lambda: alm_of(to_ring(SKY), mask=to_ring(MASK))),
           pixel_weights=(WEIGHTS, np.ones(N), lambda: _weighted(to_ring(SKY), to_ring(WEIGHTS))),
           remove=("dipole", DEFAULT, lambda: alm_of(without(to_ring(SKY), np.ones(N), 4)))),
        of("map2alm", call(IQU), {"pol": True, "mask": MASK}, within=1e-12,
           remove=("monopole", DEFAULT, lambda: alm_of(fit(1), mask=MASK))),
        of("map2alm", lambda **k: zonal.map2alm(healpy.alm2map(TEB[0], NSIDE), LMAX, **k), within=1e-9,
           tolerance=(1e-10, DEFAULT, lambda: TEB[0])),
        of("anafast", lambda **k: zonal.anafast(FULL[0], **k),
           maps2=(FULL[1], FULL[0], lambda: healpy.anafast(FULL[0], FULL[1])),
           lmax=(6, MOST, lambda: healpy.anafast(FULL[0], lmax=6)),
           mmax=(With(4, lmax=8), DEFAULT, lambda: healpy.anafast(FULL[0], lmax=8, mmax=4))),
        of("anafast", lambda **k: zonal.anafast(FULL[0], FULL[1], lmax=8, **k),
           mmax=(4, DEFAULT, lambda: healpy.anafast(FULL[0], FULL[1], lmax=8, mmax=4))),
        of("anafast", lambda **k: zonal.anafast(SKY, lmax=8, **k),
           nest=(True, False, lambda: healpy.alm2cl(alm_of(to_ring(SKY)))),
           iterations=(1, 3, lambda: healpy.alm2cl(alm_of(SKY, iter=1))),
           mask=(MASK, np.ones(N), lambda: healpy.alm2cl(alm_of(SKY, mask=MASK))),
           pixel_weights=(WEIGHTS, np.ones(N), lambda: healpy.alm2cl(_weighted(SKY, WEIGHTS))),
           ring_weights=(rings, np.ones(rings.size), lambda: healpy.alm2cl(_weighted(SKY, spread))),
           mask_mode=("error", "zero", raises),
           remove=("dipole", DEFAULT, lambda: healpy.alm2cl(alm_of(without(SKY, np.ones(N), 4)))),
           grid=(RINGS, HEALPIX, raises), within=1e-12),
        of("anafast", lambda **k: _tt(zonal.anafast(FULL, lmax=8, **k)),
           pol=(True, DEFAULT, lambda: _tt(dict(zip(("TT", "EE", "BB", "TE", "EB", "TB"),
           healpy.anafast(FULL, lmax=8)))))),
        of("rotate_map", lambda **k: zonal.rotate_map(IQU, (0.1, 0.2, 0.3), **k), within=1e-11,
           lmax=(8, MOST, lambda: _turned(IQU, 8)),
           iterations=(1, 3, lambda: _turned(IQU, iter=1)), fill_masked=(True, False, lambda: _turned(IQU, fill=True)),
           pol=(True, False, lambda: _turned(IQU, pol=True)),
           nest=(True, False, lambda: to_nest(_turned(to_ring(IQU))))),
        of("rotate_map", lambda **k: zonal.rotate_map(IQU, (0.1, 0.2, 0.3), **k), {"nest": True}, within=1e-12,
           lmax=(8, MOST, lambda: to_nest(_turned(to_ring(IQU), 8))),
           pol=(True, False, lambda: to_nest(_turned(to_ring(IQU), pol=True))),
           fill_masked=(True, False, lambda: to_nest(_turned(to_ring(IQU), fill=True)))),
    ]


def _of_resampling():
    turn = (0.1, 0.2, 0.3)
    # 8 rings of 20 pixels, which hold l up to 7; alm by healpy, which the analysis with three iterations repeats.
    small = zonal.Grid.fejer1(8, 20)
    on = lambda maps, **options: np.stack([zonal.SHT(small, 7).synthesize(one) for one in alm_of(maps, 7, pol=False, **options)])
    clean = np.where(bad_of(IQU, False), 0, IQU)
    call = lambda **k: zonal.resample(clean, small, **k)
    def pair(maps):
        t, e, b = alm_of(maps, 7, pol=True)
        return np.concatenate([[zonal.SHT(small, 7).synthesize(t)], zonal.SHT(small, 7, spin=2).synthesize([e, b])])

    def turned(maps):
        alm = np.array(alm_of(maps, 7, pol=False))
        for one in alm:
            healpy.rotate_alm(one, *turn, lmax=7, mmax=7)
        return np.stack([zonal.SHT(small, 7).synthesize(one) for one in alm])

    rough = lambda **k: zonal.resample(clean, small, rotation=turn, by="points", return_report=True, **k)[1].bound > 1e-6
    return [
        of("resample", call, within=1e-11, lmax=(4, 7, lambda: np.stack([zonal.SHT(small, 4).synthesize(one) for one in alm_of(clean, 4, pol=False)])),
           iterations=(1, 3, lambda: on(clean, iter=1)), pol=(True, False, lambda: pair(clean)),
           nest=(True, False, lambda: on(to_ring(clean))), rotation=(turn, DEFAULT, lambda: turned(clean)),
           grid=(RINGS, DEFAULT, raises)),
        of("resample", call, within=1e-9, tolerance=(1e-12, DEFAULT, lambda: on(clean, iter=12))),
        of("resample", lambda **k: zonal.resample(clean, small, rotation=turn, return_report=True, **k)[1].interpolated, {},
           by=("points", "alm", lambda: True)),
        of("resample", rough, {}, error=(1e-3, 1e-10, lambda: True)),
        of("resample", lambda **k: bool((zonal.resample(IQU, small, **k) < -1e30).any()), {}, fill_masked=(True, False, lambda: False)),
        of("resample", lambda **k: isinstance(call(**k), tuple), {}, return_report=(True, DEFAULT, lambda: True)),
        of("rotate_map", lambda **k: bool(abs(zonal.rotate_map(clean, turn, **k) - zonal.rotate_map(clean, turn)).max() > 0), {},
           by=("points", "alm", lambda: True)),
        of("rotate_map", lambda **k: bool(abs(zonal.rotate_map(clean, turn, by="points", **k) - zonal.rotate_map(clean, turn)).max() > 1e-8), {},
           error=(1e-3, 1e-10, lambda: True)),
    ]


def _tt(spectra):
    return [spectra[name] for name in ("TT", "EE", "BB", "TE", "TB", "EB")] if isinstance(spectra, dict) else spectra


def _weighted(maps, weights):
    """The alm of three Jacobi iterations with these weights, by healpy."""
    rows = np.where(np.atleast_2d(maps) < -1e30, 0, np.atleast_2d(maps))
    found = []
    for row in rows:
        alm = np.zeros(healpy.Alm.getsize(8), complex)
        for _ in range(4):
            alm = alm + healpy.map2alm(weights * (row - healpy.alm2map(alm, NSIDE)), 8, iter=0)
        found.append(alm)
    return found[0] if np.ndim(maps) == 1 else np.array(found)


def _turned(maps, lmax=MOST, iter=3, fill=False, pol=False):
    alm = alm_of(maps, lmax, iter=iter, pol=pol)
    healpy.rotate_alm(alm, 0.1, 0.2, 0.3)
    result = healpy.alm2map(alm, NSIDE, pol=pol)
    if fill:
        return result
    before = healpy.vec2pix(NSIDE, *(zonal.rotation_matrix((0.1, 0.2, 0.3)).T @ CENTRES))
    return np.where(bad_of(maps, pol)[:, before], zonal.UNSEEN, result)


def cases():
    """All of them."""
    return [case for group in (*_of_dipoles(), *_of_analyses(), *_of_resampling()) for case in group]
