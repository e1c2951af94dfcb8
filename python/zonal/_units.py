"""Units of maps: texts, as files write them, which astropy reads when one has to be converted."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any, NamedTuple, TypeVar

import numpy as np

_Values = TypeVar("_Values")

T_CMB = 2.7255
"""K, the temperature of the microwave background (Fixsen 2009), at which K_CMB is defined."""

# "K_CMB", "Kcmb", "mK,thermodynamic" and "mK (thermodynamic)" of WMAP, LAMBDA and Planck; "K_RJ" and "mK,antenna".
_KIND = re.compile(r"[_,\s(]*(?:(CMB|thermodynamic)|(RJ|Rayleigh[- ]Jeans|antenna))\)?", re.IGNORECASE)
_SPELLINGS = ((re.compile(r"\b(?:mu|micro)(?=K\b|K\d|K\^)"), "u"), (re.compile(r"\bkelvin\b"), "K"),
              (re.compile(r"\bcounts\b"), "count"), (re.compile(r"\bphotons\b"), "photon"),
              (re.compile(r"\((\w+)\)(?=\^|\*\*|\d)"), r"\1"))


class _Unit(NamedTuple):
    """An astropy unit, and of which kind temperatures are in it: "CMB", "RJ", or "" where the text does not say."""

    unit: Any
    kind: str


def quantity_unit(values: Any) -> Any:
    """The unit of an astropy Quantity, else None. It does not import astropy."""
    if type(values) is np.ndarray or "astropy.units" not in sys.modules:
        return None
    return values.unit if isinstance(values, sys.modules["astropy.units"].Quantity) else None


def with_unit(values: _Values, unit: Any) -> _Values:
    """The values, or a dict of them, as a Quantity without a copy; as they are where unit is None."""
    if unit is None:
        return values
    result: Any = {name: with_unit(value, unit) for name, value in values.items()} if isinstance(values, dict) else \
        sys.modules["astropy.units"].Quantity(np.asarray(values), unit, copy=False)
    return result  # type: ignore[no-any-return]


def is_unit(value: Any) -> bool:
    """Whether a value is a unit of astropy, which is not imported for this."""
    return "astropy.units" in sys.modules and isinstance(value, sys.modules["astropy.units"].UnitBase)


def text_of(unit: Any) -> str:
    """A unit as text; "" for None. Raises TypeError for what is neither a text nor a unit of astropy."""
    if unit is None:
        return ""
    if isinstance(unit, str):
        return unit.strip()
    if not is_unit(unit):
        raise TypeError(f"unit: must be a text or an astropy unit, not {type(unit).__name__}")
    return str(unit).replace(" / ", "/")


def parsed(text: str) -> _Unit:
    """Raises ValueError for a text that is no unit, and ImportError where astropy is missing."""
    found = _KIND.search(text)
    plain = text if found is None else text[:found.start()] + text[found.end():]
    for spelling, usual in _SPELLINGS:
        plain = spelling.sub(usual, plain)
    units = _astropy()
    try:
        unit = units.Unit(plain)
    except ValueError:
        raise ValueError(f"unit = {text!r}: is not known to astropy; give the map a unit that is: "
                         "zonal.Map(map, unit=...)") from None
    return _Unit(unit, "" if found is None else "CMB" if found[1] else "RJ")


def product(first: str, second: str, power: int = 1) -> str:
    """The text of first * second**power, where power is 1 or -1."""
    if not second:
        return first
    if not first and power == 1:
        return second
    if first == second and power == -1:
        return ""
    one, other = parsed(first), parsed(second)
    if one.kind and other.kind and one.kind != other.kind:
        raise ValueError(f"unit: {first!r} and {second!r} are temperatures of different kinds: convert one by "
                         "Map.to(unit, frequency)")
    return _marked(one.unit * other.unit**power, one.kind or other.kind)


def to_power(text: str, power: float) -> str:
    """The text of a unit to a power."""
    if not text or power == 1:
        return text
    one = parsed(text)
    return _marked(one.unit**power, one.kind)


def factor(source: str, target: str, frequency: Any = None) -> float:
    """What values in the unit source are multiplied with to be in target.

    Temperatures K_CMB and K_RJ and intensities turn into each other at a frequency. Raises ValueError for other units,
    and for K without its kind, which may be either."""
    if frequency is not None:
        frequency = _in_hertz(frequency)
    if source == target:
        return 1.0
    if not source or not target:
        raise ValueError(f"unit: {source!r} cannot become {target!r}: say the unit of a map by zonal.Map(map, unit=...)")
    one, other = parsed(source), parsed(target)
    same_kind = not one.kind or not other.kind or one.kind == other.kind
    if same_kind and one.unit.is_equivalent(other.unit):
        return float(one.unit.to(other.unit))
    for text, unit in ((source, one), (target, other)):
        if not (unit.unit.is_equivalent("K") or unit.unit.is_equivalent("Jy/sr")):
            raise ValueError(f"unit: {source!r} cannot become {target!r}")
        if unit.unit.is_equivalent("K") and not unit.kind:
            raise ValueError(f"unit = {text!r}: may be thermodynamic or Rayleigh-Jeans: say which, as in 'K_CMB' or 'K_RJ'")
    if frequency is None:
        raise ValueError(f"unit: {source!r} becomes {target!r} at a frequency alone: use Map.to({target!r}, frequency), "
                         "such as frequency='217 GHz'")
    return _intensity(one, frequency) / _intensity(other, frequency)


def _intensity(unit: _Unit, frequency: Any) -> float:
    """One of the unit in Jy/sr."""
    units = _astropy()
    if unit.kind == "CMB":
        ways = units.thermodynamic_temperature(frequency, T_CMB * units.K)
    else:
        ways = units.brightness_temperature(frequency) if unit.kind == "RJ" else []
    return float(unit.unit.to("Jy/sr", equivalencies=ways))


def _in_hertz(frequency: Any) -> Any:
    units = _astropy()
    try:
        found = units.Quantity(frequency) if isinstance(frequency, str) or quantity_unit(frequency) is not None else \
            units.Quantity(frequency, "Hz")
        found = found.to("Hz")
    except (TypeError, ValueError):
        raise ValueError(f"frequency = {frequency!r}: must be a number of Hz, a text such as '217 GHz', or a Quantity") from None
    if found.shape != () or not 0 < found.value < np.inf:
        raise ValueError(f"frequency = {frequency!r}: must be one frequency, finite and above 0; a bandpass is not integrated")
    if not isinstance(frequency, str) and quantity_unit(frequency) is None and found.value < 1e6:
        raise ValueError(f"frequency = {frequency!r}: a number is in Hz, and must be 1e6 or more: write \"{frequency:g} GHz\" for GHz")
    return found


def _marked(unit: Any, kind: str) -> str:
    """The text of a unit, with the kind of its temperatures: "uK_CMB2"."""
    text = text_of(unit)
    return re.sub(r"K(?![A-Za-z])", f"K_{kind}", text) if kind else text


def _astropy() -> Any:
    try:
        return importlib.import_module("astropy.units")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "astropy":
            raise
        raise ImportError("units are converted by astropy: pip install astropy") from error
