"""What detectors measure through beams that are not round."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._angles import AngleLike, angle, angles, width
from ._arrays import complex_input, real_input, required_finite, sequence
from ._checked import Large, checked
from ._devices import DeviceLike, resolve_device
from ._kinds import kind_of
from ._maps import MapRows, weights_of
from ._notes import warn
from ._progress import Progress, reporting
from ._threads import resolve
from .grid import Grid
from .skies import analysis_options, lmax_of

_Lines: TypeAlias = NDArray[np.float64]
_Where: TypeAlias = tuple[_Lines, _Lines, _Lines, _Lines | None]


class BeamConvolver:
    """A sky as detectors see it whose beams need not be round: its convolution with the beams in every direction and
    orientation, sampled once, which can be called at any pointings.

    sky: alm [n_alm] of T, or [3, n_alm] of T, E, B, with mmax = lmax. beam: alm of the same components of a beam that looks
    at the north pole, in the layout of mmax = kmax, [n_beam] or [3, n_beam], as `zonal.elliptical_beam` makes them; one more
    axis in front is of several detectors. They are those of the functions b_I, and b_Q and b_U along e_theta and e_phi, and
    a detector measures the integral of b_I I + b_Q Q + b_U U: a factor of 1/2 of power, and the efficiency of a polariser,
    belong to the beam. kmax: orders of the beams to use, by default all. error: bound of max |error| / max |signal|, the
    largest over all pointings, for every sky, from 1e-13 to 0.1. n_pointings: how many pointings it will be asked for,
    about, by default two for each coefficient of the sky: many are worth more samples. theta_range: (theta_1, theta_2),
    where pointings may lie, rad or angles: less sky takes less memory. threads: by default `zonal.threads()`.

    method: "harmonic" samples a field for each order of the beam; "displaced" fits the beam by up to eight radial kernels of one
    profile side by side along its long axis, and takes the sky smoothed with that profile at as many places for each pointing.
    The fit is of T alone, without a half-wave plate, and raises an error where it does not keep `error`, of max |signal| for every
    sky with the spectrum of this one. "auto" takes what costs less of those that keep the error; on a GPU that you name it is "harmonic".

    device: where it computes, as in `zonal.SHT`, within the same error. The samples are then in the GPU's memory; sky, angles and
    signals are arrays of the host. The method "displaced" is the CPU's. With device="auto" the costs on the CPU choose the method,
    and "harmonic" then takes the first GPU, if there is one.

    A pointing (theta, phi, psi) turns the beam by R_z(phi) R_y(theta) R_z(psi): its x axis, the meridian phi = 0 of the
    beam, then lies at the angle psi from e_theta (south) towards e_phi (east). hwp: the angle alpha of a half-wave plate
    from the beam's x axis, which takes Q + i U of the sky, in the Cartesian frame of the beam (Ludwig's third definition), to
    exp(4 i alpha) conj(Q + i U); None where there is no plate.

    It keeps samples of 2 kmax + 1 fields of each detector, less those of orders that the beam has not, or of one field where the
    method is displaced; the first call with hwp makes those behind the plate besides. Results do not depend on the number of threads. complex64 gives float32, and
    back; the arithmetic is double. Quantities give Quantities.

    >>> sky = zonal.synalm(np.ones(33), seed=1)
    >>> beam = zonal.elliptical_beam("8deg", 1.3, lmax=32)
    >>> signal = zonal.BeamConvolver(sky, beam)
    >>> signal([0.3, 1.5], [1, 4], psi=[0, 0.2]).shape, signal.kmax
    ((2,), 10)
    """

    __slots__ = ("__weakref__", "_beams", "_components", "_detectors", "_error", "_kind", "_lmax", "_type")

    @checked
    def __init__(self, sky: Any, beam: Any, kmax: int | None = None, error: float = 1e-6, *, n_pointings: Large = 0,
                 theta_range: tuple[AngleLike, AngleLike] | None = None, threads: int | None = None,
                 method: Literal["auto", "harmonic", "displaced"] = "auto", device: DeviceLike = "cpu") -> None:
        wanted = device if device == "auto" else resolve_device(device)
        self._kind = kind_of(sky)
        given = complex_input("sky", sky)
        beams = np.asarray(complex_input("beam", beam), np.complex128)
        if given.ndim not in (1, 2) or given.ndim == 2 and given.shape[0] != 3:
            raise ValueError(f"sky: has shape {given.shape}: must be [n_alm], or [3, n_alm] for T, E, B")
        several = beams.ndim == given.ndim + 1
        if beams.ndim not in (given.ndim, given.ndim + 1) or given.ndim == 2 and beams.shape[-2] != 3:
            wanted = "[n_beam]" if given.ndim == 1 else "[3, n_beam]"
            raise ValueError(f"beam: has shape {beams.shape}: must be {wanted} for a sky of shape {given.shape}, with one more "
                             "axis in front for several detectors")
        self._components, self._type = given.shape[:-1], given.real.dtype
        self._detectors = beams.shape[0] if several else None
        self._lmax, self._error = lmax_of(given.shape[-1], None, None, "sky"), error
        if kmax is not None and kmax < 0:
            raise ValueError(f"kmax = {kmax}: must be 0 or positive, or None for all")
        self._beams = _core.Beams(given.reshape(-1, given.shape[-1]), beams.reshape(-1, *(self._components or (1,)), beams.shape[-1]),
                                  self._lmax, -1 if kmax is None else kmax, error, n_pointings,
                                  None if theta_range is None else _range(theta_range), resolve(threads), method, wanted)

    @property
    def method(self) -> str:
        """How signals without a half-wave plate are made, "harmonic" or "displaced"."""
        return self._beams.method

    @property
    def kernels(self) -> int:
        """How many displaced kernels stand for a beam, the most of all detectors; 0 where the method is harmonic."""
        return self._beams.kernels

    @property
    def lmax(self) -> int:
        return self._lmax

    @property
    def kmax(self) -> int:
        """The highest order of the beams that is used."""
        return self._beams.kmax

    @property
    def bound(self) -> float:
        """At least max |error| / max |signal| without a half-wave plate; at most the error asked for. Of displaced kernels it is that
        of skies with the spectrum of this one."""
        return self._beams.bound

    @property
    def n_samples(self) -> int:
        """Samples of a circle in theta and in phi."""
        return self._beams.n_samples

    @property
    def width(self) -> int:
        """Samples that a signal is a sum over, in each direction and for each field."""
        return self._beams.width

    @property
    def n_bytes(self) -> int:
        """Memory that the samples take now, of the host or of the GPU."""
        return self._beams.bytes

    @property
    def threads(self) -> int:
        """Threads that a call uses at most."""
        return self._beams.threads

    @property
    def device(self) -> str:
        """Where it computes: "cpu", "cuda:0"."""
        return self._beams.device

    @checked
    def __call__(self, theta: ArrayLike, phi: ArrayLike, psi: ArrayLike, hwp: ArrayLike | None = None, *,
                 return_report: bool = False) -> Any:
        """Returns what the detector measures at these pointings, of the shape to which the angles broadcast; for several
        detectors [detector, pointing], where angles are [pointing] of all or [detector, pointing] of each. With
        return_report it returns a BeamReport besides.

        theta, phi, psi, hwp: rad or Quantities of angles, 0 <= theta <= pi, the others of any number of turns.
        """
        where, shape = self._pointings(theta, phi, psi, hwp)
        tod = np.empty((self._detectors or 1, int(np.prod(shape[1:] if self._detectors else shape))), self._type)
        report = self._beams.scan(*where, tod)
        signal = self._kind.numbers(tod.reshape(shape))
        return (signal, report) if return_report else signal

    def adjoint(self, tod: Any, theta: ArrayLike, phi: ArrayLike, psi: ArrayLike, hwp: ArrayLike | None = None) -> Any:
        """Returns the transpose, alm of the shape of the sky: <adjoint(tod), s> = sum of tod times what the detectors measure
        of s, for any sky s, with alm of m > 0 counted twice.

        tod: of the shape that a call at these pointings returns.
        """
        kind = kind_of(tod)
        given = real_input("tod", tod)
        where, shape = self._pointings(theta, phi, psi, hwp)
        if given.shape != shape:
            raise ValueError(f"tod: has shape {given.shape}: must be {shape}, to which theta, phi, psi and hwp broadcast")
        sky = np.empty((*self._components, (self._lmax + 1) * (self._lmax + 2) // 2),
                       np.complex128 if given.dtype == np.float64 else np.complex64)
        lines = np.ascontiguousarray(given).reshape(self._detectors or 1, -1)
        self._beams.adjoint(lines, *where, sky.reshape(-1, sky.shape[-1]))
        return kind.numbers(sky)

    def _pointings(self, theta: ArrayLike, phi: ArrayLike, psi: ArrayLike, hwp: ArrayLike | None) -> tuple[_Where, tuple[int, ...]]:
        """Angles as [1 or detector, pointing], and the shape of the signal."""
        if hwp is not None and not self._components:
            raise ValueError("hwp: a half-wave plate acts on polarisation: needs a sky and a beam of T, E and B")
        given = {"theta": theta, "phi": phi, "psi": psi} | ({} if hwp is None else {"hwp": hwp})
        named = {name: angles(name, values) for name, values in given.items()}
        shape = self._shape({name: values.shape for name, values in named.items()})
        lines = {name: self._lines(values, shape) for name, values in named.items()}
        return (lines["theta"], lines["phi"], lines["psi"], lines.get("hwp")), shape

    def _shape(self, shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
        several = self._detectors
        try:
            shape = np.broadcast_shapes(*shapes.values())
            if several is None:
                return shape
            shape = np.broadcast_shapes(shape, (several, 1))
            if shape[:-1] == (several,):
                return shape
        except ValueError:
            pass
        wanted = "one shape" if several is None else f"[{several}, pointing], of each detector, or to [pointing], of all"
        raise ValueError(f"{', '.join(shapes)}: have the shapes {', '.join(map(str, shapes.values()))}: must broadcast to {wanted}")

    def _lines(self, values: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
        if self._detectors is None:
            return np.ascontiguousarray(np.broadcast_to(values, shape)).reshape(1, -1)
        rows = values.shape[0] if values.ndim == 2 else 1
        return np.ascontiguousarray(np.broadcast_to(values, (rows, shape[1])))

    def __repr__(self) -> str:
        several = "" if self._detectors is None else f", detectors={self._detectors}"
        return f"<zonal.BeamConvolver: lmax={self._lmax}, kmax={self.kmax}{several}, error={self._error:g}>"


@checked
def elliptical_beam(fwhm: AngleLike, ellipticity: float = 1.0, *, lmax: int, orientation: AngleLike = 0.0,
                    polarization: AngleLike | None = None, efficiency: float = 1.0, error: float = 1e-6,
                    threads: int | None = None, return_report: bool = False) -> Any:
    """Returns the coefficients of an elliptical Gaussian beam that looks at the north pole, in the layout of mmax = kmax:
    [n_beam], or with a polarization [3, n_beam] of T, E and B.

    The beam is exp(-theta^2 / 2 (cos^2 x / s_1^2 + sin^2 x / s_2^2)), x the angle from its long axis, with an integral of 1.

    fwhm: geometric mean of those of its axes, rad, a text or a Quantity. ellipticity: the long one over the short one, from
    1 to 10. orientation: of the long axis, from the beam's x axis towards y. polarization: the angle of what a polariser
    passes, likewise, co-polar in the Cartesian frame of the beam (Ludwig's third definition); a narrow beam then measures
    I + efficiency (Q cos 2(psi + polarization) + U sin 2(psi + polarization)). efficiency: of the polariser, from 0 to 1.
    error: the norm of the orders left out over that of the beam, from 1e-14 to 0.5; a white sky's signal errs by as much.

    With return_report it returns a BeamOrders besides, of kmax and what is left out.

    >>> beam, orders = zonal.elliptical_beam("1deg", 1.2, lmax=200, return_report=True)
    >>> beam.size, orders.kmax
    (1773, 8)
    """
    turned = None if polarization is None else angle(polarization, "polarization")
    beam, orders = _core.elliptical_beam(width(fwhm, "fwhm"), ellipticity, lmax, angle(orientation, "orientation"), turned,
                                         efficiency, error, resolve(threads))
    alm = beam[0] if polarization is None else beam
    return (alm, orders) if return_report else alm


@checked
def smooth_with_beam(maps: ArrayLike, beam: Any, psi: AngleLike = 0.0, *, kmax: int | None = None, lmax: int | None = None,
                     grid: Grid | None = None, nest: bool | None = None, pol: bool | None = None, iterations: int | None = None,
                     tolerance: float | None = None, mask: ArrayLike | None = None, fill_masked: bool = False,
                     threads: int | None = None, device: DeviceLike = "cpu", progress: Progress = False) -> Any:
    """Returns maps smoothed with a beam that is not round and has one orientation at every pixel: what a detector measures whose
    beam's x axis lies at the angle psi from south towards east everywhere.

    maps: [pixel], or [row, pixel], a `zonal.Map` or a Quantity. beam: alm of lmax, as `zonal.BeamConvolver` takes them: with T alone,
    [n_beam], each row is smoothed as a field of spin 0; with T, E and B, [3, n_beam], the rows must be I, Q, U (pol=True), and the
    result is one map, [pixel]. psi: rad, or an angle. kmax: orders of the beam to use, by default all. lmax: of the analysis, by
    default 3 nside - 1, which is also the most. iterations, tolerance: of the analysis, as in `zonal.map2alm`. grid, nest, mask,
    device: as in `zonal.convolve`. UNSEEN and masked pixels count as 0 and are UNSEEN in the result, unless fill_masked.

    Each order of the beam takes a transform of its spin onto the pixels, without interpolation. The error is that of the analysis.

    >>> sky = zonal.synfast(np.ones(33), 16, seed=1)
    >>> beam = zonal.elliptical_beam("20deg", 1.5, lmax=32, orientation="90deg")
    >>> zonal.smooth_with_beam(sky, beam, lmax=32).shape
    (3072,)
    """
    given = MapRows(maps, grid, nest, pol)
    coefficients = np.asarray(complex_input("beam", beam), np.complex128)
    if coefficients.ndim not in (1, 2) or coefficients.ndim == 2 and len(coefficients) != 3:
        raise ValueError(f"beam: has shape {coefficients.shape}: must be [n_beam], or [3, n_beam] for T, E, B")
    if coefficients.ndim == 2 and given.fields != "iqu":
        raise ValueError("beam: has T, E and B: the maps must be the rows I, Q, U, with pol = True")
    if coefficients.ndim == 1 and given.fields != "scalars":
        raise ValueError("beam: has T alone: must have T, E and B for maps with Q and U, or else pol = False")
    for name, value in (("lmax", lmax), ("kmax", kmax)):
        if value is not None and value < 0:
            raise ValueError(f"{name} = {value}: must be 0 or more")
    how = analysis_options(iterations, tolerance)
    how.lmax = _core.default_smoothing_lmax(given.grid._grid) if lmax is None else lmax
    how.threads, how.device = resolve(threads), resolve_device(device)
    weights = weights_of("mask", mask, given.rows.shape[1], given.nest, coordinates=given.kind.coordinates)
    required_finite("maps", given.rows, weights)
    changes: dict[str, Any] = {}
    if coefficients.ndim == 2:
        given.is_single = True
        rows, changes = 1, {"pol": False}
    else:
        rows = len(given.rows)
    smoothed = np.empty((rows, given.rows.shape[1]))
    fields = _core.Maps(given.rows.astype(np.float64, copy=False), given.pixels, given.fields)
    with reporting(progress, "smoothing") as report:
        notes = _core.smooth_maps_with_beam(fields, how, np.atleast_2d(coefficients), angle(psi, "psi"), -1 if kmax is None else kmax,
                                            fill_masked, weights, smoothed, report)
    warn(notes)
    written = smoothed.astype(given.rows.dtype, copy=False)
    result = np.empty_like(written[0] if given.is_single else written) if given.nest_out else written[0] if given.is_single else written
    return given.give_back(written, result, **changes)


def _range(given: Any) -> tuple[float, float]:
    ends = sequence("theta_range", given)
    if len(ends) != 2:
        raise ValueError(f"theta_range: has {len(ends)} parts: must be (theta_1, theta_2)")
    return angle(ends[0], "theta_range[0]"), angle(ends[1], "theta_range[1]")


__all__ = ["BeamConvolver", "elliptical_beam", "smooth_with_beam"]
