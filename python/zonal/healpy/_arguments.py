"""Reads arguments as healpy's functions take them: scalars or arrays of any shape, which broadcast, even nside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._threads import resolve
from .._units import quantity_unit

Arrays = tuple[Any, ...]
_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)


def floats(name: str, values: Any) -> NDArray[np.float64]:
    """Returns real numbers as float64, without their mask. Raises TypeError for anything else, and for a Quantity."""
    array = values if type(values) is np.ndarray else _plain(name, values)
    if array.dtype is _FLOAT64:
        return array
    if array.dtype.kind not in "iubf":
        raise TypeError(f"{name}: must hold real numbers, not {array.dtype}")
    return array.astype(np.float64, copy=False)


def integers(name: str, values: Any) -> NDArray[np.int64]:
    """Returns integers as int64, without their mask. Raises TypeError for anything else, even for 5.0."""
    array = values if type(values) is np.ndarray else _plain(name, values)
    if array.dtype is _INT64:
        return array
    if not np.can_cast(array.dtype, np.int64, "safe"):
        raise TypeError(f"{name}: must hold integers, not {array.dtype}")
    return array.astype(np.int64, copy=False)


def radians(name: str, values: Any) -> NDArray[np.float64]:
    """Returns angles, which may also be a Quantity, in rad as float64."""
    if quantity_unit(values) is not None:
        try:
            values = values.to_value("rad")
        except ValueError as error:
            raise TypeError(f"{name}: is a Quantity that is no angle: {error}") from None
    return floats(name, values)


def check_range(name: str, values: Any, low: float, high: float, words: str | None = None) -> None:
    """Raises ValueError, which names the first value that is NaN or outside the range. words: for the range."""
    array = floats(name, values)
    inside = (array >= low) & (array <= high)
    if not inside.all():
        raise ValueError(f"{name} = {array[~inside].flat[0]}: must be from {words or f'{low} to {high}'}")


def _plain(name: str, values: Any) -> NDArray[Any]:
    if quantity_unit(values) is not None:
        raise TypeError(f"{name}: has a unit; give its values, in radians or, where lonlat is set, in degrees")
    return np.asarray(values)  # of a masked array its data, of a table's Column its numbers


def without_masked(*arguments: Any) -> tuple[list[Any], NDArray[np.bool_] | None]:
    """The arguments with 0 in place of what is masked, and where any of them is; None if none is a masked array."""
    if not any(isinstance(argument, np.ma.MaskedArray) for argument in arguments):
        return list(arguments), None
    masks = np.broadcast_arrays(*(np.ma.getmaskarray(argument) for argument in arguments))
    plain = [np.where(np.ma.getmaskarray(argument), 0, np.ma.getdata(argument)).astype(argument.dtype)
             if isinstance(argument, np.ma.MaskedArray) else argument for argument in arguments]
    return plain, np.logical_or.reduce(masks)


def as_numpy(array: NDArray[Any]) -> NDArray[Any]:
    """The array as int64 if the extension gave C's long long, which NumPy takes for another type."""
    return array.view(_INT64) if array.dtype.char == "q" else array


def for_each_nside(kernel: Callable[..., Arrays], nside: Any, *arrays: NDArray[Any]) -> Arrays:
    """Calls kernel(nside, *vectors) for each nside. The last axis of the results gets the shape of the broadcast."""
    sizes = integers("nside", nside)
    shape = np.broadcast(sizes, *arrays).shape
    flat = [_spread(array, shape) for array in arrays]
    results = kernel(int(sizes.item()), *flat) if sizes.size == 1 else _scattered(kernel, _spread(sizes, shape), flat)
    if len(shape) != 1:
        results = tuple([result.reshape(result.shape[:-1] + shape) for result in results])
    return tuple([as_numpy(result)[()] for result in results])


def _spread(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The array broadcast to the shape, as a vector."""
    return (array if array.shape == shape else np.broadcast_to(array, shape)).reshape(-1)


def threads_for(n: int) -> int:
    """Threads for n elements. For few elements one will do: asking for the number takes longer than the work."""
    return 1 if n < 65536 else resolve(None)


def _scattered(kernel: Callable[..., Arrays], sizes: NDArray[np.int64], flat: list[NDArray[Any]]) -> Arrays:
    if not sizes.size:
        return kernel(1, *flat)
    results: Arrays = ()
    for size in np.unique(sizes):
        here = sizes == size
        parts = kernel(int(size), *(array[here] for array in flat))
        results = results or tuple(np.empty((*part.shape[:-1], sizes.size), part.dtype) for part in parts)
        for result, part in zip(results, parts):
            result[..., here] = part
    return results
