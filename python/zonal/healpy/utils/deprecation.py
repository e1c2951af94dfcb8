"""Warns of arguments that have no effect, with healpy's warning class."""

from typing import Any

from ..._notes import warn


class HealpyDeprecationWarning(Warning):
    """An argument was given that healpy no longer uses."""


def disable_warnings() -> None:
    """Has no effect. Python's warnings.filterwarnings turns warnings off."""
    warn(["disable_warnings has no effect: use warnings.filterwarnings"], HealpyDeprecationWarning)


def enable_warnings() -> None:
    """Has no effect."""
    warn(["enable_warnings has no effect: use warnings.filterwarnings"], HealpyDeprecationWarning)


def note_verbose(verbose: Any) -> None:
    """Warns if the argument verbose of the calling function was given."""
    if verbose is not None:
        warn(["verbose has no effect: leave it out"], HealpyDeprecationWarning)
