"""Rotations of coefficients and maps, and between coordinate systems."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._angles import AngleLike, angle
from ._arrays import complex_input, doubles, integer, required_finite, sequence, shown
from ._checked import arguments_as, checked, within
from ._devices import DeviceLike, resolve_device
from ._kinds import Maps
from ._maps import MapRows
from ._notes import warn
from ._pixels import UNSEEN, required_grid
from ._progress import Progress, reporting
from ._threads import resolve
from ._units import quantity_unit, with_unit
from .grid import Grid
from .lensing import Where, points_of
from .sht import alm_size
from .skies import lmax_of
from .sky_map import Map

Rotation = tuple[AngleLike, AngleLike, AngleLike] | NDArray[Any] | str
"""Euler angles (psi, theta, phi), a matrix [3, 3], or two letters: "GC" takes galactic to equatorial (celestial)."""


def rotation_matrix(rotation: Rotation) -> NDArray[np.float64]:
    """Returns the matrix R, [3, 3], of a rotation: x' = R x.

    rotation: Euler angles (psi, theta, phi), R = R_z(phi) R_y(theta) R_z(psi), each counter-clockwise seen from the
    axis' end; a matrix; or two of the letters G (galactic), E (ecliptic) and C (equatorial, J2000): from and to.

    >>> zonal.rotation_matrix(("90deg", 0, 0)).round().tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return np.array(_core.rotation_matrix(_euler_angles(rotation)))


def euler_angles(rotation: Rotation) -> tuple[float, float, float]:
    """Returns the angles psi, theta, phi (rad) of a rotation, theta from 0 to pi. Where theta is 0 or pi, psi is 0.

    Raises ValueError for a matrix that is no rotation.
    """
    angles = _euler_angles(rotation)
    return angles.psi, angles.theta, angles.phi


@checked
def rotate_alm(alm: ArrayLike, rotation: Rotation, lmax: int | None = None, mmax: int | None = None, *,
               mmax_out: int | None = None, inplace: bool = False, threads: int | None = None,
               progress: Progress = False) -> NDArray[Any]:
    """Rotates fields by their alm, g(n) = f(R^-1 n), and returns the new ones.

    alm: [..., n_alm], any number of fields; T, E and B rotate alike, and Q and U turn with their axes. With the letters of
    two coordinate systems, alm in the first become those in the second.
    rotation: see `rotation_matrix`. lmax, mmax: those of alm; by default they follow from the number of coefficients, with
    mmax = lmax. mmax_out: the highest order of the result, by default lmax, as a rotation fills all orders; those above it
    are left out. inplace: overwrites alm, which must then be complex64 or complex128, and have mmax = lmax or the mmax_out
    that you name.

    >>> alm = np.zeros(3, complex)
    >>> alm[1] = 1  # a dipole along z, which is turned to x
    >>> zonal.rotate_alm(alm, (0, "90deg", 0)).round(3).tolist()
    [0j, 0j, (-0.707+0j)]
    >>> zonal.rotate_alm(alm[:2], (0, "90deg", 0), mmax=0).round(3).tolist()
    [0j, 0j, (-0.707+0j)]
    """
    values = complex_input("alm", alm)
    if values.ndim == 0:
        raise ValueError("alm: has shape (): must be [..., n_alm]")
    lmax = lmax_of(values.shape[-1], lmax, mmax)
    mmax = lmax if mmax is None else mmax
    if inplace and not (values is alm and values.flags.writeable and (values.ndim < 3 or values.flags.c_contiguous)):
        raise ValueError("alm: must be a writeable array of complex64 or complex128, with a contiguous last axis, for "
                         "inplace = True")
    if inplace and mmax != (lmax if mmax_out is None else mmax_out):
        raise ValueError(f"mmax = {mmax}: must be {'lmax' if mmax_out is None else 'mmax_out'} = "
                         f"{lmax if mmax_out is None else mmax_out} for inplace = True")
    with arguments_as({"mmax": "mmax_out"}):
        n_out = alm_size(lmax, mmax_out)
    rows = values[None] if values.ndim == 1 else values if values.ndim == 2 else values.reshape(-1, values.shape[-1])
    rotated = rows if inplace else np.empty((len(rows), n_out), rows.dtype)
    with reporting(progress, "rotation") as report:
        _core.rotate_alm(lmax, mmax, rows, _euler_angles(rotation), lmax if mmax_out is None else mmax_out, rotated,
                         resolve(threads), report)
    return with_unit(values if inplace else rotated.reshape(*values.shape[:-1], n_out), quantity_unit(alm))


@overload
def rotate_map(maps: Maps, rotation: Rotation, *, pol: bool | None = None, nest: bool | None = None,
               lmax: int | None = None, iterations: int = 3, by: Literal["alm", "points"] = "alm", error: float = 1e-10,
               fill_masked: bool = False, threads: int | None = None, device: DeviceLike = "cpu",
               progress: Progress = False) -> Maps: ...
@overload
def rotate_map(maps: ArrayLike, rotation: Rotation, *, pol: bool | None = None, nest: bool | None = None,
               lmax: int | None = None, iterations: int = 3, by: Literal["alm", "points"] = "alm", error: float = 1e-10,
               fill_masked: bool = False, threads: int | None = None, device: DeviceLike = "cpu",
               progress: Progress = False) -> Any: ...
@checked
def rotate_map(maps: ArrayLike, rotation: Rotation, *, pol: bool | None = None, nest: bool | None = None,
               lmax: int | None = None, iterations: int = 3, by: Literal["alm", "points"] = "alm", error: float = 1e-10,
               fill_masked: bool = False, threads: int | None = None, device: DeviceLike = "cpu",
               progress: Progress = False) -> Any:
    """Turns HEALPix maps through their alm, g(n) = f(R^-1 n); with pol=True, Q and U turn with their axes.

    maps: [pixel] or [row, pixel], the rows I, Q, U or Q, U for pol=True. rotation: see `rotation_matrix`. lmax: by
    default 3 nside - 1. iterations: of the analysis. by: "alm" turns the alm, O(lmax^3); "points" interpolates the field where
    pixels come from, within error, a bound of max |error| / max |f|. A pixel is UNSEEN where the pixel that it comes from is,
    unless fill_masked. device: as in `zonal.convolve`. A `zonal.Map` or a Quantity gives the same kind. A Map must be in the
    coordinates of the first letter and comes in those of the second; after other rotations its coordinates are unknown.
    `resample` does it on any grid, and reports what it reached.

    >>> sky = zonal.Map(np.ones(48), unit="mK", coordinates="galactic")
    >>> zonal.rotate_map(sky, "GC").coordinates
    'equatorial'
    """
    given = MapRows(maps, None, nest, pol)
    return _resampled(given, given.grid, rotation, by, error, lmax, iterations, 0, fill_masked, threads, device, progress, "rotation")[0]


@checked
def resample(maps: Any, where: Where, *, grid: Grid | None = None, rotation: Rotation | None = None,
             by: Literal["alm", "points"] = "alm", pol: bool | None = None, nest: bool | None = None, lmax: int | None = None,
             iterations: int | None = None, tolerance: float | None = None, error: float = 1e-10, fill_masked: bool = False,
             threads: int | None = None, device: DeviceLike = "cpu", progress: Progress = False, return_report: bool = False) -> Any:
    """Brings maps onto other pixels, or to points, turned if you like: their alm are found, and the field that these are is
    evaluated where it is wanted. With pol=True, Q and U turn with their axes.

    maps: [pixel] or [row, pixel], the rows I, Q, U or Q, U for pol=True. grid: that they are on, by default HEALPix or what a
    Map says. where: a Grid, the nside of HEALPix, or points (theta, phi), [n_points] each, rad or Quantities of angles, where
    Q and U are along e_theta and e_phi. rotation: see `rotation_matrix`; it comes first, g(n) = f(R^-1 n).

    lmax: by default the lesser of what both grids hold, at points that of the maps' grid. iterations: of the analysis, by
    default 3 on HEALPix; on equiangular and Gauss-Legendre rings it is exact without. tolerance: instead, as in
    `zonal.SHT.analyze`. by: how a rotation onto a grid goes, see `rotate_map`. error: bound of max |error| / max |f| of what is
    interpolated, at points and by="points". Values that come from UNSEEN pixels are UNSEEN, unless fill_masked.

    A Map gives a Map on a grid, and numbers at points; a Quantity gives a Quantity. With return_report it returns the result and
    a ResamplingReport, whose `unresolved` is the share of the maps that their alm do not make up; without, what it notes becomes
    a ZonalWarning.

    >>> alm = zonal.synalm(np.ones(13), seed=1)
    >>> gauss = zonal.SHT(zonal.Grid.gauss_legendre(13, 25), 12).synthesize(alm)
    >>> sky, report = zonal.resample(gauss, 8, grid=zonal.Grid.gauss_legendre(13, 25), return_report=True)
    >>> report.lmax, report.exact, report.unresolved < 1e-13, bool(np.allclose(sky, zonal.alm2map(alm, 8)))
    (12, True, True, True)
    >>> zonal.resample(sky, ([0.0, np.pi / 2], [0.0, 1.0]), lmax=12).shape
    (2,)
    """
    given = MapRows(maps, None if grid is None else required_grid("grid", grid), nest, pol, any_grid=True)
    to = where if isinstance(where, (Grid, tuple, list)) else Grid.healpix(integer("where", where))
    if iterations is not None and tolerance is not None:
        raise ValueError("iterations and tolerance: exclude each other")
    steps = 0 if tolerance is not None else (3 if given.grid.nside else 0) if iterations is None else iterations
    result, report = _resampled(given, to, rotation, by, error, lmax, steps, tolerance or 0, fill_masked, threads, device, progress,
                                "resampling", not return_report)
    return (result, report) if return_report else result


def _resampled(given: MapRows, where: Any, rotation: Rotation | None, by: str, error: float, lmax: int | None, iterations: int,
               tolerance: float, fill_masked: bool, threads: int | None, device: DeviceLike, progress: Progress, task: str,
               notes: bool = True) -> tuple[Any, Any]:
    """The maps, of the kind given, and the report, whose note becomes a warning."""
    if by not in ("alm", "points"):
        raise ValueError(f"by = {by!r}: must be 'alm' or 'points'")
    coordinates = "" if rotation is None else _turned_coordinates(given.kind.map, rotation)
    if lmax is not None and lmax < 0:
        raise ValueError(f"lmax = {lmax}: must be 0 or more")
    how = _core.MapAnalysisOptions()
    how.lmax = -1 if lmax is None else lmax
    how.iterations, how.tolerance, how.threads, how.device = iterations, tolerance, resolve(threads), resolve_device(device)
    required_finite("maps", given.rows)
    options = _core.ResamplingOptions(how, None if rotation is None else _euler_angles(rotation), by, error, fill_masked)
    rows = np.ascontiguousarray(given.rows, np.float64)
    with reporting(progress, task) as told:
        if isinstance(where, Grid):
            result, written = given.new_output(None, where)
            made = np.full(written.shape, UNSEEN)
            report = _core.resample(given.grid._grid, rows, given.fields, where._grid, made, options, told)
            written[...] = made
            given_back = given.give_back(written, result, **({} if rotation is None else {"coordinates": coordinates}))
        else:
            theta, phi = points_of(where)
            made = np.empty((len(rows), theta.size))
            report = _core.resample_at(given.grid._grid, rows, given.fields, theta, phi, made, options, told)
            values = made.astype(given.rows.dtype, copy=False)
            given_back = given.kind.numbers(values[0] if given.is_single else values)
    if notes:
        warn([report.note] if report.note else [])
    return given_back, report


def _turned_coordinates(given: Map | None, rotation: Rotation) -> str:
    """The coordinates of a Map after a rotation."""
    if given is None or not isinstance(rotation, str) or len(rotation) != 2:
        return "unknown"
    first, second = (str(_core.parse_coordinate_system(letter).name) for letter in rotation)
    if given.coordinates not in ("unknown", first):
        raise ValueError(f"rotation = {rotation!r}: begins in {first} coordinates, but the map has {given.coordinates} ones")
    return second


def _euler_angles(rotation: Rotation) -> Any:
    if isinstance(rotation, str):
        if len(rotation) != 2:
            raise ValueError(f"rotation = {rotation!r}: must be two letters, such as 'GC'")
        with within("rotation"):
            systems = [_core.parse_coordinate_system(letter) for letter in rotation]
        return _core.euler_angles(_core.coordinate_rotation(*systems))
    angles = sequence("rotation", rotation) if np.iterable(rotation) else []
    if len(angles) == 3 and all(isinstance(row, (list, tuple, np.ndarray)) and np.shape(row) == (3,) for row in angles):
        return _core.euler_angles(doubles("rotation", rotation).tolist())
    if len(angles) != 3:
        raise ValueError(f"rotation = {shown(rotation)}: must be three Euler angles, a 3 x 3 matrix, or two letters")
    with within("rotation"):
        return _core.EulerAngles(*(angle(value, name) for value, name in zip(angles, ("psi", "theta", "phi"))))


__all__ = ["euler_angles", "resample", "rotate_alm", "rotate_map", "rotation_matrix"]
