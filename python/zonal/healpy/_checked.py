"""Takes numbers and truth values in the forms that healpy takes, and then checks them as Zonal's own functions do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .._checked import Large, arguments_as, check_of, checked_by

_Function = TypeVar("_Function", bound=Callable[..., Any])


def whole(name: str, value: Any) -> Any:
    """An int in place of a float that is whole, such as lmax = 1.5 * nside. Anything else is returned as it is."""
    if type(value) is int or not isinstance(value, (float, np.floating, np.ndarray)) or np.ndim(value):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind != "f":
        return value
    number = float(value)
    return int(number) if math.isfinite(number) and number == math.floor(number) else value


def truth(name: str, value: Any) -> bool:
    """Whether a value counts as true in Python: None does not, and any text but "" does.

    Raises ValueError for what is neither, such as arrays.
    """
    if value is True or value is False:
        return bool(value)
    try:
        return bool(value)
    except ValueError:
        raise ValueError(f"{name}: must be True or False, not an array of {np.size(value)}") from None


def alone(name: str, value: Any) -> Any:
    """The only number of an array that holds one. Anything else is returned as it is."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "iuf" else value


_TAKEN: dict[str, Callable[[str, Any], Any]] = {"int": whole, "Large": whole, "bool": truth, "float": alone}


def checked(function: _Function) -> _Function:
    """Passes arguments as the plain types that the annotations name; see zonal's decorator of this name.

    Where that asks for an int, a whole float will do; for a float, an array of one; for a bool, what is true or false.
    """
    return checked_by(_check_of, function)


def _check_of(annotation: Any) -> Callable[[str, Any], Any] | None:
    take, strict = _taken(annotation), check_of(annotation)
    if take is None or strict is None:
        return take or strict
    return lambda name, value: strict(name, take(name, value))


def _taken(annotation: Any) -> Callable[[str, Any], Any] | None:
    wanted = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    take = _TAKEN.get(wanted.removesuffix(" | None"))
    if take is None or not wanted.endswith(" | None"):
        return take
    return lambda name, value: None if value is None else take(name, value)


__all__ = ["Large", "arguments_as", "checked", "truth", "whole"]
