"""Refuses arguments of wrong types before work begins, and says which argument it was."""

import inspect
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeAlias, TypeVar, cast

from ._arrays import boolean, integer, path, real, text

Large: TypeAlias = int
"""An integer of up to 64 bits; those that are annotated with int have up to 32."""
Seed: TypeAlias = int
"""From 0 to 2^64 - 1."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Check = Callable[[str, Any], Any]
_CHECKS: dict[str, _Check] = {
    "int": integer, "Large": lambda name, value: integer(name, value, 2**63), "Seed": lambda _, value: seed_of(value),
    "float": real, "bool": boolean, "str": text, "Path": path, "str | os.PathLike[str]": path,
}


# What healpy and others call arguments, and how to give them here: the first whose own argument a function has.
_ELSEWHERE = {
    "alm": ["return_alm"], "beam_window": ["beam"], "cbar": ["colorbar"], "coord": ["coordinates"], "dtype": ["single"], "field": ["fields"],
    "gal_cut": ["mask"], "iter": ["iterations"], "nside": ["grid"], "nside_out": ["nside", "grid_out = zonal.Grid.healpix(nside_out)"],
    "pixwin": ["window = zonal.pixel_window(nside, lmax)"], "sigma": ["fwhm = sqrt(8 ln 2) sigma"], "tol": ["tolerance"],
    "use_pixel_weights": ["pixel_weights = zonal.io.quadrature_weights(nside)"],
    "use_weights": ['ring_weights = zonal.io.quadrature_weights(nside, "ring")'], "verbose": ["progress"], "xsize": ["width"],
}


def checked(function: _Function) -> _Function:
    """Passes numbers, truth values, strings and paths as the plain types that a public function's annotations name.

    Arguments of other types raise TypeError. Angles, arrays and choices are checked where they are used.
    """
    return checked_by(check_of, function)


def checked_by(check_of: Callable[[Any], Callable[[str, Any], Any] | None], function: _Function) -> _Function:
    """Passes each argument as the check of its annotation returns it. check_of: None for annotations without a check."""
    code = function.__code__
    positional = code.co_varnames[:code.co_argcount]
    checks = {name: check for name, annotation in function.__annotations__.items() if name != "return"
              for check in [check_of(annotation)] if check}
    known = None if code.co_flags & inspect.CO_VARKEYWORDS else code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    places = [(place, name, checks[name]) for place, name in enumerate(positional) if name in checks]

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        for place, name, check in places:
            if place >= len(given):
                break
            value = check(name, given[place])
            if value is not given[place]:
                given = (*given[:place], value, *given[place + 1:])
        for name in named:
            if name in checks:
                named[name] = checks[name](name, named[name])
            elif known is not None and name not in known:
                raise _unexpected(function, name, known)
        return function(*given, **named)

    return cast(_Function, call)


def takes_options_of(*others: Callable[..., Any], without: tuple[str, ...] = ()) -> Callable[[_Function], _Function]:
    """Gives a function that passes its **options on to others their keywords in its signature, for help() and editors.
    without: keywords that it does not have.

    It refuses other keywords by its own name, not by that of a function which the caller does not know.
    """

    def decorate(function: _Function) -> _Function:
        own = inspect.signature(function)
        parameters = {name: one for name, one in own.parameters.items() if one.kind is not one.VAR_KEYWORD}
        for other in others:
            for name, one in inspect.signature(other).parameters.items():
                if one.kind is one.KEYWORD_ONLY and name not in without:
                    parameters.setdefault(name, one)

        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            for name in named:
                if name not in parameters:
                    raise _unexpected(function, name, parameters)
            return function(*given, **named)

        call.__signature__ = own.replace(parameters=list(parameters.values()))  # type: ignore[attr-defined]
        return cast(_Function, call)

    return decorate


def invalid(argument: str, value: Any, requirement: str, origin: str = "") -> ValueError:
    """An error that carries what its message says, as those of C++ do. value: None where the requirement says all."""
    value = None if value is None else str(value)
    error: Any = ValueError(f"{origin}{argument}{'' if value is None else f' = {value}'}: {requirement}")
    error.argument, error.value, error.requirement, error.origin = argument, value, requirement, origin
    return cast(ValueError, error)


def seed_of(seed: Any) -> int:
    value = integer("seed", seed, 2**64)
    if value < 0:
        raise invalid("seed", value, "must be from 0 to 2^64 - 1")
    return value


@contextmanager
def arguments_as(names: dict[str, str]) -> Iterator[None]:
    """Errors that are raised within about one of these arguments give it the caller's name for it."""
    try:
        yield
    except ValueError as error:
        facts: Any = error
        argument = getattr(error, "argument", None)
        if not argument:
            raise
        name = argument if argument in names else argument.partition("[")[0].partition(" (")[0]
        if name not in names:
            raise
        raise invalid(names[name] + argument[len(name):], facts.value, facts.requirement, facts.origin) from None


@contextmanager
def within(argument: str) -> Iterator[None]:
    """Errors in what is a part of an argument begin with its name."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"{argument}: {error}") from None


def _unexpected(function: Callable[..., Any], name: str, parameters: Collection[str]) -> TypeError:
    instead = [how for how in _ELSEWHERE.get(name, []) if how.partition(" ")[0] in parameters]
    near = instead[:1] or [repr(one) for one in get_close_matches(name, parameters, 1)]
    hint = "".join(f"; is {one} meant?" for one in near)
    called = function.__qualname__.removesuffix(".__init__")
    return TypeError(f"{called}() got an unexpected keyword argument {name!r}{hint}")


def check_of(annotation: Any) -> _Check | None:
    """The check that zonal's own functions make for an annotation, or None."""
    wanted = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    check = _CHECKS.get(wanted.removesuffix(" | None"))
    if check is None or not wanted.endswith(" | None"):
        return check
    return lambda name, value: None if value is None else check(name, value)
