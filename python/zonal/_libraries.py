"""Arrays of other libraries than NumPy: CuPy, PyTorch, JAX, Numba, and all that speak DLPack.

Arrays in the memory of a GPU go to the extension as they lie there, on the stream that their library works on, and results
are arrays of the same library. What lies in the memory of the host passes as NumPy arrays over the same memory.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core

_CUDA, _CUDA_MANAGED = 2, 13
_HOST = (1, 3)  # ordinary and page-locked memory

REAL = ("float64", "float32")
COMPLEX = ("complex128", "complex64")
_PARTNERS = {"float64": "complex128", "float32": "complex64", "complex128": "float64", "complex64": "float32"}


class Library:
    """What one library calls things. For those without a class of their own this is the array API standard."""

    name = "its library"
    contiguous = "copy it first"
    convert = "convert it"

    def device(self, array: Any) -> tuple[int, int]:
        """As DLPack has it: the kind of memory, and the device's number."""
        kind, index = array.__dlpack_device__()
        return int(kind), int(index)

    def current_stream(self, array: Any, device: int) -> int | None:
        """The stream that the library's work on this array is on; None: it has no streams, and the call has to wait."""
        return 0

    def on(self, stream: int, device: int, is_current: bool) -> AbstractContextManager[Any]:
        """Work of the library within is on this stream. is_current: the library works on it anyway."""
        return nullcontext()

    def given(self, name: str, array: Any, stream: int | None, is_current: bool) -> Any:
        """What the extension takes. What the library still has to do with the array is waited for by the stream."""
        # DLPack's name of the default stream is 1.
        return array.__dlpack__() if stream is None else array.__dlpack__(stream=stream or 1)

    def is_contiguous(self, array: Any) -> bool:
        """Along its last axis. Where this is not known the extension finds out."""
        return True

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str, device: int, zeroed: bool) -> Any:
        """A new array on a GPU, which the extension writes to."""
        if not hasattr(like, "__array_namespace__"):
            raise TypeError(f"out: must be given for arrays of {type(like).__module__}.{type(like).__name__}, which Zonal "
                            "cannot make")
        xp = like.__array_namespace__()
        return (xp.zeros if zeroed else xp.empty)(shape, dtype=getattr(xp, dtype), device=like.device)

    def finished(self, made: Any) -> Any:
        """The array that the caller gets for what `empty` made."""
        return made

    def from_host(self, array: NDArray[Any], like: Any) -> Any:
        """An array of the library, in the memory of the host as `like` is, over that of a NumPy array."""
        return array

    def host_values(self, name: str, array: Any) -> Any:
        """A NumPy array over the memory of an array of the host."""
        return np.from_dlpack(array)


class _CuPy(Library):
    name = "CuPy"
    contiguous = "use cupy.ascontiguousarray"
    convert = "use its astype"

    def current_stream(self, array: Any, device: int) -> int | None:
        return int(sys.modules["cupy"].cuda.get_current_stream(device).ptr)

    def on(self, stream: int, device: int, is_current: bool) -> AbstractContextManager[Any]:
        cuda = sys.modules["cupy"].cuda
        if is_current and cuda.runtime.getDevice() == device:
            return nullcontext()
        of_address = getattr(cuda.Stream, "from_external", None)  # of CuPy 14, where ExternalStream is deprecated
        external = cuda.ExternalStream(stream, device) if of_address is None else of_address(_Stream(stream))
        return _Nested(cuda.Device(device), external)

    def is_contiguous(self, array: Any) -> bool:
        return bool(array.shape[-1] < 2 or array.strides[-1] == array.itemsize)

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str, device: int, zeroed: bool) -> Any:
        cupy = sys.modules["cupy"]
        return (cupy.zeros if zeroed else cupy.empty)(shape, dtype)


class _Torch(Library):
    name = "PyTorch"
    contiguous = "use its contiguous()"
    convert = "use its to(dtype)"

    def device(self, array: Any) -> tuple[int, int]:
        kind = array.device.type
        if kind == "cuda":
            return _CUDA, array.device.index
        return (1 if kind == "cpu" else -1), 0

    def current_stream(self, array: Any, device: int) -> int | None:
        return int(sys.modules["torch"].cuda.current_stream(device).cuda_stream)

    def on(self, stream: int, device: int, is_current: bool) -> AbstractContextManager[Any]:
        cuda = sys.modules["torch"].cuda
        if is_current:
            return nullcontext()
        return cuda.stream(cuda.ExternalStream(stream, device))  # type: ignore[no-any-return]

    def given(self, name: str, array: Any, stream: int | None, is_current: bool) -> Any:
        _refuse_pending(name, array)
        if is_current:
            return sys.modules["torch"].utils.dlpack.to_dlpack(array)  # which takes a third of the time
        with sys.modules["torch"].cuda.device(array.device):  # another one's tensors are refused
            return super().given(name, array, stream, is_current)

    def is_contiguous(self, array: Any) -> bool:
        return bool(array.shape[-1] < 2 or array.stride(-1) == 1)

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str, device: int, zeroed: bool) -> Any:
        torch = sys.modules["torch"]
        return (torch.zeros if zeroed else torch.empty)(shape, dtype=getattr(torch, dtype), device=like.device)

    def from_host(self, array: NDArray[Any], like: Any) -> Any:
        return sys.modules["torch"].from_numpy(array)

    def host_values(self, name: str, array: Any) -> Any:
        _refuse_pending(name, array)
        return array.numpy()


class JAX(Library):
    name = "JAX"
    convert = "use its astype"

    def device(self, array: Any) -> tuple[int, int]:
        jax = sys.modules["jax"]
        if isinstance(array, jax.core.Tracer):
            raise TypeError("JAX: traces this call, as jit and grad do, and has no values here; use zonal.jax for that")
        if len(array.devices()) > 1:
            raise ValueError("JAX: has spread this array over several devices; bring it to one by jax.device_put")
        return super().device(array)

    def current_stream(self, array: Any, device: int) -> int | None:
        return None

    def given(self, name: str, array: Any, stream: int | None, is_current: bool) -> Any:
        array.block_until_ready()
        return array.__dlpack__()

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str, device: int, zeroed: bool) -> Any:
        address, owner = _core.allocate_on_device(device, int(np.prod(shape)) * np.dtype(dtype).itemsize, zeroed)
        return _core.device_array(dtype, device, address, list(shape), None, owner)

    def finished(self, made: Any) -> Any:
        return sys.modules["jax"].dlpack.from_dlpack(made)

    def from_host(self, array: NDArray[Any], like: Any) -> Any:
        return sys.modules["jax"].device_put(array, like.device)

    def host_values(self, name: str, array: Any) -> Any:
        return np.asarray(array)


class _Numba(Library):
    name = "Numba"
    contiguous = "copy it to a new device array"

    def device(self, array: Any) -> tuple[int, int]:
        return _CUDA, sys.modules["numba"].cuda.get_current_device().id

    def current_stream(self, array: Any, device: int) -> int | None:
        stream = array.__cuda_array_interface__.get("stream")
        return 0 if stream in (None, 1) else int(stream)

    def given(self, name: str, array: Any, stream: int | None, is_current: bool) -> Any:
        described = array.__cuda_array_interface__
        own = self.current_stream(array, 0)
        if own and own != stream:
            sys.modules["numba"].cuda.external_stream(own).synchronize()
        dtype = np.dtype(described["typestr"])
        address, is_read_only = described["data"]
        if name == "out" and is_read_only:
            raise ValueError("out: is read-only: give an array that may be written to")
        strides = described.get("strides")
        steps = None if strides is None else [step // dtype.itemsize for step in strides]
        device = self.device(array)[1]
        return _core.device_array(dtype.name, device, address, list(described["shape"]), steps, array)

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str, device: int, zeroed: bool) -> Any:
        cuda = sys.modules["numba"].cuda
        return cuda.to_device(np.zeros(shape, dtype)) if zeroed else cuda.device_array(shape, np.dtype(dtype))


class _Stream:
    """A stream by its address, as libraries take those of others."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


class _Nested(AbstractContextManager[None]):
    """Two contexts, one within the other."""

    def __init__(self, outer: Any, inner: Any) -> None:
        self._outer, self._inner = outer, inner

    def __enter__(self) -> None:
        self._outer.__enter__()
        self._inner.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._inner.__exit__(*error)
        self._outer.__exit__(*error)


_OTHERS = Library()
_LIBRARIES: dict[str, Library] = {"cupy": _CuPy(), "torch": _Torch(), "jax": JAX(), "jaxlib": JAX(), "numba": _Numba(),
                                  "numba_cuda": _Numba()}


def library_of(values: Any) -> Library | None:
    """Whose array this is; None for NumPy's, and for what is no array."""
    kind = type(values)
    if kind is np.ndarray or not (hasattr(kind, "__dlpack__") or hasattr(kind, "__cuda_array_interface__")) \
            or isinstance(values, (np.ndarray, np.generic)):
        return None
    return _LIBRARIES.get(kind.__module__.partition(".")[0], _OTHERS)


def gpu_of(name: str, values: Any, library: Library) -> int | None:
    """The number of the GPU in whose memory an array lies; None for the host's."""
    kind, index = library.device(values)
    if kind in _HOST:
        return None
    if kind not in (_CUDA, _CUDA_MANAGED):
        raise TypeError(f"{name}: is neither in the memory of the host nor in that of a CUDA device: bring it there")
    return index


def gpu_index(name: str, values: Any) -> int | None:
    """The number of the GPU in whose memory anything that a caller gave lies; None for all that is on the host."""
    library = library_of(values)
    return None if library is None else gpu_of(name, values, library)


def host_values(name: str, values: Any) -> Any:
    """The same values for calls that work on the host. Raises TypeError for arrays of a GPU."""
    library = library_of(values)
    if library is None:
        return values
    index = gpu_of(name, values, library)
    if index is not None:
        raise TypeError(f"{name}: is in the memory of cuda:{index}, and this call takes arrays of the host: bring it there "
                        "first, or use zonal.SHT, zonal.PointTransform, zonal.Lensing, zonal.smooth, zonal.convolve, zonal.PixelConvolution, zonal.jax or zonal.torch, "
                        "which take arrays of a GPU")
    return library.host_values(name, values)


def partner(dtype: str) -> str:
    """The real type of the same precision for a complex one, and the other way round."""
    return _PARTNERS[dtype]


def type_name(array: Any) -> str:
    return str(array.dtype).rpartition(".")[2]


def _refuse_pending(name: str, array: Any) -> None:
    """Refuses tensors of PyTorch whose memory does not say all."""
    torch = sys.modules["torch"]
    forward = torch.autograd.forward_ad
    if torch._C._functorch.is_functorch_wrapped_tensor(array) or (
            forward._current_level >= 0 and forward.unpack_dual(array).tangent is not None):
        raise TypeError(f"{name}: is transformed by PyTorch, as by vmap and jvp, and this call sees values alone: use zonal.torch")
    if array.requires_grad:
        raise TypeError(f"{name}: requires gradients, which this call does not carry: use its detach(), or zonal.torch")
    if array.is_conj() or array.is_neg():
        raise TypeError(f"{name}: is still to be conjugated or negated: use its resolve_conj() and resolve_neg()")
