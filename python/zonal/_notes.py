"""What the library has to tell becomes a warning."""

import sys
import warnings
from collections.abc import Iterable


class ZonalWarning(UserWarning):
    """Something that Zonal assumed or found, and that you should know."""


def warn(notes: Iterable[str], kind: type[Warning] = ZonalWarning) -> None:
    """Warns of each note, in the name of the code that called the package."""
    for note in notes:
        if note:
            warnings.warn(note, kind, stacklevel=_calls_within())


def _calls_within() -> int:
    """How many calls lead from the code that called the package to that of this function."""
    depth = 1
    while sys._getframe(depth).f_globals.get("__name__", "").partition(".")[0] == __package__:
        depth += 1
    return depth
