"""What an estimate found."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import sequence, shown, spectrum
from .._checked import checked
from ..plot._bands import draw_bands
from ._sacc import data_of
from .bins import Bins
from .blocks import Block, Key, Spectra
from .covariance import ChiSquared, chi_squared

_SAME = {"ET": "TE", "BT": "TB", "BE": "EB"}


class BandPowers(Mapping[Key, NDArray[np.float64]]):
    """Band powers of masked maps, as `estimate` returns them.

    powers["TE"] is [band]; with several fields powers["TE", 0, 1] is that of T of field 0 with E of field 1. A band's mean is F C, a sum over
    degrees of the theory with the band's window, `powers.theory(c_l)`: compare bands with that, not with C at a degree. It is a mapping: list(powers)
    are the names, with the numbers of the fields where several pairs have the same.
    """

    def __init__(self, bins: Bins, lmax_sky: int, blocks: list[Block], units: list[str], mask_spectra: NDArray[np.float64],
                 mask_of: dict[tuple[int, str], int], covariance: NDArray[np.float64] | None) -> None:
        self.bins: Bins = bins
        self.lmax_sky: int = lmax_sky
        """The last degree that windows have."""
        self.blocks: list[Block] = blocks
        """All matrices, in blocks of spectra that masks mix with each other."""
        self.mask_spectra: NDArray[np.float64] = mask_spectra
        """W_L of all pairs of masks, [mask, mask, L]."""
        self.mask_of: dict[tuple[int, str], int] = mask_of
        """The number of the mask of a field's T or P, by (field, "T" or "P")."""
        self.units: list[str] = units
        """Of each field."""
        self.covariance: NDArray[np.float64] | None = covariance
        """The covariance of all bands, [value, value], in the order of np.concatenate(list(powers.values())); None where `estimate` was given no
        theory."""

    @property
    def error(self) -> Spectra | None:
        """One sigma of each spectrum, [band] each; None where `estimate` was given no theory."""
        if self.covariance is None:
            return None
        sigmas = np.sqrt(self.covariance.diagonal()).reshape(len(self), -1)
        return Spectra(dict(zip(self.bands._values, sigmas)))

    @checked
    def chi_squared(self, c_l: ArrayLike | Mapping[str, ArrayLike], *, names: Sequence[Key] | None = None) -> ChiSquared:
        """Returns chi^2 of the bands less the theory F C, and the share p of Gaussian skies with as large a value or a larger one.

        c_l: as in `theory`. names: the spectra to compare, by default all; leave out those that the sky has not, such as TB where the
        maps have none. Raises ValueError where `estimate` was given no theory to make a covariance of.
        """
        if self.covariance is None:
            raise ValueError("these bands have no covariance: give estimate the spectra of the sky, theory=")
        keys = list(self)
        chosen = keys if names is None else [self._known(names, name) for name in sequence("names", names)]
        if not chosen:
            raise ValueError(f"names = {shown(names)}: is empty: must have one spectrum at least")
        expected = self.theory(c_l)
        rows = np.concatenate([np.arange(len(self.l_eff)) + keys.index(key) * len(self.l_eff) for key in chosen])
        residual = np.concatenate([self.bands[key] - expected[key] for key in chosen])
        return chi_squared(residual, self.covariance[np.ix_(rows, rows)])

    def _known(self, names: Any, name: Key) -> Key:
        if name not in self.bands:
            raise ValueError(f"names = {shown(names)}: must be of {', '.join(map(str, self.bands))}")
        return name

    def _each(self, values: str, others: bool = False) -> Spectra:
        """What a block has of each spectrum; of a matrix the part from that spectrum itself, or also "EE<-BB" from others."""
        found = {}
        for block in self.blocks:
            array = getattr(block, values)
            for s, name in enumerate(block.names):
                if block.is_repeated(name):
                    continue
                if not others:
                    found[(name, *block.pair)] = array[s]
                    continue
                for t, source in enumerate(block.names):
                    if s == t or np.any(array[s, :, t]):
                        found[(name if s == t else f"{name}<-{source}", *block.pair)] = array[s, :, t]
        return Spectra(found)

    def __getitem__(self, key: Key) -> NDArray[np.float64]:
        return self.bands[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.bands)

    def __len__(self) -> int:
        return len(self.bands)

    @property
    def bands(self) -> Spectra:
        """All band powers by name, [band] each."""
        return self._each("bands")

    @property
    def pseudo(self) -> Spectra:
        """C~, [lmax + 1], of the maps times their masks, noise included."""
        return self._each("pseudo")

    @property
    def noise(self) -> Spectra:
        """N~, [lmax + 1], what the fields' noise adds to pseudo in the mean."""
        return self._each("noise")

    @property
    def windows(self) -> Spectra:
        """F, [band, lmax_sky + 1]: windows["EE"] from EE itself, windows["EE<-BB"] what BB adds. The sum of a band's own window over its degrees,
        divided by F_l of the bins, is 1, that over the degrees of each other band 0."""
        return self._each("windows", others=True)

    @property
    def decoupling(self) -> Spectra:
        """K^-1 B, [band, lmax + 1], likewise: bands are its products with pseudo - noise. Raises ValueError for bands that were
        read from a file, which does not hold it."""
        if any(block.decoupling is None for block in self.blocks):
            raise ValueError("these bands were read from a file, which does not hold K^-1 B: estimate makes it")
        return self._each("decoupling", others=True)

    @property
    def condition(self) -> float:
        """The largest condition of K among the spectra."""
        return max(block.condition for block in self.blocks)

    @property
    def l_eff(self) -> NDArray[np.float64]:
        """Where to draw the bands, [band]."""
        return self.bins.l_eff

    @property
    def outside(self) -> Spectra:
        """How much of each band comes from degrees above the bins' lmax if F_l C_l is the same at all degrees, [band]: bands of which this
        is more than you can bear should be left out. It is 0 where lmax_sky is the bins' lmax, for then nobody looked."""
        l = np.arange(self.bins.lmax + 1, self.lmax_sky + 1)
        factor = l * (l + 1) / (2 * np.pi) if self.bins.dl else np.ones(l.size)
        return Spectra({(name, *block.pair): (block.windows[s, :, s, self.bins.lmax + 1:] / factor).sum(-1)
                        for block in self.blocks for s, name in enumerate(block.names) if not block.is_repeated(name)})

    @checked
    def theory(self, c_l: ArrayLike | Mapping[str, ArrayLike]) -> Spectra:
        """Returns the mean F C of the bands for a sky with these spectra, [band] each.

        c_l: a mapping of TT, EE, ..., each from l = 0 to lmax_sky or further, or TT alone; those that are missing count as 0. That of ET, BT and BE
        is that of TE, TB and EB where it has none of its own.
        """
        named = c_l if isinstance(c_l, Mapping) else {"TT": c_l}
        known = {name for block in self.blocks for name in block.names}
        known |= {_SAME.get(name, name) for name in known} | {"TT", "EE", "BB", "TE", "TB", "EB"}
        given = {}
        for name, values in named.items():
            if name not in known:
                raise ValueError(f"c_l: has {shown(name)}: must have names of {', '.join(sorted(known))}")
            given[name] = spectrum(f"c_l[{name!r}]", values)
            if len(given[name]) <= self.lmax_sky:
                raise ValueError(f"c_l[{name!r}]: ends at l = {len(given[name]) - 1}: must reach lmax_sky = {self.lmax_sky}")
        found = {}
        zeros = np.zeros(self.lmax_sky + 1)
        for block in self.blocks:
            sky = np.stack([given.get(name, given.get(_SAME.get(name, name), zeros))[:self.lmax_sky + 1] for name in block.names])
            for name, bands in zip(block.names, np.einsum("sbtl,tl->sb", block.windows, sky)):
                found[(name, *block.pair)] = bands
        return Spectra({key: found[key] for key in self.bands._values})

    @checked
    def plot(self, c_l: ArrayLike | Mapping[str, ArrayLike] | None = None, *, names: Sequence[Key] | None = None, log_x: bool = False, ax: Any = None,
             **style: Any) -> Any:
        """Draws the bands over their degrees, and the theory c_l as a line, with its band powers F C as steps; returns the axes.

        names: the spectra to draw, by default all. Bars along l are the widths of the bands; those upwards are the errors, where there are any.
        style: as for matplotlib's errorbar.
        """
        chosen = list(self.bands) if names is None else [self._known(names, name) for name in sequence("names", names)]
        expected = None if c_l is None else self.theory(c_l)
        lines = {} if c_l is None else dict(c_l) if isinstance(c_l, Mapping) else {"TT": c_l}
        errors: Mapping[Key, NDArray[np.float64]] = self.error or {}
        curves = [(key, self.bands[key], errors.get(key), None if expected is None else expected[key],
                   lines.get(key if isinstance(key, str) else key[0])) for key in chosen]
        return draw_bands(self.bins, curves, self.units[0] if len(set(self.units)) == 1 else "", log_x, ax, style)

    @checked
    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes a FITS file, which `load` reads: BANDS (L_MIN, L_MAX, L_EFF and each spectrum, with its errors), PSEUDO (C~ and N~,
        and the weights of the bins), MASK (W_L), WINDOWS (F, one image for each pair of spectra), and COVARIANCE where there is one. Raises OSError if
        the file exists and overwrite is False."""
        fields = range(len(self.units))
        mask_of = [[self.mask_of[i, letter] for letter in "TP" if (i, letter) in self.mask_of] for i in fields]
        _core.write_band_powers(os.fspath(path), self.bins._bins, list(self.blocks), self.mask_spectra, mask_of, self.covariance, self.units,
                                overwrite)

    @classmethod
    @checked
    def load(cls, path: str | os.PathLike[str]) -> BandPowers:
        """Returns what `save` or `zonal anafast --decouple` wrote. It has all but `decoupling`. Raises OSError for other files."""
        ranges, lmax_sky, blocks, mask_spectra, numbers, covariance, units = _core.read_band_powers(os.fspath(path))
        found = [Block(*block) for block in blocks]
        letters = [["T"] * any(block.names[0] == "TT" and block.pair == (i, i) for block in found)
                   + ["P"] * any(block.names[0] == "EE" and block.pair == (i, i) for block in found) for i in range(len(numbers))]
        mask_of = {(i, letter): number for i, each in enumerate(letters) for letter, number in zip(each, numbers[i])}
        return cls(Bins("of_ranges", *ranges, None), lmax_sky, found, units, mask_spectra, mask_of, covariance)

    @checked
    def to_sacc(self, names: Sequence[str] | None = None) -> Any:
        """Returns the bands as a sacc.Sacc, of which save_fits writes a file that likelihoods read: bands at l_eff as cl_00, cl_0e, cl_0b, cl_ee,
        cl_eb, cl_be and cl_bb, their windows, and the covariance where there is one. Needs the package sacc.

        names: of the fields, by default field0, field1, ... Each has a Map tracer NAME_s0 of T and NAME_s2 of E and B, with its unit, and 1 as its
        beam, because beams and pixel windows have been divided out. ET and BT of two fields are cl_0e and cl_0b of
        the two in the other order. SACC keeps the window of each band for its own spectrum alone, not those of others, such as "EE<-BB". Its
        metadata has dl, whether bands are of D_l: windows then have l(l+1)/2pi, and are still for C_l.
        """
        own = [f"field{i}" for i in range(len(self.units))] if names is None else sequence("names", names)
        if len(own) != len(self.units) or len(set(own)) != len(own) or not all(isinstance(name, str) and name for name in own):
            raise ValueError(f"names = {shown(names)}: must be {len(self.units)} texts that differ, one for each field")
        return data_of(own, self.bins, self.lmax_sky, self.bands, self.windows, self.mask_of, self.units, self.covariance)

    def __repr__(self) -> str:
        share = max(np.abs(values).max() for values in self.outside.values())
        return (f"<zonal.spectra.BandPowers: {', '.join(map(str, self.bands))}; {self.bins!r}; condition {self.condition:.2g}; "
                f"{share:.1g} of a band from beyond l = {self.bins.lmax}>")
