"""Reads arguments as ducc0's functions take them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import integers, shown
from .._checked import invalid
from .._threads import MOST, resolve

_REAL, _COMPLEX = (np.dtype(np.float32), np.dtype(np.float64)), (np.dtype(np.complex64), np.dtype(np.complex128))


def threads_of(nthreads: int) -> int:
    """The threads that nthreads stands for: 0 is the number that zonal.threads() says."""
    if not 0 <= nthreads <= MOST:
        raise invalid("nthreads", nthreads, f"must be from 0 (as many as zonal.threads() says) to {MOST}")
    return resolve(nthreads)


def reals(name: str, values: Any) -> NDArray[Any]:
    """float32 and float64 as they are. Raises TypeError for anything else, so that no precision is chosen by accident."""
    return _of_types(name, values, _REAL)


def complexes(name: str, values: Any) -> NDArray[Any]:
    """complex64 and complex128 as they are. Raises TypeError for anything else."""
    return _of_types(name, values, _COMPLEX)


def _of_types(name: str, values: Any, types: tuple[np.dtype[Any], ...]) -> NDArray[Any]:
    if not isinstance(values, np.ndarray) or values.dtype not in types:
        what = f"an array of {values.dtype}" if isinstance(values, np.ndarray) else shown(values)
        raise TypeError(f"{name} = {what}: must be a NumPy array of {types[0]} or {types[1]}")
    return values.view(np.ndarray)


def written(name: str, out: Any, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array to write to, as it is. Raises TypeError or ValueError unless it has this shape and type."""
    if not isinstance(out, np.ndarray) or out.dtype != dtype:
        what = f"an array of {out.dtype}" if isinstance(out, np.ndarray) else shown(out)
        raise TypeError(f"{name} = {what}: must be a NumPy array of {np.dtype(dtype)}")
    if out.shape != shape:
        raise invalid(name, None, f"has shape {out.shape}: must be {shape}")
    if not out.flags.writeable:
        raise invalid(name, None, "is read-only: must be writeable")
    return out


def vector(name: str, values: Any, length: int | None = None) -> NDArray[np.float64]:
    """A vector of doubles of this length."""
    array = np.asarray(values)
    if array.dtype != np.float64:
        raise TypeError(f"{name}: must hold float64, not {array.dtype}")
    return _of_length(name, array, length)


def whole(name: str, values: Any, length: int | None = None) -> NDArray[np.int64]:
    """A vector of integers, of any type, that int64 holds."""
    array = np.asarray(values)
    if array.dtype == np.uint64:
        if array.size and array.max() >= 2**63:
            raise invalid(name, array.max(), "must be below 2^63")
        array = array.astype(np.int64)
    return _of_length(name, integers(name, array), length)


def _of_length(name: str, array: NDArray[Any], length: int | None) -> NDArray[Any]:
    if array.ndim != 1 or length is not None and len(array) != length:
        wanted = "one-dimensional" if length is None else f"[{length}]"
        raise invalid(name, None, f"has shape {array.shape}: must be {wanted}")
    return np.ascontiguousarray(array)


def contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy where the extension does not take it as it lies in memory."""
    strides = array.strides
    fits = array.flags.aligned and (array.size == 0 or (strides[-1] == array.itemsize or array.shape[-1] == 1) and all(
        stride % array.itemsize == 0 for stride in strides))
    return array if fits and array.flags.aligned else np.ascontiguousarray(array)


@contextmanager
def result_in(out: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """What the extension may write to: the array, or another one whose contents are copied to it afterwards."""
    there = contiguous(out)
    yield there
    if there is not out:
        out[...] = there


def partner(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The real type of the same precision for a complex one, and the other way round."""
    ours, others = (_COMPLEX, _REAL) if dtype in _COMPLEX else (_REAL, _COMPLEX)
    return others[ours.index(dtype)]


__all__ = ["complexes", "contiguous", "partner", "reals", "result_in", "threads_of", "vector", "whole", "written"]
