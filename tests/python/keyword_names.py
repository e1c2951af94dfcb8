"""All keywords of public functions, as (function, keyword), by introspection."""

import importlib
import importlib.util
import inspect

from public_calls import public_calls

# Modules with functions that public_calls() does not list: each function counts under the first name that it has.
MODULES = ["zonal.jax", "zonal.torch", *(f"zonal.healpy.{name}" for name in ("pixelfunc", "rotator", "sphtfunc",
                                                                             "fitsfunc", "cookbook")),
           *(f"zonal.ducc0.{name}" for name in ("sht", "healpix", "misc", "fft"))]
ABSENT = [name for name in ("zonal.jax", "zonal.torch") if importlib.util.find_spec(name.rpartition(".")[2]) is None]
"""Modules of which what they need is not installed."""
OTHER_NAMES = ("zonal.io.Map.", "zonal.plan")
"""Other names of what is listed, or what hands all keywords on."""


def functions():
    """Every public function by its name, "module.function" or "module.Class.method"."""
    from zonal import healpy
    found = {call.name: call.make for call in public_calls() if not call.name.startswith(OTHER_NAMES)}
    found |= {f"zonal.healpy.Alm.{name}": getattr(healpy.Alm,
                                                  name) for name in ("getsize", "getlm", "getidx", "getlmax")}
    from zonal.ducc0.healpix import Healpix_Base
    found |= {f"zonal.ducc0.healpix.Healpix_Base.{name}": function for name, function in vars(Healpix_Base).items()
              if inspect.isfunction(function) and not name.startswith("_")}
    seen = {id(inspect.unwrap(function)) for function in found.values()}
    for module in (name for name in MODULES if name not in ABSENT):
        home = importlib.import_module(module)
        for name in home.__all__:
            function = inspect.unwrap(getattr(home, name)) if callable(getattr(home, name)) else None
            if inspect.isfunction(function) and function.__module__.startswith("zonal.") and id(function) not in seen:
                seen.add(id(function))
                found[f"{module}.{name}"] = getattr(home, name)
    return found


def keywords_of(function):
    """The names of the parameters that have a default or that are given by name alone."""
    return [p.name for p in inspect.signature(function).parameters.values()
            if p.kind not in (p.VAR_POSITIONAL,
                              p.VAR_KEYWORD) and (p.default is not p.empty or p.kind is p.KEYWORD_ONLY)]


FUNCTIONS = functions()
ALL = {(name, keyword) for name, function in FUNCTIONS.items() for keyword in keywords_of(function)}
