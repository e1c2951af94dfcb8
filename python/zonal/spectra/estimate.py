"""Band powers of masked skies, from maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._arrays import sequence, shown
from .._checked import checked
from .._notes import warn
from .._threads import resolve
from ..sht import alm_size
from .bins import Bins
from .blocks import Block
from .coupling import coupling_matrices
from .fields import Field, Part
from .result import BandPowers

_KINDS = {"TT": 0, "TP": 1, "PT": 1, "PP": 2}  # in the order of SpectraKind
_NAMES = {"TT": ("TT",), "TP": ("TE", "TB"), "PT": ("ET", "BT"), "PP": ("EE", "EB", "BE", "BB")}


@checked
def estimate(fields: Field | Sequence[Field], bins: Bins, *, lmax_sky: int | None = None, low_degrees: bool | None = None,
             threads: int | None = None) -> BandPowers:
    """Returns the band powers of masked maps: all spectra of one `Field`, or all of several with themselves and each other.

    Pseudo-spectra C~ of the maps times their masks have the mean M C + N~; what M does, with beams and pixel windows, is divided out
    in bands, and the noise that fields have is taken off: K^-1 B (C~ - N~), K = B M U (Hivon et al. 2002, doi:10.1086/338126; Alonso
    et al. 2019, doi:10.1093/mnras/stz093). M is made once for each pair of masks that differ. Maps and masks are analysed by plain
    sums over pixels, so that bands have the mean F C (`BandPowers.theory`) exactly, for any mask of any values, for a sky that ends at
    lmax_sky and is sampled at the pixels' centres.

    lmax_sky: what the windows F know of the sky; power beyond it is not accounted for. By default a quarter above the bins' lmax.
    low_degrees: whether the degrees 0 and 1 of TT, where they are below the bins, have bands of their own, which are not returned, so
    that a monopole or dipole does not reach the others; by default where that leaves the condition of K below 1000. Else remove the mean
    under the mask, by `zonal.remove_dipole`.

    A condition of K above 1000 gives a ZonalWarning. Raises ValueError where it is above 1e8, and names a width of the bands that the
    mask allows.

    >>> sky = zonal.synfast(np.ones(49), 16, seed=1)
    >>> field = zonal.spectra.Field(sky, mask=np.arange(sky.size) < 2000)
    >>> powers = zonal.spectra.estimate(field, zonal.spectra.Bins.linear(8, lmax=40))
    >>> powers["TT"].shape
    (4,)
    """
    given = [fields] if isinstance(fields, Field) else sequence("fields", fields)
    if not given or not all(isinstance(field, Field) for field in given):
        raise TypeError(f"fields = {shown(fields)}: must be a zonal.spectra.Field, or a sequence of them")
    if not isinstance(bins, Bins):
        raise TypeError(f"bins = {shown(bins)}: must be zonal.spectra.Bins, such as Bins.linear(30, lmax=1500)")
    most = bins.lmax + bins.lmax // 4 if lmax_sky is None else lmax_sky
    if most < bins.lmax:
        raise ValueError(f"lmax_sky = {most}: must be {bins.lmax} or more, where the bins end")
    return _Estimate(given, bins, most, low_degrees, resolve(threads)).result()


class _Estimate:
    """The work of one call."""

    def __init__(self, fields: list[Field], bins: Bins, lmax_sky: int, low_degrees: bool | None, threads: int) -> None:
        self._fields, self._bins, self._lmax_sky, self._low, self._threads = fields, bins, lmax_sky, low_degrees, threads
        self._transfers = [field._transfer(lmax_sky) for field in fields]
        self._decouplings: dict[tuple[Any, ...], Any] = {}
        self._masks: dict[tuple[Any, ...], int] = {}
        self._mask_of = {(i, part.letter): self._masks.setdefault((field.grid, part.mask.tobytes()), len(self._masks))
                         for i, field in enumerate(fields) for part in field._parts}
        self._mask_spectra = self._spectra_of_masks()
        self._row_of: dict[tuple[int, str], int] = {}
        self._pseudo = self._spectra_of_maps()

    def _harmonics(self, field: Field, maps: NDArray[np.float64], mask: NDArray[np.float64] | None, lmax: int) -> NDArray[np.complex128]:
        alm = np.empty((len(maps), alm_size(lmax)), np.complex128)
        _core.masked_harmonics(field.grid._grid, maps, mask, lmax, alm, self._threads)
        return alm

    def _spectra_of_masks(self) -> NDArray[np.float64]:
        """W_L of all pairs of masks, [mask, mask, L]."""
        lmax = self._bins.lmax + self._lmax_sky
        alm = np.empty((len(self._masks), alm_size(lmax)), np.complex128)
        done = set()
        for i, field in enumerate(self._fields):
            for part in field._parts:
                number = self._mask_of[i, part.letter]
                if number not in done:
                    done.add(number)
                    alm[number] = self._harmonics(field, part.mask[None], None, lmax)[0]
        return _core.cross_spectra(lmax, alm, self._threads)

    def _spectra_of_maps(self) -> NDArray[np.float64]:
        """C~_l of all pairs of T, E and B of all fields, [row, row, l]."""
        rows: list[NDArray[np.complex128]] = []
        for i, field in enumerate(self._fields):
            for part in field._parts:
                maps = np.where(part.mask != 0, part.maps, 0) if field.masked else part.maps
                alm = self._harmonics(field, maps, None if field.masked else part.mask, self._bins.lmax)
                for letter, one in zip("T" if part.letter == "T" else "EB", alm):
                    self._row_of[i, letter] = len(rows)
                    rows.append(one)
        return _core.cross_spectra(self._bins.lmax, np.stack(rows), self._threads)

    def result(self) -> BandPowers:
        pairs = [(i, j, x, y) for i, first in enumerate(self._fields) for j, second in enumerate(self._fields[i:], i)
                 for x in first._parts for y in second._parts if i < j or x.letter + y.letter != "PT"]
        blocks = [self._block(*pair) for pair in pairs]
        return BandPowers(self._bins, self._lmax_sky, blocks, [field.unit for field in self._fields], self._mask_spectra, self._mask_of)

    def _block(self, i: int, j: int, x: Part, y: Part) -> Block:
        kind = x.letter + y.letter
        names = _NAMES[kind]
        matrix, windows, condition, low_degrees = self._decoupling(i, j, kind)
        pseudo = np.stack([self._pseudo[self._row_of[i, a], self._row_of[j, b]] for a, b in map(tuple, names)])
        noise = self._noise(self._fields[i], x) if i == j and x is y else np.zeros_like(pseudo)
        bands = np.einsum("sbtl,tl->sb", matrix, pseudo - noise)
        return Block((i, j), names, pseudo, noise, bands, matrix, windows, condition, low_degrees)

    def _decoupling(self, i: int, j: int, kind: str) -> Any:
        masks = self._mask_of[i, kind[0]], self._mask_of[j, kind[1]]
        transfer = self._transfers[i][kind[0]] * self._transfers[j][kind[1]]
        key = (_KINDS[kind], *sorted(masks), transfer.tobytes())
        if key not in self._decouplings:
            *found, note = _core.decoupled(self._bins._bins, _KINDS[kind], np.ascontiguousarray(self._mask_spectra[masks]), self._lmax_sky,
                                           transfer.tolist(), self._low, self._threads)
            warn([note])
            self._decouplings[key] = found
        return self._decouplings[key]

    def _noise(self, field: Field, part: Part) -> NDArray[np.float64]:
        """N~ of the spectra of one part with itself, [spectrum, l]."""
        names, lmax = _NAMES[2 * part.letter], self._bins.lmax
        noise = np.zeros((len(names), lmax + 1))
        given = field._noise_spectra(self._lmax_sky)
        number = self._mask_of[next(i for i, one in enumerate(self._fields) if one is field), part.letter]
        if part.variance is not None:
            level = _core.white_noise_spectrum(field.grid._grid, part.mask, part.variance)
            for name in ("TT",) if part.letter == "T" else ("EE", "BB"):
                noise[names.index(name), 0 if name == "TT" else 2:] = level
        elif given and part.letter == "T":
            noise[0] = (coupling_matrices(self._mask_spectra[number, number], self._lmax_sky, "00", threads=self._threads) @ given["TT"])[:lmax + 1]
        elif given:
            plus, minus = coupling_matrices(self._mask_spectra[number, number], self._lmax_sky, ("++", "--"), threads=self._threads)
            noise[0] = (plus @ given["EE"] + minus @ given["BB"])[:lmax + 1]
            noise[3] = (minus @ given["EE"] + plus @ given["BB"])[:lmax + 1]
        return noise
