"""What arrays a user may pass, and what the extension gets.

Inputs may be anything that NumPy makes an array of; those of other libraries see `_libraries`. float32, float64, complex64 and complex128 go in without a copy
where the last axis is contiguous; all other types and layouts are copied. Outputs (`out=`) are never copied: they must
have the type and shape that fit, and a contiguous last axis.
"""

import operator
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._device_arrays import refuse_jax
from ._libraries import host_values
from ._units import quantity_unit

_REAL = (np.dtype(np.float64), np.dtype(np.float32))
_COMPLEX = (np.dtype(np.complex128), np.dtype(np.complex64))


def shown(value: Any) -> str:
    """What a message says of a wrong value: in one line, however large it is."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"<{type(value).__name__} of shape {tuple(shape)}>"
    line = " ".join(repr(value).split())
    return line if len(line) <= 100 else f"{line[:97]}..."


def real_input(name: str, values: Any) -> NDArray[Any]:
    """float32 stays, all other real numbers become float64. Raises TypeError for what is not real."""
    return _input(name, values, _REAL, "iubf", "real numbers")


def complex_input(name: str, values: Any) -> NDArray[Any]:
    """complex64 and float32 become complex64, all other numbers complex128. Raises TypeError for what is no number."""
    return _input(name, values, _COMPLEX, "iubfc", "numbers")


def _input(name: str, values: Any, types: tuple[np.dtype[Any], ...], kinds: str, what: str) -> NDArray[Any]:
    if isinstance(values, (str, os.PathLike)):
        raise TypeError(f"{name} = {shown(values)}: must be an array of {what}; zonal.io reads files")
    array = values if type(values) is np.ndarray else _plain(name, values)
    if array.dtype not in types:
        if array.dtype.kind not in kinds:
            raise TypeError(f"{name}: must hold {what}, not {array.dtype}")
        single = array.dtype.newbyteorder("=") in (np.float32, np.complex64)
        array = copied(array, types[1] if single else types[0])
    elif not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array if _goes_in(array) else copied(array)


def _plain(name: str, values: Any) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise TypeError(f"{name}: has masked values; fill them (filled) and say by mask= where they are")
    try:
        if isinstance(values, (list, tuple)) and values and all(map(_is_vector, values)) and len(set(map(len, values))) == 1:
            return _stacked(values)
        return np.asarray(host_values(name, values))
    except ValueError as error:
        raise ValueError(f"{name}: is no array of numbers: {error}") from None


def doubles(name: str, values: Any) -> NDArray[np.float64]:
    """Real numbers as a contiguous array of float64. Raises TypeError for what is not real, and for a Quantity with a
    unit, which would be lost; a share, such as percent, becomes a number."""
    unit = quantity_unit(values)
    if unit is not None:
        try:
            values = values.to_value("")
        except ValueError:
            raise TypeError(f"{name}: is a Quantity in {unit}: must be numbers without a unit") from None
    return np.asarray(real_input(name, values), np.float64, order="C")


def integers(name: str, values: Any) -> NDArray[np.int64]:
    """Integers as int64, in any shape. Raises TypeError for anything else."""
    array = values if type(values) is np.ndarray else _plain(name, values)
    if array.size and (array.dtype.kind == "b" or not np.can_cast(array.dtype, np.int64, "safe")):
        raise TypeError(f"{name}: must hold integers, not {array.dtype}")
    return array.astype(np.int64, copy=False)


def vector(name: str, values: Any) -> NDArray[np.float64]:
    """A contiguous vector of doubles. Raises ValueError for other shapes."""
    array = doubles(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name}: has shape {array.shape}: must be a vector")
    return array


def spectrum(name: str, values: Any) -> NDArray[np.float64]:
    """A vector of which only the shape matters, or the unit is kept elsewhere: that of a Quantity is left out."""
    return vector(name, values if quantity_unit(values) is None else values.value)


def alike(**spectra: Any) -> list[NDArray[np.float64]]:
    """Vectors in one unit: that of the first. Raises ValueError where one is in another kind of unit."""
    (first, one), *_ = spectra.items()
    unit = quantity_unit(one)
    for name, values in spectra.items():
        other = quantity_unit(values)
        if (other is None) != (unit is None) or (other is not None and not other.is_equivalent(unit)):
            raise ValueError(f"{first}, {name}: are in {unit or 'no unit'} and in {other or 'no unit'}: must be in one unit")
    return [spectrum(name, values if unit is None else values.to(unit)) for name, values in spectra.items()]


def sequence(name: str, values: Any) -> list[Any]:
    """The parts of anything that has some, but of a text. Raises TypeError for anything else."""
    try:
        if not isinstance(values, (str, bytes)):
            return list(values)
    except TypeError:
        pass
    such = f", such as [{values!r}]" if isinstance(values, (str, bytes)) else ""
    raise TypeError(f"{name} = {shown(values)}: must be a sequence{such}")


def _goes_in(array: NDArray[Any]) -> bool:
    """Whether the extension takes it as it lies in memory."""
    if array.flags.c_contiguous and array.flags.aligned:
        return True
    return (array.flags.aligned and array.ndim > 0 and array.strides[-1] == array.itemsize
            and all(stride % array.itemsize == 0 for stride in array.strides))


def integer(name: str, value: Any, below: int = 2**31) -> int:
    """An integer of Python or NumPy. Raises TypeError for anything else, and ValueError beyond what C++ has room for."""
    if type(value) is not int:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"{name} = {shown(value)}: must be an integer")
        try:
            value = operator.index(value)
        except TypeError:
            raise TypeError(f"{name} = {shown(value)}: must be an integer") from None
    if not -below <= value < below:
        raise ValueError(f"{name} = {value}: must be an integer below 2^{below.bit_length() - 1} in size")
    return int(value)


def real(name: str, value: Any) -> float:
    """A real number of Python or NumPy, NaN and inf included, as a float or, as it was, an int.

    Raises TypeError for anything else.
    """
    if type(value) is float or type(value) is int and abs(value) < 2**53:
        return value
    if not isinstance(value, (bool, str, bytes, np.bool_)) and hasattr(value, "__float__") and np.ndim(value) == 0:
        try:
            return float(value)
        except (TypeError, OverflowError):
            pass
    raise TypeError(f"{name} = {shown(value)}: must be a real number")


def boolean(name: str, value: Any) -> bool:
    """True, False, or 1 and 0 for them. Raises TypeError for anything else."""
    if value is True or value is False:
        return bool(value)
    if isinstance(value, (np.bool_, int, np.integer)) and value in (0, 1):
        return bool(value)
    raise TypeError(f"{name} = {shown(value)}: must be True or False")


def text(name: str, value: Any) -> str:
    """Raises TypeError for what is no string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} = {shown(value)}: must be a string")
    return value


def path(name: str, value: Any) -> str:
    """The name of a file. Raises TypeError for what is no string and no path."""
    try:
        return text(name, os.fspath(value))
    except TypeError:
        raise TypeError(f"{name} = {shown(value)}: must be a path: a string or an os.PathLike of one") from None


def type_of(name: str, value: Any, first: type[np.generic], second: type[np.generic]) -> np.dtype[Any]:
    """One of two types of numbers. Raises ValueError for anything else."""
    try:
        wanted: np.dtype[Any] = np.dtype(value)
        if value is not None and wanted in (first, second):
            return wanted
    except TypeError:
        pass
    raise ValueError(f"{name} = {shown(value)}: must be {first.__name__} or {second.__name__}")


def output(out: NDArray[Any] | None, shape: tuple[int, ...], dtype: Any,
           given: NDArray[Any] | None = None) -> NDArray[Any]:
    """`out` where it is given and fits, else a new array that is not initialised. given: what out may not overlap."""
    if out is None:
        return np.empty(shape, dtype)
    refuse_jax(out)
    out = host_values("out", out)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out: must be a NumPy array, not {type(out).__name__}")
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(f"out: must have shape {shape} and type {np.dtype(dtype)}, not {out.shape} and {out.dtype}")
    if not out.flags.writeable or not out.dtype.isnative or not _goes_in(out):
        raise ValueError("out: must be writeable, aligned, and contiguous along its last axis")
    if _overlaps_itself(out):
        raise ValueError("out: has elements that share memory, such as those of a broadcast array: give an array whose "
                         "elements all have a place of their own")
    if given is not None and np.may_share_memory(out, given):
        raise ValueError("out: must not share memory with the input")
    return out


# Elements between which Ctrl-C is heard. They fit the cache.
PIECE = 1 << 20


def piecewise(work: Callable[..., Any], dtype: Any, *arrays: Any) -> NDArray[Any]:
    """Returns work(*arrays), of numbers of this type, for work that goes element by element.

    Large arrays go in pieces, between which Ctrl-C is heard, and which stay in the processor's cache.
    """
    if all(np.size(array) <= PIECE for array in arrays):
        return np.asarray(work(*arrays), dtype)
    flags: Any = ["external_loop", "buffered", "zerosize_ok"]
    kinds: Any = [*([["readonly"]] * len(arrays)), ["writeonly", "allocate"]]
    types: Any = [None] * len(arrays) + [dtype]
    with np.nditer([*arrays, None], flags, kinds, types, order="C", buffersize=PIECE) as pieces:
        for *given, made in pieces:
            made[...] = work(*given)
        return np.asarray(pieces.operands[-1])


def required_finite(name: str, rows: NDArray[Any], mask: NDArray[Any] | None = None) -> None:
    """Raises ValueError where [row, pixel] is NaN or infinite outside the mask, [pixel]."""
    seen = np.broadcast_to(np.float64(1) if mask is None else mask, rows.shape)
    bad = piecewise(lambda values, weight: ~np.isfinite(values) & (weight != 0), np.bool_, rows, seen)
    if bad.any():
        row, pixel = np.argwhere(bad)[0]
        raise ValueError(f"{name}: {bad.sum()} of its values are NaN or infinite, the first is pixel {pixel} of row {row}: must be "
                         "finite, UNSEEN (-1.6375e30) or masked")


def copied(array: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
    """A copy, of another type where one is given."""
    if array.size <= PIECE:
        return np.array(array, dtype, order="C")
    return piecewise(lambda values: values, array.dtype if dtype is None else dtype, array)


def kept(value: Any) -> Any:
    """What an object keeps of an argument: a copy of an array, as the caller may change what was given."""
    if isinstance(value, np.ndarray):
        return copied(value)
    return type(value)(map(kept, value)) if type(value) in (tuple, list) else value


def _is_vector(values: Any) -> bool:
    return type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in "iubfc"


def _stacked(rows: Any) -> NDArray[Any]:
    """Vectors of one length as one array, in pieces as in piecewise."""
    result = np.empty((len(rows), len(rows[0])), np.result_type(*rows))
    for row, out in zip(rows, result):
        for start in range(0, len(row), PIECE):
            out[start:start + PIECE] = row[start:start + PIECE]
    return result


def _overlaps_itself(array: NDArray[Any]) -> bool:
    """Whether elements share memory, or axes are interleaved as no usual array has them."""
    if array.size == 0:
        return False
    span = array.itemsize
    for stride, length in sorted((abs(stride), length) for stride, length in zip(array.strides, array.shape) if length > 1):
        if stride < span:
            return True
        span += stride * (length - 1)
    return False
