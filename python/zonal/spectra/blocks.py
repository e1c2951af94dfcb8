"""Arrays of spectra by their names, and the blocks of those that masks mix with each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Key = str | tuple[str, int, int]
"""The name of a spectrum, such as "TE": the first letter is of the first field; or the name and the numbers of the two fields."""

class Block(NamedTuple):
    """The spectra of two fields that masks mix with each other: TT; TE, TB; ET, BT; or EE, EB, BE, BB."""

    pair: tuple[int, int]
    """The numbers of the two fields."""
    names: tuple[str, ...]
    """[spectrum]."""
    pseudo: NDArray[np.float64]
    """C~, [spectrum, l], l up to the bins' lmax."""
    noise: NDArray[np.float64]
    """N~, likewise."""
    bands: NDArray[np.float64]
    """[spectrum, band]."""
    decoupling: NDArray[np.float64] | None
    """K^-1 B, [spectrum, band, spectrum, l]: bands are its product with C~ - N~. None in what was read from a file."""
    windows: NDArray[np.float64]
    """F = K^-1 B M, [spectrum, band, spectrum, l'], l' up to lmax_sky."""
    condition: float
    """The ratio of K's largest and smallest singular values, without beams and the factor of D_l."""
    low_degrees: bool
    """Whether the degrees 0 and 1 were solved for."""

    def is_repeated(self, name: str) -> bool:
        """Whether a spectrum is another one's: B with E of one field with itself is E with B."""
        return name == "BE" and self.pair[0] == self.pair[1]


class Spectra(Mapping[Key, NDArray[np.float64]]):
    """Arrays by the names of spectra: "TE", or ("TE", 0, 1) for the fields 0 and 1, which is needed where several pairs have a TE. Iteration
    gives names alone where no two pairs have the same."""

    def __init__(self, values: dict[tuple[str, int, int], NDArray[np.float64]]) -> None:
        self._values = values
        names = [name for name, _, _ in values]
        self._short = {key[0]: key for key in values if names.count(key[0]) == 1}
        self._keys: list[Key] = list(self._short) if len(self._short) == len(values) else list(values)

    def __getitem__(self, key: Key) -> NDArray[np.float64]:
        return self._values[self._whole(key)]

    def _whole(self, key: Key) -> tuple[str, int, int]:
        whole = self._short.get(key, key) if isinstance(key, str) else key
        if isinstance(whole, tuple) and whole in self._values:
            return whole
        such = [other for other in self._values if other[0] == key]
        if such:
            raise KeyError(f"{key!r} is a spectrum of {len(such)} pairs of fields: give one, such as {such[-1]}")
        raise KeyError(f"{key!r}: must be one of {', '.join(map(str, self._keys))}")

    def pair(self, key: Key) -> tuple[int, int]:
        """The numbers of the two fields of a spectrum."""
        _, i, j = self._whole(key)
        return i, j

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"<spectra {', '.join(map(str, self))}>"
