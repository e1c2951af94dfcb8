"""Spherical harmonic transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, overload
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import complex_input, integer, integers, output, real_input, vector
from ._checked import Large, checked, invalid
from ._device_arrays import device_arrays
from ._devices import DeviceLike, resolve_device
from ._kinds import kind_of, ring_values
from ._libraries import COMPLEX, REAL, partner
from ._notes import warn
from ._pixels import has_unseen, is_unseen, required_grid
from ._progress import Progress, reporting
from ._threads import resolve
from .grid import Grid, healpix_grid


@checked
def alm_size(lmax: int, mmax: int | None = None) -> int:
    """Returns the number of coefficients a_lm with m >= 0 that are stored: m <= mmax (lmax by default), l <= lmax.

    >>> zonal.alm_size(2)
    6
    """
    lmax = integer("lmax", lmax)
    if lmax < 0:
        raise invalid("lmax", lmax, "must be 0 or more")
    mmax = lmax if mmax is None else integer("mmax", mmax)
    if not 0 <= mmax <= lmax:
        raise invalid("mmax", mmax, f"must be from 0 to lmax = {lmax}")
    return (mmax + 1) * (lmax + 1) - mmax * (mmax + 1) // 2


@checked
def alm_index(lmax: int, l: ArrayLike, m: ArrayLike) -> Any:
    """Returns where a_lm stands in an array of coefficients up to lmax; l and m are integers or arrays of them.

    Orders follow one another, and the degrees within each, as in healpy. Raises ValueError unless
    0 <= m <= l <= lmax.

    >>> zonal.alm_index(2, 2, 1)
    4
    """
    l, m = integers("l", l), integers("m", m)
    if np.any((m < 0) | (l < m) | (l > lmax)):
        raise ValueError(f"l = {l}, m = {m}: must be 0 <= m <= l <= lmax = {lmax}")
    index = m * (2 * lmax + 1 - m) // 2 + l
    return index if index.ndim else int(index)


class SHT:
    """A spherical harmonic transform of fixed grid, lmax, mmax and spin.

    grid: a Grid. lmax: highest degree, >= 0. mmax: highest order, by default lmax. spin: 0 for one real field; s >= 1
    for pairs of fields such as Q and U (spin 2), whose coefficients are E and B. threads: by default
    `zonal.threads()` of the moment when the transform is made; parts of a call that are so small that more would not help
    take fewer.
    device: where it computes, "cpu", "cuda", "cuda:1" or "auto", which is the first GPU if it can be used (see
    `zonal.devices`). max_workspace_bytes: on a GPU, the most scratch memory of a call; with less than a transform needs,
    adjoints take the orders in parts or, if that is not enough, transforms work through the rings in bands, which is slower.
    By default it is what is free when the transform is made.

    f(p) = sum_lm a_lm Y_lm(p) with orthonormal Y_lm and the Condon-Shortley phase; for spin 2
    Q + iU = - sum_lm (E_lm + i B_lm) 2Y_lm (COSMO convention), as in healpy. Only m >= 0 is stored, in the order of
    `zonal.alm_index`.

    Shapes: alm is [n_alm] and a map [n_pixels] for spin 0; [2, n_alm] and [2, n_pixels] otherwise. One more axis in
    front holds a batch of maps, which share the work of the recurrences. Arrays of float32 (complex64) give results
    of the same precision; the arithmetic is double. Inputs of other types or without a contiguous last axis are
    copied; `out` is never copied and must fit. Quantities give Quantities. A `zonal.Map` must be on the grid, and is
    brought into ring order; its alm are a plain array in its unit.

    Arrays of CuPy, PyTorch, JAX and Numba come back as arrays of the same library. Those in the memory of a GPU must lie on
    the device of the transform, with a contiguous last axis; they are never copied. Work on them is put on the stream
    that their library works on, or on `stream`, a stream of CuPy or PyTorch or the address of a cudaStream_t; a call then
    returns before it is done. (JAX has no such streams: calls wait.) Arrays of the host may be given to a GPU, too.

    A transform is immutable, can be pickled, and serves any number of threads at once. Every call releases the GIL,
    and stops at Ctrl-C; `out` then holds anything. It keeps its scratch memory (`workspace_bytes`) for the next call. What a
    transform on the CPU has worked out, and its scratch memory, are kept beyond its end for the next one of the same grid
    and options (`zonal.cache_limit`), so that the second zonal.SHT(grid, lmax) takes next to no time.

    Raises ValueError for lmax < 0, mmax > lmax, spin < 0 or > lmax, and in calls for arrays that do not fit;
    BackendUnavailable for a device that cannot be used, and OutOfDeviceMemory.

    >>> sht = zonal.SHT(zonal.Grid.gauss_legendre(9, 17), lmax=8)
    >>> alm = np.zeros(sht.n_alm, complex)
    >>> alm[zonal.alm_index(8, 5, 3)] = 2 - 1j
    >>> back, report = sht.analyze(sht.synthesize(alm), return_report=True)
    >>> bool(np.allclose(back, alm, atol=1e-14))
    True
    """

    __slots__ = ("__weakref__", "_device", "_grid", "_lmax", "_max_workspace_bytes", "_mmax", "_n_alm", "_number", "_spin",
                 "_threads", "_transform")

    @checked
    def __init__(self, grid: Grid, lmax: int, mmax: int | None = None, spin: int = 0,
                 threads: int | None = None, *, device: DeviceLike = "cpu", max_workspace_bytes: Large = 0) -> None:
        required_grid("grid", grid)
        if max_workspace_bytes < 0:
            raise ValueError(f"max_workspace_bytes = {max_workspace_bytes}: must be 0 (what is free) or positive")
        self._make(grid, lmax, mmax, spin, threads, resolve_device(device), max_workspace_bytes)

    def _make(self, grid: Grid, lmax: int, mmax: int | None, spin: int, threads: int | None, device: str,
              max_workspace_bytes: int) -> None:
        if mmax is not None and mmax < 0:
            raise ValueError(f"mmax = {mmax}: must be from 0 to lmax = {lmax}")
        self._grid, self._lmax, self._spin, self._threads = grid, lmax, spin, threads
        self._device, self._max_workspace_bytes = device, max_workspace_bytes
        self._transform = _core.Transform(grid._grid, lmax, -1 if mmax is None else mmax, spin, resolve(threads), device,
                                          max_workspace_bytes)
        self._mmax, self._n_alm, self._number = self._transform.mmax, self._transform.n_alm, self._transform.number
        _alive[self._number] = self

    @property
    def grid(self) -> Grid:
        return self._grid

    @property
    def lmax(self) -> int:
        return self._lmax

    @property
    def mmax(self) -> int:
        return self._mmax

    @property
    def spin(self) -> int:
        return self._spin

    @property
    def threads(self) -> int:
        """Threads that a call uses at most."""
        return self._transform.threads

    @property
    def device(self) -> str:
        """Where it computes: "cpu", "cuda:0"."""
        return self._device

    @property
    def n_alm(self) -> int:
        """Length of the last axis of alm."""
        return self._n_alm

    @property
    def workspace_bytes(self) -> int:
        """Scratch memory that a call on one map needs. A batch in the memory of a GPU takes up to 8 times as much if that
        is free and max_workspace_bytes is not given, because its maps share the recurrences."""
        return self._transform.workspace_bytes

    @overload
    def synthesize(self, alm: NDArray[Any], out: Any = None, *, progress: Progress = False,
                   stream: Any = None) -> NDArray[Any]: ...
    @overload
    def synthesize(self, alm: Any, out: Any = None, *, progress: Progress = False, stream: Any = None) -> Any: ...

    def synthesize(self, alm: Any, out: Any = None, *, progress: Progress = False, stream: Any = None) -> Any:
        """Returns the map of these coefficients, map = S alm.

        alm: [n_alm], [2, n_alm] or a batch of them (see the class). out: where to write the map; pixels in no ring
        of the grid are left as they are, and are 0 without out. progress: as in `zonal.convolve`. stream: see the class.
        """
        return self._map_of(self._transform.synthesize, "synthesis", alm, out, progress, stream)

    def _map_of(self, call: Callable[..., None], name: str, alm: Any, out: Any, progress: Progress, stream: Any) -> Any:
        if type(alm) is not np.ndarray or stream is not None:
            arrays = device_arrays("alm", alm, self._device, stream)
            if arrays is not None:
                dtype = partner(arrays.dtype(COMPLEX))
                shape = self._shape("alm", alm, self._n_alm, self._grid.n_pixels)
                made, written = arrays.output(out, shape, dtype, self._grid.has_other_pixels)
                with reporting(progress, name) as report:
                    call(arrays.given(), written, report, arrays.stream)
                return arrays.finished(made, out)
        kind = kind_of(alm)
        alm = complex_input("alm", alm)
        shape = self._shape("alm", alm, self._n_alm, self._grid.n_pixels)
        is_new = out is None
        written = output(out, shape, np.float64 if alm.dtype == np.complex128 else np.float32, alm)
        if is_new and self._grid.has_other_pixels:
            written.fill(0)
        if progress is False:
            call(alm, written, None)
        else:
            with reporting(progress, name) as report:
                call(alm, written, report)
        return kind.numbers_in(out, written)

    @overload
    def adjoint(self, map: NDArray[Any], out: Any = None, *, progress: Progress = False, stream: Any = None) -> NDArray[Any]: ...
    @overload
    def adjoint(self, map: Any, out: Any = None, *, progress: Progress = False, stream: Any = None) -> Any: ...

    def adjoint(self, map: Any, out: Any = None, *, progress: Progress = False, stream: Any = None) -> Any:
        """Returns alm = S^T map, a_lm = sum_p f_p conj(Y_lm(p)), without weights.

        map: [n_pixels], [2, n_pixels] or a batch of them. out: where to write the alm. progress: as in `zonal.convolve`.
        stream: see the class.
        """
        call = self._map_and_alm(map, out, stream)
        with reporting(progress, "adjoint") as report:
            self._transform.adjoint(call.map, call.alm, report, call.stream)
        return call.result()

    @checked
    def analyze(self, map: Any, out: Any = None, *, iterations: int | None = None,
                tolerance: float | None = None, max_iterations: int | None = None, ring_weights: ArrayLike | None = None,
                pixel_weights: ArrayLike | None = None, progress: Progress = False, stream: Any = None,
                return_report: bool = False) -> Any:
        """Returns the alm of a map: an inverse of the synthesis, exact up to the grid's exact_lmax and else in the
        least-squares sense.

        map: [n_pixels], [2, n_pixels] or a batch of them. out: where to write the alm.
        iterations: Jacobi iterations a += A (f - S a) that follow a = A f, as healpy's iter; from 0 to 1000. By
        default 3 on HEALPix, 0 on other grids. Where the analysis is exact there is nothing for iterations or a
        tolerance to improve.
        tolerance: conjugate gradients instead, at most max_iterations (200 by default), until the residual
        |S^T W (f - S a)| / |S^T W f| is at most this.
        ring_weights: [n_rings], pixel_weights: [n_pixels]; they multiply the grid's weights and are not negative.
        progress: as in `zonal.convolve`. stream: see the class; with iterations or a tolerance the call waits.

        With return_report it returns alm and an AnalysisReport; without, what a report notes becomes a ZonalWarning.
        Raises ValueError for shapes, an lmax above the grid's exact_lmax where it has one, options outside their range, iterations together with a tolerance, and UNSEEN
        pixels in the memory of the host, which `zonal.map2alm` takes as masked.
        """
        options = analysis_options(self._grid, iterations, tolerance, max_iterations, ring_weights, pixel_weights)
        call = self._map_and_alm(map, out, stream)
        if isinstance(call.map, np.ndarray):
            without_unseen(call.map)
        if progress is False:
            report = self._transform.analyze(call.map, call.alm, *options, None, call.stream)
        else:
            with reporting(progress, "analysis") as progress_:
                report = self._transform.analyze(call.map, call.alm, *options, progress_, call.stream)
        if return_report:
            return call.result(), report
        warn([report.note])
        return call.result()

    def adjoint_analysis(self, alm: Any, out: Any = None, *, progress: Progress = False, stream: Any = None) -> Any:
        """Returns the transpose of analyze without iterations, on the grids where that is exact and W S elsewhere: what
        gradients through an analysis need. Arguments are those of synthesize.

        <map, adjoint_analysis(alm)> = <analyze(map), alm>, with alm of m > 0 counted twice.
        """
        return self._map_of(self._transform.adjoint_analysis, "adjoint analysis", alm, out, progress, stream)

    def _map_and_alm(self, map: Any, out: Any, stream: Any) -> _Call:
        if type(map) is not np.ndarray or stream is not None:
            arrays = device_arrays("map", map, self._device, stream)
            if arrays is not None:
                dtype = partner(arrays.dtype(REAL))
                made, written = arrays.output(out, self._shape("map", map, self._grid.n_pixels, self._n_alm), dtype)
                return _Call(arrays.given(), written, arrays.stream, lambda: arrays.finished(made, out))
        kind = kind_of(map)
        values = real_input("map", ring_values("map", map, self._grid))
        shape = self._shape("map", values, self._grid.n_pixels, self._n_alm)
        alm = output(out, shape, np.complex128 if values.dtype == np.float64 else np.complex64, values)
        return _Call(values, alm, None, lambda: kind.numbers_in(out, alm))

    def _shape(self, name: str, array: Any, length: int, length_out: int) -> tuple[int, ...]:
        return shape_of_result(name, array, self._spin, length, length_out)

    def __reduce__(self) -> tuple[Callable[..., SHT], tuple[Any, ...]]:
        return _made, (self._grid, self._lmax, self._mmax, self._spin, self._threads, self._device,
                       self._max_workspace_bytes)

    def __repr__(self) -> str:
        return (f"<zonal.SHT of {self._grid.name}: lmax={self._lmax}, mmax={self._mmax}, spin={self._spin}, "
                f"{f'threads={self.threads}' if self._device == 'cpu' else self._device}>")


def analyze_rows(sht: SHT, rows: NDArray[np.float64], alm: NDArray[np.complex128], iterations: int, *,
                 ring_weights: ArrayLike | None = None, pixel_weights: ArrayLike | None = None) -> None:
    """sht.analyze into alm of maps without UNSEEN pixels, of arrays that are known to fit: for maps of a few hundred pixels
    the checks take a tenth of the time."""
    options = analysis_options(sht.grid, iterations, None, None, ring_weights, pixel_weights)
    warn([sht._transform.analyze(rows, alm, *options, None, None).note])


def require_sht(sht: Any) -> None:
    """Raises TypeError for what is no transform."""
    if not isinstance(sht, SHT):
        raise TypeError(f"sht: must be a zonal.SHT, not {type(sht).__name__}")


_alive: WeakValueDictionary[int, SHT] = WeakValueDictionary()


def sht_of_number(number: int) -> SHT:
    """The transform with this number, which compiled programs hold in its place."""
    sht = _alive.get(number)
    if sht is None:
        raise ValueError("sht: is gone; keep the zonal.SHT as long as what was made of it")
    return sht


def pixel_weights(grid: Grid) -> NDArray[np.float64]:
    """The grid's weights, [n_pixels], or one number where all are the same. They are 0 for pixels in no ring."""
    if grid.nside is not None:
        return np.array(4 * np.pi / grid.n_pixels)
    weights = np.zeros(grid.n_pixels)
    sizes = grid.ring_sizes
    k = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    weights[np.repeat(grid.first_pixels, sizes) + k] = np.repeat(grid.weight, sizes)
    return weights


def without_unseen(map: NDArray[Any], name: str = "map") -> NDArray[Any]:
    """The map. Raises ValueError where a pixel is UNSEEN, which a transform would take as a number."""
    if has_unseen(map):
        pixels = np.flatnonzero(is_unseen(map).reshape(-1, map.shape[-1]).any(0))
        raise ValueError(f"{name}: {pixels.size} pixels are UNSEEN, the first is pixel {pixels[0]}: must be numbers; "
                         "map2alm takes UNSEEN as masked")
    return map


class _Call(NamedTuple):
    """What the extension takes of a call from a map to its alm, and what makes the result."""

    map: Any
    alm: Any
    stream: int | None
    result: Callable[[], Any]


def _made(grid: Grid, lmax: int, mmax: int, spin: int, threads: int | None, device: str, max_workspace_bytes: int) -> SHT:
    return SHT(grid, lmax, mmax, spin, threads, device=device, max_workspace_bytes=max_workspace_bytes)


def shape_of_result(name: str, array: Any, spin: int, length: int, length_out: int) -> tuple[int, ...]:
    """The shape of what a transform makes of maps or alm, if theirs is right."""
    shape = tuple(array.shape)
    fits = (len(shape) in (1, 2) if spin == 0 else len(shape) in (2, 3) and shape[-2] == 2)
    if not fits or shape[-1] != length:
        wanted = f"[{length}]" if spin == 0 else f"[2, {length}]"
        raise ValueError(f"{name}: has shape {shape}: must be {wanted} for spin = {spin}, "
                         "with one more axis in front for a batch")
    return (*shape[:-1], length_out)


AnalysisOptions = tuple[int, float, int, list[float], NDArray[np.float64] | None]


def analysis_options(grid: Grid, iterations: int | None, tolerance: float | None, max_iterations: int | None,
                     ring_weights: ArrayLike | None, pixel_weights: ArrayLike | None) -> AnalysisOptions:
    """What the extension's analysis takes for the options of SHT.analyze."""
    if iterations is None:
        iterations = 3 if grid.nside is not None and tolerance is None else 0
    rings = [] if ring_weights is None else vector("ring_weights", ring_weights).tolist()
    pixels = None if pixel_weights is None else vector("pixel_weights", pixel_weights)
    if tolerance is not None and not tolerance > 0:
        raise ValueError(f"tolerance = {tolerance}: must be positive")
    if max_iterations is not None and tolerance is None:
        raise ValueError(f"max_iterations = {max_iterations}: has an effect only with tolerance; give that, or "
                         "iterations for a number of them")
    return iterations, tolerance or 0.0, 200 if max_iterations is None else max_iterations, rings, pixels


def healpix_sht(nside: int, lmax: int, mmax: int | None, spin: int, threads: int | None, device: str = "cpu") -> SHT:
    """The transform of a function that is given an nside, lmax and the like have been checked: zonal.SHT's own checks take
    as long as it does where the plan has been made before."""
    sht = SHT.__new__(SHT)
    sht._make(healpix_grid(nside), lmax, mmax, spin, threads, resolve_device(device), 0)
    return sht
