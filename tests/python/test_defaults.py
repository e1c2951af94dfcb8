"""Defaults of keywords are those that others state: a case of the keyword, the library, healpy, or other functions."""

import inspect
import re
from operator import attrgetter

import healpy
import pytest

from keyword_cases import ROUNDING, alike, outcome
from keyword_names import ALL, FUNCTIONS
from test_keywords import CASES
from zonal import _core

# What the library takes for a function's keywords, with its own defaults.
OF_LIBRARY = {"zonal.Split.__init__": _core.KernelSplitOptions, "zonal.gwrm.solve": _core.SolveOptions,
              "zonal.ConvolutionPlan.__init__": _core.ConvolutionRequest, "zonal.smooth": _core.MapSmoothingOptions,
              "zonal.convolve": _core.MapSmoothingOptions}
# "name: what it does, by default 3" or "name (3 by default)"
NUMBER = re.compile(r"\b(\w+):[^:;.]* by default (\d[\d.e-]*)(?! nside| MiB| for)\b|\b(\w+) \((\d[\d.e-]*) by default\)")


def default_of(function, keyword):
    return inspect.signature(FUNCTIONS[function]).parameters[keyword].default


def is_plain(value):
    return isinstance(value, (int, float, str)) and not isinstance(value, bool)


def stated(function, keyword):
    """By cases of the keyword."""
    return [case.stated for case in CASES if (case.function, case.keyword) == (function, keyword) and is_plain(case.stated)]


def of_library(function, keyword):
    options = OF_LIBRARY.get(function)
    value = getattr(options(), {"c_l_beyond": "spectrum_beyond"}.get(keyword, keyword), None) if options else None
    return [value.name.replace("_", "-") if hasattr(value, "name") else value] if value is not None else []


def of_healpy(function, keyword):
    if not function.startswith("zonal.healpy."):
        return []
    try:
        theirs = inspect.signature(attrgetter(function.removeprefix("zonal.healpy."))(healpy)).parameters
    except (AttributeError, ValueError):  # of C, without a signature
        return []
    return [theirs[keyword].default] if keyword in theirs and is_plain(theirs[keyword].default) else []


def of_others(function, keyword):
    """The same keyword of other functions."""
    if function.startswith("zonal.healpy."):
        return []
    return [default_of(*one) for one in sorted(ALL) if one[1] == keyword and one[0] != function
            and not one[0].startswith("zonal.healpy.") and is_plain(default_of(*one))]


@pytest.mark.parametrize("function, keyword", [one for one in sorted(ALL) if is_plain(default_of(*one))])
def test_a_default_is_the_one_that_is_stated(function, keyword):
    values = [value for source in (stated, of_library, of_healpy, of_others) for value in source(function, keyword)]
    assert default_of(function, keyword) in values, "nothing states it: give it in a case"


def documented_numbers():
    """(function, keyword, number) for each default that only the documentation says, as None or 0 stands for it."""
    for name, function in sorted(FUNCTIONS.items()):
        for first, one, second, other in NUMBER.findall(" ".join((inspect.getdoc(function) or "").split())):
            keyword, number = first or second, float(one or other)
            if (name, keyword) in ALL and default_of(name, keyword) != number:
                yield name, keyword, number


@pytest.mark.parametrize("function, keyword, number", documented_numbers())
def test_a_documented_number_is_in_effect_and_not_one_beside_it(function, keyword, number):
    cases = [case for case in CASES if (case.function, case.keyword) == (function, keyword)]
    beside = [number * 0.7, number * 1.4] if number % 1 else [int(number) - 1, int(number) + 1]

    def gives(case, value):
        return outcome(case.call, case.base | {keyword: value})

    exact = type(beside[0])(number)
    assert any(alike(outcome(case.call, case.base), gives(case, exact), ROUNDING)
               and not any(alike(gives(case, exact), gives(case, value), ROUNDING) for value in beside) for case in cases)
