"""Angles as people write them."""

import math
import re
from typing import Any, SupportsFloat, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import doubles
from ._units import quantity_unit

AngleLike: TypeAlias = SupportsFloat | str | Any
"""A number in radians, a text such as "10 arcmin", or an astropy Quantity."""

_TEXT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S+)\s*")


def angle(value: AngleLike, name: str = "angle") -> float:
    """Returns an angle in radians.

    value: a number in radians; a text of a number and one of the units rad, deg, arcmin, arcsec, also spelled out, as in
    "10 degrees"; or an astropy Quantity of one angle. name: of the argument, for messages.

    Raises ValueError for a text without a known unit and for what is not finite, TypeError for arrays.

    >>> zonal.angle("90deg") == np.pi / 2
    True
    >>> zonal.angle("ten degrees")
    Traceback (most recent call last):
    ...
    ValueError: angle = 'ten degrees': must be a number and a unit (rad, deg, arcmin or arcsec), as in "10arcmin"
    """
    if isinstance(value, str):
        radians = _from_text(value, name)
    elif hasattr(value, "unit") and hasattr(value, "to_value"):  # astropy, which is not imported for this
        radians = _one(name, value, _in_radians(name, value))
    else:
        if getattr(value, "requires_grad", False):
            raise TypeError(f"{name}: requires gradients, which this call does not carry: use its detach(), or the function of "
                            "zonal.torch that has a gradient by it, such as smooth")
        radians = _one(name, value, value)
    if not math.isfinite(radians):
        raise ValueError(f"{name} = {value}: must be finite")
    return radians


def width(value: AngleLike, name: str, most: float = math.pi) -> float:
    """An angle above 0 and at most `most`, rad: of a beam, a radius or a cut. Raises ValueError for others."""
    radians = angle(value, name)
    try:
        return _core.checked_width(name, radians, most)
    except ValueError as error:
        is_number = not isinstance(value, str) and quantity_unit(value) is None
        hint = f'; a number is in radians: write "{radians:g}deg" for degrees' if is_number and most < radians <= 180 else ""
        raise ValueError(f"{error}{hint}") from None


def angles(name: str, values: Any) -> NDArray[np.float64]:
    """Angles in radians, in any shape: numbers of radians, a Quantity, or one text as `angle` takes it."""
    if isinstance(values, str):
        return np.array(_from_text(values, name))
    return doubles(name, values if quantity_unit(values) is None else _in_radians(name, values))


def _in_radians(name: str, value: Any) -> Any:
    try:
        return value.to_value("rad")
    except (TypeError, ValueError) as error:  # astropy's are of both types
        raise type(error)(f"{name} = {value}: must be an angle") from None


def _one(name: str, given: Any, number: Any) -> float:
    try:
        if not isinstance(given, (bool, np.bool_, bytes)):
            return float(number)
    except TypeError:
        pass
    raise TypeError(f"{name}: must be one angle, not {type(given).__name__}")


def _from_text(text: str, name: str) -> float:
    found = _TEXT.fullmatch(text)
    unit = _core.angle_unit(found[2]) if found else None
    if not found or unit is None:
        raise ValueError(
            f"{name} = {text!r}: must be a number and a unit (rad, deg, arcmin or arcsec), as in \"10arcmin\"")
    return float(found[1]) * unit
