"""Where ducc0's arguments say that coefficients and pixels lie in arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._checked import invalid
from ..sht import alm_size
from ._arguments import contiguous, vector, whole


def orders_up_to(lmax: int, mmax: int | None, mstart: Any) -> tuple[int, NDArray[np.int64] | None]:
    """mmax, and mstart where it is given. By default mmax is lmax, or what the length of mstart says."""
    if lmax < 0:
        raise invalid("lmax", lmax, "must be 0 or more")
    starts = None if mstart is None else whole("mstart", mstart)
    if mmax is None:
        mmax = lmax if starts is None else len(starts) - 1
    if not 0 <= mmax <= lmax:
        raise invalid("mmax", mmax, f"must be from 0 to lmax = {lmax}")
    if starts is not None and len(starts) != mmax + 1:
        raise invalid("mstart", None, f"has length {len(starts)}: must be mmax + 1 = {mmax + 1}")
    return mmax, starts


class AlmLayout:
    """Where the last axis of an array holds a_lm of some orders: at mstart[i] + lstride l of order i.

    It reads an array into Zonal's order, in which orders follow one another, and writes it back.
    """

    def __init__(self, lmax: int, orders: NDArray[np.int64], mstart: NDArray[np.int64] | None, lstride: int) -> None:
        if lstride == 0:
            raise invalid("lstride", lstride, "must not be 0")
        if lstride != 1 and mstart is None:
            raise invalid("mstart", None, f"must be given for lstride = {lstride}: without it, orders lie one after the other")
        counts = lmax + 1 - orders
        self.size = int(counts.sum())
        starts = (np.cumsum(counts) - counts) - orders
        is_plain = lstride == 1 and np.array_equal(starts if mstart is None else mstart, starts)
        self.index = None if mstart is None or is_plain else self._places(counts, orders, mstart, lstride)
        self.length = self.size if self.index is None else int(self.index.max(initial=-1)) + 1

    @classmethod
    def of_all(cls, lmax: int, mmax: int | None, mstart: Any, lstride: int) -> tuple[AlmLayout, int]:
        """That of all orders up to mmax, and mmax."""
        mmax, starts = orders_up_to(lmax, mmax, mstart)
        layout = cls(lmax, np.arange(mmax + 1), starts, lstride)
        assert layout.size == alm_size(lmax, mmax)
        return layout, mmax

    def _places(self, counts: NDArray[np.int64], orders: NDArray[np.int64], mstart: NDArray[np.int64],
                lstride: int) -> NDArray[np.int64]:
        before = np.repeat(np.cumsum(counts) - counts - orders, counts)
        index = np.repeat(mstart, counts) + lstride * (np.arange(self.size) - before)
        if index.min(initial=0) < 0:
            raise invalid("mstart", None, f"and lstride = {lstride} put a coefficient at index {index.min()}: must be 0 or more")
        return index

    def read(self, alm: NDArray[Any]) -> NDArray[Any]:
        """[.., size] from an array of this layout."""
        self.check("alm", alm)
        return contiguous(alm[..., :self.size]) if self.index is None else np.take(alm, self.index, axis=-1)

    def check(self, name: str, alm: NDArray[Any]) -> None:
        if alm.shape[-1] < self.length:
            raise invalid(name, None, f"has a last axis of {alm.shape[-1]}: must be {self.length} or more for lmax, mmax, mstart "
                          "and lstride")

    def check_places(self) -> None:
        """Raises ValueError where two coefficients would be written to one place."""
        if self.index is not None and np.unique(self.index).size != self.index.size:
            raise invalid("mstart", None, "puts two coefficients at one place: must put each at a place of its own")


class RingLayout:
    """Rings of pixels: ring i is at theta[i], its pixel j at phi0[i] + 2 pi j / nphi[i] and at index
    ringstart[i] + pixstride j of a map. factor: [ring] or None, what the pixels of a ring are multiplied by.
    """

    def __init__(self, theta: Any, nphi: Any, phi0: Any, ringstart: Any, pixstride: int, ringfactor: Any) -> None:
        angles = vector("theta", theta)
        count = len(angles)
        bad = ~((angles >= 0) & (angles <= np.pi))
        if bad.any():
            raise invalid(f"theta[{np.argmax(bad)}]", angles[bad][0], "must be from 0 to pi")
        self.n_phi, self.starts = whole("nphi", nphi, count), whole("ringstart", ringstart, count)
        if count == 0 or self.n_phi.min() < 1:
            raise invalid("nphi", None, "must hold one ring or more, of 1 pixel or more each")
        longitudes = vector("phi0", phi0, count)
        if not np.isfinite(longitudes).all():
            at = np.argmin(np.isfinite(longitudes))
            raise invalid(f"phi0[{at}]", longitudes[at], "must be finite")
        self.factor = None if ringfactor is None else vector("ringfactor", ringfactor, count)
        first = np.cumsum(self.n_phi) - self.n_phi
        self.n_pixels = int(self.n_phi.sum())
        self.stride = pixstride
        last = self.starts + pixstride * (self.n_phi - 1)
        lowest = min(int(self.starts.min()), int(last.min()))
        if lowest < 0:
            raise invalid("ringstart", None, f"and pixstride = {pixstride} put a pixel at index {lowest}: must be 0 or more")
        self.length = max(int(self.starts.max()), int(last.max())) + 1
        self.overlap = self._overlap()
        # Otherwise pixels are gathered ring by ring, and scattered to where they belong.
        self.is_plain = pixstride == 1 and not self.overlap and self.factor is None
        where = self.starts if self.is_plain else first
        n_map = self.length if self.is_plain else self.n_pixels
        self.grid = _core.Grid.of_rings(angles, longitudes, np.ones(count), self.n_phi, where, n_map, "rings")

    def _overlap(self) -> bool:
        if self.stride == 1:
            order = np.argsort(self.starts, kind="stable")
            return bool(np.any(self.starts[order][1:] < (self.starts + self.n_phi)[order][:-1]))
        return bool(np.bincount(self.index(), minlength=self.length).max() > 1)

    def index(self) -> NDArray[np.int64]:
        """[n_pixels], where the pixels lie in a map, ring by ring."""
        first = np.cumsum(self.n_phi) - self.n_phi
        return np.repeat(self.starts - self.stride * first, self.n_phi) + self.stride * np.arange(self.n_pixels)

    def scaled(self, pixels: NDArray[Any]) -> NDArray[Any]:
        """The pixels ring by ring, [.., n_pixels], times the rings' factors; in place."""
        if self.factor is not None:
            pixels *= np.repeat(self.factor, self.n_phi).astype(pixels.dtype)
        return pixels

    def read(self, maps: NDArray[Any]) -> NDArray[Any]:
        """Maps as the grid has them, times the rings' factors, from [.., x]."""
        self.check("map", maps)
        return contiguous(maps[..., :self.length]) if self.is_plain else self.scaled(np.take(maps, self.index(), axis=-1))

    def check(self, name: str, maps: NDArray[Any]) -> None:
        if maps.shape[-1] < self.length:
            raise invalid(name, None, f"has a last axis of {maps.shape[-1]}: must be {self.length} or more for nphi, ringstart and "
                          "pixstride")

    def check_places(self) -> None:
        """Raises ValueError where two pixels would be written to one place."""
        if self.overlap:
            raise invalid("ringstart", None, "puts two pixels at one place: must put each at a place of its own")


__all__ = ["AlmLayout", "RingLayout", "orders_up_to"]
