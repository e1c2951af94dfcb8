"""Warns of arguments that have no effect, with healpy's warning class."""

from typing import Any

from ..._notes import warn


class HealpyDeprecationWarning(Warning):
    """An argument was given that healpy no longer uses."""


def note_verbose(verbose: Any) -> None:
    """Warns if the argument verbose of the calling function was given."""
    if verbose is not None:
        warn(["verbose has no effect: leave it out"], HealpyDeprecationWarning)
