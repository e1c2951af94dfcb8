"""Maps with what has been done to them: masks, beams, pixels, noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._angles import AngleLike, width
from .._arrays import doubles, real_input, spectrum
from .._checked import checked
from .._kinds import kind_of
from .._maps import require_same_coordinates, weights_of
from .._pixels import grid_of_length, reordered, required_grid
from .._threads import resolve
from .._units import quantity_unit, text_of
from ..grid import Grid
from ..sky_map import Map, agreed


class Part(NamedTuple):
    """T, or P for Q and U: maps [component, pixel], and their mask and white noise, [pixel]."""

    letter: str
    maps: NDArray[np.float64]
    mask: NDArray[np.float64]
    variance: NDArray[np.float64] | None


class Field:
    """Maps for `estimate`, with their mask, and with what the sky went through before it was a map.

    maps: [pixel]; Q, U as [2, pixel]; I, Q, U as [3, pixel]; or a `zonal.Map` of these.
    mask: [pixel], weights of the pixels, of any values, 0 where the sky is not seen; or [2, pixel], that of I and that of Q and U. By default
    all pixels have 1, and must have values. Where the mask is 0 a map may hold anything, UNSEEN and NaN too.
    masked: the maps have been multiplied by the mask already.
    beam: the FWHM of a Gaussian, or b_l, [l] for all, or as `zonal.io.read_beam` returns it, [3, l] for T, E and B, of which E and B are
    the same. It is divided out, as is
    pixel_window: True for that of HEALPix pixels (an average over the sky, so that it is not exact), or windows as for beam.
    variance: of each pixel's white noise, in the map's unit squared: a number, [pixel], or [2, pixel] for I and for Q and U. Its mean is
    taken off the spectra of the field with itself, exactly. The noise of U is as large as that of Q.
    noise: in place of a variance, N_l of the noise of an unmasked map, no beam divided out: [l], or a mapping of TT, EE and BB.
    grid, nest: of arrays; by default HEALPix in ring order, or what a Map says.

    Raises ValueError for pixels that are UNSEEN or not finite where the mask is not 0, once `estimate` is called.

    >>> zonal.spectra.Field(np.ones(192), mask=np.arange(192) < 100, beam="10deg")
    <zonal.spectra.Field: T, healpix nside=4, 0.521 of the sky, beam>
    """

    @checked
    def __init__(self, maps: ArrayLike, *, mask: ArrayLike | None = None, beam: AngleLike | ArrayLike | None = None, pixel_window: Any = False,
                 variance: ArrayLike | None = None, noise: Any = None, masked: bool = False, grid: Grid | None = None,
                 nest: bool | None = None) -> None:
        kind = kind_of(maps)
        if kind.map is not None:
            grid, nest = agreed("maps", kind.map, grid, nest)
        rows = np.atleast_2d(np.asarray(real_input("maps", maps), np.float64))
        if rows.ndim != 2 or len(rows) not in (1, 2, 3) or rows.size == 0:
            raise ValueError(f"maps: has shape {np.shape(maps)}: must be [pixel], [2, pixel] (Q, U) or [3, pixel] (I, Q, U)")
        if kind.map is not None and len(rows) > 1 and not kind.map.pol:
            raise ValueError(f"maps: has {len(rows)} rows that are not Q, U or I, Q, U: give one row, such as maps[0], or a Map with pol = True")
        self.grid: Grid = grid_of_length("maps", rows.shape[1]) if grid is None else required_grid("grid", grid)
        """Of the maps."""
        if rows.shape[1] != self.grid.n_pixels:
            raise ValueError(f"maps: has {rows.shape[1]} pixels: must be {self.grid.n_pixels} for {self.grid.name}")
        if nest and self.grid.nside is None:
            raise ValueError(f"nest = True: is for HEALPix alone, not for {self.grid.name}")
        self.unit: str = kind.map.units[0] if kind.map is not None else text_of(quantity_unit(maps))
        """Of the maps; "" where it is not known."""
        self.coordinates: str = kind.coordinates
        """Of the maps; "unknown" where it is not known."""
        self.masked: bool = masked
        """Whether the maps have been multiplied by the mask already."""
        if masked and mask is None:
            raise ValueError("masked = True: needs the mask that the maps have been multiplied by")
        if variance is not None and noise is not None:
            raise ValueError("variance, noise: are both given, and both say what noise adds: give one")
        is_nest = bool(nest)
        rows = reordered(rows, to_nest=False) if is_nest else rows
        letters = {1: "T", 2: "P", 3: "TP"}[len(rows)]
        masks = self._of_parts("mask", mask, letters, is_nest, 1.0)
        variances = [None] * len(letters) if variance is None else \
            self._of_parts("variance", self._in_unit_squared(variance, quantity_unit(maps)), letters, is_nest)
        self._parts = [Part(letter, rows[:1] if letter == "T" else rows[-2:], *both) for letter, *both in zip(letters, masks, variances)]
        self._beam, self._noise = beam, noise
        self._pixel_window = None if pixel_window is False or pixel_window is None else pixel_window

    def _in_unit_squared(self, variance: Any, unit: Any) -> Any:
        """A variance without its unit, which must be that of the maps squared; Quantities are converted."""
        if isinstance(variance, Map):
            for its in variance.units:
                if not _core.may_be_variance_of(its, self.unit):
                    raise ValueError(f"variance: is in {its}, and maps in {self.unit}: must be in {self.unit}^2")
        elif (its := quantity_unit(variance)) is not None:
            if unit is None:
                raise ValueError(f"variance: is a Quantity in {its}: must be numbers in the unit of maps, which are no Quantity, squared")
            if not its.is_equivalent(unit**2):
                raise ValueError(f"variance: is in {its}, and maps in {unit}: must be in {unit**2}")
            return variance.to_value(unit**2)
        return variance

    def _of_parts(self, name: str, values: Any, letters: str, nest: bool, default: float = np.nan) -> list[Any]:
        """Values of pixels, those of T and those of Q and U."""
        n_pixels = self.grid.n_pixels
        if values is None:
            return [np.full(n_pixels, default)] * len(letters)
        shape = np.shape(doubles(name, values))
        if shape == () and name == "variance":
            return [np.full(n_pixels, doubles(name, values))] * len(letters)
        how: Any = {"coordinates": self.coordinates, "keep_unseen": name == "variance"}  # of a mask UNSEEN is 0, of a variance nothing
        if len(shape) != 2 or shape[0] == 1:
            return [weights_of(name, values, n_pixels, nest, **how)] * len(letters)
        if letters != "TP" or shape[0] != 2:
            raise ValueError(f"{name}: has shape {shape}: must be [pixel]{', or [2, pixel] for I and for Q and U' if letters == 'TP' else ''}")
        if isinstance(values, Map):
            require_same_coordinates(name, values.coordinates, self.coordinates)
        return [weights_of(f"{name}[{i}]", values[i], n_pixels, nest, **how) for i in range(2)]

    def _given(self, lmax_sky: int) -> Any:
        """What the extension takes."""
        transfer, noise = self._transfer(lmax_sky), self._noise_spectra(lmax_sky)
        parts = [(part.maps, part.mask, transfer[part.letter].tolist(), part.variance,
                  [noise[name].tolist() for name in (["TT"] if part.letter == "T" else ["EE", "BB"]) if name in noise])
                 for part in self._parts]
        return self.grid._grid, parts, self.masked

    def _transfer(self, lmax: int) -> dict[str, NDArray[np.float64]]:
        """Returns what beam and pixel window leave of a_lm, [lmax + 1], of "T" and of "P" (E and B)."""
        beam = self._windows("beam", self._beam, lmax)
        pixels = self._windows("pixel_window", self._pixel_window, lmax)
        return {"T": beam[0] * pixels[0], "P": beam[1] * pixels[1]}

    def _windows(self, name: str, given: Any, lmax: int) -> NDArray[np.float64]:
        """[2, lmax + 1], for T and P."""
        if given is None:
            return np.ones((2, lmax + 1))
        if name == "pixel_window" and given is True:
            if self.grid.nside is None:
                raise ValueError(f"pixel_window = True: is known for HEALPix alone, not for {self.grid.name}: give windows, [l]")
            if lmax > 4 * self.grid.nside:
                raise ValueError(f"pixel_window = True: is known up to l = 4 nside = {4 * self.grid.nside}, and lmax_sky = {lmax}: give "
                                 "estimate a lower lmax_sky")
            return np.stack(_core.pixel_window(self.grid.nside, lmax, resolve(None)))
        if name == "beam" and (isinstance(given, str) or np.ndim(given) == 0):
            fwhm = width(given, "beam")
            return np.stack([_core.gaussian_window(fwhm, lmax, spin) for spin in (0, 2)]) if lmax >= 2 else \
                np.stack([_core.gaussian_window(fwhm, lmax, 0)] * 2)
        values = doubles(name, given)
        if values.ndim not in (1, 2) or values.ndim == 2 and len(values) not in (1, 2, 3):
            raise ValueError(f"{name}: has shape {values.shape}: must be [l], [2, l] for T and for E and B, or [3, l] for T, E and B")
        rows = np.atleast_2d(values)
        if rows.shape[1] <= lmax:
            raise ValueError(f"{name}: ends at l = {rows.shape[1] - 1}: must reach lmax_sky = {lmax}; give a longer one, or estimate a lower "
                             "lmax_sky")
        if len(rows) == 3 and not np.array_equal(rows[1, 2:lmax + 1], rows[2, 2:lmax + 1]):
            raise ValueError(f"{name}: of E and of B differ: must be the same")
        return rows[[0, min(1, len(rows) - 1)], :lmax + 1]

    def _noise_spectra(self, lmax: int) -> dict[str, NDArray[np.float64]]:
        """Returns the N_l that were given, [lmax + 1], of TT, EE and BB, as far as the field has them; none for no noise."""
        if self._noise is None:
            return {}
        names = [name for part in self._parts for name in (["TT"] if part.letter == "T" else ["EE", "BB"])]
        named = self._noise if isinstance(self._noise, Mapping) else {"TT": self._noise}
        if set(named) != set(names):
            raise ValueError(f"noise: has {', '.join(map(str, named))}: must have {', '.join(names)}")
        found = {}
        for name in names:
            values = spectrum(f"noise[{name!r}]", named[name])
            if len(values) <= lmax:
                raise ValueError(f"noise[{name!r}]: ends at l = {len(values) - 1}: must reach lmax_sky = {lmax}")
            found[name] = values[:lmax + 1]
        return found

    def __repr__(self) -> str:
        share = np.mean(self._parts[0].mask != 0)
        has = [name for name, value in (("beam", self._beam), ("pixel window", self._pixel_window),
                                        ("noise", self._noise if self._noise is not None else self._parts[0].variance)) if value is not None]
        letters = "".join({"T": "T", "P": "EB"}[part.letter] for part in self._parts)
        return f"<zonal.spectra.Field: {', '.join([letters, self.grid.name, f'{share:.3f} of the sky', *has])}>"
