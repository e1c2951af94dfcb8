"""Differentiable transforms for PyTorch: operators with autograd, torch.compile and vmap. Needs PyTorch 2.5 or later.

Every function takes and returns tensors of float32 or float64 (complex64 or complex128 for alm); integers and shorter
floats are converted to float32. The arithmetic of transforms is double in all cases. A transform is a `zonal.SHT`, whose
shapes are those of its class, with any number of axes in front, which are one batch in one call. Keep it as long as what
you make of it.

>>> import torch
>>> import zonal.torch
>>> sht = zonal.SHT(zonal.Grid.healpix(8), lmax=16)
>>> sky = torch.from_numpy(zonal.synfast(np.ones(17), 8, seed=1))
>>> fwhm = torch.tensor(0.2, requires_grad=True)
>>> (zonal.torch.smooth(sky, fwhm, sht) ** 2).mean().backward()
>>> bool(fwhm.grad < 0)  # a wider beam leaves less
True

Gradients are PyTorch's: of a real function of a_lm, d/d(Re a_lm) + i d/d(Im a_lm). As only m >= 0 is stored, a
coefficient of m > 0 stands for two, and the imaginary part of those of m = 0 has no effect. There is no forward mode.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found, unused-ignore]

from .._angles import AngleLike, width
from .._arrays import integer
from .._threads import resolve
from ..kernel import Kernel, profile_rule
from ..rotation import Rotation, euler_angles
from ..rotation import rotate_alm as _rotate_rows
from ..sht import SHT, alm_size, pixel_weights, require_sht, sht_of_number
from ._arrays import Tensor, complex_, counts_, real_
from ._lensing import lens
from ._points import evaluate


def synthesize(alm: Tensor, sht: SHT) -> Tensor:
    """Returns the map of alm, map = S alm, as `zonal.SHT.synthesize`.

    alm: [..., n_alm], or [..., 2, n_alm] for a spin. Returns [..., n_pixels] or [..., 2, n_pixels].
    """
    require_sht(sht)
    return _SYNTHESIZE(complex_(alm), sht._number)


def adjoint(map: Tensor, sht: SHT) -> Tensor:
    """Returns alm = S^T map, without weights, as `zonal.SHT.adjoint`. map: [..., n_pixels] or [..., 2, n_pixels]."""
    require_sht(sht)
    return _ADJOINT(real_(map, "map"), sht._number)


def analyze(map: Tensor, sht: SHT, *, mask: Tensor | None = None, iterations: int | None = None,
            weights: Tensor | None = None) -> Tensor:
    """Returns the alm of a map, as `zonal.SHT.analyze` with iterations.

    map: [..., n_pixels] or [..., 2, n_pixels]. mask: multiplies the map, and hides what is not finite where it is 0,
    where the gradient by it is 0 here, too; it may need gradients, and broadcasts. iterations: by default 3 on HEALPix,
    else 0. weights: [n_pixels], multiply those of the grid.

    The result is linear in the map for any mask and weights, and so are its derivatives with respect to the map.
    """
    require_sht(sht)
    map = real_(map, "map")
    if mask is not None:
        mask = real_(mask, "mask").to(map.dtype)
        map = torch.where(mask == 0, 0.0, map) * mask
    if iterations is None:
        iterations = -1  # what the grid asks for
    elif not 0 <= integer("iterations", iterations) <= 1000:
        raise ValueError(f"iterations = {iterations}: must be from 0 to 1000")
    if weights is None:
        return _ANALYZE(map, sht._number, iterations)
    weights = real_(weights, "weights").to(map)
    alm = first = adjoint(_WEIGH(weights * map, sht._number), sht)
    for _ in range(_iterations(sht._number, iterations)):
        alm = first + alm - adjoint(_WEIGH(weights * synthesize(alm, sht), sht._number), sht)
    return alm


def convolve(map: Tensor, window: Tensor | Kernel, sht: SHT, *, mask: Tensor | None = None,
             iterations: int | None = None) -> Tensor:
    """Returns a map convolved with a radially symmetric kernel: its alm times the window b_l, synthesized.

    window: b_l, [lmax + 1] (or with more axes, see `almxfl`), or a zonal.Kernel. mask, iterations: as in `analyze`.
    """
    if isinstance(window, Kernel):
        window = torch.from_numpy(window.window(sht.lmax)).to(map.device)
    alm = analyze(map, sht, mask=mask, iterations=iterations)
    return synthesize(almxfl(alm, window, sht.lmax, sht.mmax), sht)


def smooth(map: Tensor, fwhm: Tensor | AngleLike, sht: SHT, *, mask: Tensor | None = None,
           iterations: int | None = None) -> Tensor:
    """Returns a map convolved with a Gaussian. fwhm: rad, which may need gradients, or an angle of `zonal.angle`."""
    window = gaussian_window(fwhm, sht.lmax, sht.spin).to(map.device)
    return convolve(map, window, sht, mask=mask, iterations=iterations)


def almxfl(alm: Tensor, window: Tensor, lmax: int, mmax: int | None = None) -> Tensor:
    """Returns alm, [..., n_alm], times window_l, [lmax + 1] or [..., lmax + 1] with axes that broadcast with alm's."""
    window = real_(window, "window")
    if tuple(window.shape[-1:]) != (lmax + 1,):
        raise ValueError(f"window: has shape {tuple(window.shape)}: must be [..., lmax + 1] with lmax = {lmax}")
    alm = _of_lmax(alm, lmax, mmax)
    return alm * window.to(alm.real.dtype).index_select(-1, _degrees(lmax, mmax, alm.device))


def synalm(c_l: Tensor, white: Tensor, lmax: int, mmax: int | None = None) -> Tensor:
    """Returns sqrt(C_l) white_lm: alm of this spectrum from `white`, [..., n_alm], those of a unit spectrum.

    c_l: [lmax + 1]; where it is negative or NaN, the alm are NaN. Where C_l is 0, so is its derivative here.
    """
    c_l = real_(c_l, "c_l")
    is_zero = c_l == 0
    return almxfl(white, torch.where(is_zero, 0.0, torch.where(is_zero, 1.0, c_l).sqrt()), lmax, mmax)


def alm2cl(alm: Tensor, alm2: Tensor | None = None, *, lmax: int, mmax: int | None = None) -> Tensor:
    """Returns C_l = 1/(2l+1) sum_m Re(a_lm conj(b_lm)), [..., lmax + 1], of alm [..., n_alm] with themselves or with
    alm2. Axes in front stay: the spectra of E and B for [2, n_alm]."""
    alm = _of_lmax(alm, lmax, mmax)
    alm2 = alm if alm2 is None else _of_lmax(alm2, lmax, mmax)
    products = counts_(alm, lmax) * (alm.real * alm2.real + alm.imag * alm2.imag)
    sums = products.new_zeros((*products.shape[:-1], lmax + 1))
    sums = sums.index_add(-1, _degrees(lmax, mmax, alm.device), products)
    return sums / (2 * torch.arange(lmax + 1, device=alm.device) + 1)


def rotate_alm(alm: Tensor, rotation: Rotation, lmax: int | None = None, mmax: int | None = None, *,
               mmax_out: int | None = None, threads: int | None = None) -> Tensor:
    """Rotates fields by their alm, [..., n_alm], as `zonal.rotate_alm`. lmax: must be given with mmax or mmax_out. The
    rotation has no gradient; alm on a GPU travel to the host and back."""
    psi, theta, phi = _constant_angles(rotation)
    alm = complex_(alm)
    if lmax is None:
        if mmax is not None or mmax_out is not None:
            raise ValueError("lmax: must be given with mmax or mmax_out")
        orders = (-1, -1, -1)  # what the number of coefficients tells, which torch.compile may not know
    else:
        alm = _of_lmax(alm, lmax, mmax)
        orders = (lmax, lmax if mmax is None else mmax, lmax if mmax_out is None else mmax_out)
        if not 0 <= orders[2] <= lmax:
            raise ValueError(f"mmax_out = {mmax_out}: must be from 0 to lmax = {lmax}")
    return _ROTATE(alm, psi, theta, phi, *orders, 0 if threads is None else threads)


def gaussian_window(fwhm: Tensor | AngleLike, lmax: int, spin: int = 0) -> Tensor:
    """Returns exp(-(l(l+1) - spin^2) sigma^2 / 2), [lmax + 1], as `zonal.gaussian_window`. fwhm: rad, or an angle of
    `zonal.angle`."""
    if not isinstance(fwhm, torch.Tensor):
        fwhm = torch.tensor(_constant_width(fwhm, "fwhm"), dtype=torch.float64)
    fwhm = real_(fwhm, "fwhm")
    if fwhm.dim():
        raise ValueError(f"fwhm: has shape {tuple(fwhm.shape)}: must be one number; torch.func.vmap takes several")
    l = torch.arange(lmax + 1, device=fwhm.device)
    return torch.where(l < spin, 0.0, torch.exp(-(l * (l + 1) - spin**2) * fwhm**2 / (16 * math.log(2))))


def profile_window(profile: Callable[[Tensor], Tensor], lmax: int, support: float = math.pi, n_nodes: int | None = None,
                   device: Any = None) -> Tensor:
    """Returns the window of a profile K(theta): b_l = 2 pi int K(theta) P_l(cos theta) d cos theta, [lmax + 1].

    profile: a function of theta, [node] (rad), that returns K in 1/sr; gradients go through it. support: where the
    profile ends, rad. n_nodes: of the Gauss-Legendre quadrature in cos theta, which must resolve profile and P_lmax; by
    default lmax + 64. The quadrature takes (lmax + 1) n_nodes numbers of memory, and is kept.
    """
    theta, rule = (torch.from_numpy(part).to(device) for part in _constant_rule(lmax, support, n_nodes))
    values = torch.as_tensor(profile(theta))
    if values.shape != theta.shape:
        raise ValueError(f"profile: returns shape {tuple(values.shape)}: must be {tuple(theta.shape)}, a number for each theta")
    return rule @ real_(values, "profile").to(rule.dtype)


# The operators. They know a transform by its number, which compiled programs can hold, and take any axes in front.


def _operator(name: str, arguments: str, call: Callable[..., Tensor], fake: Callable[..., Tensor],
              backward: Callable[..., Tensor]) -> Any:
    """call: on tensors. fake: an empty tensor like the result. backward: from the gradient and the arguments behind the
    tensor. All take the tensor, and then the arguments."""
    operator = torch.library.custom_op(f"zonal::{name}", call, mutates_args=(), schema=f"(Tensor array, {arguments}) -> Tensor")
    operator.register_fake(fake)

    def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.arguments = inputs[1:]
        ctx.sht = sht_of_number(inputs[1]) if arguments.startswith("int sht") else None  # lives until backward

    def gradient(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        return backward(grad, *ctx.arguments), *[None] * len(ctx.arguments)

    def batched(info: Any, axes: tuple[Any, ...], array: Tensor, *rest: Any) -> tuple[Tensor, int]:
        return operator(array.movedim(axes[0], 0), *rest), 0

    operator.register_autograd(gradient, setup_context=setup)
    operator.register_vmap(batched)
    return operator


def _call(function: Callable[[Any], Any], array: Tensor, sht: SHT, length: int, name: str) -> Tensor:
    """A function of arrays with one axis of a batch."""
    axes = _axes_in_front(array.shape, sht, length, name)
    batch = array.detach().resolve_conj().resolve_neg().reshape(-1, *array.shape[axes:]).contiguous()
    made = torch.from_numpy(function(batch.numpy())) if batch.device.type == "cpu" else function(batch)
    return made.reshape(*array.shape[:-1], made.shape[-1])


def _axes_in_front(shape: Any, sht: SHT, length: int, name: str) -> int:
    components = (2,) if sht.spin else ()
    axes = len(shape) - 1 - len(components)
    if axes < 0 or tuple(shape[axes:]) != (*components, length):
        wanted = f"[..., 2, {length}]" if sht.spin else f"[..., {length}]"
        raise ValueError(f"{name}: has shape {tuple(shape)}: must be {wanted} for spin = {sht.spin}")
    return axes


def _synthesize(alm: Tensor, number: int) -> Tensor:
    sht = sht_of_number(number)
    return _call(sht.synthesize, alm, sht, sht.n_alm, "alm")


def _adjoint(map: Tensor, number: int) -> Tensor:
    sht = sht_of_number(number)
    return _call(sht.adjoint, map, sht, sht.grid.n_pixels, "map")


def _analyze(map: Tensor, number: int, iterations: int) -> Tensor:
    sht, n = sht_of_number(number), _iterations(number, iterations)
    return _call(lambda f: sht.analyze(f, iterations=n, return_report=True)[0], map, sht, sht.grid.n_pixels, "map")


def _analyze_back(alm: Tensor, number: int, iterations: int) -> Tensor:
    """The transpose of the analysis: with A = S^T, W S sum_j (1 - A W S)^j (h / D)."""
    made = given = alm / counts_(alm, sht_of_number(number).lmax)
    sht = sht_of_number(number)
    for _ in range(_iterations(number, iterations) if sht.grid.exact_lmax is None else 0):
        made = given + made - _adjoint(_adjoint_analysis(made, sht), number)
    return _adjoint_analysis(made, sht)


def _adjoint_analysis(alm: Tensor, sht: SHT) -> Tensor:
    return _call(sht.adjoint_analysis, alm, sht, sht.n_alm, "alm")


def _map_like(alm: Tensor, number: int, *_: Any) -> Tensor:
    sht = sht_of_number(number)
    _axes_in_front(alm.shape, sht, sht.n_alm, "alm")
    return alm.new_empty((*alm.shape[:-1], sht.grid.n_pixels), dtype=alm.real.dtype)


def _alm_like(map: Tensor, number: int, *_: Any) -> Tensor:
    sht = sht_of_number(number)
    _axes_in_front(map.shape, sht, sht.grid.n_pixels, "map")
    return map.new_empty((*map.shape[:-1], sht.n_alm), dtype=torch.promote_types(map.dtype, torch.complex64))


def _like(array: Tensor, *_: Any) -> Tensor:
    return array.new_empty(array.shape)


def _weigh(map: Tensor, number: int) -> Tensor:
    """A map times the grid's weights."""
    return map * torch.from_numpy(np.atleast_1d(pixel_weights(sht_of_number(number).grid))).to(map)


def _rotate(alm: Tensor, psi: float, theta: float, phi: float, lmax: int, mmax: int, mmax_out: int, threads: int) -> Tensor:
    rows = alm.detach().resolve_conj().cpu().reshape(-1, alm.shape[-1]).numpy()
    degree, first, last = (None if order < 0 else order for order in (lmax, mmax, mmax_out))
    turned = torch.from_numpy(_rotate_rows(rows, (psi, theta, phi), degree, first, mmax_out=last, threads=resolve(threads)))
    return turned.to(alm.device).reshape(*alm.shape[:-1], turned.shape[-1])


def _rotated_like(alm: Tensor, psi: float, theta: float, phi: float, lmax: int, mmax: int, mmax_out: int,
                  threads: int) -> Tensor:
    return alm.new_empty(alm.shape if lmax < 0 else (*alm.shape[:-1], alm_size(lmax, mmax_out)))


def _rotate_gradient(grad: Tensor, psi: float, theta: float, phi: float, lmax: int, mmax: int, mmax_out: int,
                     threads: int) -> Tensor:
    last = lmax if lmax >= 0 else round((8 * grad.shape[-1] + 1) ** 0.5 - 3) // 2
    alm = _ROTATE(grad / counts_(grad, last), -phi, -theta, -psi, lmax, mmax_out, mmax, threads)
    return counts_(alm, last) * alm


def _synthesize_gradient(grad: Tensor, number: int) -> Tensor:
    alm = _ADJOINT(grad, number)
    return counts_(alm, sht_of_number(number).lmax) * alm


def _adjoint_gradient(grad: Tensor, number: int) -> Tensor:
    return _SYNTHESIZE(grad / counts_(grad, sht_of_number(number).lmax), number)


_SYNTHESIZE: Any = _operator("synthesize", "int sht", _synthesize, _map_like, _synthesize_gradient)
_ADJOINT: Any = _operator("adjoint", "int sht", _adjoint, _alm_like, _adjoint_gradient)
_ANALYZE: Any = _operator("analyze", "int sht, int iterations", _analyze, _alm_like, lambda *all: _ANALYZE_BACK(*all))
_ANALYZE_BACK: Any = _operator("analyze_back", "int sht, int iterations", _analyze_back, _map_like, lambda *all: _ANALYZE(*all))
_ROTATE: Any = _operator("rotate_alm", "float psi, float theta, float phi, int lmax, int mmax, int mmax_out, int threads",
                    _rotate, _rotated_like, _rotate_gradient)
_WEIGH: Any = _operator("weigh", "int sht", _weigh, _like, lambda *all: _WEIGH(*all))


def _iterations(number: int, iterations: int) -> int:
    if iterations >= 0:
        return iterations
    return 3 if sht_of_number(number).grid.nside is not None else 0


# To torch.compile these are constants, as their arguments are.
_constant_angles = torch.compiler.assume_constant_result(euler_angles)
_constant_width = torch.compiler.assume_constant_result(width)
_constant_rule = torch.compiler.assume_constant_result(profile_rule)


def _degrees(lmax: int, mmax: int | None, device: Any) -> Tensor:
    """The l of each coefficient, [n_alm]."""
    return torch.triu_indices((lmax if mmax is None else mmax) + 1, lmax + 1, device=device)[1]


def _of_lmax(alm: Tensor, lmax: int, mmax: int | None) -> Tensor:
    last = lmax if mmax is None else mmax
    if not 0 <= last <= lmax:
        raise ValueError(f"mmax = {last}: must be from 0 to lmax = {lmax}")
    n_alm = (last + 1) * (lmax + 1) - last * (last + 1) // 2
    alm = complex_(alm)
    if alm.shape[-1] != n_alm:
        raise ValueError(f"alm: has {alm.shape[-1]} coefficients, which are not those of lmax = {lmax} and mmax = {last}")
    return alm


__all__ = ["adjoint", "alm2cl", "almxfl", "analyze", "convolve", "evaluate", "gaussian_window", "lens", "profile_window", "rotate_alm", "smooth", "synalm",
           "synthesize"]


def __dir__() -> list[str]:
    return sorted(__all__)
