"""Whether a value is a sequence, or a sequence of sequences, as healpy.cookbook tells it."""

from typing import Any


def is_seq(o: Any) -> bool:
    """Whether o has a length; arrays without an axis have none."""
    try:
        len(o)
    except TypeError:
        return False
    return True


def is_seq_of_seq(o: Any, allow_none: bool = False) -> bool:
    """Whether o is a sequence of sequences, among which None may be where allow_none is True."""
    return is_seq(o) and all(is_seq(item) or (allow_none and item is None) for item in o)


def len_array_or_arrays(o: Any) -> int:
    """Returns the length of an array, or of the first of several that is not None; of o where all are."""
    if is_seq_of_seq(o, True):
        for item in o:
            if item is not None:
                return len(item)
    return len(o)


__all__ = ["is_seq", "is_seq_of_seq", "len_array_or_arrays"]
