"""What the library has to tell becomes a warning."""

import warnings
from collections.abc import Iterable


class ZonalWarning(UserWarning):
    """Something that Zonal assumed or found, and that you should know."""


def warn(notes: Iterable[str], stacklevel: int = 3) -> None:
    """Warns of each note, in the name of the caller of the public function that calls this."""
    for note in notes:
        if note:
            warnings.warn(note, ZonalWarning, stacklevel=stacklevel)
