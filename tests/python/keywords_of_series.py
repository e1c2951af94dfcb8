"""Keywords of zonal.chebyshev, zonal.gwrm and others without maps; NumPy or a closed solution says what is right."""

import numpy as np
from numpy.polynomial import chebyshev as numpy_chebyshev

import zonal
from keywords_of_zonal import DEFAULT, of, raises
from zonal import chebyshev, gwrm

C = np.array([1.0, 2.0, 0.5, 0.1])
SURFACE = np.arange(1.0, 13.0).reshape(3, 4)


def _of_chebyshev():
    line = chebyshev.Series(C)
    surface = chebyshev.Series(SURFACE)
    roots = chebyshev.Series.from_function(lambda x: x**2 - 0.25)
    name = "chebyshev.Series"
    noisy = chebyshev.Series(np.append(0.5 ** np.arange(20), np.full(40, 1e-6)))  # noise from where 2^-k reaches it
    fitted = lambda **k: chebyshev.Series.from_function(np.exp, **k)
    return [
        of(f"{name}.__init__", lambda **k: chebyshev.Series(C, **k)(0.5),
           domain=((0, 2), (-1, 1), lambda: numpy_chebyshev.chebval(-0.5, C))),
        of(f"{name}.definite_integral", lambda **k: line.definite_integral(**k), {}, within=1e-14,
           lower=(0.2, -1.0, lambda: _integral(0.2, 1)),
           upper=(0.3, 1.0, lambda: _integral(-1, 0.3))),
        of(f"{name}.derivative", lambda **k: surface.derivative(**k).coefficients, within=1e-14,
           axis=(1, 0, lambda: numpy_chebyshev.chebder(SURFACE, axis=1))),
        of(f"{name}.integral", lambda **k: surface.integral(**k)(0.3, 1.0) - surface.integral(**k)(0.3, -1.0),
           within=1e-13,
           axis=(1, 0, lambda: numpy_chebyshev.chebval(0.3,
                                                       numpy_chebyshev.chebint(SURFACE, axis=1,
                                                                               lbnd=-1) @ np.ones(5)))),
        of(f"{name}.from_function", lambda **k: fitted(**k)(0.5), {"degree": 3}, within=1e-14,
           degree=(30, DEFAULT, lambda: np.exp(0.5))),
        of(f"{name}.from_function", lambda **k: fitted(**k).domain,
           domain=((0, 2), (-1, 1), lambda: chebyshev.Series([1.0, 1.0], (0, 2)).domain)),
        of(f"{name}.from_function", lambda **k: fitted(**k).degree < 8, tolerance=(1e-4, 2.0**-52, lambda: True)),
        of(f"{name}.chopped", lambda **k: noisy.chopped(**k).coefficients,
           tolerance=(1e-5, 2.0**-52, lambda: noisy.coefficients[:20])),
        of(f"{name}.roots", lambda **k: len(_almost().roots(**k)), tolerance=(1e-3, 1e-10, lambda: len(roots.roots()))),
        of("chebyshev.sum_of_products", lambda **k: len(chebyshev.sum_of_products((line, line), **k).coefficients),
           full=(False, True, lambda: C.size)),
        of("chebyshev.sums_of_products", lambda **k: len(chebyshev.sums_of_products([(line, line)], **k)[0].coefficients), full=(False, True, lambda: C.size)),
    ]


def _integral(lower, upper):
    whole = numpy_chebyshev.chebint(C)
    return numpy_chebyshev.chebval(upper, whole) - numpy_chebyshev.chebval(lower, whole)


def _almost():
    """Two roots that lie a little off the real axis."""
    return chebyshev.Series.from_function(lambda x: (x - 0.3) ** 2 + 1e-9)


def _of_gwrm():
    u = gwrm.Unknown("u")
    decay = lambda **k: gwrm.solve({u: -u}, {u: 1}, t=(0, 1), **k)
    heat = lambda conditions, initial: gwrm.solve({u: u.d(x, 2)}, {u: initial}, t=(0, 3), axes=[x],
                                                  conditions=conditions)[u](3.0, 0.5)
    x = gwrm.Axis("x", (0, 1), modes=12)
    def on_line(**options):
        line = gwrm.Axis("x", modes=4, **options)
        return gwrm.solve({u: u.d(line)}, {u: 1}, t=(0, 1), axes=[line], conditions=[gwrm.dirichlet(u, line, "upper", 1.0)])
    ends = lambda make: lambda **k: heat([make(u, x, "lower", **k), gwrm.dirichlet(u, x, "upper", 1.0)], 1.0)
    return [
        of("gwrm.solve", lambda **k: len(decay(**k).intervals) >= 4, interval=(0.25, DEFAULT, lambda: True)),
        of("gwrm.solve", lambda **k: decay(**k).coefficients(0).shape[-1], time_modes=(8, 12, lambda: 9)),
        of("gwrm.solve", lambda **k: len(decay(time_modes=4, **k).intervals) > 4, {"tolerance": 0.1},
           tolerance=(1e-9, DEFAULT, lambda: True)),
        of("gwrm.solve", lambda **k: decay(time_modes=4, **k)(1.0), max_intervals=(1, 100_000, raises)),
        of("gwrm.solve", lambda **k: np.isfinite(coarse_error(decay, k)), estimate_error=(False, True, lambda: False)),
        of("gwrm.solve", lambda **k: decay(**k)(1.0), solver=("other", "automatic", raises),
           highest_mode=("other", "projection", raises), max_iterations=(-1, 20, raises)),
        of("gwrm.Parameter.__init__", lambda **k: gwrm.solve({u: -u}, {u: 1}, t=(0, 1), axes=[gwrm.Parameter("p", (1, 2), **k)]
                                                             ).coefficients(0).shape[-1], modes=(6, 16, lambda: 6 + 1)),
        of("gwrm.Axis.__init__", lambda **k: on_line(**k).coefficients(0).shape[1], subdomains=(2, 1, lambda: 2)),
        of("gwrm.SolvedField.series", lambda **k: on_line(subdomains=2)[u].series(0, **k).domain[1],
           subdomain=(1, 0, lambda: (0.5, 1.0))),
        of("gwrm.Condition.__init__", lambda **k: heat([gwrm.Condition(u, x, ("lower", "upper"), (1.0, 0.0), 1.0, **k)], 1.0),
           order=(2, 0, raises)),
        of("gwrm.dirichlet", ends(gwrm.dirichlet), {}, within=1e-6, value=(0.5, 0.0, lambda: 0.75)),
        of("gwrm.neumann", ends(gwrm.neumann), {}, within=1e-3, value=(0.5, 0.0, lambda: 0.75)),
        of("gwrm.robin", lambda **k: heat([gwrm.robin(u, x, "lower", 1.0, 0.0, **k),
                                           gwrm.dirichlet(u, x, "upper", 1.0)], 1.0), {}, within=1e-6,
           value=(0.5, 0.0, lambda: 0.75)),
        of("gwrm.dirichlet", lambda **k: gwrm.dirichlet(u, x, **k).ends, end=("lower", "both", lambda: ("lower",))),
        of("gwrm.neumann", lambda **k: gwrm.neumann(u, x, **k).ends, end=("lower", "both", lambda: ("lower",))),
    ]


def coarse_error(decay, options):
    return float(np.nan_to_num(decay(**options).error(), nan=np.inf)) if options.get("estimate_error", True) else np.inf


def _of_others():
    kernel, red = zonal.Kernel.gaussian("20deg"), 1 / np.arange(1.0, 40) ** 4
    def kept(**options):
        before = zonal.threads()
        with zonal.threads(**options):
            found = zonal.threads()
        return found if options else before
    return [
        of("Kernel.support_for_error", lambda **k: kernel.support_for_error(1e-3,
                                                                            **k) != kernel.support_for_error(1e-3), c_l=(red, DEFAULT, lambda: True)),
        of("Kernel.truncation_error", lambda **k: kernel.truncation_error(0.5, **k) != kernel.truncation_error(0.5),
           c_l=(red, DEFAULT, lambda: True)),
        of("cache_limit", _kept_bytes, limit=(0, DEFAULT, lambda: 0)),
        of("threads", kept, {"n": 2}, n=(3, DEFAULT, lambda: 3)),
    ]


def _kept_bytes(**options):
    """How many bytes are kept after a transform."""
    zonal.map2alm(np.ones(12 * 16**2), threads=1)
    try:
        return zonal.cache_limit(**options)
    finally:
        zonal.cache_limit(2**28)


def cases():
    """All of them."""
    return [case for group in (*_of_chebyshev(), *_of_gwrm(), *_of_others()) for case in group]
