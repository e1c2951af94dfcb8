"""zonal.jax.evaluate: functions at points, with derivatives by alm and positions."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .._threads import resolve
from ..points import PointTransform, shape_of_values
from ..sht import alm_size
from ..skies import lmax_of
from ._arrays import complex_, conj_over_counts_, counts_, real_

Array = Any
"""What jax.numpy takes for an array."""


def evaluate(alm: Array, theta: Array, phi: Array, lmax: int | None = None, spin: int = 0, error: float = 1e-10, *,
             mmax: int | None = None, threads: int | None = None) -> jax.Array:
    """Returns the values at any points of the function with these alm, as `zonal.PointTransform`.

    alm: [..., n_alm], or [..., 2, n_alm] for a spin. theta, phi: [n_points], rad, which may be traced and must be float64: those
    of float32 err by 1e-7 lmax of the function. Returns [..., n_points] or [..., 2, n_points]. lmax: by default what the number
    of coefficients tells. error: bound of max |error| / max |f|; derivatives by theta and phi err by at most 13 lmax times as
    much.

    It has derivatives by alm and by positions; those by positions have no more derivatives. Points are sorted in each call; on a
    GPU all travels to the host and back.

    >>> import zonal.jax
    >>> with jax.enable_x64(True):
    ...     alm = jnp.array([0, np.sqrt(4 * np.pi / 3), 0], complex)  # cos(theta)
    ...     slope = jax.grad(lambda t: zonal.jax.evaluate(alm, t, jnp.zeros(1))[0])(jnp.array([np.pi / 2]))
    >>> float(slope[0].round(6))
    -1.0
    """
    alm = complex_(alm)
    places = [_places(name, values) for name, values in (("theta", theta), ("phi", phi))]
    if places[0].shape != places[1].shape:
        raise ValueError(f"theta and phi: have shapes {places[0].shape} and {places[1].shape}: must be alike")
    lmax = lmax_of(alm.shape[-1], lmax, mmax)
    shape = shape_of_values(alm.shape, spin, places[0].size)
    parameters: dict[str, Any] = {"lmax": lmax, "mmax": lmax if mmax is None else mmax, "spin": spin, "error": float(error)}
    check_transform(**parameters)
    made = _AT_POINTS.bind(alm.reshape(-1, 2 if spin else 1, alm.shape[-1]), *places, threads=resolve(threads), **parameters)
    result: jax.Array = made.reshape(shape)
    return result


@lru_cache
def check_transform(**parameters: Any) -> None:
    """What is raised within JAX's calls comes with a page of its own."""
    nowhere = np.zeros(0)
    PointTransform(nowhere, nowhere, **parameters)


# Functions at points are linear in alm or values alone; all take arrays [batch, component, n], theta and phi.


def _point_primitive(name: str, shape: Callable[..., tuple[int, ...]], call: Callable[..., Any],
                     tangent: Callable[..., Any] | None, transpose: Callable[..., Any] | None) -> Any:
    """shape: of the result without the batch, from n_points and the parameters. call: on NumPy arrays. tangent: by theta and
    phi, if there is one. transpose: of the cotangent, theta and phi."""
    primitive: Any = Primitive(f"zonal_{name}")

    def result(array: Any, theta: Any, phi: Any, **parameters: Any) -> jax.core.ShapedArray:
        front, *rest = shape(array.shape, theta.shape[0], **parameters)
        kind = np.result_type(array.dtype, np.complex64) if name == "from_points" else np.finfo(array.dtype).dtype
        return jax.core.ShapedArray((front, *rest), kind)

    def through_python(array: Any, theta: Any, phi: Any, **parameters: Any) -> Any:
        made = result(array, theta, phi, **parameters)
        return jax.pure_callback(lambda *given: call(*map(np.asarray, given), **parameters), made, array, theta, phi)

    def forward(primals: Any, tangents: Any, **parameters: Any) -> tuple[Any, Any]:
        array, theta, phi = primals
        made = primitive.bind(array, theta, phi, **parameters)
        parts = [] if type(tangents[0]) is ad.Zero else [primitive.bind(tangents[0], theta, phi, **parameters)]
        if any(type(one) is not ad.Zero for one in tangents[1:]):
            if tangent is None:
                raise NotImplementedError("zonal.jax.evaluate: has no second derivatives by positions")
            parts.append(tangent(array, theta, phi, tangents[1:], **parameters))
        return made, sum(parts[1:], parts[0])

    def backward(cotangent: Any, array: Any, theta: Any, phi: Any, **parameters: Any) -> list[Any]:
        if transpose is None:
            raise NotImplementedError("zonal.jax.evaluate: has no derivatives by alm of those by positions")
        return [None if type(cotangent) is ad.Zero else transpose(cotangent, theta, phi, **parameters), None, None]

    def batched(arrays: Any, axes: Any, **parameters: Any) -> tuple[Any, int]:
        if all(axis is None for axis in axes[1:]):
            array = jnp.moveaxis(arrays[0], axes[0], 0)
            made = primitive.bind(array.reshape(-1, *array.shape[2:]), *arrays[1:], **parameters)
            batch = int(name == "slopes_at_points")
            return made.reshape(*made.shape[:batch], *array.shape[:2], *made.shape[batch + 1:]), batch
        size = next(one.shape[axis] for one, axis in zip(arrays, axes) if axis is not None)
        moved = [jnp.broadcast_to(one, (size, *one.shape)) if axis is None else jnp.moveaxis(one, axis, 0)
                 for one, axis in zip(arrays, axes)]
        return jax.lax.map(lambda each: primitive.bind(*each, **parameters), tuple(moved)), 0

    primitive.def_impl(jax.jit(primitive.bind, static_argnames=("lmax", "mmax", "spin", "error", "threads")))
    primitive.def_abstract_eval(result)
    ad.primitive_jvps[primitive] = forward
    ad.primitive_transposes[primitive] = backward
    batching.primitive_batchers[primitive] = batched
    mlir.register_lowering(primitive, mlir.lower_fun(through_python, multiple_results=False))
    return primitive


def _point_call(function: str, array: Any, theta: Any, phi: Any, lmax: int, mmax: int, spin: int, error: float, threads: int,
                **options: Any) -> Any:
    transform = PointTransform(theta, phi, lmax, spin, error, mmax=mmax, threads=threads)
    made = getattr(transform, function)(array if spin else array[:, 0], **options)
    parts = [part if spin else part[:, None] for part in (made if isinstance(made, tuple) else (made,))]
    return np.stack(parts[1:]) if len(parts) > 1 else parts[0]


def _along_slopes(alm: Any, theta: Any, phi: Any, tangents: Any, **parameters: Any) -> Any:
    slopes = _SLOPES_AT_POINTS.bind(alm, theta, phi, **parameters)
    parts = [slope * one.astype(slope.dtype) for slope, one in zip(slopes, tangents) if type(one) is not ad.Zero]
    return sum(parts[1:], parts[0])


_AT_POINTS: Any = _point_primitive(
    "at_points", lambda shape, n, **_: (*shape[:2], n), partial(_point_call, "synthesize"), _along_slopes,
    lambda cotangent, theta, phi, lmax, **rest: (lambda alm: counts_(lmax, alm) * alm.conj())(
        _FROM_POINTS.bind(cotangent, theta, phi, lmax=lmax, **rest)))
_FROM_POINTS: Any = _point_primitive(
    "from_points", lambda shape, n, lmax, mmax, **_: (*shape[:2], alm_size(lmax, mmax)), partial(_point_call, "adjoint"), None,
    lambda cotangent, theta, phi, lmax, **rest: _AT_POINTS.bind(conj_over_counts_(cotangent, lmax), theta, phi, lmax=lmax, **rest))
_SLOPES_AT_POINTS: Any = _point_primitive(
    "slopes_at_points", lambda shape, n, **_: (2, *shape[:2], n), partial(_point_call, "synthesize", gradient=True), None, None)


def _places(name: str, values: Any) -> Any:
    values = real_(name, values)
    if values.ndim != 1:
        raise ValueError(f"{name}: has shape {values.shape}: must be [n_points]")
    if values.dtype != np.float64:
        raise TypeError(f"{name}: is {values.dtype}: must be float64; jax.config.update(\"jax_enable_x64\", True) allows that")
    return values
