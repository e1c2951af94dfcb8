"""Bands of degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import doubles, integers, kept, spectrum, vector
from .._checked import checked


class Bins:
    """Bands of degrees, in which spectra are averaged: P_b = sum_l w_bl F_l C_l with sum_l w_bl = 1.

    Made by `Bins.linear`, `Bins.edges`, `Bins.logarithmic` and `Bins.from_weights`, all of which take

    - dl: F_l is l(l+1)/2pi, so that bands are of D_l, which is then taken to be constant in a band when a mask is divided out; else it is
      1, and C_l is.
    - weights: w_l, [lmax + 1] or longer, in any scale; by default all degrees of a band have the same.

    Degrees in no band are left out. Bands that overlap raise ValueError.
    """

    def __init__(self, factory: str, *arguments: Any) -> None:
        if factory not in ("linear", "edges", "logarithmic", "of_weights", "of_ranges"):
            raise TypeError("Bins: are made by Bins.linear, Bins.edges, Bins.logarithmic or Bins.from_weights")
        *given, weights = arguments
        made: _core.Bins = getattr(_core.Bins, factory)(*given)
        self._recipe = kept((factory, *arguments))
        self._bins = made if weights is None else made.weighted(weights.tolist())

    @classmethod
    @checked
    def linear(cls, width: int, lmax: int, lmin: int = 2, *, dl: bool = False, weights: ArrayLike | None = None) -> Bins:
        """Returns bands of `width` degrees from lmin on, as many as fit below lmax, which then ends with the last of them.

        >>> zonal.spectra.Bins.linear(10, lmax=30).last.tolist()
        [11, 21]
        """
        return cls("linear", width, lmin, lmax, dl, _weights(weights))

    @classmethod
    @checked
    def edges(cls, edges: ArrayLike, *, dl: bool = False, weights: ArrayLike | None = None) -> Bins:
        """Returns the bands of which band b has the degrees from edges[b] to edges[b + 1] - 1."""
        values = integers("edges", edges)
        if values.ndim != 1:
            raise ValueError(f"edges: has shape {values.shape}: must be a vector")
        return cls("edges", values.tolist(), dl, _weights(weights))

    @classmethod
    @checked
    def logarithmic(cls, n: int, lmax: int, lmin: int = 2, *, dl: bool = False, weights: ArrayLike | None = None) -> Bins:
        """Returns n bands between lmin, which is 1 or more, and lmax, whose widths grow as their degrees do; none is empty."""
        return cls("logarithmic", n, lmin, lmax, dl, _weights(weights))

    @classmethod
    @checked
    def from_weights(cls, weights: ArrayLike, *, dl: bool = False) -> Bins:
        """Returns the bands with these weights, [band, l]: a band reaches from the first degree whose weight is not 0 to the last.

        >>> zonal.spectra.Bins.from_weights([[0, 0, 1, 3, 0, 0], [0, 0, 0, 0, 1, 1]]).l_eff.tolist()
        [2.75, 4.5]
        """
        rows = doubles("weights", weights)
        if rows.ndim != 2:
            raise ValueError(f"weights: has shape {rows.shape}: must be [band, l]")
        return cls("of_weights", rows, dl, None)

    def __len__(self) -> int:
        return self._bins.size

    @property
    def lmax(self) -> int:
        """The last degree of the last band."""
        return self._bins.lmax

    @property
    def dl(self) -> bool:
        """Whether bands are of D_l."""
        return self._bins.dl

    @property
    def first(self) -> NDArray[np.int64]:
        """The first degree of each band."""
        return self._bins.degrees(False)

    @property
    def last(self) -> NDArray[np.int64]:
        """The last degree of each band."""
        return self._bins.degrees(True)

    @property
    def l_eff(self) -> NDArray[np.float64]:
        """The mean degree of each band by its weights: where to draw it, not where theory is to be taken (`BandPowers.theory`)."""
        return self._bins.effective_degrees()

    @property
    def weights(self) -> NDArray[np.float64]:
        """w_bl, [band, lmax + 1]."""
        return self._bins.weights()

    @checked
    def bin(self, c_l: ArrayLike) -> NDArray[np.float64]:
        """Returns P_b of a spectrum that no mask has mixed, [lmax + 1] or longer."""
        return self._bins.binned(spectrum("c_l", c_l))

    def __reduce__(self) -> tuple[type[Bins], tuple[Any, ...]]:
        return Bins, self._recipe

    def __repr__(self) -> str:
        return f"<zonal.spectra.Bins: {len(self)} of {'D_l' if self.dl else 'C_l'}, l = {self.first[0]} to {self.lmax}>"

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Bins):
            return NotImplemented
        return self.dl == other.dl and np.array_equal(self.last, other.last) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash((self.dl, self.first.tobytes(), self.lmax))


def _weights(given: ArrayLike | None) -> NDArray[np.float64] | None:
    return None if given is None else vector("weights", given)
