"""Rotations of directions, maps and coefficients with the names, arguments and results of healpy.rotator."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import rotation, skies
from .._arrays import piecewise
from .._notes import warn
from .._pixels import UNSEEN
from ..io import quadrature_weights
from . import pixelfunc
from ._alm import rotate_alm
from ._checked import checked
from ._maps import is_ma, ma, maptype, mask_bad, stacked
from ._rotations import (
    NAMES,
    Matrix,
    angdist,
    check_coord,
    coordsys2euler_zyz,
    dir2vec,
    euler,
    euler_matrix_new,
    get_coordconv_matrix,
    get_rotation_matrix,
    normalise_coord,
    normalise_rot,
    normalize_vec,
    rotateDirection,
    rotateVector,
    vec2dir,
    vectors,
)
from ._sizes import npix2nside
from .pixelfunc import get_interp_val, pix2ang
from .utils.deprecation import note_verbose

coordname = {letter: name for letter, name in NAMES.items() if letter}
e2g = get_coordconv_matrix("EG")[0]
"""The matrix from ecliptic to galactic coordinates."""
e2q = get_coordconv_matrix("EC")[0]
"""The matrix from ecliptic to equatorial coordinates."""


class ConsistencyWarning(Warning):
    """A step of a Rotator starts in another coordinate system than the one in which the step before it ends."""


class Rotator:
    """A change of coordinates followed by a rotation, or a chain of such steps.

    rot: up to three angles, see get_rotation_matrix. coord: the coordinate systems from and to, see normalise_coord.
    For a chain both are sequences of the same length; the last step is done first. inv: inverts all steps, or each as a
    sequence says. deg: angles are in deg. eulertype: ZYX, X or Y.

    >>> import zonal.healpy as hp
    >>> hp.Rotator(coord=["G", "E"])(np.pi / 2, 0).round(4).tolist()
    [1.6674, -1.626]
    """

    @checked
    def __init__(self, rot: Any = None, coord: Any = None, inv: Any = None, deg: bool = True,
                 eulertype: str = "ZYX") -> None:
        rots, coords = _steps(rot, coord)
        inverses = [bool(inv)] * len(rots) if not isinstance(inv, (list, tuple)) else [bool(one) for one in inv]
        if len(inverses) != len(rots):
            raise ValueError(f"inv: has {len(inverses)} elements: must have {len(rots)}, as rot and coord")
        self._rots = [normalise_rot(one, deg) for one in rots]
        self._coords = [normalise_coord(one) for one in coords]
        self._invs = inverses
        self._eulertype = eulertype
        self._update()

    def _update(self) -> None:
        self._matrix = np.eye(3)
        for angles, systems, inverse in zip(self._rots, self._coords, self._invs):
            step = get_rotation_matrix(angles, eulertype=self._eulertype)[0] @ get_coordconv_matrix(systems)[0]
            self._matrix = self._matrix @ (step.T if inverse else step)
        ends = [systems[::-1] if inverse else systems for systems, inverse in zip(self._coords, self._invs)]
        self._consistent = all(later[0] == earlier[1] for later, earlier in zip(ends, ends[1:]))
        self._in, self._out = (ends[-1][0], ends[0][1]) if self._consistent else (None, None)
        if not self._consistent:
            warn([f"coord = {self._coords}: a step starts in another system than the step before it ends in"],
                 ConsistencyWarning)

    @property
    def mat(self) -> Matrix:
        """The matrix, [3, 3], by which vectors are multiplied."""
        return self._matrix

    @property
    def consistent(self) -> bool:
        """Whether each step starts in the coordinate system in which the one before it ends."""
        return self._consistent

    @property
    def coordin(self) -> str | None:
        """The letter of the coordinate system in which the rotation starts, or None."""
        return self._in

    @property
    def coordout(self) -> str | None:
        """The letter of the coordinate system in which the rotation ends, or None."""
        return self._out

    @property
    def coordinstr(self) -> str:
        """The name of the coordinate system in which the rotation starts, or an empty string."""
        return NAMES[self._in]

    @property
    def coordoutstr(self) -> str:
        """The name of the coordinate system in which the rotation ends, or an empty string."""
        return NAMES[self._out]

    @property
    def rots(self) -> list[NDArray[np.float64]]:
        """The three angles, rad, of each step."""
        return self._rots

    @property
    def coords(self) -> list[tuple[str | None, str | None]]:
        """The coordinate systems, from and to, of each step."""
        return self._coords

    @checked
    def do_rot(self, i: int) -> bool:
        """Whether step i rotates at all."""
        return not np.allclose(self._rots[i], 0, rtol=0, atol=1e-15)

    def __eq__(self, a: object) -> bool:
        return isinstance(a, Rotator) and (self._in, self._out) == (a._in, a._out) and \
            bool(np.allclose(self._matrix, a._matrix, rtol=0, atol=1e-14))

    __hash__ = None  # type: ignore[assignment]

    def __mul__(self, a: Any) -> Rotator:
        """Returns the rotation that does a first and then this one."""
        if not isinstance(a, Rotator):
            raise TypeError(f"a: must be a Rotator, not {type(a).__name__}")
        if a._eulertype.upper() != self._eulertype.upper():
            raise ValueError(f"eulertype: must be the same for both, not {self._eulertype} and {a._eulertype}")
        return self._with(self._rots + a._rots, self._coords + a._coords, self._invs + a._invs)

    def get_inverse(self) -> Rotator:
        """Returns the inverse rotation."""
        return self._with(self._rots[::-1], self._coords[::-1], [not inverse for inverse in self._invs[::-1]])

    def _with(self, rots: list[NDArray[np.float64]], coords: list[tuple[str | None, str | None]],
              invs: list[bool]) -> Rotator:
        other = Rotator(eulertype=self._eulertype)
        other._rots, other._coords, other._invs = list(rots), list(coords), list(invs)
        other._update()
        return other

    @checked
    def __call__(self, *args: Any, lonlat: bool = False, inv: bool = False) -> NDArray[np.float64]:
        """Returns vectors, [3, ...], or directions, [2, ...], after the rotation.

        Call it with x, y, z; with vectors, [3, ...]; with theta, phi; or with directions, [2, ...]. Components and
        angles broadcast. lonlat: arguments and results are longitude and latitude, deg. inv: applies the inverse.
        """
        before, are_angles = _vectors(args, lonlat)
        turned = (self._matrix.T if inv else self._matrix) @ before.reshape(3, -1)
        turned = turned.reshape(before.shape)
        return vec2dir(turned, lonlat=lonlat) if are_angles else turned

    @checked
    def I(self, *args: Any, lonlat: bool = False, inv: bool = False) -> NDArray[np.float64]:
        """Returns vectors or directions after the inverse rotation; the arguments are those of a call, but inv has no effect."""
        return self(*args, lonlat=lonlat, inv=True)

    @checked
    def angle_ref(self, *args: Any, lonlat: bool = False, inv: bool = False) -> Any:
        """Returns the angle, rad, that the rotation adds to a polarisation angle, which counts from south to east.

        The arguments are directions or vectors before the rotation, as for a call.
        """
        matrix = self._matrix.T if inv else self._matrix
        before, _ = _vectors(args, lonlat)
        turned = rotateVector(matrix, _south_and_east(before)[0])
        new_south, new_east = _south_and_east(rotateVector(matrix, before))
        return np.arctan2(np.sum(turned * new_east, axis=0), np.sum(turned * new_south, axis=0))[()]

    @checked
    def rotate_alm(self, alm: Any, lmax: int | None = None, mmax: int | None = None,
                   inplace: bool = False) -> NDArray[Any] | None:
        """Returns alm, [n_alm] or T, E, B, after the rotation. With inplace it overwrites alm and returns None.

        mmax: must be lmax.
        """
        lmax = skies.lmax_of(np.shape(alm)[-1], lmax, None)
        if mmax not in (None, lmax):
            raise ValueError(f"mmax = {mmax}: must be lmax, as a rotation mixes all m")
        if not inplace:
            return rotation.rotate_alm(np.asarray(alm), self._matrix, lmax)
        for row in [alm] if np.ndim(alm[0]) == 0 else alm:
            rotation.rotate_alm(row, self._matrix, lmax, inplace=True)
        return None

    @checked
    def rotate_map_alms(self, m: Any, use_pixel_weights: bool = True, lmax: int | None = None, mmax: int | None = None,
                        datapath: str | None = None, verbose: bool | None = None) -> NDArray[np.float64]:
        """Returns a map, or I, Q, U, after the rotation, by way of their alm. Bad pixels count as 0.

        lmax: by default 3 nside - 1. mmax: must be lmax. use_pixel_weights: the analysis uses pixel weights, which are
        read from the folder datapath or else computed, and does not iterate; otherwise it iterates three times.
        """
        note_verbose(verbose)
        rows = _rows(m, (1, 3))
        nside = npix2nside(rows.shape[-1])
        if mmax is not None and mmax != (3 * nside - 1 if lmax is None else lmax):
            raise ValueError(f"mmax = {mmax}: must be lmax, as a rotation mixes all m")
        weights = quadrature_weights(nside, _weights_file(nside, datapath)) if use_pixel_weights else None
        if len(rows) == 1:
            rows = rows[0]
        alm = skies.map2alm(rows, lmax, pol=rows.ndim == 2, pixel_weights=weights,
                            iterations=0 if use_pixel_weights else 3)
        return skies.alm2map(rotation.rotate_alm(alm, self._matrix, inplace=True), nside)

    def rotate_map_pixel(self, m: Any) -> Any:
        """Returns a map, or Q, U, or I, Q, U, after the rotation, by bilinear interpolation.

        In a masked array, masked and bad pixels add nothing to the sums, whose weights are not rescaled, as in
        get_interp_val; a pixel is masked if all that it is interpolated from are masked or bad. In other arrays, a
        pixel is UNSEEN if any of these is bad.
        """
        rows = _rows(m, (1, 2, 3))
        bad = piecewise(lambda part: mask_bad(part) | ~np.isfinite(part), np.float64, rows)
        filled = piecewise(lambda part, without: np.where(without, 0, part), np.float64, rows, bad)
        given = np.concatenate([filled, 1 - bad if is_ma(m) else bad])
        result = np.empty(rows.shape)
        piece = 1 << 18  # Ctrl-C is heard between pieces
        for start in range(0, rows.shape[-1], piece):
            pixels = np.arange(start, min(rows.shape[-1], start + piece))
            before = np.array(self.I(*pix2ang(npix2nside(rows.shape[-1]), pixels)))
            turned, share = get_interp_val(given, *before).reshape(2, len(rows), -1)
            lost = share == 0 if is_ma(m) else share > 0
            if len(rows) > 1:
                polarised = (turned[-2] + 1j * turned[-1]) * np.exp(2j * self.angle_ref(before))
                turned[-2:] = polarised.real, polarised.imag
                lost[-2:] = lost[-2] | lost[-1]
            turned[lost] = UNSEEN
            result[:, pixels] = turned
        result = result if len(rows) > 1 else result[0]
        return ma(result) if is_ma(m) else result

    def __repr__(self) -> str:
        return f"[ {', '.join(map(str, (self._coords, self._rots, self._invs)))} ]"


def _steps(rot: Any, coord: Any) -> tuple[list[Any], list[Any]]:
    """Returns the steps of a chain, which may be just one."""
    chained_rot = isinstance(rot, (list, tuple)) and any(isinstance(one, (list, tuple, np.ndarray)) for one in rot)
    chained_coord = isinstance(coord, (list, tuple)) and any(isinstance(one, (list, tuple)) for one in coord)
    if chained_coord and (rot is None or isinstance(rot, (list, tuple)) and all(one is None for one in rot)):
        rots: list[Any] = [None] * len(coord) if rot is None else list(rot)
        chained_rot = True
    else:
        rots = list(rot) if chained_rot else [rot]
    if chained_rot and coord is None:
        return rots, [None] * len(rots)
    coords = list(coord) if chained_coord else [coord]
    if chained_rot != chained_coord or len(rots) != len(coords):
        raise ValueError(f"rot = {rot}, coord = {coord}: must both be single, or sequences of the same length")
    return rots, coords


def _vectors(args: tuple[Any, ...], lonlat: bool) -> tuple[NDArray[np.float64], bool]:
    """Returns vectors, [3, ...], from the arguments of a call, and whether these were angles."""
    if len(args) not in (1, 2, 3):
        raise TypeError(f"{len(args)} arguments: must be one, two or three")
    if len(args) == 1 and (np.ndim(args[0]) == 0 or len(args[0]) not in (2, 3)):
        raise TypeError("the argument: must have two or three elements: angles or a vector")
    if len(args) == 2:
        return dir2vec(args[0], args[1], lonlat), True
    if len(args[0] if len(args) == 1 else args) == 2:
        return dir2vec(args[0], lonlat=lonlat), True
    if lonlat:
        raise ValueError("lonlat: is for angles, but vectors were given")
    return vectors(*args), False


def _south_and_east(v: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unit vectors in the directions of growing theta and phi at vectors [3, ...]; at the poles as for phi = 0."""
    x, y, z = v
    sine = np.hypot(x, y)
    phi = np.arctan2(y, x)
    cosine, sine = z / np.hypot(sine, z), sine / np.hypot(sine, z)
    return (np.array([cosine * np.cos(phi), cosine * np.sin(phi), -sine]),
            np.array([-np.sin(phi), np.cos(phi), np.zeros_like(phi)]))


def _rows(m: Any, numbers: tuple[int, ...]) -> NDArray[Any]:
    """Returns maps as [map, pixel], with masked pixels UNSEEN. Raises ValueError for other numbers of maps."""
    maptype(m)
    rows = np.atleast_2d(stacked(m))
    if len(rows) not in numbers:
        raise ValueError(f"m: has {len(rows)} maps: must have {' or '.join(map(str, numbers))}")
    return np.asarray(np.ma.filled(rows.astype(np.float64), UNSEEN))


def _weights_file(nside: int, datapath: str | None) -> str:
    """Returns the file of pixel weights in healpy's data folder; without a folder, the kind of weights to compute."""
    if datapath is None:
        return "pixel"
    return os.path.join(datapath, "full_weights", f"healpix_full_weights_nside_{nside:04d}.fits")


__all__ = [
    "ConsistencyWarning", "Rotator", "angdist", "check_coord", "coordname", "coordsys2euler_zyz", "dir2vec",
    "e2g", "e2q", "euler",
    "euler_matrix_new", "get_coordconv_matrix", "get_rotation_matrix", "normalise_coord", "normalise_rot",
    "normalize_vec", "pixelfunc", "rotate_alm", "rotateDirection", "rotateVector", "vec2dir",
]
