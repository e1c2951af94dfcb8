"""Transforms at points that the ranks of a job have in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._angles import angles
from .._arrays import complex_input, integer, output, real, real_input
from ..sht import shape_of_result
from ._parts import complex_type, plain, real_type
from ._sht import SHT


class PointTransform:
    """A spherical harmonic transform between alm and values at any points: `zonal.PointTransform` over the ranks of a job.

    sht: a `zonal.mpi.SHT`, whose ranks, lmax, mmax and threads it has, and which says which alm are this rank's. theta, phi:
    [n_points], this rank's points, of which there may be none; in rad or Quantities of angles, 0 <= theta <= pi, phi of any
    number of turns. spin: by default that of sht. error: bound of max |error| / max |f| over the sphere, as in
    `zonal.PointTransform`.

    Each rank makes its orders' share of the samples that values are interpolated from, and has the samples of the rings that its points
    reach. So deal out points by theta: points of one band of the sky take memory for that band, and points all over the sky take samples
    of the whole. All ranks compute on their CPUs, also where sht works on GPUs. Results are those of one process to rounding. It keeps
    its scratch memory between calls.

    All ranks make it and call it together, with the same options. What is wrong on one rank is raised on all of them: ValueError
    for points and options outside their range, and TypeError.

    >>> from mpi4py import MPI
    >>> import zonal.mpi
    >>> sht = zonal.mpi.SHT(MPI.COMM_SELF, 16, lmax=32)
    >>> alm = sht.synalm(np.ones(33), seed=1)
    >>> points = zonal.mpi.PointTransform(sht, [0.5, 1.0], [0.1, 0.2], error=1e-9)
    >>> one = zonal.PointTransform([0.5, 1.0], [0.1, 0.2], lmax=32, error=1e-9)
    >>> bool(np.allclose(points.synthesize(alm), one.synthesize(alm), atol=1e-8))
    True
    """

    def __init__(self, sht: SHT, theta: ArrayLike, phi: ArrayLike, spin: int | None = None, error: float = 1e-10) -> None:
        if not isinstance(sht, SHT):
            raise TypeError(f"sht: must be a zonal.mpi.SHT, not {type(sht).__name__}")
        self._sht, self._job = sht, sht._job
        with self._job.together("a transform at points"):
            self._spin = sht.spin if spin is None else integer("spin", spin)
            if not 0 <= self._spin <= sht.lmax:
                raise ValueError(f"spin = {self._spin}: must be from 0 to lmax = {sht.lmax}")
            there, along = _places("theta", theta), _places("phi", phi)
            error = real("error", error)
        self._n_points = len(there)
        self._points = _core.RankPoints(sht._sky(), there, along, self._spin, error)

    @property
    def sht(self) -> SHT:
        return self._sht

    @property
    def spin(self) -> int:
        return self._spin

    @property
    def n_points(self) -> int:
        """Points of this rank: the length of the last axis of its values."""
        return self._n_points

    @property
    def bound(self) -> float:
        """At least max |error| / max |f| over the sphere, for every f; at most the error asked for."""
        return self._points.bound

    @property
    def n_samples(self) -> int:
        """Samples of a circle in theta and in phi that values are interpolated from."""
        return self._points.n_samples

    @property
    def width(self) -> int:
        """Samples that a value is a sum over, in each direction."""
        return self._points.width

    def synthesize(self, alm: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns the values at this rank's points, as `zonal.PointTransform.synthesize`.

        alm: this rank's part, [sht.n_alm] for spin 0, else [2, sht.n_alm], with one more axis in front for a batch. out: where to
        write the values.
        """
        with self._job.together("synthesize at points"):
            alm = complex_input("alm", plain("alm", alm))
            shape = shape_of_result("alm", alm, self._spin, self._sht.n_alm, self._n_points)
            out = output(out, shape, real_type(alm), alm)
        self._points.synthesize(alm, out)
        return out

    def adjoint(self, values: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns this rank's part of alm = S^T values, the sum over the points of all ranks, as `zonal.PointTransform.adjoint`.

        values: [n_points] for spin 0, else [2, n_points], with one more axis in front for a batch. out: where to write the alm.
        """
        with self._job.together("adjoint at points"):
            values = real_input("values", plain("values", values))
            shape = shape_of_result("values", values, self._spin, self._n_points, self._sht.n_alm)
            out = output(out, shape, complex_type(values), values)
        self._points.adjoint(values, out)
        return out

    def __repr__(self) -> str:
        return (f"<zonal.mpi.PointTransform of {self._n_points} points, lmax={self._sht.lmax}, spin={self._spin}: rank {self._job.rank} "
                f"of {self._job.size}>")


def _places(name: str, given: ArrayLike) -> NDArray[np.float64]:
    places = np.ascontiguousarray(angles(name, given), float)
    if places.ndim != 1:
        raise ValueError(f"{name}: has shape {places.shape}: must be [n_points]")
    return places
