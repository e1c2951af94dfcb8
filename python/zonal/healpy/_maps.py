"""Handles whole maps: their kind, bad pixels, order of pixels, and nside."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core
from .._arrays import copied, piecewise
from .._pixels import UNSEEN, reordered
from ..skies import udgrade
from ._checked import checked
from ._sizes import check_nside, get_min_valid_nside, isnpixok, npix2nside


def maptype(m: Any) -> int:
    """Returns 0 for one map, [pixel], and the number of maps for a sequence of maps, [map, pixel].

    Raises TypeError for anything else, and for lengths that are not 12 nside^2 or differ.
    """
    if not hasattr(m, "__len__"):
        raise TypeError("m: is a scalar: must be a map, or a sequence of maps")
    if isinstance(m, dict) or len(m) == 0:
        raise TypeError("m: must be a map, or a sequence of maps")
    single = m.ndim == 1 if isinstance(m, np.ndarray) else np.ndim(m[0]) == 0
    lengths = {len(m)} if single else {len(row) for row in m}
    if len(lengths) > 1:
        raise TypeError(f"m: holds maps of different lengths, {sorted(lengths)}")
    n_pixels = lengths.pop()
    if not isnpixok(n_pixels):
        raise TypeError(f"m: has {n_pixels} pixels: must have 12 nside^2")
    return 0 if single else len(m)


def get_map_size(m: Any) -> int:
    """Returns the number of pixels of a map, of each map of a sequence, or of a map given as a dict.

    The keys of a dict are pixels, and "nside" may be one more; by default nside is the smallest with all these pixels.
    """
    if isinstance(m, dict):
        nside = m.get("nside") or get_min_valid_nside(max(key for key in m if key != "nside") + 1)
        return 12 * int(nside) ** 2
    return len(m if maptype(m) == 0 else m[0])


def get_nside(m: Any) -> int:
    """Returns the nside of a map, or of a sequence of maps. Raises TypeError for anything else."""
    return npix2nside(get_map_size(m))


@checked
def mask_bad(m: Any, badval: float = UNSEEN, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    """Whether each pixel of m is bad: within atol + rtol |badval| of badval, or NaN if badval is NaN. Shaped as m."""
    values = np.asarray(m)
    if np.isnan(badval):
        return piecewise(np.isnan, np.bool_, values)[()]
    return piecewise(lambda piece: np.abs(piece - badval) <= atol + rtol * abs(badval), np.bool_, values)[()]


@checked
def mask_good(m: Any, badval: float = UNSEEN, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    """Whether each pixel of m is neither bad, by the test of mask_bad, nor NaN. Shaped as m."""
    return piecewise(lambda piece: ~(mask_bad(piece, badval, rtol, atol) | np.isnan(piece)), np.bool_, np.asarray(m))[()]


@checked
def ma(m: Any, badval: float = UNSEEN, rtol: float = 1e-5, atol: float = 1e-8, copy: bool = True) -> Any:
    """Returns m as a masked array with its bad pixels (see mask_bad) masked. What was masked stays masked.

    badval: is also the fill value. copy: False shares the memory of m.
    """
    values = m if isinstance(m, np.ndarray) else np.asarray(m)
    bad = mask_bad(np.ma.getdata(values), badval, rtol, atol)
    if copy and type(values) is np.ndarray:
        values, copy = copied(values), False
    return np.ma.MaskedArray(values, mask=bad, fill_value=badval, copy=copy)


def is_ma(m: Any) -> bool:
    """Whether m is a masked array, or a sequence that begins with one."""
    return np.ma.isMaskedArray(m) or (isinstance(m, (list, tuple)) and len(m) > 0 and np.ma.isMaskedArray(m[0]))


def ma_to_array(m: Any) -> NDArray[Any]:
    """Returns a masked array, or a sequence of them, as an array with fill values in place of what is masked."""
    if np.ma.isMaskedArray(m):
        return np.asarray(m.filled())
    return np.array([ma_to_array(row) for row in m]) if is_ma(m) else m


def accept_ma(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function of maps, its first argument, one of masked maps: it gets UNSEEN where they are masked.

    What it returns for masked maps is masked where it is UNSEEN.
    """
    @wraps(function)
    def call(map_in: Any, *args: Any, **kwds: Any) -> Any:
        if not is_ma(map_in):
            return function(map_in, *args, **kwds)
        return ma(function(np.ma.filled(_unseen_where_masked(stacked(map_in))), *args, **kwds))

    return call


def stacked(m: Any) -> NDArray[Any]:
    """Returns a map or a sequence of maps as one array, masked if any of them is."""
    maptype(m)
    if np.ma.isMaskedArray(m) or not isinstance(m, (list, tuple)):
        return m if np.ma.isMaskedArray(m) else np.asarray(m)
    return np.ma.stack(m) if any(map(np.ma.isMaskedArray, m)) else np.asarray(m)


def is_nest(name: str, order: str) -> bool:
    """Whether the name of an order says nest order. Raises ValueError for unknown names."""
    upper = order.upper() if isinstance(order, str) else None
    if upper not in ("RING", "NEST", "NESTED"):
        raise ValueError(f"{name} = {order!r}: must be 'RING' or 'NESTED'")
    return upper != "RING"


@checked
def reorder(map_in: Any, inp: str | None = None, out: str | None = None, r2n: bool | None = None,
            n2r: bool | None = None) -> NDArray[Any]:
    """Returns maps, [pixel] or [map, pixel] of any type, in the other order of pixels.

    Give r2n = True (ring to nest), n2r = True (nest to ring), or inp and out: "RING", "NEST" or "NESTED". Raises
    ValueError for contradictions, and for an nside that is not a power of 2. Masked floats are UNSEEN in the result.
    """
    maps = _unseen_where_masked(stacked(map_in))
    from_nest, to_nest = _orders(inp, out, bool(r2n), bool(n2r))
    check_nside(npix2nside(maps.shape[-1]), nest=True)
    return maps if from_nest == to_nest else _reordered(maps, to_nest)


def _unseen_where_masked(maps: NDArray[Any]) -> NDArray[Any]:
    """Masked maps of floats with UNSEEN as their fill value, and wherever they are masked; all others as they are."""
    if not np.ma.isMaskedArray(maps) or maps.dtype.kind not in "fc":
        return maps
    values = np.where(np.ma.getmaskarray(maps), UNSEEN, np.ma.getdata(maps)).astype(maps.dtype)
    return np.ma.MaskedArray(values, mask_bad(values), fill_value=UNSEEN)


def _orders(inp: str | None, out: str | None, r2n: bool, n2r: bool) -> tuple[bool, bool]:
    if not (r2n or n2r):
        if inp is None or out is None:
            raise ValueError("reorder: needs inp and out, or r2n, or n2r")
        return is_nest("inp", inp), is_nest("out", out)
    named = [is_nest("inp", inp) if inp else n2r, is_nest("out", out) if out else r2n]
    if (r2n and n2r) or named != [n2r, r2n]:
        raise ValueError(f"reorder: inp = {inp}, out = {out}, r2n = {r2n} and n2r = {n2r} contradict one another")
    return n2r, r2n


def _reordered(maps: NDArray[Any], to_nest: bool) -> NDArray[Any]:
    if type(maps) is np.ndarray and maps.dtype in (np.float64, np.float32):
        rows = np.ascontiguousarray(np.atleast_2d(maps))
        return reordered(rows, to_nest).reshape(maps.shape)
    n_pixels = maps.shape[-1]
    change = _core.nest2ring if to_nest else _core.ring2nest
    return maps[..., change(npix2nside(n_pixels), np.arange(n_pixels), 0)]


@checked
def ud_grade(map_in: Any, nside_out: int, pess: bool = False, order_in: str = "RING", order_out: str | None = None,
             power: float | None = None, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Returns maps, [pixel] or [map, pixel], at another nside; both nside are powers of 2.

    A coarser pixel is the mean of the good pixels in it; a finer pixel has the value of the coarse one. Pixels that are
    UNSEEN, not finite or masked are bad; masked maps come back masked. pess: a pixel is UNSEEN if any pixel in it is
    bad; otherwise only if all are. order_in, order_out: "RING", "NEST" or "NESTED"; the result has order_in by default.
    power: values are multiplied by (nside_out / nside_in)^power; -2 keeps sums. dtype: of the result, by default that
    of the maps.
    """
    maps = stacked(map_in)
    from_nest = is_nest("order_in", order_in)
    to_nest = from_nest if order_out is None else is_nest("order_out", order_out)
    size = nside_out
    check_nside(size, nest=True)
    check_nside(npix2nside(maps.shape[-1]), nest=True)
    kept = np.result_type(maps.dtype, np.float32) if maps.dtype != np.float64 else maps.dtype
    values = np.ma.getdata(maps).astype(kept)
    values[np.ma.getmaskarray(maps) | ~np.isfinite(values)] = UNSEEN
    result = udgrade(values, size, nest=from_nest, pessimistic=bool(pess))
    if power is not None:
        good = mask_good(result)
        try:
            result[good] *= (size / npix2nside(maps.shape[-1])) ** power
        except OverflowError:
            raise ValueError(f"power = {power}: makes numbers that are too large") from None
    if from_nest != to_nest:
        result = _reordered(result, to_nest)
    typed = np.ma.MaskedArray(result, mask_bad(result), fill_value=UNSEEN) if is_ma(maps) else result
    return typed.astype(maps.dtype if dtype is None else dtype)
