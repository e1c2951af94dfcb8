"""Random skies, spectra of maps, and smoothed maps under healpy's names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import PIECE, integer
from .._notes import warn
from .._pixels import UNSEEN
from ._alm import alm2cl, multiply
from ._beams import beam_windows
from ._checked import checked
from ._maps import is_ma, ma, reorder
from ._sizes import check_nside
from ._transforms import Folder, MapSet, Transforms, analyze, orders, windowed
from .cookbook import is_seq_of_seq, len_array_or_arrays
from .utils.deprecation import note_verbose


@checked
def anafast(map1: Any, map2: Any = None, nspec: int | None = None, lmax: int | None = None, mmax: int | None = None,
            iter: int = 3, alm: bool = False, pol: bool = True, use_weights: bool = False, datapath: Folder = None,
            gal_cut: float = 0, use_pixel_weights: bool = False) -> Any:
    """Returns the spectrum, [lmax + 1], of a map, or those of several, [n (n + 1) / 2, lmax + 1], by diagonals.

    With pol, maps I, Q, U give TT, EE, BB, TE, EB, TB. With map2 the spectra are cross spectra. Spectra are not divided
    by the fraction of the sky that has data.

    nspec: the number of spectra to return. alm: also returns the alm of map1, and of map2, after the spectra. The other
    arguments are those of map2alm.
    """
    first = MapSet(map1, pol)
    transforms = Transforms(first.nside, *orders(first.nside, lmax, mmax))
    sets = [first] if map2 is None else [first, MapSet(map2, pol)]
    if sets[-1].nside != first.nside or len(sets[-1].rows) != len(first.rows):
        raise ValueError(f"map2: has nside {sets[-1].nside} and {len(sets[-1].rows)} maps: must be as map1")
    found = []
    for given in sets:
        given.cut(gal_cut)
        rows = analyze(given, transforms, iter, use_weights, use_pixel_weights, datapath)
        found.append(rows[0] if given.single else rows)
    cl = alm2cl(found[0], found[-1], transforms.lmax, transforms.mmax, nspec=nspec)
    return (cl, *found) if alm else cl


@checked
def smoothing(map_in: Any, fwhm: float = 0.0, sigma: float | None = None, beam_window: Any = None, pol: bool = True,
              iter: int = 3, lmax: int | None = None, mmax: int | None = None, use_weights: bool = False,
              use_pixel_weights: bool = False, datapath: Folder = None, verbose: Any = None,
              nest: bool = False) -> NDArray[Any]:
    """Returns a map, [pixel], or maps, [row, pixel], smoothed by a Gaussian of fwhm or sigma (rad), or by beam_window.

    Pixels that are masked or UNSEEN count as 0, and are UNSEEN in the result, which is masked if the maps were. For a
    bound on the error see zonal.smooth.

    pol: three maps are I, Q, U. nest: maps and result are in nest order. The other arguments are those of map2alm.
    """
    note_verbose(verbose)
    maps = reorder(map_in, n2r=True) if nest else map_in
    given = MapSet(maps, pol)
    transforms = Transforms(given.nside, *orders(given.nside, lmax, mmax))
    windows = beam_windows(transforms.lmax, fwhm, sigma, beam_window)
    alm = analyze(given, transforms, iter, use_weights, use_pixel_weights, datapath)
    if windows is not None:
        for i, row in enumerate(alm):
            multiply(row, windows[1 if given.pol and i > 0 else 0], transforms.lmax, transforms.mmax)
    smoothed = transforms.synthesize(alm, given.pol)
    for row, bad in zip(smoothed, given.bad):
        if bad is not None:
            row[bad] = UNSEEN
    result = smoothed[0] if given.single else smoothed
    if nest:
        result = reorder(result, r2n=True)
    return ma(result, copy=False) if is_ma(map_in) else result


@checked
def synalm(cls: Any, lmax: int | None = None, mmax: int | None = None, new: bool = False,
           verbose: Any = None) -> NDArray[np.complex128]:
    """Returns random alm, [n_alm], for a spectrum, [lmax + 1], or those of n fields, [n, n_alm], for n (n + 1) / 2.

    The numbers come from NumPy's global generator (numpy.random.seed), in healpy's order; zonal.synalm has a seed of
    its own. If no fields can have the spectra, some correlations are left out, with a warning.

    cls: None stands for zeros, and spectra are 0 beyond their end. Four spectra are those of three fields of which the
    last does not correlate with the others. new: spectra are ordered by diagonals (TT, EE, BB, TE, EB, TB), otherwise
    by rows (TT, TE, TB, EE, EB, BB). lmax: by default that of the longest spectrum.
    """
    note_verbose(verbose)
    single = not is_seq_of_seq(cls, True)
    given = [cls] if single else list(cls)
    if lmax is None or lmax < 0:
        lmax = max(np.size(cl) for cl in given if cl is not None) - 1
    lmax = integer("lmax", lmax)
    lmax, mmax = orders(1, lmax, mmax)
    factors = _cholesky(_matrix(given, lmax, new))
    alm = _white_fields(len(factors), lmax, mmax)
    mixed = np.empty_like(alm)
    for i in reversed(range(len(factors))):  # each field is a sum of those up to it
        row = mixed[i]
        row[:] = alm[i]
        multiply(row, factors[i, i], lmax, mmax)
        for j in range(i):
            if factors[i, j].any():
                part = alm[j].copy()
                multiply(part, factors[i, j], lmax, mmax)
                row += part
    return mixed[0] if single else mixed


def _white_fields(n: int, lmax: int, mmax: int) -> NDArray[np.complex128]:
    """Draws alm of n fields with C_l = 1: for each field first all real parts, then all imaginary parts."""
    size = (mmax + 1) * (2 * lmax + 2 - mmax) // 2
    alm = np.empty((n, size), np.complex128)
    for row in alm:  # Ctrl-C is heard between pieces
        for part in (row.real, row.imag):
            for start in range(0, size, PIECE):
                part[start:start + PIECE] = np.random.standard_normal(min(PIECE, size - start))
        for start in range(lmax + 1, size, PIECE):
            row[start:start + PIECE] *= np.sqrt(0.5)
    alm[:, :lmax + 1].imag = 0
    return alm


def _matrix(given: list[Any], lmax: int, new: bool) -> NDArray[np.float64]:
    """The spectra as a symmetric matrix, [n, n, lmax + 1]."""
    n = 3 if len(given) == 4 else round((np.sqrt(8 * len(given) + 1) - 1) / 2)
    if len(given) not in (4, n * (n + 1) // 2):
        raise TypeError(f"cls: has {len(given)} spectra: must be 4, or n (n + 1) / 2 of n fields (None for zeros)")
    if len(given) == 4:
        pairs = [(0, 0), (1, 1), (2, 2), (0, 1)] if new else [(0, 0), (0, 1), (1, 1), (2, 2)]
    elif new:
        pairs = [(i, i + apart) for apart in range(n) for i in range(n - apart)]
    else:
        pairs = [(i, j) for i in range(n) for j in range(i, n)]
    matrix = np.zeros((n, n, lmax + 1))
    for (i, j), cl in zip(pairs, given):
        if cl is not None:
            values = np.ravel(np.asarray(cl, np.float64))[:lmax + 1]
            matrix[i, j, :values.size] = matrix[j, i, :values.size] = values
    return matrix


def _cholesky(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lower Cholesky factor for each l. A field that earlier ones determine does not correlate with later ones."""
    n = len(matrix)
    lower = np.zeros_like(matrix)
    lost = np.zeros(matrix.shape[-1], bool)
    for j in range(n):
        own = matrix[j, j] - (lower[j, :j] ** 2).sum(0)
        # rounding to float32 may make spectra slightly impossible
        lost |= own < -1e-6 * np.abs(matrix[j, j])
        lower[j, j] = np.sqrt(np.maximum(own, 0))
        for i in range(j + 1, n):
            rest = matrix[i, j] - (lower[i, :j] * lower[j, :j]).sum(0)
            lower[i, j] = np.divide(rest, lower[j, j], out=np.zeros_like(rest), where=lower[j, j] > 0)
            lost |= (lower[j, j] == 0) & (np.abs(rest) > 1e-6 * np.sqrt(np.abs(matrix[i, i] * matrix[j, j])))
    if lost.any():
        warn([f"cls: no fields can have these spectra at l = {np.argmax(lost)}; some correlations are left out"])
    return lower


@checked
def synfast(cls: Any, nside: int, lmax: int | None = None, mmax: int | None = None, alm: bool = False, pol: bool = True,
            pixwin: bool = False, fwhm: float = 0.0, sigma: float | None = None, new: bool = False,
            verbose: Any = None) -> Any:
    """Returns a random map, [pixel], or maps, [row, pixel], for spectra; with pol, I, Q, U for those of T, E, B.

    cls, new: as in synalm. lmax: by default where the spectra end, but at most 3 nside - 1. pixwin, fwhm, sigma: as in
    alm2map. alm: also returns the alm, to which the windows have been applied.
    """
    note_verbose(verbose)
    nside = integer("nside", nside)
    check_nside(nside)
    if lmax is None or lmax < 0:
        lmax = min(len_array_or_arrays(cls) - 1, 3 * nside - 1)
    rows = synalm(cls, lmax, mmax, new)
    single = rows.ndim == 1
    if pol and not single and len(rows) != 3:
        raise TypeError(f"cls: has {len(cls)} spectra: must be one [lmax + 1], or 4 or 6 of T, E and B, for pol = True")
    lmax, mmax = orders(nside, lmax, mmax)
    transforms = Transforms(nside, lmax, mmax)
    sky_alm = windowed(rows, np.atleast_2d(rows), transforms, pol and not single, fwhm, sigma, pixwin, inplace=True)
    maps = transforms.synthesize(sky_alm, pol and not single)
    if single:
        maps, sky_alm = maps[0], sky_alm[0]
    return (maps, sky_alm) if alm else maps


def new_to_old_spectra_order(cls_new_order: Any) -> list[Any]:
    """Reorders spectra from diagonals (TT, EE, BB, TE, EB, TB) to rows (TT, TE, TB, EE, EB, BB)."""
    n = round((np.sqrt(8 * len(cls_new_order) + 1) - 1) / 2)
    if n * (n + 1) // 2 != len(cls_new_order):
        raise ValueError(f"cls_new_order: has {len(cls_new_order)} spectra: must be n (n + 1) / 2")
    starts = [apart * n - apart * (apart - 1) // 2 for apart in range(n)]
    return [cls_new_order[starts[j - i] + i] for i in range(n) for j in range(i, n)]


__all__ = ["anafast", "new_to_old_spectra_order", "smoothing", "synalm", "synfast"]
