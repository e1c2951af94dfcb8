"""Tensors that functions of zonal.torch take, and coefficients of which only m >= 0 are stored."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch  # type: ignore[import-not-found, unused-ignore]

from .._devices import devices

Tensor = Any
"""A torch.Tensor. Type checkers can read this file without PyTorch."""


def counts_(alm: Tensor, lmax: int) -> Tensor:
    """D: how many coefficients of the sky one stands for, 1 for m = 0 and 2 for the others."""
    return torch.where(torch.arange(alm.shape[-1], device=alm.device) <= lmax, 1.0, 2.0).to(alm.real.dtype)


def require_tensor_(values: Any, name: str) -> None:
    """Without tangents: PyTorch would take those of an operator's result for 0."""
    if not isinstance(values, torch.Tensor):
        raise TypeError(f"{name}: must be a torch.Tensor, not {type(values).__name__}")
    forward = torch.autograd.forward_ad
    if forward._current_level >= 0 and forward.unpack_dual(values).tangent is not None:
        raise NotImplementedError("zonal.torch: has no derivatives in forward mode, as by torch.func.jvp, jacfwd and make_dual: "
                                  "use backward() or torch.autograd")


def real_(values: Tensor, name: str) -> Tensor:
    require_tensor_(values, name)
    if values.is_complex():
        raise TypeError(f"{name}: must hold real numbers, not {values.dtype}")
    return values.to(torch.promote_types(values.dtype, torch.float32))


def complex_(alm: Tensor, name: str = "alm") -> Tensor:
    require_tensor_(alm, name)
    if alm.dim() == 0:
        raise ValueError(f"{name}: has shape (): must be [..., n_alm]")
    return alm.to(torch.promote_types(alm.dtype, torch.complex64))


def plain_(values: Tensor) -> Tensor:
    return values.detach().resolve_conj().resolve_neg().contiguous()


def host_(values: Tensor) -> Any:
    """A NumPy array."""
    return plain_(values).cpu().numpy()


@cache
def _is_usable(device: str) -> bool:
    return any(one.name == device and one.usable for one in devices())


def device_(values: Tensor) -> str:
    """Where to compute with this tensor: on its GPU, if Zonal can; else on the CPU."""
    device = str(values.device)
    return device if device.startswith("cuda") and _is_usable(device) else "cpu"


def there_(values: Tensor, device: str) -> Any:
    """What calls that compute on this device take: a NumPy array, or a tensor in its memory."""
    return host_(values) if device == "cpu" else plain_(values).to(device)


def tensor_(made: Any, like: Tensor) -> Tensor:
    """What they return, where `like` is."""
    return made if isinstance(made, torch.Tensor) else torch.from_numpy(made).to(like.device)
