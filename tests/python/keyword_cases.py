"""Cases of keywords: a call without a keyword and with it, and what the second must give.

A case notices a keyword that is ignored, for then both calls give the same, and one that does something else than it
should, for then the second differs from what an independent source gives: healpy, NumPy, or an identity.
"""

import copy
import inspect
import warnings
from operator import attrgetter

import numpy as np

import zonal
from zonal.healpy.utils.deprecation import HealpyDeprecationWarning

# The difference that counts as an effect, of the largest value: far above rounding.
EFFECT = 1e-7
# An analysis with three iterations takes seven transforms. The recurrence of each rounds by about lmax eps.
ROUNDING = 7 * 48 * np.finfo(float).eps


class With:
    """A keyword's value where both calls need other keywords, too."""

    def __init__(self, value, **others):
        self.value, self.others = value, others


class Refused:
    """A keyword's value that is refused; healpy, which may end the process, is not asked."""

    def __init__(self, value):
        self.value = value


class Ignored(With):
    """A keyword's value that has no effect, in healpy neither."""


class Case:
    """One keyword of one function. call: takes keywords. expected: returns what call(**changed) must give.

    stated: the default that the documentation states, as a value with which the call gives what it gives without.
    """

    def __init__(self, function, keyword, call, base, changed, expected, tolerance, stated=inspect.Parameter.empty,
                 label="", effect=True):
        self.function, self.keyword, self.call, self.base, self.changed = function, keyword, call, base, changed
        self.expected, self.tolerance, self.stated, self.label, self.effect = expected, tolerance, stated, label, effect

    def check(self):
        before, after = outcome(self.call, self.base), outcome(self.call, self.changed)
        assert alike(before, after, EFFECT) != self.effect, f"{self.keyword} has {'no' if self.effect else 'an'} effect: {before}"
        expected = self.expected()
        assert alike(after, expected, self.tolerance), f"with {self.keyword}:\n{after}\nmust be\n{expected}"
        if self.stated is not inspect.Parameter.empty:
            stated = outcome(self.call, self.base | {self.keyword: self.stated})
            assert alike(before, stated, ROUNDING), f"by default {self.keyword} is not {self.stated}:\n{before}\n{stated}"

    def __repr__(self):
        return f"{self.function}-{self.keyword}{self.label}"


class Raised:
    """What a call that raises gives; which error it is matters to the other tests."""

    def __repr__(self):
        return "an error"


class Sent:
    """What a call gives that warns: its result and its warnings."""

    def __init__(self, result, texts):
        self.result, self.texts = result, texts


def outcome(call, options):
    """What a call gives: its result, an error, or a result with warnings."""
    np.random.seed(7)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        try:
            result = call(**copy.deepcopy(options))
        except Exception:
            return Raised()
    said = sorted({type_of_note(note) for note in notes} - {""})
    return Sent(result, said) if said else result


def type_of_note(note):
    """What kind of warning it is; nothing for those of other libraries."""
    if issubclass(note.category, (zonal.ZonalWarning, HealpyDeprecationWarning)) or "Healpy" in note.category.__name__:
        return note.category.__name__
    return ""


def alike(one, other, tolerance):
    """Whether two outcomes are the same, floats to a tolerance of the largest."""
    if isinstance(other, Raised) or isinstance(one, Raised):
        return isinstance(one, Raised) and isinstance(other, Raised)
    if isinstance(other, Sent) or isinstance(one, Sent):
        return isinstance(one, Sent) and isinstance(other,
                                                    Sent) and one.texts == other.texts and alike(one.result, other.result, tolerance)
    if isinstance(other, dict):
        return isinstance(one, dict) and one.keys() == other.keys() and all(alike(one[k], other[k], tolerance) for k in other)
    if isinstance(other, (tuple, list)) and not (isinstance(one, np.ndarray)):
        return isinstance(one, (tuple, list)) and len(one) == len(other) and all(alike(a, b, tolerance) for a, b in zip(one, other))
    if isinstance(other, zonal.Map):
        return isinstance(one, zonal.Map) and alike(facts(one), facts(other), tolerance)
    if getattr(one, "unit", None) != getattr(other, "unit", None):
        return False
    try:
        a, b = np.asarray(np.ma.getdata(one)), np.asarray(np.ma.getdata(other))
    except ValueError:  # one is a sequence of arrays
        return False
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind or not np.array_equal(np.ma.getmaskarray(one),
                                                                                np.ma.getmaskarray(other)):
        return False
    if b.dtype.kind not in "fc":
        return bool(np.all(a == b))
    if a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
        return False
    good = np.isfinite(b) & (np.abs(b) < 1e30)
    if not np.array_equal(good, np.isfinite(a) & (np.abs(a) < 1e30)) or not np.array_equal(a[~good], b[~good], equal_nan=True):
        return False
    largest = np.abs(b[good]).max(initial=0)
    if b.dtype.itemsize <= (4 if b.dtype.kind == "f" else 8):
        tolerance = max(tolerance, np.finfo(b.dtype).eps)
    return bool(np.all(np.abs(a[good] - b[good]) <= tolerance * largest))


def facts(sky):
    """What a Map holds."""
    return {"values": sky.values, "nest": sky.nest, "grid": sky.grid.name, "units": sky.units, "columns": sky.columns,
            "pol": sky.pol,
            "coordinates": sky.coordinates, "file": [sky.nest_in_file, sky.partial, str(sky.single)],
            "cards": str(sky.cards)}


def named(module, name, *arguments):
    """A call of module.name with these arguments, which gets copies of them."""
    return lambda **options: attrgetter(name)(module)(*copy.deepcopy(arguments), **options)


def split_with(base, keyword, value):
    """The keywords of the call without a keyword, and of the call with it."""
    others = value.others if isinstance(value, With) else {}
    value = value.value if isinstance(value, (With, Refused)) else value
    return base | others, base | others | {keyword: value}
