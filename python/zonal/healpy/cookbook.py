"""Tests for sequences and sequences of sequences, by the rules of healpy.cookbook."""

from typing import Any


def is_seq(o: Any) -> bool:
    """Whether o has a length. Arrays without an axis have none."""
    try:
        len(o)
    except TypeError:
        return False
    return True


def is_seq_of_seq(o: Any, allow_none: bool = False) -> bool:
    """Whether o is a sequence of sequences. With allow_none, some of them may be None."""
    return is_seq(o) and all(is_seq(item) or (allow_none and item is None) for item in o)


def is_like2d(o: Any) -> bool:
    """Whether o is a sequence of sequences of one length, as the rows of a two-dimensional array are."""
    return is_seq_of_seq(o) and len({len(item) for item in o}) <= 1


def len_array_or_arrays(o: Any) -> int:
    """Returns the length of an array, or of the first array in a sequence that is not None, or else of o."""
    if is_seq_of_seq(o, True):
        for item in o:
            if item is not None:
                return len(item)
    return len(o)


__all__ = ["is_like2d", "is_seq", "is_seq_of_seq", "len_array_or_arrays"]
