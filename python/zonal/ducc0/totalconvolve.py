"""What detectors measure through beams that are not round, under the names of ducc0.totalconvolve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._checked import arguments_as, checked, invalid
from .._names import no_attribute
from ..beams import BeamConvolver
from ..sht import alm_size
from ._arguments import partner, threads_of, written

_NAMES = {"error": "epsilon", "n_pointings": "npoints", "row": "itheta0", "column": "iphi0", "k": "mbeam", "sky": "slm", "beam": "blm"}
_MANY = 1000000000


class ConvolverPlan:
    """The steps between sky and signal, by cubes of samples [Npsi(), Ntheta(), Nphi()] that the caller keeps.

    lmax: highest degree of sky and beam. kmax: highest order of the beam, from 0 to lmax. npoints: how many pointings there will be, about.
    epsilon: bound of max |error| / max |signal|, from 1e-13 to 0.1. sigma_min, sigma_max, or sigma: how much ducc0 may oversample; Zonal
    chooses what is quickest within epsilon. nthreads: 0 for as many as `zonal.threads()` says.

    A cube has a plane for k = 0 and two for each k > 0, so that Npsi() = 2 kmax + 1, and cubes need no step before they are
    interpolated. `Interpolator` does all that in one call.

    >>> plan = zonal.ducc0.totalconvolve.ConvolverPlan(lmax=8, kmax=1, epsilon=1e-6)
    >>> plan.Npsi(), plan.getPatchInfo(0, np.pi, 0, 2 * np.pi) == [0, plan.Ntheta(), 0, plan.Nphi()]
    (3, True)
    """

    __slots__ = ("_cube", "_kmax", "_lmax")
    _type: ClassVar[Any] = np.float64

    @checked
    def __init__(self, lmax: int, kmax: int, npoints: int = _MANY, sigma_min: float = 1.1, sigma_max: float = 2.6,
                 epsilon: float | None = None, nthreads: int = 0, *, sigma: float | None = None) -> None:
        self._lmax, self._kmax = lmax, kmax
        self._cube = _cube(lmax, kmax, npoints, sigma_min, sigma_max, epsilon, nthreads, sigma)

    def Ntheta(self) -> int:
        """Returns the rows of a cube, from north to south, with copies of some beyond the poles."""
        return int(self._cube.n_rows)

    def Nphi(self) -> int:
        """Returns the columns of a cube, from west to east, with copies of some beyond a turn."""
        return int(self._cube.n_columns)

    def Npsi(self) -> int:
        """Returns the planes of a cube, 2 kmax + 1."""
        return int(self._cube.n_planes)

    @checked
    def getPatchInfo(self, theta_lo: float, theta_hi: float, phi_lo: float, phi_hi: float) -> list[int]:
        """Returns (itheta_lo, itheta_hi, iphi_lo, iphi_hi), so that cube[:, itheta_lo:itheta_hi, iphi_lo:iphi_hi] is what pointings
        within these borders (rad, from 0 to pi and from 0 to 2 pi) need."""
        return list(self._cube.patch(theta_lo, theta_hi, phi_lo, phi_hi))

    def getPlane(self, slm: NDArray[Any], blm: NDArray[Any], mbeam: int, planes: NDArray[Any]) -> None:
        """Makes the planes of the beam's order mbeam, (1 or 2, Ntheta(), Nphi()), of a sky and a beam: ([ncomp,] nalm)."""
        sky, beam = self._alm("slm", slm, self._lmax), self._alm("blm", blm, self._kmax)
        with arguments_as(_NAMES):
            self._cube.make_planes(sky, beam, mbeam, self._planes("planes", planes, mbeam))

    def updateSlm(self, slm: NDArray[Any], blm: NDArray[Any], mbeam: int, planes: NDArray[Any]) -> None:
        """Adds to a sky, ([ncomp,] nalm), what the transpose of `getPlane` makes of the planes."""
        sky, beam = self._alm("slm", slm, self._lmax), self._alm("blm", blm, self._kmax)
        written("slm", slm, slm.shape, sky.dtype)
        with arguments_as(_NAMES):
            self._cube.add_sky(self._planes("planes", planes, mbeam), beam, mbeam, sky)

    def prepPsi(self, subcube: NDArray[Any]) -> None:
        """Checks the shape of a part of a cube, whose planes stay as they are."""
        self._part("subcube", subcube)

    def deprepPsi(self, subcube: NDArray[Any]) -> None:
        """Checks the shape of a part of a cube, whose planes stay as they are."""
        self._part("subcube", subcube)

    def interpol(self, cube: NDArray[Any], itheta0: int, iphi0: int, theta: NDArray[Any], phi: NDArray[Any], psi: NDArray[Any],
                 signal: NDArray[Any]) -> None:
        """Writes to signal, [nptg], what is measured at the pointings theta, phi, psi, rad, [nptg].

        cube: (Npsi(), :, :), the part of a cube that begins at row itheta0 and column iphi0 and has all that the pointings need.
        """
        angles = self._angles(theta, phi, psi)
        with arguments_as(_NAMES):
            self._cube.scan(self._part("cube", cube), itheta0, iphi0, *angles, written("signal", signal, angles[0].shape, self._type))

    def deinterpol(self, cube: NDArray[Any], itheta0: int, iphi0: int, theta: NDArray[Any], phi: NDArray[Any], psi: NDArray[Any],
                   signal: NDArray[Any]) -> None:
        """Adds to a part of a cube what the transpose of `interpol` makes of signal, [nptg]. Arguments are those of `interpol`."""
        angles = self._angles(theta, phi, psi)
        part = written("cube", cube, np.shape(cube), self._type)
        with arguments_as(_NAMES):
            self._cube.spread(_of_type("signal", signal, self._type, 1), itheta0, iphi0, *angles, self._part("cube", part))

    def _alm(self, name: str, alm: Any, mmax: int) -> NDArray[Any]:
        values = _of_type(name, alm, partner(np.dtype(self._type)))
        if values.ndim not in (1, 2) or values.shape[-1] != alm_size(self._lmax, mmax):
            raise invalid(name, None, f"has shape {values.shape}: must be ([ncomp,] {alm_size(self._lmax, mmax)})")
        return values.reshape(1, -1) if values.ndim == 1 else values

    def _planes(self, name: str, planes: Any, mbeam: int) -> NDArray[Any]:
        values = _of_type(name, planes, self._type, 3)
        shape = (1 if mbeam == 0 else 2, self.Ntheta(), self.Nphi())
        if values.shape != shape:
            raise invalid(name, None, f"has shape {values.shape}: must be {shape} for mbeam = {mbeam}")
        return values

    def _part(self, name: str, part: Any) -> NDArray[Any]:
        values = _of_type(name, part, self._type, 3)
        if len(values) != self.Npsi():
            raise invalid(name, None, f"has shape {values.shape}: must be ({self.Npsi()}, :, :)")
        return values

    def _angles(self, *angles: Any) -> list[NDArray[np.float64]]:
        lines: list[NDArray[np.float64]] = []
        for name, values in zip(("theta", "phi", "psi"), angles, strict=True):
            line = np.asarray(values)
            if line.ndim != 1 or line.dtype not in (np.float32, np.float64) or lines and len(line) != len(lines[0]):
                raise invalid(name, None, f"has shape {line.shape} and type {line.dtype}: must be [nptg], as theta, of float32 or float64")
            lines.append(line.astype(np.float64))
        return lines


class ConvolverPlan_f(ConvolverPlan):
    """`ConvolverPlan` of arrays in single precision; the arithmetic is double."""

    __slots__ = ()
    _type = np.float32


class Interpolator:
    """What a detector measures of a sky, or its transpose.

    For signals: sky: (ncomp, nalm), beam: (ncomp, nalm_beam), ncomp 1 or 3 (T, or T, E, B). separate: whether to keep what the components
    contribute apart. For the transpose, without these: ncomp, 1 or 3, how many signals there are. lmax, kmax and other arguments:
    as of `ConvolverPlan`; ofactor is its sigma.

    >>> sky, beam = np.zeros((1, 6), complex), np.zeros((1, 3), complex)
    >>> sky[0, 0] = beam[0, 0] = 1
    >>> signal = zonal.ducc0.totalconvolve.Interpolator(sky=sky, beam=beam, separate=False, lmax=2, kmax=0, epsilon=1e-9)
    >>> signal.interpol(np.array([[0.5, 1, 2]])).round(6)
    array([[1.]])
    """

    __slots__ = ("_convolver", "_cube", "_cubes", "_kmax", "_lmax")
    _type: ClassVar[Any] = np.float64

    @overload
    def __init__(self, sky: NDArray[Any], beam: NDArray[Any], separate: bool, lmax: int, kmax: int, npoints: int = ...,
                 sigma_min: float = ..., sigma_max: float = ..., epsilon: float | None = ..., nthreads: int = ..., *,
                 ofactor: float | None = ...) -> None:
        ...

    @overload
    def __init__(self, lmax: int, kmax: int, ncomp: int, npoints: int = ..., sigma_min: float = ..., sigma_max: float = ...,
                 epsilon: float | None = ..., nthreads: int = ..., *, ofactor: float | None = ...) -> None:
        ...

    def __init__(self, *arguments: Any, **options: Any) -> None:
        if "sky" in options or arguments and np.ndim(arguments[0]) > 0:
            self._begin(*arguments, **options)
        else:
            self._begin_adjoint(*arguments, **options)

    @checked
    def _begin(self, sky: NDArray[Any], beam: NDArray[Any], separate: bool, lmax: int, kmax: int, npoints: int = _MANY,
               sigma_min: float = 1.1, sigma_max: float = 2.6, epsilon: float | None = None, nthreads: int = 0, *,
               ofactor: float | None = None) -> None:
        self._lmax, self._kmax = lmax, kmax
        error = _checked_epsilon(lmax, kmax, npoints, sigma_min, sigma_max, epsilon, ofactor, "ofactor")
        seen, through = self._alm("sky", sky, lmax), self._alm("beam", beam, kmax)
        if len(seen) != len(through) or len(seen) not in (1, 3):
            raise invalid("sky", None, f"and beam have {len(seen)} and {len(through)} components: must both have 1 or 3")
        if len(seen) == 1:
            seen, beams = seen[0], through
        else:
            # Components that are kept apart are detectors that see one of them each.
            beams = np.eye(3)[:, :, None] * through[None] if separate else through[None]
        with arguments_as(_NAMES | {"sky": "sky", "beam": "beam"}):
            self._convolver: BeamConvolver | None = BeamConvolver(seen, beams, error=error, n_pointings=npoints,
                                                                  threads=threads_of(nthreads))

    @checked
    def _begin_adjoint(self, lmax: int, kmax: int, ncomp: int, npoints: int = _MANY, sigma_min: float = 1.1, sigma_max: float = 2.6,
                       epsilon: float | None = None, nthreads: int = 0, *, ofactor: float | None = None) -> None:
        self._lmax, self._kmax, self._convolver = lmax, kmax, None
        if ncomp not in (1, 3):
            raise invalid("ncomp", ncomp, "must be 1 or 3")
        self._cube = _cube(lmax, kmax, npoints, sigma_min, sigma_max, epsilon, nthreads, ofactor, "ofactor")
        self._cubes = np.zeros((ncomp, self._cube.n_planes, self._cube.n_rows, self._cube.n_columns))

    def interpol(self, ptg: NDArray[Any]) -> NDArray[Any]:
        """Returns what is measured at these pointings, (1, N), or (ncomp, N) of components apart.

        ptg: (N, 3), float32 or float64, theta (from 0 to pi), phi and psi (of any number of turns), rad.
        """
        if self._convolver is None:
            raise invalid("interpol", None, "was made without a sky: must be made with sky and beam")
        signal: NDArray[Any] = self._convolver(*_pointings(ptg).T)
        return signal.reshape(-1, len(ptg))

    def deinterpol(self, ptg: NDArray[Any], data: NDArray[Any]) -> None:
        """Spreads signals, (ncomp, N), at pointings, as of `interpol`, for `getSlm`."""
        self._require_adjoint("deinterpol")
        where = np.ascontiguousarray(_pointings(ptg).T, np.float64)
        signals = _of_type("data", data, self._type, 2)
        if signals.shape != (len(self._cubes), len(ptg)):
            raise invalid("data", None, f"has shape {signals.shape}: must be {(len(self._cubes), len(ptg))}")
        for signal, cube in zip(signals, self._cubes, strict=True):
            self._cube.spread(signal.astype(np.float64), 0, 0, *where, cube)

    def getSlm(self, beam: NDArray[Any]) -> NDArray[Any]:
        """Returns the sky, (nbeam, nalm), that the transpose of `interpol` makes of all that was spread.

        beam: (nbeam, nalm_beam); nbeam is ncomp, or any where ncomp is 1.
        """
        self._require_adjoint("getSlm")
        through = self._alm("beam", beam, self._kmax)
        if len(self._cubes) not in (1, len(through)):
            raise invalid("beam", None, f"has {len(through)} components: must have {len(self._cubes)}, ncomp")
        sky = np.zeros((len(through), alm_size(self._lmax)), np.complex128)
        cubes = np.broadcast_to(self._cubes, (len(through), *self._cubes.shape[1:]))
        for i, cube in enumerate(cubes):
            for k in range(self._kmax + 1):
                planes = cube[:1] if k == 0 else cube[2 * k - 1:2 * k + 1]
                self._cube.add_sky(planes, through[i:i + 1].astype(np.complex128), k, sky[i:i + 1])
        return sky.astype(partner(np.dtype(self._type)))

    def _alm(self, name: str, alm: Any, mmax: int) -> NDArray[Any]:
        values = _of_type(name, alm, partner(np.dtype(self._type)), 2)
        if values.shape[1] != alm_size(self._lmax, mmax):
            raise invalid(name, None, f"has shape {values.shape}: must be (ncomp, {alm_size(self._lmax, mmax)})")
        return values

    def _require_adjoint(self, name: str) -> None:
        if self._convolver is not None:
            raise invalid(name, None, "was made with a sky: must be made with ncomp in the place of sky, beam and separate")


class Interpolator_f(Interpolator):
    """`Interpolator` of arrays in single precision; the arithmetic is double."""

    __slots__ = ()
    _type = np.float32


def _checked_epsilon(lmax: int, kmax: int, npoints: int, sigma_min: float, sigma_max: float, epsilon: float | None,
                     sigma: float | None, sigma_name: str) -> float:
    if lmax < 0:
        raise invalid("lmax", lmax, "must be 0 or more")
    if not 0 <= kmax <= lmax:
        raise invalid("kmax", kmax, f"must be from 0 to lmax = {lmax}")
    if npoints < 0:
        raise invalid("npoints", npoints, "must be 0 or more")
    if not 1 < sigma_min < sigma_max:
        raise invalid("sigma_min", sigma_min, f"must be above 1 and below sigma_max = {sigma_max}")
    if sigma is not None and not sigma > 1:
        raise invalid(sigma_name, sigma, "must be above 1")
    if epsilon is None:
        raise TypeError("epsilon: must be given")
    return epsilon


def _cube(lmax: int, kmax: int, npoints: int, sigma_min: float, sigma_max: float, epsilon: float | None, nthreads: int,
          sigma: float | None, sigma_name: str = "sigma") -> Any:
    error = _checked_epsilon(lmax, kmax, npoints, sigma_min, sigma_max, epsilon, sigma, sigma_name)
    with arguments_as(_NAMES):
        return _core.BeamCube(lmax, kmax, error, npoints, threads_of(nthreads))


def _of_type(name: str, values: Any, dtype: Any, ndim: int | None = None) -> NDArray[Any]:
    """The array as it is, which must be of this type."""
    if not isinstance(values, np.ndarray) or values.dtype != dtype:
        found = f"an array of {values.dtype}" if isinstance(values, np.ndarray) else type(values).__name__
        raise TypeError(f"{name} = {found}: must be a NumPy array of {np.dtype(dtype)}")
    if ndim is not None and values.ndim != ndim:
        raise invalid(name, None, f"has shape {values.shape}: must have {ndim} axes")
    return values


def _pointings(ptg: Any) -> NDArray[np.float64]:
    where = np.asarray(ptg)
    if where.dtype not in (np.float32, np.float64) or where.ndim != 2 or where.shape[1] != 3:
        raise invalid("ptg", None, f"has shape {where.shape} and type {where.dtype}: must be (N, 3) of float32 or float64")
    return where.astype(np.float64)


__all__ = ["ConvolverPlan", "ConvolverPlan_f", "Interpolator", "Interpolator_f"]

if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        raise no_attribute("zonal.ducc0.totalconvolve", name, __all__)
