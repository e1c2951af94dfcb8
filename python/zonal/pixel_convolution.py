"""Convolutions by sums over pixels, on the CPU, a GPU or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from . import _core
from ._arrays import output, real_input, sequence
from ._checked import Large, checked
from ._device_arrays import device_arrays
from ._devices import DeviceLike, resolve_device
from ._kinds import kind_of, ring_values
from ._libraries import REAL
from ._pixels import required_grid
from ._progress import Progress, reporting
from ._threads import resolve
from .grid import Grid
from .kernel import Kernel, required_kernel


class Share(NamedTuple):
    """What one device does in a call. n_bands: latitude bands that it works through; 1 where it does all at once and is
    the only device. memory_bytes: what a call takes of it, beside the convolution's own tables."""

    device: str
    n_bands: int
    memory_bytes: int


class PixelConvolution:
    """Convolves maps of spin 0 with a compact kernel by sums over pixels, g(p) = sum_p' w(p') K(theta(p, p')) f(p').

    kernel: a zonal.Kernel K. grid: of the maps, whose weights (sr) are the w. grid_out: of the results, by default grid.
    `zonal.smooth` and `zonal.ConvolutionPlan` choose a way and certify its error; this is one way, as fast as it can be called.

    method: "ring-fft", ring by ring in Fourier space, or "pixel-sum", over the disc around each pixel, for kernels of few
    pixels. precision: of the sums, "float64" or "float32". accuracy: the largest error of the kernel's values, of its
    largest, from 1e-14 to 1e-2; by default 1e-12, and 3e-8 for float32. threads: by default `zonal.threads()`.
    device: where it computes, "cpu", "cuda", "cuda:1" or "auto" (see `zonal.devices`). devices: instead of that, several
    GPUs that work at the same time, each on latitude bands of the result, for maps in the host's memory. max_workspace_bytes:
    on a GPU, the most memory that a call may take on each; with less than it needs it works in latitude bands, one after the
    other. By default it is what is free when this is made.

    Maps are [n_pixels], or [map, n_pixels] for several, which share the work on the kernel. float32 stays float32. Arrays of
    other libraries and of a GPU, and `stream`, are as in `zonal.SHT`. It is immutable and serves any number of threads at once.

    Raises ValueError for options outside their range, BackendUnavailable and OutOfDeviceMemory.

    >>> smooth = zonal.PixelConvolution(zonal.Kernel.gaussian("10deg"), zonal.Grid.healpix(16))
    >>> bool(np.allclose(smooth(np.ones(3072)), 1, atol=0.05))
    True
    """

    __slots__ = ("_arguments", "_convolution", "_device", "_grid", "_grid_out", "_kernel")

    @checked
    def __init__(self, kernel: Kernel, grid: Grid, grid_out: Grid | None = None, *,
                 method: Literal["ring-fft", "pixel-sum"] = "ring-fft", precision: Literal["float64", "float32"] = "float64",
                 accuracy: float = 0.0, threads: int | None = None, device: DeviceLike | None = None,
                 devices: Sequence[DeviceLike | int] = (), max_workspace_bytes: Large = 0) -> None:
        self._arguments = {name: value for name, value in locals().items() if name not in ("self", "kernel", "grid", "grid_out")}
        required_kernel(kernel)
        for name, value in (("grid", grid), ("grid_out", grid if grid_out is None else grid_out)):
            required_grid(name, value)
        required_way(method, precision)
        if max_workspace_bytes < 0:
            raise ValueError(f"max_workspace_bytes = {max_workspace_bytes}: must be 0 (what is free) or positive")
        names = [resolve_device(_named(one)) for one in sequence("devices", devices)]
        if names and device is not None:
            raise ValueError("device, devices: give one of them")
        self._kernel, self._grid, self._grid_out = kernel, grid, grid if grid_out is None else grid_out
        self._device = names[0] if names else resolve_device("cpu" if device is None else device)
        self._convolution = _core.PixelConvolution(
            grid._grid, kernel._kernel, self._grid_out._grid, method == "pixel-sum", precision == "float32", accuracy,
            resolve(threads), self._device, names, max_workspace_bytes)

    @property
    def kernel(self) -> Kernel:
        return self._kernel

    @property
    def grid(self) -> Grid:
        return self._grid

    @property
    def grid_out(self) -> Grid:
        return self._grid_out

    @property
    def device(self) -> str:
        """Where it computes: "cpu", "cuda:0"; of several devices the first."""
        return self._device

    @property
    def shares(self) -> list[Share]:
        """What each device does in a call."""
        return [Share(*share) for share in self._convolution.shares()]

    @property
    def workspace_bytes(self) -> int:
        """Scratch memory that a call on one map needs."""
        return self._convolution.workspace_bytes

    def __call__(self, maps: Any, out: Any = None, *, progress: Progress = False, stream: Any = None) -> Any:
        """Returns the convolved maps, [n_pixels] or [map, n_pixels] of grid_out.

        out: where to write them, not the maps themselves; pixels in no ring of grid_out are left as they are, and are 0
        without out. progress: as in `zonal.convolve`. stream: see `zonal.SHT`.
        """
        arrays = device_arrays("maps", maps, self._device, stream)
        if arrays is not None:
            dtype = arrays.dtype(REAL)
            made, written = arrays.output(out, self._shape(maps), dtype, self._grid_out.has_other_pixels)
            with reporting(progress, "convolution") as report:
                self._convolution.convolve(arrays.given(), written, report, arrays.stream)
            return arrays.finished(made, out)
        kind = kind_of(maps)
        values = real_input("maps", ring_values("maps", maps, self._grid))
        written = output(out, self._shape(values), values.dtype, values)
        if out is None and self._grid_out.has_other_pixels:
            written.fill(0)
        with reporting(progress, "convolution") as report:
            self._convolution.convolve(values, written, report, None)
        return kind.maps(written, grid=self._grid_out, nest=False) if out is None or written is out else out

    def _shape(self, maps: Any) -> tuple[int, ...]:
        shape = tuple(maps.shape)
        if len(shape) not in (1, 2) or shape[-1] != self._grid.n_pixels:
            raise ValueError(f"maps: has shape {shape}: must be [{self._grid.n_pixels}] or [map, {self._grid.n_pixels}]")
        return (*shape[:-1], self._grid_out.n_pixels)

    def __reduce__(self) -> tuple[Callable[..., PixelConvolution], tuple[Any, ...]]:
        return _made, (self._kernel, self._grid, self._grid_out, self._arguments)

    def __repr__(self) -> str:
        where = ", ".join(share.device for share in self.shares)
        return f"<zonal.PixelConvolution of {self._kernel.name} on {self._grid.name}: {self._arguments['method']}, {where}>"


def required_way(method: Any, precision: Any) -> None:
    """Raises ValueError for others than those of a sum over pixels."""
    for name, text, permitted in (("method", method, ("ring-fft", "pixel-sum")), ("precision", precision, ("float64", "float32"))):
        if text not in permitted:
            raise ValueError(f"{name} = {text!r}: must be {' or '.join(map(repr, permitted))}")


def _named(device: Any) -> Any:
    """devices=[0, 1] are GPUs by their numbers."""
    return f"cuda:{device}" if isinstance(device, int) and not isinstance(device, bool) else device


def _made(kernel: Kernel, grid: Grid, grid_out: Grid, arguments: dict[str, Any]) -> PixelConvolution:
    return PixelConvolution(kernel, grid, grid_out, **arguments)


__all__ = ["PixelConvolution", "Share"]
