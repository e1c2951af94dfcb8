"""Reads and writes FITS tables with astropy, which is imported at the first file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._astropy_fits import astropy_fits

_FORMATS = {"b1": "L", "u1": "B", "i2": "I", "i4": "J", "i8": "K", "f4": "E", "f8": "D", "c8": "C", "c16": "M"}


def getformat(t: Any) -> str:
    """Returns the FITS format of a type, of the name of a type, or of values: "E" for float32, "A3" for "abc".

    Raises ValueError for types that FITS tables cannot hold.
    """
    if t is str:
        return "A"
    if isinstance(t, str):
        try:
            kind = np.dtype(t)
        except TypeError:
            return f"A{len(t)}"
    else:
        kind = np.dtype(t) if isinstance(t, (type, np.dtype)) else np.asarray(t).dtype
    if kind.kind in "US":
        return f"A{kind.itemsize // (4 if kind.kind == 'U' else 1)}"
    code = f"{kind.kind}{kind.itemsize}"
    if code not in _FORMATS:
        raise ValueError(f"dtype = {kind}: must be one that FITS tables have: {', '.join(_FORMATS)}")
    return _FORMATS[code]


@contextlib.contextmanager
def table_of(source: Any, hdu: int | str, memmap: bool = False) -> Iterator[Any]:
    """The binary table in a file, given by name, in an open HDUList, or in an HDU. Raises OSError if there is none."""
    fits = astropy_fits()
    if hasattr(source, "header"):
        yield _checked(source, f"HDU {source.name}")
    elif isinstance(source, fits.HDUList):
        yield _checked(_hdu_of(source, hdu, "the HDUList"), f"HDU {hdu}")
    else:
        name = os.fspath(source)
        with fits.open(name, memmap=memmap) as opened:
            yield _checked(_hdu_of(opened, hdu, name), f"{name}: HDU {hdu}")


def _hdu_of(hdus: Any, hdu: int | str, name: str) -> Any:
    try:
        return hdus[hdu]
    except (IndexError, KeyError):
        raise OSError(f"{name}: has no HDU {hdu}: must be from 0 to {len(hdus) - 1}, or a name") from None


def _checked(table: Any, name: str) -> Any:
    if getattr(table, "columns", None) is None:
        raise OSError(f"{name}: is no binary table")
    return table


def column_values(table: Any, column: int | str) -> NDArray[Any]:
    """Returns a copy of a column as a vector in the machine's byte order."""
    values = np.ravel(table.data.field(column))
    return np.array(values, values.dtype.newbyteorder("="))


def set_extra(table: Any, extra_header: Any) -> None:
    """Adds records to the table's header: (key, value), (key, value, comment), or a mapping."""
    cards = extra_header.items() if hasattr(extra_header, "items") else extra_header
    table.header.extend([tuple(card) for card in cards])


def texts_of(name: str, given: Any, n: int, default: Sequence[str | None]) -> list[str | None]:
    """Returns one text for each of n columns: those given (a single unit goes to all columns), or the default."""
    if given is None:
        return list(default)
    texts = [given] * n if isinstance(given, str) else list(given)
    if len(texts) != n or (name == "column_names" and isinstance(given, str) and n > 1):
        has = 1 if isinstance(given, str) else len(texts)
        raise ValueError(f"{name}: has {has} texts: must have one for each of {n} columns")
    return texts
