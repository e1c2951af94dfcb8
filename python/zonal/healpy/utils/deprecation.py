"""How the use of arguments that have no effect is told, under healpy's name for it."""

import warnings
from typing import Any


class HealpyDeprecationWarning(Warning):
    """Tells of an argument that healpy has given up."""


def note_verbose(verbose: Any) -> None:
    """Warns where the argument verbose of the calling function was given."""
    if verbose is not None:
        warnings.warn("verbose has no effect: leave it out", HealpyDeprecationWarning, stacklevel=3)
