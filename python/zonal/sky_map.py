"""Maps that know their pixels, unit, coordinates and columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, _units
from ._arrays import PIECE, real_input
from ._checked import checked, within
from ._map_arithmetic import MapArithmetic, scaled
from ._pixels import UNSEEN, grid_of_length, is_unseen, own_pixels, reordered, required_grid
from .grid import Grid

Card = tuple[str, bool | int | float | str, str]
"""Key, value and comment of a card of a FITS header."""


class Map(MapArithmetic):
    """A map of the sky, or some on the same pixels, with what their numbers mean.

    values: [pixel], or [row, pixel], such as I, Q, U; float32 stays float32. They are not copied where the type allows.
    A Map gives what is not given here, so that zonal.Map(map, unit="uK_CMB") says more of it; a Quantity gives its unit.
    grid: the pixels, by default HEALPix of the nside that their number tells. nest: the values are in nest order.
    unit: a text, such as "uK_CMB", "mK,thermodynamic" or "MJy/sr", or an astropy unit; or one for each row. Texts are
    kept as they are, and astropy is imported only when a unit has to be converted.
    coordinates: galactic, ecliptic or equatorial, or their letters G, E and C. columns: the rows' names, such as "IQU".
    pol: the rows begin with I, Q, U, or are Q, U; by default their names say so.
    pixels: the numbers of the pixels, in ring order, that values are those of; by default all of the sky. Such a Map takes the
    memory of its own pixels until its values are asked for, which are UNSEEN elsewhere. `zonal.smooth`,
    `zonal.convolve`, `zonal.io.read_map` and `zonal.io.write_map` do not ask for them, nor does map[row].
    nest_in_file, partial, single, cards: how the file that it was read from holds it.

    Functions of Zonal that take maps also take a Map. They take its order, pixels and pol from it, and return a Map
    where they return maps; alm and spectra of a Map are plain arrays, in its unit and in its unit squared. A Quantity
    gives a Quantity in all cases. NumPy takes a Map for its values, and NumPy's functions return plain arrays.

    Arithmetic (+ - * / **) with Maps, numbers, arrays and Quantities returns a Map, and comparisons return a boolean
    array. Pixels that are UNSEEN on either side are UNSEEN in the result, and < <= > >= are False for them. Other units are
    converted to that of the Map on the left. What has no unit counts as in the other's unit for + - and comparisons,
    and as a pure number for * and /. K without its kind counts as K_CMB or K_RJ, whichever it meets. Maps of different
    pixels, orders or coordinates raise ValueError.

    map["Q"], map[1] and map[:2] are Maps of rows. In a notebook a HEALPix map shows a picture of itself.

    >>> sky = zonal.Map(np.arange(12.0), unit="mK", coordinates="G", columns=["I"])
    >>> sky
    <zonal.Map: nside 1, ring, galactic, I, mK, 0..11, 0 % unseen>
    >>> (2 * sky).values.max()
    np.float64(22.0)
    >>> (sky - zonal.Map(np.full(12, 500.0), unit="uK")).values[:2].tolist()
    [-0.5, 0.5]
    >>> int((sky > 3).sum())
    8
    """

    @checked
    def __init__(self, values: Any, grid: Grid | None = None, nest: bool | None = None, unit: Any = None,
                 coordinates: str | None = None, columns: Sequence[str] | None = None, *, pol: bool | None = None,
                 pixels: ArrayLike | None = None, nest_in_file: bool = False, partial: bool = False,
                 single: bool | None = None, cards: Sequence[Card] = ()) -> None:
        stored = real_input("values", values._stored if isinstance(values, Map) else values)
        kept = values._pixels if isinstance(values, Map) else None
        if stored.ndim not in (1, 2) or stored.size == 0:
            raise ValueError(f"values: has shape {stored.shape}: must be [pixel] or [row, pixel]")
        if isinstance(values, Map):
            grid, nest = agreed("values", values, grid, nest)
            unit = values.units if unit is None else unit
            coordinates = values.coordinates if coordinates is None else coordinates
            columns, pol = values.columns if columns is None else columns, values.pol if pol is None else pol
        own = _units.quantity_unit(values)
        if own is not None:
            if unit is not None and _units.text_of(unit) != _units.text_of(own):
                raise ValueError(f"unit = {_units.text_of(unit)!r}: the values are in {_units.text_of(own)!r}: convert "
                                 "them by their to()")
            unit = own
        n_rows, n_pixels = np.atleast_2d(stored).shape
        if grid is None and pixels is not None:
            raise ValueError("pixels: are of a part of the sky, whose number of pixels does not tell the grid: give it")
        self.grid: Grid = grid_of_length("values", n_pixels) if grid is None else required_grid("grid", grid)
        self.nest: bool = bool(nest)
        self._pixels, self._stored = (kept, stored) if pixels is None else own_pixels(pixels, stored, self.grid, self.nest)
        if self._pixels is None and self.grid.n_pixels != n_pixels:
            raise ValueError(f"values: has {n_pixels} pixels: must be {self.grid.n_pixels} for {self.grid.name}")
        if self.nest and self.grid.nside is None:
            raise ValueError(f"nest = True: is for HEALPix alone, not for {self.grid.name}")
        self.units: list[str] = [_units.text_of(unit)] * n_rows if unit is None or isinstance(unit, str) or \
            _units.is_unit(unit) or not np.iterable(unit) else [_units.text_of(one) for one in unit]
        """The units of the rows as texts; "" for one that is not known."""
        letters = [columns] if isinstance(columns, str) and n_rows == 1 else columns
        self.columns: list[str] = [] if letters is None else list(letters)
        """The names of the rows; none where they are not known."""
        for what, texts in (("unit", self.units), ("columns", self.columns)):
            if len(texts) != n_rows and (what == "unit" or texts):
                raise ValueError(f"{what}: has {len(texts)} texts: must have one for each of {n_rows} rows")
        self.coordinates: str = _system(coordinates)
        """galactic, ecliptic, equatorial or unknown."""
        self.pol: bool = _is_polarized(self.columns) if pol is None else pol
        """Whether Q and U, in the COSMO convention, are among the rows."""
        self.nest_in_file, self.partial = nest_in_file, partial or self.is_part
        self.single, self.cards = single, list(cards)

    @property
    def values(self) -> NDArray[Any]:
        """[pixel] or [row, pixel], of the whole sky."""
        if self._has_own_pixels:
            whole = np.full(self.shape, UNSEEN, self.dtype)
            whole[..., self._pixels] = self._stored
            self._stored = whole
        return self._stored

    @values.setter
    def values(self, values: NDArray[Any]) -> None:
        self._stored = values

    @property
    def is_part(self) -> bool:
        """Whether it is a map of a part of the sky."""
        return self._pixels is not None

    def own(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Returns the numbers of the map's pixels, in ring order and ascending, and their values, [row, pixel]. A map of a part
        of the sky has those that it was made with, and others that were given values since."""
        if self._pixels is not None and self._has_own_pixels:
            return self._pixels, np.atleast_2d(self._stored)
        rows = np.atleast_2d(self.reordered(nest=False).values)
        if self._pixels is None:
            return np.arange(rows.shape[1]), rows
        has: NDArray[np.bool_] = np.asarray(~is_unseen(rows).all(axis=0))
        has[self._pixels] = True
        pixels = np.flatnonzero(has)
        return pixels, rows[:, pixels]

    @property
    def _has_own_pixels(self) -> bool:
        """Whether there is memory for its own pixels alone."""
        return self._pixels is not None and self._stored.shape[-1] < self.grid.n_pixels

    @property
    def nside(self) -> int:
        """nside of HEALPix, 0 for others."""
        return self.grid.nside or 0

    @property
    def names(self) -> list[str]:
        """The columns, as `zonal.io.write_map` calls them."""
        return self.columns

    @property
    def unit(self) -> str:
        """The unit as text, "" if it is not known. Raises ValueError if the rows have different ones."""
        if len(set(self.units)) > 1:
            raise ValueError(f"unit: the rows have {', '.join(map(repr, self.units))}: take one row, such as map[0]")
        return self.units[0]

    @property
    def quantity(self) -> Any:
        """The values as an astropy Quantity, without a copy. K_CMB and K_RJ both become K, and UNSEEN stays a number."""
        return _units.with_unit(self.values, _units.parsed(self.unit).unit)

    @property
    def unseen(self) -> NDArray[np.bool_]:
        """Which values are UNSEEN."""
        return is_unseen(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the values."""
        return (*self._stored.shape[:-1], self.grid.n_pixels)

    @property
    def ndim(self) -> int:
        return self._stored.ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._stored.dtype

    def to(self, unit: Any, frequency: Any = None) -> Map:
        """Returns the map in another unit; UNSEEN stays UNSEEN. Or, with a Grid, the map on that grid: see `zonal.resample`.

        unit: a text or an astropy unit. frequency: in Hz, a text such as "217 GHz" or a Quantity. K_CMB (differences from
        2.7255 K), K_RJ and intensities, such as MJy/sr, turn into each other at one frequency by astropy's
        thermodynamic_temperature and brightness_temperature; a bandpass is not integrated. Other conversions need none.

        Raises ValueError for units that do not fit or are not known, and where K does not say its kind.

        >>> dust = zonal.Map(np.ones(12), unit="K_CMB").to("MJy/sr", frequency="353 GHz")
        >>> dust.unit, round(float(dust.values[0]))
        ('MJy/sr', 297)
        >>> dust.to(zonal.Grid.gauss_legendre(3, 5)).shape
        (15,)
        """
        if isinstance(unit, Grid):
            if frequency is not None:
                raise ValueError("frequency: is for units, not for a Grid")
            return self._resampled(unit)
        text = _units.text_of(unit)
        factors = [_units.factor(own, text, frequency) for own in self.units]
        return self._made(scaled(self._stored, factors), _pixels=self._pixels, units=[text] * len(factors))

    @checked
    def reordered(self, nest: bool) -> Map:
        """Returns the HEALPix map in nest or in ring order; itself if it is in that order already."""
        if nest == self.nest:
            return self
        if self.grid.nside is None:
            raise ValueError(f"nest = True: is for HEALPix alone, not for {self.grid.name}")
        rows = reordered(np.atleast_2d(self.values), to_nest=nest)
        return self._made(rows.reshape(self.shape), _pixels=self._pixels, nest=nest)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=True) if copy else np.asarray(self.values, dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """Rows by numbers, slices or names, as a Map; pixels of a single map, map[rows, pixels] or map[map > 0], as numbers."""
        if isinstance(key, str):
            key = self._row(key)
            if self.ndim == 1:
                return self
        elif isinstance(key, list) and key and all(isinstance(one, str) for one in key):
            key = [self._row(one) for one in key]
        if self.ndim == 1 or isinstance(key, tuple) or np.ndim(key) == 2:
            return self.values[key]
        values, rows = self._stored[key], np.atleast_1d(np.arange(len(self))[key]).tolist()
        if values.ndim > 2 or values.size == 0:
            raise ValueError(f"map[{key!r}]: must choose one row or more")
        return self._made(values, _pixels=self._pixels, units=[self.units[i] for i in rows],
                          columns=[self.columns[i] for i in rows] if self.columns else [],
                          pol=self.pol and (rows[:3] == [0, 1, 2] or rows[:2] == [1, 2] if self._has_intensity else
                                            rows[:2] == [0, 1]))

    def _row(self, name: str) -> int:
        if name in self.columns:
            return self.columns.index(name)
        letters = [_letter(column) for column in self.columns]
        if not _letter(name) or _letter(name) not in letters:
            raise ValueError(f"row = {name!r}: must be one of {', '.join(self.columns)}" if self.columns else
                             f"row = {name!r}: must be a number: the rows of this map have no names; zonal.Map(..., columns=) gives some")
        return letters.index(_letter(name))

    @property
    def _has_intensity(self) -> bool:
        return len(self.units) > 2 and not (self.columns and _letter(self.columns[0]) == "Q")

    def __repr__(self) -> str:
        pixels = f"nside {self.nside}" if self.nside else self.grid.name
        rows = " ".join(self.columns) or ("" if self.ndim == 1 else f"{len(self)} rows")
        least, most, share = _range(self._stored)
        share = 1 - (1 - share) * self._stored.shape[-1] / self.grid.n_pixels
        found = [pixels, ("nest" if self.nest else "ring") if self.nside else "",
                 "" if self.coordinates == "unknown" else self.coordinates, rows, " ".join(dict.fromkeys(self.units)),
                 f"{least:.4g}..{most:.4g}", f"{100 * share:.3g} % unseen"]
        return f"<zonal.Map: {', '.join(part for part in found if part)}>"

    # The package sets these, since what they do needs this module: zonal.resample, and what notebooks ask for.
    _resampled: ClassVar[Callable[[Map, Grid], Map]]
    _repr_png_: ClassVar[Callable[[Map], bytes | None]]
    _repr_html_: ClassVar[Callable[[Map], str]]


def agreed(name: str, given: Map, grid: Grid | None, nest: bool | None) -> tuple[Grid, bool]:
    """Grid and order of a Map. Raises ValueError where the arguments beside it say otherwise."""
    if nest is not None and bool(nest) != given.nest:
        raise ValueError(f"nest = {nest}: {name} is a zonal.Map in {'nest' if given.nest else 'ring'} order: leave nest "
                         "out, or take its values")
    if grid is not None and required_grid("grid", grid) != given.grid:
        raise ValueError(f"grid = {grid.name}: {name} is a zonal.Map on {given.grid.name}: leave grid out, or take its values")
    return given.grid, given.nest


def _range(values: NDArray[Any]) -> tuple[float, float, float]:
    """Least and largest value that is seen and finite, and the share of UNSEEN, in blocks that need little memory."""
    least, most, n_unseen = np.inf, -np.inf, 0
    flat = values.reshape(-1)
    for start in range(0, flat.size, PIECE):
        block = flat[start:start + PIECE]
        unseen = is_unseen(block)
        good = block[np.isfinite(block) & ~unseen]
        n_unseen += int(unseen.sum())
        if good.size:
            least, most = min(least, float(good.min())), max(most, float(good.max()))
    return (least, most, n_unseen / flat.size) if least <= most else (np.nan, np.nan, n_unseen / flat.size)


# The names that files give to I, Q and U.
_STOKES = re.compile(r"(?:STOKES[-_])?([ITQU])(?:[-_](?:STOKES|POLARI[SZ]ATION|MAP))?|(TEMPERATURE|INTENSITY|SIGNAL)", re.I)


def _letter(name: str) -> str:
    """I, Q or U for the name of a column that is one of them, else nothing."""
    found = _STOKES.fullmatch(name.strip())
    return "" if found is None else "I" if found[2] else found[1].upper().replace("T", "I")


def _is_polarized(columns: list[str]) -> bool:
    letters = "".join(_letter(column) or " " for column in columns)
    return letters.startswith("IQU") or letters == "QU"


def _system(name: str | None) -> str:
    """The full name of a coordinate system."""
    with within("coordinates"):
        return "unknown" if name is None else str(_core.parse_coordinate_system(name).name)


__all__ = ["Map"]
