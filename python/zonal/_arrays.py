"""What arrays a user may pass, and what the extension gets.

Inputs may be anything that NumPy makes an array of. float32, float64, complex64 and complex128 go in without a copy
where the last axis is contiguous; all other types and layouts are copied. Outputs (`out=`) are never copied: they must
have the type and shape that fit, and a contiguous last axis.
"""

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_REAL = (np.dtype(np.float64), np.dtype(np.float32))
_COMPLEX = (np.dtype(np.complex128), np.dtype(np.complex64))


def real_input(name: str, values: Any) -> NDArray[Any]:
    """float32 stays, all other real numbers become float64. Raises TypeError for what is not real."""
    return _input(name, values, _REAL, "iubf", "real numbers")


def complex_input(name: str, values: Any) -> NDArray[Any]:
    """complex64 and float32 become complex64, all other numbers complex128. Raises TypeError for what is no number."""
    return _input(name, values, _COMPLEX, "iubfc", "numbers")


def _input(name: str, values: Any, types: tuple[np.dtype[Any], ...], kinds: str, what: str) -> NDArray[Any]:
    array = values if type(values) is np.ndarray else _plain(name, values)
    if array.dtype not in types:
        if array.dtype.kind not in kinds:
            raise TypeError(f"{name}: must hold {what}, not {array.dtype}")
        single = array.dtype.newbyteorder("=") in (np.float32, np.complex64)
        array = array.astype(types[1] if single else types[0])
    elif not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array if _goes_in(array) else np.ascontiguousarray(array)


def _plain(name: str, values: Any) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise TypeError(f"{name}: has masked values; fill them (filled) and say by mask= where they are")
    return np.asarray(values)


def _goes_in(array: NDArray[Any]) -> bool:
    """Whether the extension takes it as it lies in memory."""
    if array.flags.c_contiguous and array.flags.aligned:
        return True
    return (array.flags.aligned and array.ndim > 0 and array.strides[-1] == array.itemsize
            and all(stride % array.itemsize == 0 for stride in array.strides))


def integer(name: str, value: Any) -> int:
    """An integer of Python or NumPy. Raises TypeError, which names the argument, for anything else."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {value!r}: must be an integer") from None


def output(out: NDArray[Any] | None, shape: tuple[int, ...], dtype: Any,
           given: NDArray[Any] | None = None) -> NDArray[Any]:
    """`out` where it is given and fits, else a new array that is not initialised. given: what out may not overlap."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out: must be a NumPy array, not {type(out).__name__}")
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(f"out: must have shape {shape} and type {np.dtype(dtype)}, not {out.shape} and {out.dtype}")
    if not out.flags.writeable or not out.dtype.isnative or not _goes_in(out):
        raise ValueError("out: must be writeable, aligned, and contiguous along its last axis")
    if given is not None and np.may_share_memory(out, given):
        raise ValueError("out: must not share memory with the input")
    return out
