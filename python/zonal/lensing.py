"""Gravitational lensing: skies seen through a field of deflections."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._angles import angles
from ._arrays import complex_input, doubles, integer, kept, real_input
from ._checked import arguments_as, checked, invalid
from ._device_arrays import device_arrays
from ._devices import DeviceLike, resolve_device
from ._kinds import kind_of
from ._libraries import COMPLEX, REAL, gpu_index, partner
from ._threads import resolve
from .grid import Grid
from .points import places_here, places_on
from .sht import alm_size, shape_of_result
from .skies import lmax_of

Where: TypeAlias = Grid | int | tuple[ArrayLike, ArrayLike]
"""The pixels of a Grid, or of HEALPix of an nside in ring order; or points (theta, phi), each [n_points]."""

_COMPONENTS = {"T": 1, "EB": 2, "TEB": 3}


class Lensing:
    """Lensing of skies by one field of deflections, T~(n) = T(n') and (Q + iU)~(n) = e^{2 i gamma} (Q + iU)(n'), with its
    transpose and its derivatives, within an error that you name.

    n' lies |d| away from n in the direction of d = grad phi + r x grad curl, where d_theta points south and d_phi east, in
    radians; gamma makes up for the turn of e_theta and e_phi along the way. phi: alm of the potential, [n], all l and m up
    to an lmax of its own; curl: those of a curl potential, as many. (dlm of lenspyx are sqrt(l (l + 1)) phi_lm.) where: a
    Grid, the nside of HEALPix, or points (theta, phi), [n_points] each, rad or Quantities of angles. lmax, mmax: of the sky.
    fields: "T", "EB" or "TEB", which alm hold. error: bound of max |error| / max |T| and of max |error| / max |Q + iU| over the
    sphere, from 2e-14 to 0.1. threads: by default `zonal.threads()` of the moment when it is made. device: where it computes,
    as in `zonal.SHT`.

    With device="cuda", alm and values may be NumPy arrays, or arrays of CuPy, PyTorch, JAX and others in the GPU's memory; the
    result is then an array of the same library, and is there when the call returns. The potentials phi and curl may lie there,
    too, and so may theta and phi of points, which must be float64 and must not change later.

    Shapes: alm is [n_alm] and values are [n_values] for "T", else [2 or 3, n_alm] and [2 or 3, n_values], with one more axis
    in front for a batch. complex64 gives float32, and back; positions are double, as is the arithmetic. Quantities of alm
    give Quantities. It is immutable, can be pickled, and serves any number of threads at once.

    A lensed sky has no lmax: analyse it on a grid that reaches beyond that of the sky.

    Raises ValueError for deflections above 3 rad and NaN, naming the point, and for options outside their range.

    >>> alm, phi = zonal.synalm(np.ones(17), seed=1), 1e-3 * zonal.synalm(np.ones(9), seed=2)
    >>> lensing = zonal.Lensing(phi, 16, lmax=16)
    >>> lensing.lens(alm).shape, lensing.bound < 1e-7
    ((3072,), True)
    """

    __slots__ = ("__weakref__", "_arguments", "_device", "_error", "_fields", "_lensing", "_lmax", "_n_potentials", "_n_phi")

    @checked
    def __init__(self, phi: ArrayLike, where: Where, lmax: int, *, fields: Literal["T", "EB", "TEB"] = "T",
                 curl: ArrayLike | None = None, mmax: int | None = None, error: float = 1e-7,
                 threads: int | None = None, device: DeviceLike = "cpu") -> None:
        if not isinstance(fields, str) or fields not in _COMPONENTS:
            raise ValueError(f"fields = {fields!r}: must be one of 'T', 'EB', 'TEB'")
        if mmax is not None and not 0 <= mmax <= lmax:
            raise invalid("mmax", mmax, f"must be from 0 to lmax = {lmax}")
        self._device = resolve_device(device)
        potentials, lmax_of_phi = _potentials(phi, curl, self._device)
        place, kept_place = _where_on(where, self._device)
        self._lmax, self._error, self._fields = lmax, error, fields
        self._arguments = (potentials, kept_place, lmax, fields, mmax, error, threads, self._device)
        self._n_potentials, self._n_phi = potentials.shape
        with arguments_as({"potentials": "phi"}):
            self._lensing = _made(place, potentials, lmax_of_phi, lmax, -1 if mmax is None else mmax, _COMPONENTS[fields], error,
                                  resolve(threads), self._device)

    @property
    def lmax(self) -> int:
        """Of the sky."""
        return self._lmax

    @property
    def mmax(self) -> int:
        return self._lensing.mmax

    @property
    def fields(self) -> str:
        return self._fields

    @property
    def n_alm(self) -> int:
        """Length of the last axis of alm."""
        return self._lensing.n_alm

    @property
    def n_values(self) -> int:
        """Length of the last axis of values: pixels of the grid's maps, or points."""
        return self._lensing.n_values

    @property
    def threads(self) -> int:
        """Threads that a call uses at most."""
        return self._lensing.threads

    @property
    def device(self) -> str:
        """Where it computes: "cpu", "cuda:0"."""
        return self._device

    @property
    def bound(self) -> float:
        """At least max |error| / max |f| over the sphere, for every sky f; at most the error asked for."""
        return self._lensing.bound

    @property
    def largest(self) -> float:
        """The largest deflection, rad."""
        return self._lensing.largest

    @property
    def rms(self) -> float:
        """The root of the mean square of the deflections at the pixels or points, rad."""
        return self._lensing.rms

    @checked
    def lens(self, alm: Any, *, return_report: bool = False) -> Any:
        """Returns the lensed sky: I, or Q and U, or I, Q and U. Pixels that are in no ring of the grid are 0.

        With return_report it returns the values and a LensingReport, whose mean_error is that of these alm.
        """
        arrays = device_arrays("alm", alm, self._device, None, waits=True)
        if arrays is not None:
            shape = self._shape("alm", alm, self.n_alm, self.n_values)
            made, written = arrays.output(None, shape, partner(arrays.dtype(COMPLEX)), zeroed=True)
            report = self._lensing.lens(arrays.given(), written, return_report)
            found = arrays.finished(made, None)
        else:
            kind = kind_of(alm)
            given = complex_input("alm", alm)
            values = np.zeros(self._shape("alm", given, self.n_alm, self.n_values), given.real.dtype)
            report = self._lensing.lens(given, values, return_report)
            found = kind.numbers(values)
        return (found, report) if return_report else found

    def adjoint(self, values: Any) -> Any:
        """Returns alm = L^T values, the transpose of lens: <values, L a> = <L^T values, a>, with alm of m > 0 counted twice.
        It does not undo lensing."""
        arrays = device_arrays("values", values, self._device, None, waits=True)
        if arrays is not None:
            shape = self._shape("values", values, self.n_values, self.n_alm)
            made, written = arrays.output(None, shape, partner(arrays.dtype(REAL)))
            self._lensing.adjoint(arrays.given(), written)
            return arrays.finished(made, None)
        kind = kind_of(values)
        given = real_input("values", values)
        alm = np.empty(self._shape("values", given, self.n_values, self.n_alm), np.result_type(given.dtype, np.complex64))
        self._lensing.adjoint(given, alm)
        return kind.numbers(alm)

    def differentiate(self, alm: Any, values: Any) -> NDArray[np.complex128]:
        """Returns the derivatives g of sum(values * lens(alm)) by phi, [n], or by phi and curl, [2, n]: the sum changes by
        <g, dphi> = sum of (2 - delta_m0) Re(conj(g_lm) dphi_lm).

        The way of the axes along the sphere is in them. alm and values: shapes of `lens`; the derivatives of a batch are summed.
        The result is a NumPy array, wherever these are; both must have one precision in the memory of a GPU.
        """
        arrays = device_arrays("alm", alm, self._device, None, waits=True)
        if arrays is not None:
            factors = arrays.given_too("values", values, partner(arrays.dtype(COMPLEX)))
            given = arrays.given()
        else:
            given, factors = complex_input("alm", alm), real_input("values", values)
            if factors.dtype != given.real.dtype:
                factors, given = factors.astype(np.float64), given.astype(np.complex128)
        shape = self._shape("alm", alm if arrays is not None else given, self.n_alm, self.n_values)
        if (found := tuple(values.shape if arrays is not None else factors.shape)) != shape:
            raise ValueError(f"values: has shape {found}: must be {shape}, that of the lensed sky")
        gradient = np.empty((self._n_potentials, self._n_phi), np.complex128)
        self._lensing.differentiate(given, factors, gradient)
        return gradient if self._n_potentials == 2 else gradient[0]

    def _shape(self, name: str, given: Any, length: int, length_of_result: int) -> tuple[int, ...]:
        if self._fields != "TEB":
            return shape_of_result(name, given, 2 if self._fields == "EB" else 0, length, length_of_result)
        shape = tuple(given.shape)
        if len(shape) not in (2, 3) or shape[-2:] != (3, length):
            raise ValueError(f"{name}: has shape {shape}: must be [3, {length}] or [row, 3, {length}]")
        return (*shape[:-1], length_of_result)

    def __reduce__(self) -> tuple[Any, ...]:
        potentials, where, *others = self._arguments
        if isinstance(where, (tuple, list)):
            where = tuple(one if gpu_index(name, one) is None else places_here(name, one, self._device)
                          for name, one in zip(("theta", "phi"), where))
        return _remade, (potentials, where, *others)

    def __repr__(self) -> str:
        return f"<zonal.Lensing: {self._fields}, n_values={self.n_values}, lmax={self._lmax}, error={self._error:g}>"


@checked
def lens(alm: Any, phi: ArrayLike, where: Where, lmax: int | None = None, *, curl: ArrayLike | None = None,
         mmax: int | None = None, error: float = 1e-7, threads: int | None = None, device: DeviceLike | None = None,
         return_report: bool = False) -> Any:
    """Returns the lensed sky of alm: I of T, [n_alm]; Q and U of E and B, [2, n_alm]; or I, Q, U of T, E, B, [3, n_alm]; with
    one more axis in front for a batch, in which T alone is [row, 1, n_alm].

    phi: alm of the lensing potential, [n]. where: a Grid, the nside of HEALPix, or points (theta, phi). lmax: of the sky, by
    default what the number of coefficients tells, with mmax = lmax. curl, error and what is meant by d and gamma: see
    `zonal.Lensing`, which keeps what depends on phi alone, for more than one call. device: where it computes, by default where
    alm are; those in a GPU's memory give an array of the same library there. With return_report it returns the values and a
    LensingReport. A Quantity gives a Quantity.

    >>> T, E, B = zonal.synalm({"TT": np.ones(33), "EE": np.ones(33)}, seed=1)
    >>> phi = 1e-4 * zonal.synalm(np.ones(33), seed=2)
    >>> zonal.lens([T, E, B], phi, 16, error=1e-5).shape
    (3, 3072)
    >>> bool(np.allclose(zonal.lens(T, 0 * phi, 16), zonal.alm2map(T, 16), atol=1e-5))
    True
    """
    index = gpu_index("alm", alm)
    kind = kind_of(alm)
    given = complex_input("alm", alm) if index is None else alm
    shape = tuple(given.shape)
    if len(shape) not in (1, 2, 3) or len(shape) > 1 and shape[-2] not in ((2, 3) if len(shape) == 2 else (1, 2, 3)):
        raise ValueError(f"alm: has shape {shape}: must be [n_alm] of T, [2, n_alm] of E and B, [3, n_alm] of T, E and B, "
                         "or [row, 1 to 3, n_alm]")
    components = 1 if len(shape) == 1 else shape[-2]
    if device is None:
        device = "cpu" if index is None else f"cuda:{index}"
    lensing = Lensing(phi, where, lmax_of(shape[-1], lmax, mmax), fields=("T", "EB", "TEB")[components - 1], curl=curl,
                      mmax=mmax, error=error, threads=threads, device=device)
    rows = given[:, 0] if components == 1 and len(shape) == 3 else given
    values, report = lensing.lens(rows, return_report=True) if return_report else (lensing.lens(rows), None)
    values = values.reshape(*shape[:-1], -1)
    if index is None:
        values = kind.numbers(values)
    return (values, report) if return_report else values


@checked
def inverse_deflection(phi: ArrayLike, where: Where, *, curl: ArrayLike | None = None, error: float = 1e-10,
                       max_iterations: int = 50, threads: int | None = None, return_report: bool = False) -> Any:
    """Returns D, [2, n], rad along e_theta and e_phi, at points x such that y = exp_x(D) is deflected to x by d(y): where light
    that comes from x is seen.

    phi, curl, where: as in `zonal.Lensing`; the pixels that are in no ring of a grid get 0. error: the way back misses its
    point by at most this share of the largest |d|; from 4e-14 to 0.1. Newton's iteration, from D = -d(x). With
    return_report it returns D and an InverseDeflectionReport.

    Raises ValueError where no D is found after max_iterations, which can be where d changes by 1 rad per rad or more and folds
    the sky; it names the point and that change.

    >>> phi = 1e-3 * zonal.synalm(np.ones(9), seed=2)
    >>> x = np.array([1.0]), np.array([2.0])
    >>> D = zonal.inverse_deflection(phi, x)
    >>> y = zonal.displace(*x, D)[:2]
    >>> back = zonal.displace(*y, zonal.gradient(phi, zonal.Grid(y[0], [1], 1.0, y[1])))[:2]
    >>> bool(np.allclose(back, x, atol=1e-11))
    True
    """
    potentials, lmax = _potentials(phi, curl)
    place = _where(where)
    inverse = np.zeros((2, number_of_values(where)))
    with arguments_as({"potentials": "phi"}):
        invert: Any = _core.invert_deflection  # at pixels or at points
        report = invert(potentials, lmax, *place, inverse, error, max_iterations, resolve(threads))
    return (inverse, report) if return_report else inverse


@checked
def displace(theta: ArrayLike, phi: ArrayLike, deflection: ArrayLike, *, threads: int | None = None) -> tuple[NDArray[np.float64], ...]:
    """Returns theta', phi' and gamma, rad, of the points that lie |d| away from theta, phi in the direction of d, each [n].

    theta, phi: [n], rad or Quantities of angles. deflection: d, [2, n], rad along e_theta and e_phi, at most 3. gamma = psi -
    psi', psi the angle from e_theta towards e_phi of the way at its beginning, psi' at its end: a field of spin s that is seen
    at theta, phi is e^{i s gamma} times that at theta', phi'. phi' is in as many turns as phi.

    >>> south, east, gamma = zonal.displace([np.pi / 2], [1.0], [[0.0], [0.5]])
    >>> float(round(south[0] - np.pi / 2, 12)), float(round(east[0], 12)), float(round(gamma[0], 12))
    (0.0, 1.5, 0.0)
    """
    where = _points(theta, phi)
    given = np.ascontiguousarray(doubles("deflection", deflection))
    if given.shape != (2, where[0].size):
        raise ValueError(f"deflection: has shape {given.shape}: must be (2, {where[0].size})")
    made, rotation = np.empty((2, where[0].size)), np.empty((2, where[0].size))
    _core.displace(*where, given, made[0], made[1], rotation, resolve(threads))
    return made[0], made[1], np.arctan2(rotation[1], rotation[0])


def _remade(potentials: NDArray[Any], where: Where, lmax: int, fields: Any, mmax: int | None, error: float,
            threads: int | None, device: str) -> Lensing:
    return Lensing(potentials[0], where, lmax, fields=fields, curl=potentials[1] if len(potentials) > 1 else None, mmax=mmax,
                   error=error, threads=threads, device=device)


def _made(where: tuple[Any, ...], *options: Any) -> _core.Lensing:
    make: Any = _core.Lensing  # at pixels or at points
    lensing: _core.Lensing = make(*where, *options)
    return lensing


def _potentials(phi: ArrayLike, curl: ArrayLike | None, device: str | None = None) -> tuple[NDArray[np.complex128], int]:
    """[1 or 2, n], and their lmax. They may lie in the memory of the device, if there is one."""
    rows = []
    for name, alm in (("phi", phi), ("curl", curl)):
        if alm is None and name == "curl":
            continue
        arrays = None if device is None else device_arrays(name, alm, device, None, waits=True)
        given = complex_input(name, alm) if arrays is None else arrays.copied(name, alm, COMPLEX)
        if given.ndim != 1:
            raise ValueError(f"{name}: has shape {given.shape}: must be [n_alm]")
        rows.append(given)
    if len({row.size for row in rows}) > 1:
        raise ValueError(f"curl: has {rows[1].size} coefficients: must have {rows[0].size}, as many as phi")
    return np.array(rows, np.complex128), lmax_of_potential(rows[0].size)


def lmax_of_potential(n: int) -> int:
    lmax = (math.isqrt(8 * n + 1) - 3) // 2
    if n == 0 or alm_size(lmax) != n:
        raise ValueError(f"phi: has {n} coefficients: must have (lmax + 1) (lmax + 2) / 2, all m for an lmax")
    return lmax


def number_of_values(where: Where) -> int:
    place = _where(where)
    return int(place[0].n_pixels if len(place) == 1 else place[0].size)


def _where(where: Where) -> tuple[Any, ...]:
    """A grid of C++, or theta and phi."""
    if isinstance(where, Grid):
        return (where._grid,)
    if isinstance(where, (tuple, list)):
        return points_of(where)
    return (Grid.healpix(integer("where", where))._grid,)


def _where_on(where: Where, device: str) -> tuple[tuple[Any, ...], Any]:
    """As _where, of points that may lie in the memory of the device; and what is kept of it."""
    if not isinstance(where, (tuple, list)) or all(gpu_index("where", one) is None for one in where):
        place = _where(where)
        return place, kept(where)
    _require_two(where)
    given, places = zip(*(places_on(name, one, device) for name, one in zip(("theta", "phi"), where)))
    return given, places


def _require_two(where: Any) -> None:
    if len(where) != 2:
        raise ValueError(f"where: has {len(where)} parts: must be a Grid, an nside, or (theta, phi)")


def points_of(where: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """theta and phi of a pair of them."""
    _require_two(where)
    return _points(*where)


def _points(theta: ArrayLike, phi: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    theta, phi = (np.ascontiguousarray(angles(name, values)) for name, values in (("theta", theta), ("phi", phi)))
    for name, values in (("theta", theta), ("phi", phi)):
        if values.ndim != 1:
            raise ValueError(f"{name}: has shape {values.shape}: must be [n_points]")
    if theta.size != phi.size:
        raise ValueError(f"theta and phi: lengths {theta.size} and {phi.size} differ")
    return theta, phi


__all__ = ["Lensing", "displace", "inverse_deflection", "lens"]
