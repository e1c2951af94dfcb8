"""zonal.torch.lens: lensed skies, with gradients by alm and the potentials."""

from __future__ import annotations

from typing import Any

import torch  # type: ignore[import-not-found, unused-ignore]

from .._arrays import integer
from .._threads import resolve
from ..grid import Grid, healpix_grid
from ..lensing import Lensing, lmax_of_potential
from ..skies import lmax_of
from ._arrays import Tensor, complex_, counts_, device_, host_, real_, tensor_, there_


def lens(alm: Tensor, phi: Tensor, where: Any, lmax: int | None = None, *, curl: Tensor | None = None, mmax: int | None = None,
         error: float = 1e-7, threads: int | None = None) -> Tensor:
    """Returns the lensed sky of alm, as `zonal.lens`: I of T, [n_alm]; Q and U of E and B, [2, n_alm]; or I, Q, U of T, E, B,
    [3, n_alm].

    phi and curl, [n]: alm of the potentials. where: a Grid, the nside of HEALPix, or tensors (theta, phi) of float64, [n_points]
    each, without gradients. It has gradients of first order by alm, phi and curl. Points are sorted in each call. Where alm are on
    a GPU, it computes there; where this build of Zonal cannot, tensors travel to the host and back.

    >>> import torch
    >>> import zonal.torch
    >>> alm, phi = (torch.from_numpy(zonal.synalm(np.ones(9), seed=seed)) for seed in (1, 2))
    >>> phi.requires_grad_()  # doctest: +ELLIPSIS
    tensor(...)
    >>> zonal.torch.lens(alm, 1e-3 * phi, 4).sum().backward()
    >>> phi.grad.shape == phi.shape
    True
    """
    alm, phi = complex_(alm), complex_(phi, "phi")
    if alm.dim() > 2 or alm.dim() == 2 and alm.shape[0] not in (2, 3):
        raise ValueError(f"alm: has shape {tuple(alm.shape)}: must be [n_alm] of T, [2, n_alm] of E and B, or [3, n_alm] of T, E and B")
    potentials = [phi] if curl is None else [phi, complex_(curl, "curl")]
    for name, one in zip(("phi", "curl"), potentials):
        if one.shape != phi.shape or one.dim() != 1:
            raise ValueError(f"{name}: has shape {tuple(one.shape)}: must be [n_alm], as many as phi")
    _constant_lmax_of_potential(phi.shape[0])
    lmax = _constant_lmax(alm.shape[-1], lmax, mmax)
    number, theta, places = _where(where, alm)
    return _LENS(alm, torch.stack(potentials), theta, places, number, lmax, lmax if mmax is None else mmax, float(error),
                 0 if threads is None else threads)


_constant_lmax = torch.compiler.assume_constant_result(lmax_of)
_constant_lmax_of_potential = torch.compiler.assume_constant_result(lmax_of_potential)

# Compiled programs hold numbers in the place of grids.
_numbers: dict[Grid, int] = {}
_grids: list[Grid] = []


def _number_of(where: Any) -> int:
    grid = where if isinstance(where, Grid) else healpix_grid(integer("where", where))
    if grid not in _numbers:
        _numbers[grid] = len(_grids)
        _grids.append(grid)
    return _numbers[grid]


_constant_number = torch.compiler.assume_constant_result(_number_of)


def _where(where: Any, alm: Tensor) -> tuple[int, Tensor, Tensor]:
    """A grid's number, or -1 with theta and phi."""
    if not isinstance(where, (tuple, list)):
        nowhere = alm.new_empty((0,), dtype=torch.float64)
        return _constant_number(where), nowhere, nowhere
    if len(where) != 2:
        raise ValueError(f"where: has {len(where)} parts: must be a Grid, an nside, or (theta, phi)")
    places = [real_(one, name) for name, one in zip(("theta", "phi"), where)]
    for name, one in zip(("theta", "phi"), places):
        if one.dim() != 1 or one.shape != places[0].shape:
            raise ValueError(f"{name}: has shape {tuple(one.shape)}: must be [n_points], as many of theta as of phi")
        if one.dtype != torch.float64:
            raise TypeError(f"{name}: is {one.dtype}: must be torch.float64")
        if one.requires_grad:
            raise NotImplementedError(f"{name}: requires gradients, and zonal.torch.lens has none by positions: give {name}.detach()")
    return -1, places[0], places[1]


def _lensing(potentials: Tensor, alm: Tensor, theta: Tensor, phi: Tensor, grid: int, lmax: int, mmax: int, error: float,
             threads: int) -> Lensing:
    device = device_(alm)
    rows = host_(potentials)
    fields: Any = "T" if alm.dim() == 1 else "EB" if alm.shape[0] == 2 else "TEB"
    return Lensing(rows[0], _grids[grid] if grid >= 0 else (there_(theta, device), there_(phi, device)), lmax, fields=fields,
                   curl=rows[1] if len(rows) > 1 else None, mmax=mmax, error=error, threads=resolve(threads or None), device=device)


def _lens(alm: Tensor, potentials: Tensor, *rest: Any) -> Tensor:
    lensing = _lensing(potentials, alm, *rest)
    return tensor_(lensing.lens(there_(alm, lensing.device)), alm)


def _lens_back(grad: Tensor, alm: Tensor, potentials: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    lensing = _lensing(potentials, alm, *rest)
    factors = there_(grad, lensing.device)
    slopes = torch.from_numpy(lensing.differentiate(there_(alm, lensing.device), factors)).reshape(potentials.shape)
    return tensor_(lensing.adjoint(factors), alm).to(alm.dtype), slopes.to(alm.device).to(potentials.dtype)


_OPTIONS = "Tensor alm, Tensor potentials, Tensor theta, Tensor phi, int grid, int lmax, int mmax, float error, int threads"
_LENS: Any = torch.library.custom_op("zonal::lens", _lens, mutates_args=(), schema=f"({_OPTIONS}) -> Tensor")
_LENS_BACK: Any = torch.library.custom_op("zonal::lens_back", _lens_back, mutates_args=(),
                                          schema=f"(Tensor grad, {_OPTIONS}) -> (Tensor, Tensor)")


def _lensed_like(alm: Tensor, potentials: Tensor, theta: Tensor, phi: Tensor, grid: int, *_: Any) -> Tensor:
    n = _grids[grid].n_pixels if grid >= 0 else theta.shape[0]
    return alm.new_empty((*alm.shape[:-1], n), dtype=alm.real.dtype)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs[:4])
    ctx.rest = inputs[4:]


def _gradient(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    by_alm, by_potentials = _LENS_BACK(grad, *ctx.saved_tensors, *ctx.rest)
    potentials = ctx.saved_tensors[1]
    lmax, lmax_of_phi = ctx.rest[1], _constant_lmax_of_potential(potentials.shape[-1])
    return (counts_(by_alm, lmax) * by_alm, counts_(by_potentials, lmax_of_phi) * by_potentials, None, None, *[None] * len(ctx.rest))


def _no_gradient(ctx: Any, *_: Any) -> Any:
    raise NotImplementedError("zonal.torch.lens: has gradients of first order alone")


def _batched(operator: Any) -> Any:
    def call(info: Any, axes: tuple[Any, ...], *inputs: Any) -> Any:
        each = [[one] * info.batch_size if axis is None else one.movedim(axis, 0).unbind(0) for one, axis in zip(inputs, axes)]
        made = [operator(*one) for one in zip(*each)]
        if not isinstance(made[0], tuple):
            return torch.stack(made), 0
        return tuple(torch.stack(parts) for parts in zip(*made)), (0,) * len(made[0])
    return call


_LENS.register_fake(_lensed_like)
_LENS.register_autograd(_gradient, setup_context=_setup)
_LENS.register_vmap(_batched(_LENS))
_LENS_BACK.register_fake(lambda grad, alm, potentials, *_: (alm.new_empty(alm.shape), potentials.new_empty(potentials.shape)))
_LENS_BACK.register_autograd(_no_gradient, setup_context=lambda ctx, inputs, output: None)
_LENS_BACK.register_vmap(_batched(_LENS_BACK))
