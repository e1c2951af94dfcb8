"""The arrays of a call that lie in the memory of a GPU: as the extension takes them, and what the caller gets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._libraries import JAX, REAL, Library, gpu_of, library_of, type_name


class DeviceArrays:
    """The arrays of one call that lie in the memory of a GPU. `stream` is what its work is put on, None: it waits.

    waits: the call takes no stream, waits for the default one, and returns when all is done.
    """

    def __init__(self, name: str, values: Any, library: Library, index: int, device: str, stream: Any, waits: bool = False) -> None:
        if device != f"cuda:{index}":
            raise ValueError(f"{name}: is in the memory of cuda:{index}, but this works on {device}: give device = "
                             f"'cuda:{index}', or bring the array to the other device")
        if stream is not None and isinstance(library, JAX):
            raise ValueError("stream: JAX has none that others can use; leave it out")
        self._library, self._index, self._values, self._name = library, index, values, name
        self._is_current = stream is None
        self.stream = library.current_stream(values, index) if stream is None else stream_number(stream)
        self._waits = waits

    def dtype(self, permitted: tuple[str, ...]) -> str:
        """The type of the array's numbers, which must be one of those permitted: nothing is converted on a GPU."""
        found = type_name(self._values)
        if found not in permitted:
            raise TypeError(f"{self._name}: holds {found}: must hold {' or '.join(permitted)} in the memory of a GPU: "
                            f"{self._library.convert}")
        self._require_contiguous(self._name, self._values)
        return found

    def given(self) -> Any:
        return self._given(self._name, self._values)

    def output(self, out: Any, shape: tuple[int, ...], dtype: str, zeroed: bool = False) -> tuple[Any, Any]:
        """What the caller gets once it is passed to `finished`, and what the extension writes to."""
        made = self.made(out, shape, dtype, zeroed)
        return made, made if self._is_ours(out) else self._given("out", made)

    def made(self, out: Any, shape: tuple[int, ...], dtype: str, zeroed: bool = False) -> Any:
        """`out` where it is given and fits, else a new array."""
        library = self._library
        if out is None:
            with library.on(self.stream or 0, self._index, self._is_current):
                return library.empty(self._values, shape, dtype, self._index, zeroed)
        refuse_jax(out)
        if library_of(out) is not library:
            raise TypeError(f"out: must be an array of {library.name}, as {self._name} is, not {type(out).__name__}")
        if gpu_of("out", out, library) != self._index:
            raise ValueError(f"out: must be in the memory of cuda:{self._index}, as {self._name} is")
        if tuple(out.shape) != shape or type_name(out) != dtype:
            raise ValueError(f"out: must have shape {shape} and type {dtype}, not {tuple(out.shape)} and {type_name(out)}")
        self._require_contiguous("out", out)
        return out

    def finished(self, made: Any, out: Any) -> Any:
        return made if out is not None else self._library.finished(made)

    def given_too(self, name: str, values: Any, dtype: str) -> Any:
        """Another array of the call, which must lie where the first one does."""
        library = library_of(values)
        if library is not self._library or gpu_of(name, values, library) != self._index:
            raise TypeError(f"{name}: must be an array of {self._library.name} in the memory of cuda:{self._index}, as {self._name} is")
        if (found := type_name(values)) != dtype:
            raise TypeError(f"{name}: holds {found}: must hold {dtype}, as {self._name} does: {library.convert}")
        self._require_contiguous(name, values)
        return self._given(name, values)

    def copied(self, name: str, values: Any, permitted: tuple[str, ...] = REAL) -> NDArray[Any]:
        """Values in the memory of the host, copied once the library is done with them. They lie on the GPU of the call."""
        library = library_of(values)
        if library is None or gpu_of(name, values, library) != self._index:
            raise TypeError(f"{name}: must be in the memory of cuda:{self._index}, as {self._name} is")
        if (found := type_name(values)) not in permitted:
            raise TypeError(f"{name}: holds {found}: must hold {' or '.join(permitted)} in the memory of a GPU: {library.convert}")
        self._require_contiguous(name, values)
        host = np.empty(tuple(values.shape), found)
        _core.copy_maps(library.given(name, values, 0, False), host)
        return host

    def fill(self, made: Any, values: NDArray[Any], out: Any) -> Any:
        """Copies values of the host to what was `made`, and returns what the caller gets."""
        _core.copy_maps(values, made if self._is_ours(out) else self._library.given("out", made, 0, False))
        return self.finished(made, out)

    def _is_ours(self, out: Any) -> bool:
        """Whether the array was made by the extension, since the library cannot make one that others may write to."""
        return out is None and isinstance(self._library, JAX)

    def _given(self, name: str, array: Any) -> Any:
        if self._waits:
            return self._library.given(name, array, 0, False)
        return self._library.given(name, array, self.stream, self._is_current)

    def _require_contiguous(self, name: str, array: Any) -> None:
        if len(array.shape) and not self._library.is_contiguous(array):
            raise ValueError(f"{name}: must be contiguous along its last axis in the memory of a GPU: "
                             f"{self._library.contiguous}")


def device_arrays(name: str, values: Any, device: str, stream: Any, waits: bool = False) -> DeviceArrays | None:
    """The arrays of a call on a GPU; None where the array is the host's. waits: as in DeviceArrays."""
    library = library_of(values)
    index = None if library is None else gpu_of(name, values, library)
    if library is None or index is None:
        if stream is not None:
            raise ValueError(f"stream: has an effect only on arrays in the memory of a GPU, and {name} is the host's: leave "
                             "it out")
        return None
    return DeviceArrays(name, values, library, index, device, stream, waits)


def refuse_jax(out: Any) -> None:
    """Raises TypeError for outputs that never change."""
    if isinstance(library_of(out), JAX):
        raise TypeError("out: is an array of JAX, which never changes: leave it out, and take the result")


def stream_number(stream: Any) -> int:
    """A cudaStream_t as a number, of a number or a stream of CuPy, PyTorch or anything with __cuda_stream__."""
    for attribute in ("ptr", "cuda_stream"):
        if hasattr(stream, attribute):
            stream = getattr(stream, attribute)
    if hasattr(stream, "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    if isinstance(stream, bool) or not isinstance(stream, int) or stream < 0:
        raise TypeError(f"stream = {stream!r}: must be a stream of CuPy or PyTorch, or the address of a cudaStream_t")
    return 0 if stream == 1 else stream
