"""zonal.torch.evaluate: functions at points, with gradients by alm and positions."""

from __future__ import annotations

from typing import Any

import torch  # type: ignore[import-not-found, unused-ignore]

from .._threads import resolve
from ..points import PointTransform, shape_of_values
from ..skies import lmax_of
from ._arrays import Tensor, complex_, counts_, device_, real_, tensor_, there_


def evaluate(alm: Tensor, theta: Tensor, phi: Tensor, lmax: int | None = None, spin: int = 0, error: float = 1e-10, *,
             mmax: int | None = None, threads: int | None = None) -> Tensor:
    """Returns the values at any points of the function with these alm, as `zonal.PointTransform`.

    alm: [..., n_alm], or [..., 2, n_alm] for a spin. theta, phi: [n_points], rad, which may need gradients and must be float64:
    those of float32 err by 1e-7 lmax of the function. Returns [..., n_points] or [..., 2, n_points]. lmax: by default what the
    number of coefficients tells. error: bound of max |error| / max |f|; derivatives by theta and phi err by at most 13 lmax
    times as much.

    It has gradients by alm and by positions; those by positions have no more gradients. Points are sorted in each call. Where
    alm are on a GPU, it computes there; where this build of Zonal cannot, tensors travel to the host and back.

    >>> import torch
    >>> import zonal.torch
    >>> alm = torch.tensor([0, np.sqrt(4 * np.pi / 3), 0], dtype=torch.complex128)  # cos(theta)
    >>> theta = torch.tensor([np.pi / 2], dtype=torch.float64, requires_grad=True)
    >>> zonal.torch.evaluate(alm, theta, torch.zeros_like(theta)).sum().backward()
    >>> float(theta.grad[0].round(decimals=6))
    -1.0
    """
    alm = complex_(alm)
    theta, phi = (_places(name, values) for name, values in (("theta", theta), ("phi", phi)))
    if theta.shape != phi.shape:
        raise ValueError(f"theta and phi: have shapes {tuple(theta.shape)} and {tuple(phi.shape)}: must be alike")
    shape_of_values(tuple(alm.shape), spin, theta.shape[0])
    lmax = _constant_lmax(alm.shape[-1], lmax, mmax)
    return _AT_POINTS(alm, theta, phi, lmax, lmax if mmax is None else mmax, spin, float(error), 0 if threads is None else threads)


_constant_lmax = torch.compiler.assume_constant_result(lmax_of)
_OPTIONS = "Tensor theta, Tensor phi, int lmax, int mmax, int spin, float error, int threads"


def _places(name: str, values: Tensor) -> Tensor:
    values = real_(values, name)
    if values.dim() != 1:
        raise ValueError(f"{name}: has shape {tuple(values.shape)}: must be [n_points]")
    if values.dtype != torch.float64:
        raise TypeError(f"{name}: is {values.dtype}: must be torch.float64")
    return values


# Operators on arrays [..., n] or [..., 2, n], linear in the first one.


def _call(array: Tensor, theta: Tensor, phi: Tensor, lmax: int, mmax: int, spin: int, error: float, threads: int, function: str,
          **options: Any) -> list[Tensor]:
    """The results of a function of the transform, on the array's device, with its axes in front."""
    device = device_(array)
    transform = PointTransform(there_(theta, device), there_(phi, device), lmax, spin, error, mmax=mmax, threads=resolve(threads or None),
                               device=device)
    own = array.shape[-2:] if spin else array.shape[-1:]
    front = array.shape[:-len(own)]
    made = getattr(transform, function)(there_(array, device).reshape(-1, *own), **options)
    parts = made if isinstance(made, tuple) else (made,)
    return [tensor_(part.reshape(*front, *part.shape[1:]), array) for part in parts]


def _at_points(alm: Tensor, theta: Tensor, phi: Tensor, lmax: int, mmax: int, spin: int, error: float, threads: int) -> Tensor:
    return _call(alm, theta, phi, lmax, mmax, spin, error, threads, "synthesize")[0]


def _from_points(values: Tensor, theta: Tensor, phi: Tensor, lmax: int, mmax: int, spin: int, error: float, threads: int,
                 n_alm: int) -> Tensor:
    return _call(values, theta, phi, lmax, mmax, spin, error, threads, "adjoint")[0]


def _slopes(alm: Tensor, theta: Tensor, phi: Tensor, lmax: int, mmax: int, spin: int, error: float, threads: int) -> Tensor:
    """Of theta and of phi: [..., 2, n_points], behind the components."""
    _, by_theta, by_phi = _call(alm, theta, phi, lmax, mmax, spin, error, threads, "synthesize", gradient=True)
    return torch.stack([by_theta, by_phi], -2)


def _along(weights: Tensor, slopes: Tensor) -> list[Tensor]:
    """Sums over all but the points of weights times slopes, in double precision: by theta, and by phi."""
    products = (weights[..., None, :] * slopes).to(torch.float64)
    return list(products.reshape(-1, *products.shape[-2:]).sum(0))


def _point_operator(name: str, schema: str, call: Any, fake: Any, backward: Any) -> Any:
    """backward: from the gradient, the array, theta, phi, whether positions need gradients, and the rest; returns those of
    the array and of the positions, if they do."""
    operator = torch.library.custom_op(f"zonal::{name}", call, mutates_args=(), schema=f"(Tensor array, {schema}) -> Tensor")
    operator.register_fake(fake)

    def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs[:3])
        ctx.rest = inputs[3:]

    def gradient(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        needed = ctx.needs_input_grad
        by_array, by_places = backward(grad, *ctx.saved_tensors, needed[1] or needed[2], *ctx.rest)
        by_theta, by_phi = (None, None) if by_places is None else by_places
        return by_array, by_theta if needed[1] else None, by_phi if needed[2] else None, *[None] * len(ctx.rest)

    def batched(info: Any, axes: tuple[Any, ...], array: Tensor, theta: Tensor, phi: Tensor, *rest: Any) -> tuple[Tensor, int]:
        if axes[1] is None and axes[2] is None:
            return operator(array.movedim(axes[0], 0), theta, phi, *rest), 0
        each = [[one] * info.batch_size if axis is None else one.movedim(axis, 0).unbind(0)
                for one, axis in zip((array, theta, phi), axes)]
        return torch.stack([operator(*one, *rest) for one in zip(*each)]), 0

    operator.register_autograd(gradient, setup_context=setup)
    operator.register_vmap(batched)
    return operator


def _at_points_back(grad: Tensor, alm: Tensor, theta: Tensor, phi: Tensor, places: bool, lmax: int, *rest: Any) -> Any:
    made = _FROM_POINTS(grad, theta, phi, lmax, *rest, alm.shape[-1])
    return counts_(made, lmax) * made, _along(grad, _SLOPES(alm, theta, phi, lmax, *rest)) if places else None


def _from_points_back(grad: Tensor, values: Tensor, theta: Tensor, phi: Tensor, places: bool, lmax: int, *rest: Any) -> Any:
    alm = grad / counts_(grad, lmax)
    slopes = _along(values, _SLOPES(alm, theta, phi, lmax, *rest[:-1])) if places else None
    return _AT_POINTS(alm, theta, phi, lmax, *rest[:-1]), slopes


def _slopes_back(grad: Tensor, *_: Any) -> Any:
    raise NotImplementedError("zonal.torch.evaluate: gradients by positions have no gradients")


_AT_POINTS: Any = _point_operator(
    "at_points", _OPTIONS, _at_points, lambda alm, theta, *_: alm.new_empty((*alm.shape[:-1], theta.shape[0]), dtype=alm.real.dtype),
    _at_points_back)
_FROM_POINTS: Any = _point_operator(
    "from_points", f"{_OPTIONS}, int n_alm", _from_points,
    lambda values, *rest: values.new_empty((*values.shape[:-1], rest[-1]), dtype=torch.promote_types(values.dtype, torch.complex64)),
    _from_points_back)
_SLOPES: Any = _point_operator(
    "slopes_at_points", _OPTIONS, _slopes,
    lambda alm, theta, *_: alm.new_empty((*alm.shape[:-1], 2, theta.shape[0]), dtype=alm.real.dtype), _slopes_back)
