"""Energies as people write them."""

import math
import re
from typing import Any, SupportsFloat, TypeAlias

from . import _core

EnergyLike: TypeAlias = SupportsFloat | str | Any
"""A number in MeV, a text such as "100GeV", or an astropy Quantity."""

_TEXT = re.compile(r"\s*(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)\s*(\w+)\s*")


def energy(value: EnergyLike, name: str = "energy") -> float:
    """Returns an energy in MeV. Raises ValueError for a text without a known unit and for what is not above 0, TypeError
    for arrays."""
    found = _TEXT.fullmatch(value) if isinstance(value, str) else None
    try:
        if isinstance(value, str):
            unit = _core.energy_unit(found[2]) if found else None
            mev = float(found[1]) * unit if found and unit else math.nan
        elif hasattr(value, "to_value"):  # astropy, which is not imported for this
            mev = float(value.to_value("MeV"))
        elif isinstance(value, (bool, bytes)):
            raise TypeError
        else:
            mev = float(value)
    except TypeError:
        raise TypeError(f"{name}: must be one energy, not {type(value).__name__}") from None
    except ValueError as error:  # astropy's, of units that are no energy
        raise ValueError(f"{name} = {value}: must be an energy") from error
    if not 0 < mev < math.inf:
        raise ValueError(f'{name} = {value!r}: must be above 0, in MeV, or with a unit (eV, keV, MeV, GeV or TeV), as in "100GeV"')
    return mev
