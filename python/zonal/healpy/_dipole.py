"""The monopole and the dipole of a map."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._arrays import PIECE, copied, piecewise
from .._maps import MapRows, weights_of
from .._pixels import UNSEEN
from ._arguments import threads_for
from ._checked import checked
from ._maps import get_nside, ma, maptype, mask_good
from .utils.deprecation import note_verbose


@checked
def fit_dipole(m: Any, nest: bool = False, bad: float = UNSEEN, gal_cut: float = 0) -> tuple[Any, NDArray[np.float64]]:
    """Returns the monopole and the dipole, [3], for which monopole + dipole . n fits a map, [pixel], best.

    m: may be the only one of a sequence. Pixels that are bad, not finite, masked, or within gal_cut (deg) of the equator
    do not count; gal_cut = 0 cuts none. Raises ValueError if the other pixels do not determine the fit.
    """
    monopole, dipole = _fit(_sole(m)[0], nest, bad, gal_cut, with_dipole=True)
    return np.float64(monopole), np.array(dipole)


@checked
def fit_monopole(m: Any, nest: bool = False, bad: float = UNSEEN, gal_cut: float = 0) -> Any:
    """Returns the mean of a map, [pixel], over the pixels that count in fit_dipole, in the type of the map."""
    m, _ = _sole(m)
    monopole = np.float64(_fit(m, nest, bad, gal_cut, with_dipole=False)[0])
    return monopole.astype(np.float32) if np.ma.getdata(m).dtype == np.float32 else monopole


@checked
def remove_dipole(m: Any, nest: bool = False, bad: float = UNSEEN, gal_cut: float = 0, fitval: bool = False,
                  copy: bool = True, verbose: Any = None) -> Any:
    """Returns a map, shaped as m, without the monopole and dipole of fit_dipole, masked where m is masked or bad.

    fitval: also returns the monopole and the dipole. copy: False changes m itself, if it is no masked array. verbose:
    has no effect.
    """
    note_verbose(verbose)
    m, is_row = _sole(m)
    result, good = _subtractable(m, bad, copy)
    monopole, dipole = fit_dipole(m, nest, bad, gal_cut)
    for start in range(0, len(result), PIECE):  # Ctrl-C is heard between pieces
        pixels = start + np.flatnonzero(good[start:start + PIECE])
        result[pixels] -= monopole + dipole @ _centres(m, nest, pixels)
    masked = _masked_as(m, result, bad)
    masked = masked[None] if is_row else masked
    return (masked, monopole, dipole) if fitval else masked


@checked
def remove_monopole(m: Any, nest: bool = False, bad: float = UNSEEN, gal_cut: float = 0, fitval: bool = False,
                    copy: bool = True, verbose: Any = None) -> Any:
    """Returns a map, shaped as m, without the monopole of fit_monopole; masked if m is. See remove_dipole for the rest."""
    note_verbose(verbose)
    m, is_row = _sole(m)
    result, good = _subtractable(m, bad, copy)
    monopole = fit_monopole(m, nest, bad, gal_cut)
    np.subtract(result, monopole, out=result, where=good, casting="same_kind")
    if np.ma.isMaskedArray(m):
        result = _masked_as(m, result, bad)
    result = result[None] if is_row else result
    return (result, monopole) if fitval else result


def _sole(m: Any) -> tuple[Any, bool]:
    """The map, [pixel], and whether it was given as the only one of a sequence, [1, pixel]."""
    kind = maptype(m)
    if kind > 1:
        raise ValueError(f"m: has {kind} maps: must be one map, [pixel]")
    return (m, False) if kind == 0 else (m[0], True)


def _good(m: Any, bad: float) -> NDArray[np.bool_]:
    values = np.ma.getdata(m)
    if np.iscomplexobj(values):
        raise TypeError(f"m: must hold real numbers, not {values.dtype}")
    def good(piece: Any) -> Any:
        return mask_good(piece, bad) & np.isfinite(piece)

    counts = piecewise(good, np.bool_, values)
    return counts & ~np.ma.getmaskarray(m) if np.ma.isMaskedArray(m) else counts


def _centres(m: Any, nest: bool, pixels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Unit vectors, [3, pixel], to the centres of pixels."""
    return np.array(_core.pix2vec(get_nside(m), bool(nest), pixels, threads_for(pixels.size)))


def _fit(m: Any, nest: bool, bad: float, gal_cut: float, with_dipole: bool) -> tuple[float, list[float]]:
    counts = _good(m, bad)
    if not 0 <= gal_cut <= 90:
        raise ValueError(f"gal_cut = {gal_cut}: must be from 0 to 90 deg")
    if gal_cut > 0:
        counts &= np.abs(_centres(m, nest, np.arange(len(m)))[2]) > np.sin(np.radians(gal_cut))
    values = np.where(counts, np.ma.getdata(m), 0.0).astype(np.float64)
    given = MapRows(values, None, bool(nest), False, "m")
    weights = weights_of("gal_cut", counts, len(counts), bool(nest))
    return _core.fit_monopole_dipole(given.grid._grid, given.rows[0], weights, with_dipole)


def _subtractable(m: Any, bad: float, copy: bool) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The values to subtract a fit from, and the pixels where it is subtracted."""
    good = _good(m, bad)
    values = np.asarray(np.ma.getdata(m))
    if not copy and values.dtype.kind != "f":
        raise TypeError(f"m: must hold floats for copy = False, not {values.dtype}")
    if copy or np.ma.isMaskedArray(m):
        values = copied(values, values.dtype if values.dtype.kind == "f" else np.float64)
        if np.ma.isMaskedArray(m):
            values[np.ma.getmaskarray(m)] = bad
    return values, good


def _masked_as(m: Any, result: NDArray[Any], bad: float) -> Any:
    """The result as a masked array, masked where m is masked or bad."""
    return ma(np.ma.MaskedArray(result, np.ma.getmaskarray(m)), bad, copy=False)
