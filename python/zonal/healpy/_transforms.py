"""Transforms between maps and coefficients under healpy's names."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import io
from .._arrays import integer, real_input
from .._notes import warn
from .._pixels import UNSEEN, is_unseen
from ..sht import SHT, analyze_rows, healpix_sht
from ..vector_fields import gradient
from ._alm import alm_rows, array_to_change, layout_of, multiply
from ._beams import beam_windows
from ._beams import pixwin as pixel_windows
from ._checked import checked
from ._maps import maptype
from ._pixelfunc import ringinfo
from ._sizes import check_nside, npix2nside
from .cookbook import is_seq_of_seq
from .pixelfunc import pix2ang
from .utils.deprecation import note_verbose

Folder = str | os.PathLike[str] | None


class MapSet:
    """Maps in the form that the transforms take.

    rows: [row, pixel] float64, 0 where a pixel is bad (masked or UNSEEN). bad: [pixel] for each row, or None if it has
    no bad pixels. single: whether one map was given, as [pixel] or as a sequence of one.
    """

    def __init__(self, maps: Any, pol: bool) -> None:
        kind = maptype(maps)
        self.nside = npix2nside(len(maps) if kind == 0 else len(maps[0]))
        self.single = kind <= 1
        if pol and kind not in (0, 1, 3):
            raise ValueError(f"maps: has {kind} maps: must be one, or three (I, Q, U), for pol = True")
        self.pol = pol and kind == 3
        given = [maps] if kind == 0 else list(maps)
        self.bad = [_bad_pixels(row) for row in given]
        self.rows = _rows(maps, given)
        if any(bad is not None for bad in self.bad):
            self.rows = self.rows.copy()
            for row, bad in zip(self.rows, self.bad):
                if bad is not None:
                    row[bad] = 0

    def cut(self, gal_cut: float) -> None:
        """Sets pixels that are less than gal_cut (deg) from the equator to 0."""
        if not 0 <= gal_cut <= 90:
            raise ValueError(f"gal_cut = {gal_cut}: must be from 0 to 90 deg")
        if gal_cut > 0:
            starts, lengths, *_ = ringinfo(self.nside, np.arange(1, 4 * self.nside))
            inside = np.abs(pix2ang(self.nside, starts, lonlat=True)[1]) < gal_cut
            self.rows = self.rows.copy()
            self.rows[:, starts[inside][0]:(starts + lengths)[inside][-1]] = 0


def _bad_pixels(row: Any) -> NDArray[np.bool_] | None:
    if type(row) is np.ndarray and row.dtype.kind == "f" and row.min() > 0.9 * UNSEEN:
        return None  # as in the following, for what most maps are
    values = np.asarray(np.ma.getdata(row))  # of a Quantity, its numbers
    masked = np.ma.getmaskarray(row) if np.ma.isMaskedArray(row) else None
    # one pass over the pixels if none is bad, which is the usual case; NaN does not return here
    if masked is None and values.dtype.kind == "f" and values.min() > 0.9 * UNSEEN:
        return None
    bad = is_unseen(values)
    bad = bad if masked is None else bad | masked
    return bad if bad.any() else None


def _rows(maps: Any, given: list[Any]) -> NDArray[np.float64]:
    """Returns maps as [row, pixel], in the caller's memory if possible."""
    if type(maps) is np.ndarray and maps.ndim == 1 and maps.dtype == np.float64:
        return real_input("maps", maps)[None]
    if isinstance(maps, np.ndarray):
        return np.atleast_2d(real_input("maps", np.ma.getdata(maps))).astype(np.float64, copy=False)
    return np.array([real_input("maps", np.ma.getdata(row)) for row in given], np.float64)


def orders(nside: int, lmax: int | None, mmax: int | None) -> tuple[int, int]:
    """Returns lmax, by default 3 nside - 1, and mmax, by default lmax."""
    lmax = 3 * nside - 1 if lmax is None else integer("lmax", lmax)
    if lmax < 0:
        raise ValueError(f"lmax = {lmax}: must be 0 or more")
    mmax = lmax if mmax is None or mmax < 0 else integer("mmax", mmax)
    if mmax > lmax:
        raise ValueError(f"mmax = {mmax}: must be at most lmax = {lmax}")
    return lmax, mmax


class Transforms:
    """The transforms for one nside, lmax and mmax, made when they are needed."""

    def __init__(self, nside: int, lmax: int, mmax: int) -> None:
        self.nside, self.lmax, self.mmax = nside, lmax, mmax
        self._made: dict[int, SHT] = {}

    def of_spin(self, spin: int) -> SHT:
        if spin not in self._made:
            self._made[spin] = healpix_sht(self.nside, self.lmax, self.mmax, spin, None)
        return self._made[spin]

    def synthesize(self, alm: NDArray[np.complex128], pol: bool) -> NDArray[np.float64]:
        """Returns maps, [row, pixel], of alm, [row, n_alm]; with pol the alm are T, E, B."""
        scalar = self.of_spin(0)
        if not pol:
            return scalar.synthesize(alm)
        maps = np.empty((3, 12 * self.nside**2))
        scalar.synthesize(alm[0], maps[0])
        if self.lmax < 2:
            maps[1:] = 0
        else:
            self.of_spin(2).synthesize(alm[1:], maps[1:])
        return maps

    def analyze(self, rows: NDArray[np.float64], pol: bool, iterations: int, **weights: Any) -> NDArray[np.complex128]:
        """Returns alm, [row, n_alm], of maps, [row, pixel], of a MapSet."""
        scalar = self.of_spin(0)
        alm = np.empty((len(rows), scalar.n_alm), np.complex128)
        if not pol:
            analyze_rows(scalar, rows, alm, iterations, **weights)
            return alm
        analyze_rows(scalar, rows[0], alm[0], iterations, **weights)
        if self.lmax < 2:
            alm[1:] = 0
        else:
            analyze_rows(self.of_spin(2), rows[1:], alm[1:], iterations, **weights)
        return alm


def weight_options(nside: int, use_weights: bool, use_pixel_weights: bool, datapath: Folder) -> dict[str, Any]:
    """Returns the options of SHT.analyze for the weights asked for."""
    if use_weights and use_pixel_weights:
        raise RuntimeError("use_weights and use_pixel_weights: only one of them can be True")
    if not use_weights and not use_pixel_weights:
        if datapath is not None:
            raise ValueError("datapath: has an effect only with use_weights or use_pixel_weights")
        return {}
    kind = "ring" if use_weights else "pixel"
    source: Any = kind if datapath is None else _weight_file(nside, kind, os.fspath(datapath))
    return {f"{kind}_weights": io.quadrature_weights(nside, source)}


def weight_file_name(nside: int, kind: str) -> str:
    return f"weight_ring_n{nside:05d}.fits" if kind == "ring" else f"healpix_full_weights_nside_{nside:04d}.fits"


def _weight_file(nside: int, kind: str, folder: str) -> str:
    name = weight_file_name(nside, kind)
    paths = (os.path.join(folder, "full_weights", name), os.path.join(folder, name))
    for path in paths:
        if os.path.exists(path):
            return path
    argument = "use_pixel_weights" if kind == "pixel" else "use_weights"
    raise RuntimeError(f"datapath: there is neither {paths[0]} nor {paths[1]}; without datapath Zonal computes the "
                       f"weights, and with {argument}=False it uses none")


@checked
def map2alm(maps: Any, lmax: int | None = None, mmax: int | None = None, iter: int = 3, pol: bool = True,
            use_weights: bool = False, datapath: Folder = None, gal_cut: float = 0, use_pixel_weights: bool = False,
            verbose: Any = None) -> NDArray[np.complex128]:
    """Returns the alm of a map in ring order, [n_alm], or of maps, [row, n_alm]; with pol, T, E, B for I, Q, U.

    Pixels count as 0 if they are masked or UNSEEN, in each map by itself, or less than gal_cut (deg) from the equator.

    lmax: by default 3 nside - 1. iter: the number of Jacobi iterations. use_weights, use_pixel_weights: use quadrature
    weights of rings or of pixels, the latter without iterations. Weights are computed and kept in Zonal's cache folder,
    or read from HEALPix's file in the folder datapath.
    """
    note_verbose(verbose)
    given = MapSet(maps, pol)
    given.cut(gal_cut)
    transforms = Transforms(given.nside, *orders(given.nside, lmax, mmax))
    alm = analyze(given, transforms, iter, use_weights, use_pixel_weights, datapath)
    return alm[0] if given.single else alm


def analyze(given: MapSet, transforms: Transforms, iter: int, use_weights: bool, use_pixel_weights: bool,
            datapath: Folder) -> NDArray[np.complex128]:
    """Returns alm, [row, n_alm]. With pixel weights nothing is iterated, as in healpy."""
    options = weight_options(given.nside, use_weights, use_pixel_weights, datapath)
    iterations = integer("iter", iter)
    return transforms.analyze(given.rows, given.pol, iterations=0 if use_pixel_weights else iterations, **options)


@checked
def map2alm_lsq(maps: Any, lmax: int, mmax: int, pol: bool = True, tol: float = 1e-10,
                maxiter: int = 20) -> tuple[NDArray[np.complex128], float, int]:
    """Returns the alm that fit maps in the least-squares sense, |map - S alm| / |map|, and the number of iterations.

    Conjugate gradients iterate, at most maxiter times, until |S^T (map - S alm)| / |S^T map|, the residual of the
    normal equations, is at most tol. maps: as in map2alm; pixels without data count as 0.
    """
    if not tol > 0:
        raise ValueError(f"tol = {tol}: must be above 0")
    given = MapSet(maps, pol)
    transforms = Transforms(given.nside, *orders(given.nside, lmax, mmax))
    scalar = transforms.of_spin(0)
    alm = np.empty((len(given.rows), scalar.n_alm), np.complex128)
    groups = [(0, slice(0, 1)), (2, slice(1, 3))] if given.pol and transforms.lmax > 1 else [(0, slice(None))]
    reports = []
    for spin, rows in groups:
        out = alm[rows][0] if given.pol and spin == 0 else alm[rows]
        source = given.rows[rows][0] if given.pol and spin == 0 else given.rows[rows]
        reports.append(transforms.of_spin(spin).analyze(source, out, tolerance=tol, max_iterations=maxiter,
                                                        return_report=True)[1])
    warn([report.note for report in reports])
    rest = np.linalg.norm(given.rows - transforms.synthesize(alm, given.pol)) / (np.linalg.norm(given.rows) or 1.0)
    return alm[0] if given.single else alm, float(rest), max(report.iterations for report in reports)


@checked
def map2alm_spin(maps: Any, spin: int, lmax: int | None = None,
                 mmax: int | None = None) -> list[NDArray[np.complex128]]:
    """Returns, by plain quadrature, the two alm of two maps that are the parts of a field of a spin.

    For spin 0 they are minus the alm of each map. Masked and UNSEEN pixels count as 0.
    """
    given = MapSet(maps, pol=False)
    _check_pair("maps", len(given.rows), spin)
    transforms = Transforms(given.nside, *orders(given.nside, lmax, mmax))
    alm = transforms.of_spin(integer("spin", spin)).analyze(given.rows, iterations=0)
    return list(alm if spin > 0 else -alm)


@checked
def alm2map_spin(alms: Any, nside: int, spin: int, lmax: int, mmax: int | None = None) -> list[NDArray[np.float64]]:
    """Returns the two maps of two alm that are the parts of a field of a spin, such as E and B for spin 2.

    For spin 0 they are minus the map of each alm.
    """
    rows, _ = alm_rows("alms", alms)
    _check_pair("alms", len(rows), spin)
    check_nside(nside)
    transforms = Transforms(integer("nside", nside), *layout_of(rows.shape[1], lmax, mmax))
    maps = transforms.of_spin(integer("spin", spin)).synthesize(rows)
    return list(maps if spin > 0 else -maps)


def _check_pair(name: str, n: int, spin: int) -> None:
    if n != 2 or spin < 0:
        raise ValueError(f"{name}: has {n} rows, spin = {spin}: must be 2 rows and a spin of 0 or more")


@checked
def alm2map(alms: Any, nside: int, lmax: int | None = None, mmax: int | None = None, pixwin: bool = False,
            fwhm: float = 0.0, sigma: float | None = None, pol: bool = True, inplace: bool = False,
            verbose: Any = None) -> NDArray[np.float64]:
    """Returns the map in ring order, [pixel], of alm, [n_alm], or the maps, [row, pixel], of several alm.

    With pol, alm T, E, B give maps I, Q, U.

    lmax, mmax: give both if mmax is not lmax. pixwin: applies the pixel window. fwhm, sigma: of a Gaussian beam, rad.
    inplace: the windows may be applied to alms themselves, if these are contiguous arrays of complex128.
    """
    note_verbose(verbose)
    if type(alms) is np.ndarray and alms.ndim == 1 and fwhm == 0 and sigma is None and not pixwin:
        check_nside(nside)  # the general way takes longer than the transform of a small map
        alm = alms.astype(np.complex128, copy=False)
        return healpix_sht(integer("nside", nside), *layout_of(alm.size, lmax, mmax), 0, None).synthesize(alm)
    rows, single = alm_rows("alms", alms)
    if pol and not single and len(rows) != 3:
        raise TypeError(f"alms: has {len(rows)} rows: must be [n_alm], or three rows (T, E, B) for pol = True")
    nside = integer("nside", nside)
    check_nside(nside)
    transforms = Transforms(nside, *layout_of(rows.shape[1], lmax, mmax))
    pol = pol and not single
    rows = windowed(alms, rows, transforms, pol, fwhm, sigma, pixwin, inplace)
    maps = transforms.synthesize(rows, pol)
    return maps[0] if single else maps


def windowed(alms: Any, rows: NDArray[np.complex128], transforms: Transforms, pol: bool, fwhm: float,
             sigma: float | None, pixwin: bool, inplace: bool) -> NDArray[np.complex128]:
    """Returns alms times the windows of a beam and of pixels. rows: alms as an array. inplace: alms may change."""
    sets = [beam_windows(transforms.lmax, fwhm, sigma, None)]
    if pixwin:
        sets.append(pixel_windows(transforms.nside, True, transforms.lmax))
    windows = [window for window in sets if window is not None]
    if not windows:
        return rows
    changed = [array_to_change(row, inplace) for row in (alms if is_seq_of_seq(alms) else [alms])]
    for of_spin_0, of_spin_2 in windows:
        for i, row in enumerate(changed):
            multiply(row, of_spin_2 if pol and i > 0 else of_spin_0, transforms.lmax, transforms.mmax)
    return np.stack(changed)


@checked
def alm2map_der1(alm: Any, nside: int, lmax: int | None = None, mmax: int | None = None) -> NDArray[np.float64]:
    """Returns a map of alm, [n_alm], and its derivatives df/dtheta and df/dphi / sin(theta), per rad: [3, pixel]."""
    rows, single = alm_rows("alm", alm)
    if not single:
        raise ValueError(f"alm: has shape {np.shape(alm)}: must be [n_alm]")
    nside = integer("nside", nside)
    check_nside(nside)
    lmax, mmax = layout_of(rows.shape[1], lmax, mmax)
    maps = np.zeros((3, 12 * nside**2))
    healpix_sht(nside, lmax, mmax, 0, None).synthesize(rows[0], maps[0])
    if lmax > 0:
        maps[1:] = gradient(rows[0], nside, lmax, mmax)
    return maps


__all__ = ["alm2map", "alm2map_der1", "alm2map_spin", "map2alm", "map2alm_lsq", "map2alm_spin"]
