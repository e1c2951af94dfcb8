"""Convolutions by sums over the pixels of a map that the ranks of a job have in parts."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import ArrayLike

from .. import _core
from .._arrays import output, real, real_input
from .._device_arrays import device_arrays
from .._libraries import REAL
from .._progress import Progress
from ..kernel import Kernel, required_kernel
from ..pixel_convolution import required_way
from ._parts import plain
from ._sht import SHT


class PixelConvolution:
    """Convolves maps of spin 0 with a compact kernel by sums over pixels: `zonal.PixelConvolution` over the ranks of a job.

    sht: a `zonal.mpi.SHT`, whose ranks, grid, threads and devices it has, and which says which pixels are this rank's; it does
    not depend on its spin. kernel: a zonal.Kernel. method: "ring-fft", ring by ring in Fourier space, or "pixel-sum", over the
    disc around each pixel, for kernels of few pixels. precision: of the sums, "float64" or "float32". accuracy: the largest error
    of the kernel's values, of its largest, from 1e-14 to 1e-2; by default 1e-12, and 3e-8 for float32.

    The ranks send each other the rings that the kernel reaches from their own: by NCCL where `sht.exchange` says so and all maps
    are in the memory of the ranks' GPUs, otherwise through the memory of the hosts. It keeps its scratch memory between calls.
    If all ranks are on CPUs, results are those of one process to rounding and, of "ring-fft" with a kernel that ends without a
    step, bit for bit. With ranks on GPUs they are the same to the accuracy.

    All ranks make it and call it together, with the same kernel and options. What is wrong on one rank is raised on all of them:
    ValueError for options outside their range and TypeError.

    >>> from mpi4py import MPI
    >>> import zonal.mpi
    >>> sht = zonal.mpi.SHT(MPI.COMM_SELF, 16, lmax=32)
    >>> smooth = zonal.mpi.PixelConvolution(sht, zonal.Kernel.gaussian("10deg"))
    >>> bool(np.allclose(smooth(np.ones(sht.n_pixels)), 1, atol=0.05))
    True
    """

    def __init__(self, sht: SHT, kernel: Kernel, *, method: Literal["ring-fft", "pixel-sum"] = "ring-fft",
                 precision: Literal["float64", "float32"] = "float64", accuracy: float = 0.0) -> None:
        if not isinstance(sht, SHT):
            raise TypeError(f"sht: must be a zonal.mpi.SHT, not {type(sht).__name__}")
        self._sht, self._job = sht, sht._job
        with self._job.together("a convolution"):
            required_kernel(kernel)
            required_way(method, precision)
            accuracy = real("accuracy", accuracy)
        self._kernel, self._method = kernel, method
        self._convolution = _core.RankConvolution(sht._sky(), kernel._kernel, method == "pixel-sum", precision == "float32", accuracy)

    @property
    def sht(self) -> SHT:
        return self._sht

    @property
    def kernel(self) -> Kernel:
        return self._kernel

    def __call__(self, maps: ArrayLike, out: Any = None, *, progress: Progress = False) -> Any:
        """Returns this rank's part of the convolved maps, of the shape of maps.

        maps: its part of one map, [n_pixels], or of several, [map, n_pixels], which share the work on the kernel; float32 stays
        float32. NumPy arrays, or arrays of CuPy, PyTorch, JAX and the like in the memory of the rank's GPU, `sht.device`; then
        the result is one of the same library there. The ranks must bring as many maps of the same type. out: where to write the
        result, not the maps themselves. The call returns when all is done, also on a GPU. progress: as in `zonal.convolve`.
        """
        with self._job.together("a convolution", progress) as about:
            arrays = device_arrays("maps", maps, self._sht.device, None, waits=True)
            if arrays is None:
                given = real_input("maps", plain("maps", maps))
                kind = given.dtype.name
                made = written = output(out, self._shape(given), given.dtype, given)
            else:
                kind = arrays.dtype(REAL)
                made, written = arrays.output(out, self._shape(maps), kind)
                given = arrays.given()
            about.append(f"{tuple(made.shape[:-1])} {kind}")
        with self._job.reporting(progress, "convolution") as report:
            self._convolution.convolve(given, written, report)
        return made if arrays is None else arrays.finished(made, out)

    def _shape(self, maps: Any) -> tuple[int, ...]:
        shape, n_pixels = tuple(maps.shape), self._sht.n_pixels
        if len(shape) not in (1, 2) or shape[-1] != n_pixels:
            raise ValueError(f"maps: has shape {shape}: must be [{n_pixels}] or [map, {n_pixels}]")
        return shape

    def __repr__(self) -> str:
        return (f"<zonal.mpi.PixelConvolution of {self._kernel.name} on {self._sht.grid.name}: rank {self._job.rank} of "
                f"{self._job.size}, {self._method}, {self._sht.device}>")
