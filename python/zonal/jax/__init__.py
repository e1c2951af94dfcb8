"""Differentiable transforms for JAX: with jit, vmap, grad, jvp and all that is made of them. Needs JAX 0.5 or later.

Every function takes and returns JAX arrays of float32 or float64 (complex64 or complex128 for alm; 64 bits need
`jax.config.update("jax_enable_x64", True)`); integers and shorter floats are converted to float32. The arithmetic of
transforms is double in all cases. A transform is a `zonal.SHT`, whose shapes are those of its class, with any number of
axes in front: they and those of vmap are one batch, in one call. A `zonal.Map` is brought into ring order.

>>> import jax, jax.numpy as jnp
>>> import zonal.jax
>>> sht = zonal.SHT(zonal.Grid.healpix(8), lmax=16)
>>> sky = jnp.asarray(zonal.synfast(np.ones(17), 8, seed=1))
>>> def power(fwhm):
...     return (zonal.jax.smooth(sky, fwhm, sht) ** 2).mean()
>>> bool(jax.grad(power)(0.2) < 0)  # a wider beam leaves less
True

Gradients are JAX's: of a real function of a_lm, d/d(Re a_lm) - i d/d(Im a_lm). As only m >= 0 is stored, a
coefficient of m > 0 stands for two, and the imaginary part of those of m = 0 has no effect.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .. import _core
from .._angles import AngleLike, width
from .._arrays import integer
from .._checked import arguments_as
from .._kinds import ring_values
from .._threads import resolve
from ..kernel import Kernel, profile_rule
from ..rotation import Rotation, euler_angles
from ..rotation import rotate_alm as _rotate_alm
from ..sht import SHT, alm_size, pixel_weights, require_sht
from ..skies import lmax_of
from ._arrays import array_, complex_, conj_over_counts_, counts_, real_
from ._lensing import lens
from ._points import evaluate

evaluate.__module__ = lens.__module__ = __name__  # where users find it
Array = Any
"""What jax.numpy takes for an array."""


def synthesize(alm: Array, sht: SHT) -> jax.Array:
    """Returns the map of alm, map = S alm, as `zonal.SHT.synthesize`.

    alm: [..., n_alm], or [..., 2, n_alm] for a spin. Returns [..., n_pixels] or [..., 2, n_pixels].
    """
    require_sht(sht)
    return _transform(_SYNTHESIZE, "alm", complex_(alm), sht, sht.n_alm)


def adjoint(map: Array, sht: SHT) -> jax.Array:
    """Returns alm = S^T map, without weights, as `zonal.SHT.adjoint`. map: [..., n_pixels] or [..., 2, n_pixels]."""
    return _transform(_ADJOINT, "map", _pixels("map", map, sht), sht, sht.grid.n_pixels)


def analyze(map: Array, sht: SHT, *, mask: Array | None = None, iterations: int | None = None,
            weights: Array | None = None) -> jax.Array:
    """Returns the alm of a map, as `zonal.SHT.analyze` with iterations.

    map: [..., n_pixels] or [..., 2, n_pixels]. mask: multiplies the map, and hides what is not finite where it is 0,
    where the derivative by it is 0 here, too; it may be traced, and broadcasts. iterations: by default 3 on HEALPix, else
    0. weights: [n_pixels], multiply those of the grid.

    The result is linear in the map for any mask and weights, and so are its derivatives with respect to the map.
    """
    map = _pixels("map", map, sht)
    if mask is not None:
        mask = _pixels("mask", mask, sht).astype(map.dtype)
        map = jnp.where(mask == 0, 0, map) * mask
    if iterations is None:
        iterations = 3 if sht.grid.nside is not None else 0
    iterations = integer("iterations", iterations)
    if not 0 <= iterations <= 1000:
        raise ValueError(f"iterations = {iterations}: must be from 0 to 1000")
    if weights is None:
        return _transform(_ANALYZE, "map", map, sht, sht.grid.n_pixels, iterations=iterations)
    weights = _pixels("weights", weights, sht).astype(map.dtype) * pixel_weights(sht.grid).astype(map.dtype)
    alm = first = adjoint(weights * map, sht)
    for _ in range(iterations):
        alm = first + alm - adjoint(weights * synthesize(alm, sht), sht)
    return alm


def convolve(map: Array, window: Array | Kernel, sht: SHT, *, mask: Array | None = None,
             iterations: int | None = None) -> jax.Array:
    """Returns a map convolved with a radially symmetric kernel: its alm times the window b_l, synthesized.

    window: b_l, [lmax + 1] (or with more axes, see `almxfl`), such as `profile_window` makes of a profile, or a
    zonal.Kernel. mask, iterations: as in `analyze`.
    """
    if isinstance(window, Kernel):
        window = window.window(sht.lmax)
    alm = analyze(map, sht, mask=mask, iterations=iterations)
    return synthesize(almxfl(alm, window, sht.lmax, sht.mmax), sht)


def smooth(map: Array, fwhm: Array | AngleLike, sht: SHT, *, mask: Array | None = None,
           iterations: int | None = None) -> jax.Array:
    """Returns a map convolved with a Gaussian. fwhm: rad, which may be traced, or an angle of `zonal.angle`."""
    return convolve(map, gaussian_window(fwhm, sht.lmax, sht.spin), sht, mask=mask, iterations=iterations)


def almxfl(alm: Array, window: Array, lmax: int | None = None, mmax: int | None = None) -> jax.Array:
    """Returns alm, [..., n_alm], times window_l, [lmax + 1] or [..., lmax + 1] with axes that broadcast with alm's."""
    alm, window = complex_(alm), real_("window", window)
    lmax = lmax_of(alm.shape[-1], lmax, mmax)
    if window.shape[-1:] != (lmax + 1,):
        raise ValueError(f"window: has shape {window.shape}: must be [..., lmax + 1] with lmax = {lmax}")
    result: jax.Array = alm * window.astype(alm.real.dtype)[..., _degrees(lmax, mmax)]
    return result


def synalm(c_l: Array, white: Array, lmax: int | None = None, mmax: int | None = None) -> jax.Array:
    """Returns sqrt(C_l) white_lm: alm of this spectrum from `white`, [..., n_alm], those of a unit spectrum.

    c_l: [lmax + 1]; where it is negative or NaN, the alm are NaN. Where C_l is 0, so is its derivative here.

    >>> white = zonal.synalm(np.ones(9), seed=1)
    >>> alm = zonal.jax.synalm(np.linspace(1, 0, 9), white)
    >>> bool(np.allclose(alm, zonal.synalm(np.linspace(1, 0, 9), seed=1), rtol=1e-6))
    True
    """
    c_l = array_("c_l", c_l)
    is_zero = c_l == 0
    return almxfl(white, jnp.where(is_zero, 0, jnp.sqrt(jnp.where(is_zero, 1, c_l))), lmax, mmax)


def alm2cl(alm: Array, alm2: Array | None = None, lmax: int | None = None, mmax: int | None = None) -> jax.Array:
    """Returns C_l = 1/(2l+1) sum_m Re(a_lm conj(b_lm)), [..., lmax + 1], of alm [..., n_alm] with themselves or with
    alm2. Axes in front stay: the spectra of E and B for [2, n_alm]."""
    alm = complex_(alm)
    alm2 = alm if alm2 is None else complex_(alm2, "alm2")
    lmax = lmax_of(alm.shape[-1], lmax, mmax)
    if alm2.shape[-1] != alm.shape[-1]:
        raise ValueError(f"alm2: has {alm2.shape[-1]} coefficients, and alm has {alm.shape[-1]}: both need the same")
    products = counts_(lmax, alm) * (alm.real * alm2.real + alm.imag * alm2.imag)
    sums = jnp.zeros((*products.shape[:-1], lmax + 1), products.dtype).at[..., _degrees(lmax, mmax)].add(products)
    return sums / (2 * jnp.arange(lmax + 1) + 1)


def rotate_alm(alm: Array, rotation: Rotation, lmax: int | None = None, mmax: int | None = None, *,
               mmax_out: int | None = None, threads: int | None = None) -> jax.Array:
    """Rotates fields by their alm, [..., n_alm], as `zonal.rotate_alm`. The rotation is no traced value; on a GPU the alm
    travel to the host and back."""
    alm = complex_(alm)
    lmax = lmax_of(alm.shape[-1], lmax, mmax)
    psi, theta, phi = euler_angles(rotation)
    with arguments_as({"mmax": "mmax_out"}):
        n_out = alm_size(lmax, mmax_out)
    turned: jax.Array = _ROTATE.bind(alm.reshape(-1, 1, alm.shape[-1]), lmax=lmax, mmax=lmax if mmax is None else mmax,
                          mmax_out=lmax if mmax_out is None else mmax_out, psi=psi, theta=theta, phi=phi,
                          threads=resolve(threads))
    return turned.reshape(*alm.shape[:-1], n_out)


def gaussian_window(fwhm: Array | AngleLike, lmax: int, spin: int = 0) -> jax.Array:
    """Returns exp(-(l(l+1) - spin^2) sigma^2 / 2), [lmax + 1], as `zonal.gaussian_window`. fwhm: rad, or an angle of
    `zonal.angle`."""
    if not isinstance(fwhm, jax.Array):
        fwhm = width(fwhm, "fwhm")
    elif fwhm.ndim:
        raise ValueError(f"fwhm: has shape {fwhm.shape}: must be one number; jax.vmap takes several")
    else:
        fwhm = real_("fwhm", fwhm)
    l = jnp.arange(lmax + 1)
    return jnp.where(l < spin, 0.0, jnp.exp(-(l * (l + 1) - spin**2) * fwhm**2 / (16 * np.log(2))))


def profile_window(profile: Callable[[jax.Array], Array], lmax: int, support: float = np.pi,
                   n_nodes: int | None = None) -> jax.Array:
    """Returns the window of a profile K(theta): b_l = 2 pi int K(theta) P_l(cos theta) d cos theta, [lmax + 1].

    profile: a function of jax.numpy of theta, [node] (rad), that returns K in 1/sr; derivatives go through it.
    support: where the profile ends, rad. n_nodes: of the Gauss-Legendre quadrature in cos theta, which must resolve
    profile and P_lmax; by default lmax + 64. The quadrature takes (lmax + 1) n_nodes numbers of memory, and is kept.

    >>> lobe = zonal.jax.profile_window(lambda theta: jnp.exp(20 * (jnp.cos(theta) - 1)), 30)
    >>> bool(lobe[0] > lobe[1])
    True
    """
    theta, rule = profile_rule(lmax, support, n_nodes)
    values = array_("profile", profile(jnp.asarray(theta)))
    if values.shape != theta.shape:
        raise ValueError(f"profile: returns shape {values.shape}: must be {theta.shape}, a number for each theta")
    return jnp.asarray(rule) @ values


# The operators, on arrays [batch, component, n]. Each is linear over the reals and has one array argument.


def _primitive(name: str, shape: Callable[..., tuple[int, int]], call: Callable[..., Any],
               transpose: Callable[..., Any], attributes: Callable[..., dict[str, Any]]) -> Any:
    """shape: (components, n) of the result. call: on NumPy arrays. transpose: of the cotangent, a JAX array. attributes:
    what the compiled call is told. All take the array or its axes and the primitive's parameters."""
    parameters = tuple(inspect.signature(transpose).parameters)[1:]
    primitive: Any = Primitive(f"zonal_{name}")
    is_complex_result = name not in ("synthesize", "adjoint_analysis")

    def result(array: Any, **parameters: Any) -> jax.core.ShapedArray:
        kind = np.result_type(array.dtype, np.complex64) if is_complex_result else np.finfo(array.dtype).dtype
        return jax.core.ShapedArray((array.shape[0], *shape(*array.shape[1:], **parameters)), kind)

    def through_python(array: Any, **parameters: Any) -> Any:
        made = result(array, **parameters)
        return jax.pure_callback(lambda given: call(np.asarray(given), **parameters), made, array)

    def batched(arrays: tuple[Any], axes: tuple[int], **parameters: Any) -> tuple[Any, int]:
        array = jnp.moveaxis(arrays[0], axes[0], 0)
        made = primitive.bind(array.reshape(-1, *array.shape[2:]), **parameters)
        return made.reshape(*array.shape[:2], *made.shape[1:]), 0

    def lower(platform: str, ctx: Any, array: Any, **parameters: Any) -> Any:
        if not _has_target(platform, name, **parameters):
            return mlir.lower_fun(through_python, multiple_results=False)(ctx, array, **parameters)
        ctx.module_context.add_keepalive(parameters)
        return jax.ffi.ffi_lowering(f"zonal_{name}")(ctx, array, **attributes(**parameters))

    primitive.def_impl(jax.jit(primitive.bind, static_argnames=parameters))
    primitive.def_abstract_eval(result)
    define_linear: Any = ad.deflinear2  # the only one without types
    define_linear(primitive, lambda cotangent, _, **parameters: [transpose(cotangent, **parameters)])
    batching.primitive_batchers[primitive] = batched
    mlir.register_lowering(primitive, mlir.lower_fun(through_python, multiple_results=False))
    for platform in ("cpu", "cuda"):
        mlir.register_lowering(primitive, partial(lower, platform), platform=platform)
    return primitive


def _has_target(platform: str, name: str, sht: SHT | None = None, **_: Any) -> bool:
    """Whether compiled programs can call the library itself."""
    if name not in _targets().get(platform, ()):
        return False
    return platform == "cpu" or sht is not None and _is_on_gpu(sht) and not sht.grid.has_other_pixels


def _is_on_gpu(sht: SHT) -> bool:
    return str(getattr(sht, "device", "cpu")).startswith("cuda")


@lru_cache(maxsize=1)
def _targets() -> dict[str, set[str]]:
    """The operators that JAX was told of, by platform. None where the package was built without XLA's headers, or with
    ones that this JAX does not support."""
    told: dict[str, set[str]] = {}
    for platform, handlers in getattr(_core, "xla_handlers", dict)().items():
        for name, handler in handlers.items():
            try:
                jax.ffi.register_ffi_target(f"zonal_{name}", handler, platform=platform)
            except Exception:
                continue
            told.setdefault(platform.lower(), set()).add(name)
    return told


def _adjoint_of_analysis(cotangent: Any, *, sht: SHT, iterations: int) -> Any:
    """With A = S^T and B = A W, the analysis is sum_j (1 - B S)^j B, j = 0 .. iterations; its transpose is
    W S sum_j (1 - B S)^j in terms of conj(h) / D."""
    alm = given = conj_over_counts_(cotangent, sht.lmax)
    for _ in range(iterations if sht.grid.exact_lmax is None else 0):
        alm = given + alm - _ADJOINT.bind(_ADJOINT_ANALYSIS.bind(alm, sht=sht), sht=sht)
    return _ADJOINT_ANALYSIS.bind(alm, sht=sht)


def _turn(alm: Any, *, lmax: int, mmax: int, mmax_out: int, psi: float, theta: float, phi: float, threads: int) -> Any:
    return _rotate_alm(alm, (psi, theta, phi), lmax, mmax, mmax_out=mmax_out, threads=threads)


def _turn_back(cotangent: Any, *, lmax: int, mmax: int, mmax_out: int, psi: float, theta: float, phi: float,
               threads: int) -> Any:
    turned = _ROTATE.bind(conj_over_counts_(cotangent, lmax), lmax=lmax, mmax=mmax_out, mmax_out=mmax, psi=-phi,
                          theta=-theta, phi=-psi, threads=threads)
    return counts_(lmax, turned) * turned.conj()


def _analyze(map: Any, *, sht: SHT, iterations: int) -> Any:
    return _call(partial(sht.analyze, iterations=iterations, return_report=True), map, sht)[0]


def _call(function: Callable[[Any], Any], array: Any, sht: SHT) -> Any:
    made = function(array if sht.spin else array[:, 0])
    return made if sht.spin else (made[:, None] if not isinstance(made, tuple) else (made[0][:, None],))


_SYNTHESIZE: Any = _primitive(
    "synthesize", lambda components, n, sht: (components, sht.grid.n_pixels),
    lambda alm, sht: _call(sht.synthesize, alm, sht),
    lambda cotangent, sht: (lambda alm: counts_(sht.lmax, alm) * alm.conj())(_ADJOINT.bind(cotangent, sht=sht)),
    lambda sht: {"sht": np.int64(sht._number)})
_ADJOINT_ANALYSIS: Any = _primitive(
    "adjoint_analysis", lambda components, n, sht: (components, sht.grid.n_pixels),
    lambda alm, sht: _call(sht.adjoint_analysis, alm, sht),
    lambda cotangent, sht: (lambda alm: counts_(sht.lmax, alm) * alm.conj())(_ANALYZE.bind(cotangent, sht=sht, iterations=0)),
    lambda sht: {"sht": np.int64(sht._number)})
_ADJOINT: Any = _primitive(
    "adjoint", lambda components, n, sht: (components, sht.n_alm),
    lambda map, sht: _call(sht.adjoint, map, sht),
    lambda cotangent, sht: _SYNTHESIZE.bind(conj_over_counts_(cotangent, sht.lmax), sht=sht),
    lambda sht: {"sht": np.int64(sht._number)})
_ANALYZE: Any = _primitive(
    "analyze", lambda components, n, sht, iterations: (components, sht.n_alm), _analyze, _adjoint_of_analysis,
    lambda sht, iterations: {"sht": np.int64(sht._number), "iterations": np.int64(iterations)})
_ROTATE: Any = _primitive(
    "rotate", lambda components, n, lmax, mmax_out, **_: (components, alm_size(lmax, mmax_out)), _turn, _turn_back,
    lambda lmax, mmax, mmax_out, psi, theta, phi, threads: {
        "lmax": np.int64(lmax), "mmax": np.int64(mmax), "mmax_out": np.int64(mmax_out), "psi": np.float64(psi),
        "theta": np.float64(theta), "phi": np.float64(phi), "threads": np.int64(threads)})


def _transform(primitive: Any, name: str, array: Any, sht: SHT, length: int, **parameters: Any) -> jax.Array:
    components = (2,) if sht.spin else ()
    axes = array.ndim - 1 - len(components)
    if axes < 0 or array.shape[axes:] != (*components, length):
        wanted = f"[..., 2, {length}]" if sht.spin else f"[..., {length}]"
        raise ValueError(f"{name}: has shape {array.shape}: must be {wanted} for spin = {sht.spin}")
    made = primitive.bind(array.reshape(-1, len(components) + 1, length), sht=sht, **parameters)
    result: jax.Array = made.reshape(*array.shape[:-1], made.shape[-1])
    return result


@lru_cache(maxsize=8)
def _degrees(lmax: int, mmax: int | None) -> np.ndarray[Any, Any]:
    """The l of each coefficient, [n_alm]."""
    l = np.concatenate([np.arange(m, lmax + 1, dtype=np.int32) for m in range((lmax if mmax is None else mmax) + 1)])
    assert len(l) == alm_size(lmax, mmax)
    return l


def _pixels(name: str, values: Any, sht: SHT) -> jax.Array:
    """Those of an array, or of a zonal.Map in the order of rings."""
    require_sht(sht)
    return real_(name, ring_values(name, values, sht.grid))


__all__ = ["adjoint", "alm2cl", "almxfl", "analyze", "convolve", "evaluate", "gaussian_window", "lens", "profile_window", "rotate_alm", "smooth",
           "synalm", "synthesize"]


def __dir__() -> list[str]:
    return sorted(__all__)
