"""Spherical harmonic transforms at any points."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._angles import angles
from ._arrays import complex_input, kept, output, real_input, sequence, vector
from ._checked import Large, checked, invalid
from ._device_arrays import device_arrays
from ._devices import DeviceLike, resolve_device
from ._kinds import kind_of
from ._libraries import COMPLEX, REAL, library_of, partner
from ._notes import warn
from ._progress import Progress, reporting
from ._threads import resolve
from .sht import shape_of_result
from .skies import lmax_of


class PointTransform:
    """A spherical harmonic transform S from alm to values at any points, and its transpose, within an error that you name.

    theta, phi: [n_points], rad or Quantities of angles, 0 <= theta <= pi, phi of any number of turns. lmax, mmax, spin: of
    the alm, as in `zonal.SHT`; for a spin from 1 on values are Q and U along e_theta and e_phi of each point, and those at
    a pole are along the e_theta and e_phi that its phi names. error: bound of max |error| / max |f| over the sphere for
    every function f of this lmax, from 2e-14 to 0.1. threads: by default `zonal.threads()` of the moment when the
    transform is made. device: where it computes, as in `zonal.SHT`.

    With device="cuda", alm and values may be NumPy arrays, or arrays of CuPy, PyTorch, JAX and others in the GPU's memory.
    The result is then an array of the same library, and the work goes on that library's current stream, or on the `stream`
    that synthesize and adjoint are given. theta and phi may be in the GPU's memory, too, as float64.

    Shapes: alm is [n_alm] and values are [n_points] for spin 0; [2, n_alm] and [2, n_points] otherwise. One more axis in
    front holds a batch. complex64 gives float32, and back; the arithmetic is double, as are the points: those of float32
    would err by 1e-7 lmax of max |f|. Quantities give Quantities.

    The points are sorted once, when the transform is made, so that their order does not matter to its speed. It is
    immutable, can be pickled, and serves any number of threads at once; calls keep scratch memory for the next one.
    Points in a part of the sky take the memory and time of its rows alone. Results do not depend on the number of threads.

    Raises ValueError for points and options outside their range, naming the first such point.

    >>> alm = zonal.synalm(np.ones(33), seed=1)
    >>> theta, phi = zonal.Grid.healpix(8).angles()
    >>> transform = zonal.PointTransform(theta, phi, lmax=32, error=1e-9)
    >>> bool(np.allclose(transform.synthesize(alm), zonal.alm2map(alm, 8), atol=1e-8))
    True
    """

    __slots__ = ("__weakref__", "_arguments", "_device", "_error", "_lmax", "_points", "_spin")

    @checked
    def __init__(self, theta: ArrayLike, phi: ArrayLike, lmax: int, spin: int = 0, error: float = 1e-10, *,
                 mmax: int | None = None, threads: int | None = None, device: DeviceLike = "cpu") -> None:
        self._device = resolve_device(device)
        given, places = zip(places_on("theta", theta, self._device), places_on("phi", phi, self._device))
        self._lmax, self._spin, self._error = lmax, spin, error
        self._arguments = (*places, lmax, spin, error, mmax, threads, self._device)
        self._points = _core.Points(*given, lmax, _order(mmax, lmax), spin, error, resolve(threads), self._device)

    @property
    def n_points(self) -> int:
        return self._points.n_points

    @property
    def lmax(self) -> int:
        return self._lmax

    @property
    def mmax(self) -> int:
        return self._points.mmax

    @property
    def spin(self) -> int:
        return self._spin

    @property
    def n_alm(self) -> int:
        """Length of the last axis of alm."""
        return self._points.n_alm

    @property
    def threads(self) -> int:
        """Threads that a call uses at most."""
        return self._points.threads

    @property
    def device(self) -> str:
        """Where it computes: "cpu", "cuda:0"."""
        return self._device

    @property
    def bound(self) -> float:
        """At least max |error| / max |f| over the sphere, for every f; at most the error asked for."""
        return self._points.bound

    @property
    def derivative_bound(self) -> float:
        """The same of derivatives by theta and phi, in units of lmax max |f|."""
        return self._points.derivative_bound

    @property
    def n_samples(self) -> int:
        """Samples of a circle in theta and in phi that values are interpolated from."""
        return self._points.n_samples

    @property
    def width(self) -> int:
        """Samples that a value is a sum over, in each direction."""
        return self._points.width

    @checked
    def synthesize(self, alm: Any, gradient: bool = False, *, out: Any = None, return_report: bool = False, stream: Any = None) -> Any:
        """Returns the values of the function with these alm at the points; with gradient, also their derivatives d/dtheta
        and d/dphi, each like the values: (values, by_theta, by_phi). Those of Q and U are of the components. out: where to
        write the values, or three arrays for them and their derivatives.

        With return_report it returns a PointReport besides, (values, report) or ((values, by_theta, by_phi), report), whose
        mean_error is that of these alm. stream: see the class.

        >>> alm = np.zeros(3, complex)
        >>> alm[1] = np.sqrt(4 * np.pi / 3)  # cos(theta)
        >>> equator = zonal.PointTransform([np.pi / 2], [0.3], lmax=1)
        >>> [float(round(part[0], 6) + 0) for part in equator.synthesize(alm, gradient=True)]
        [0.0, -1.0, 0.0]
        """
        outs = _outs(out, 3 if gradient else 1)
        arrays = device_arrays("alm", alm, self._device, stream)
        if arrays is not None:
            dtype = partner(arrays.dtype(COMPLEX))
            shape = shape_of_result("alm", alm, self._spin, self.n_alm, self.n_points)
            written = [arrays.output(part, shape, dtype) for part in outs]
            by: Any = [part[1] for part in written[1:]] or (None, None)
            report = self._points.synthesize(arrays.given(), written[0][1], by[0], by[1], return_report, arrays.stream)
            found = [arrays.finished(made, part) for (made, _), part in zip(written, outs)]
        else:
            kind = kind_of(alm)
            given = complex_input("alm", alm)
            shape = shape_of_result("alm", given, self._spin, self.n_alm, self.n_points)
            made = [output(part, shape, given.real.dtype, given) for part in outs]
            if out is not None and any(np.shares_memory(one, other) for one, other in combinations(made, 2)):
                raise ValueError("out: its arrays must not share memory with each other")
            slopes: Any = made[1:] or (None, None)
            report = self._points.synthesize(given, made[0], slopes[0], slopes[1], return_report, None)
            found = [kind.numbers_in(part, array) for array, part in zip(made, outs)]
        values = tuple(found) if gradient else found[0]
        return (values, report) if return_report else values

    def adjoint(self, values: Any, *, out: Any = None, stream: Any = None) -> Any:
        """Returns alm = S^T values, a_lm = sum_p f_p conj(Y_lm(p)), without weights. out: where to write the alm. stream: see
        the class.

        <values, S a> = <S^T values, a>, with alm of m > 0 counted twice.
        """
        arrays = device_arrays("values", values, self._device, stream)
        if arrays is not None:
            dtype = partner(arrays.dtype(REAL))
            made, written = arrays.output(out, shape_of_result("values", values, self._spin, self.n_points, self.n_alm), dtype)
            self._points.adjoint(arrays.given(), written, arrays.stream)
            return arrays.finished(made, out)
        kind = kind_of(values)
        given, alm = self._values_and_alm(values, out)
        self._points.adjoint(given, alm, None)
        return kind.numbers_in(out, alm)

    @checked
    def analyze(self, values: Any, weights: ArrayLike | None = None, tolerance: float = 1e-8, *, max_iterations: int = 1000,
                progress: Progress = False, return_report: bool = False) -> Any:
        """Returns the alm whose values at the points fit these best: the least-squares solution of S a = f, by conjugate
        gradients on S^T W S a = S^T W f.

        weights: [n_points], of the squared residuals, such as the areas that the points stand for; by default all equal.
        values: on the host, even where the transform computes on a GPU.
        tolerance: of the residual |S^T W (f - S a)| / |S^T W f|, at least 10 times the transform's error. max_iterations:
        after which it ends in any case. progress: as in `zonal.convolve`.

        Points that are spread evenly take about 30 iterations to 1e-10 where there are 8 for each of the (lmax + 1)^2
        unknowns, 55 where there are 4, and 170 where there are 2. Fewer determine the alm badly.

        With return_report it returns alm and a PointAnalysisReport; without, what a report notes becomes a ZonalWarning.
        """
        kind = kind_of(values)
        given, alm = self._values_and_alm(values)
        factors = None if weights is None else vector("weights", weights)
        with reporting(progress, "analysis") as told:
            report = self._points.analyze(given, alm, factors, tolerance, max_iterations, told)
        result = kind.numbers(alm)
        if return_report:
            return result, report
        warn([report.note])
        return result

    def _values_and_alm(self, values: Any, out: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        given = real_input("values", values)
        shape = shape_of_result("values", given, self._spin, self.n_points, self.n_alm)
        return given, output(out, shape, np.complex128 if given.dtype == np.float64 else np.complex64, given)

    def __reduce__(self) -> tuple[Callable[..., PointTransform], tuple[Any, ...]]:
        theta, phi, *others = self._arguments
        return _made, (places_here("theta", theta, self._device), places_here("phi", phi, self._device), *others)

    def __repr__(self) -> str:
        return f"<zonal.PointTransform: n_points={self.n_points}, lmax={self._lmax}, spin={self._spin}, error={self._error:g}>"


def _outs(out: Any, n: int) -> list[Any]:
    """Where to write n arrays; None for each that is to be made."""
    if out is None:
        return [None] * n
    outs = [out] if n == 1 else sequence("out", out)
    if len(outs) != n:
        raise ValueError(f"out: has {len(outs)} arrays: must have 3 with gradient=True, of the values, by_theta and by_phi")
    return outs


class SphereFunction:
    """The function on the sphere with these alm, which can be called at any points.

    alm: [n_alm], or [2, n_alm] for a spin from 1 on, with one more axis in front for a batch. lmax: by default what the
    number of coefficients tells, with mmax = lmax. spin, error, mmax, threads: as in `zonal.PointTransform`. n_points: how
    many points it will be asked for, about, by default two for each coefficient: many are worth more samples. device: where
    the samples are and values are computed, from and to arrays of the host.

    It keeps samples of the function, 8 (n_samples / 2) n_samples bytes for each component, so that each call costs its
    points alone; where the points stay and the alm change, `zonal.PointTransform` is what you want.

    >>> f = zonal.SphereFunction(zonal.synalm(np.ones(33), seed=1), error=1e-9)
    >>> theta = np.linspace(0, np.pi, 5)
    >>> f(theta, 0.5).shape, f(theta[:, None], np.zeros(3)).shape
    ((5,), (5, 3))
    """

    __slots__ = ("_device", "_dtype", "_error", "_front", "_function", "_kind", "_lmax", "_spin")

    @checked
    def __init__(self, alm: Any, lmax: int | None = None, spin: int = 0, error: float = 1e-10, *, mmax: int | None = None,
                 n_points: Large = 0, threads: int | None = None, device: DeviceLike = "cpu") -> None:
        self._kind = kind_of(alm)
        given = complex_input("alm", alm)
        if given.ndim == 0:
            raise ValueError("alm: has shape (): must be [n_alm]")
        self._lmax, self._spin, self._error = lmax_of(given.shape[-1], lmax, mmax), spin, error
        self._front = shape_of_result("alm", given, spin, given.shape[-1], 0)[:-1]
        self._dtype = given.real.dtype
        self._device = resolve_device(device)
        self._function = _core.Function(given, self._lmax, _order(mmax, self._lmax), spin, error, n_points, resolve(threads),
                                        self._device)

    @property
    def lmax(self) -> int:
        return self._lmax

    @property
    def spin(self) -> int:
        return self._spin

    @property
    def bound(self) -> float:
        """At least max |error| / max |f| over the sphere; at most the error asked for."""
        return self._function.bound

    @property
    def derivative_bound(self) -> float:
        """The same of derivatives by theta and phi, in units of lmax max |f|."""
        return self._function.derivative_bound

    @property
    def n_samples(self) -> int:
        """Samples of a circle in theta and in phi."""
        return self._function.n_samples

    @property
    def width(self) -> int:
        """Samples that a value is a sum over, in each direction."""
        return self._function.width

    @property
    def threads(self) -> int:
        """Threads that a call uses at most."""
        return self._function.threads

    @property
    def device(self) -> str:
        """Where the samples are: "cpu", "cuda:0"."""
        return self._device

    @property
    def n_bytes(self) -> int:
        """Memory that the samples take."""
        return self._function.bytes

    @checked
    def __call__(self, theta: ArrayLike, phi: ArrayLike, gradient: bool = False) -> Any:
        """Returns the values at these points, of the shape to which theta and phi broadcast, behind the axes of batch and
        components; with gradient, also their derivatives: (values, by_theta, by_phi)."""
        where = np.broadcast_arrays(angles("theta", theta), angles("phi", phi))
        lines = [np.ascontiguousarray(part.reshape(-1)) for part in where]
        made = [np.empty((*self._front, lines[0].size), self._dtype) for _ in range(3 if gradient else 1)]
        slopes: Any = made[1:] or (None, None)
        self._function.evaluate(lines[0], lines[1], made[0], slopes[0], slopes[1])
        values = tuple(self._kind.numbers(part.reshape((*self._front, *where[0].shape))) for part in made)
        return values if gradient else values[0]

    def __repr__(self) -> str:
        return f"<zonal.SphereFunction: lmax={self._lmax}, spin={self._spin}, error={self._error:g}>"


def _made(theta: NDArray[Any], phi: NDArray[Any], lmax: int, spin: int, error: float, mmax: int | None,
          threads: int | None, device: str) -> PointTransform:
    return PointTransform(theta, phi, lmax, spin, error, mmax=mmax, threads=threads, device=device)


def shape_of_values(shape: tuple[int, ...], spin: int, n_points: int) -> tuple[int, ...]:
    """That of the values of alm with any axes in front."""
    if len(shape) < 1 + (spin > 0) or spin > 0 and shape[-2] != 2:
        raise ValueError(f"alm: has shape {shape}: must be {'[..., 2, n_alm]' if spin else '[..., n_alm]'} for spin = {spin}")
    return (*shape[:-1], n_points)


def _line(name: str, values: ArrayLike) -> NDArray[np.float64]:
    radians = angles(name, values)
    if radians.ndim != 1:
        raise ValueError(f"{name}: has shape {radians.shape}: must be [n_points]")
    return np.ascontiguousarray(radians)


def places_on(name: str, values: Any, device: str) -> tuple[Any, Any]:
    """Angles, which may lie in the memory of the device: as the extension takes them, and what is kept of them."""
    arrays = device_arrays(name, values, device, None)
    library = library_of(values)
    if arrays is None or library is None:
        line = _line(name, values)
        return line, kept(line) if isinstance(values, np.ndarray) else line
    if len(values.shape) != 1:
        raise ValueError(f"{name}: has shape {tuple(values.shape)}: must be [n_points]")
    arrays.dtype(("float64",))
    return library.given(name, values, 0, False), values  # the default stream is waited for


def places_here(name: str, values: Any, device: str) -> NDArray[np.float64]:
    """Angles in the memory of the host."""
    arrays = device_arrays(name, values, device, None)
    return _line(name, values) if arrays is None else arrays.copied(name, values)


def _order(mmax: int | None, lmax: int) -> int:
    if mmax is not None and not 0 <= mmax <= lmax:
        raise invalid("mmax", mmax, f"must be from 0 to lmax = {lmax}")
    return -1 if mmax is None else mmax


__all__ = ["PointTransform", "SphereFunction"]
