"""The devices that calls can compute on."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

from . import _backend, _core
from ._arrays import shown

DeviceLike: TypeAlias = Literal["cpu", "cuda", "auto"] | str
"""Where to compute: "cpu"; "cuda" or "cuda:1", the first or another GPU; "auto", the first GPU if it can be used, or
else the CPU."""

_NO_CODE = "this build of Zonal has no CUDA code"


class Device(NamedTuple):
    """A device of this machine. reason: why it cannot be used, and what to do about it; empty if it can."""

    name: str
    model: str
    memory_bytes: int
    reason: str

    @property
    def usable(self) -> bool:
        return not self.reason


def devices() -> list[Device]:
    """Returns the CPU, and all GPUs that NVIDIA's driver shows to this process, also those that cannot be used.

    The names are what arguments `device` take. Which GPUs a process sees is set by CUDA_VISIBLE_DEVICES.

    >>> zonal.devices()[0].name
    'cpu'
    """
    return [Device(name, model, memory, _explained(reason)) for name, model, memory, reason in _core.list_devices()]


def resolve_device(device: Any) -> str:
    """The name "cpu" or "cuda:N" of what an argument `device` stands for.

    Raises ValueError for other texts, and BackendUnavailable, with the reason, for a GPU that cannot be used.
    """
    if not isinstance(device, str):
        raise TypeError(f"device = {shown(device)}: must be 'cpu', 'cuda', 'cuda:0' (or another number) or 'auto'")
    if device == "cpu":
        return "cpu"
    try:
        return _core.resolve_device(device)
    except _core.BackendUnavailable as error:
        raise _core.BackendUnavailable(_explained(str(error))) from None


def _explained(reason: str) -> str:
    return reason.replace(_NO_CODE, _backend.why_not_cuda or _NO_CODE)
