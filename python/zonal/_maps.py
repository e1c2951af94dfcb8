"""Arrays of maps on HEALPix or cylindrical pixels, as the extension takes them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import doubles, output, real_input, vector
from .grid import Grid


UNSEEN = -1.6375e30
"""The value of HEALPix pixels without data."""


class MapRows:
    """Maps as rows: `rows` is [row, pixel] in ring order, and `give_back` makes results of the order and kind given.

    grid, nest, pol: None stands for what a Map says; for others it is HEALPix, ring order and no polarisation.
    """

    def __init__(self, maps: Any, grid: Grid | None, nest: bool | None, pol: bool | None, name: str = "maps") -> None:
        from ._kinds import kind_of  # which needs this module
        from .sky_map import agreed

        self.kind = kind_of(maps)
        if self.kind.map is not None:
            grid, nest = agreed(name, self.kind.map, grid, nest)
            pol = self.kind.map.pol if pol is None else pol
        nest, pol = bool(nest), bool(pol)
        array = real_input(name, maps)
        if array.ndim not in (1, 2) or array.size == 0:
            raise ValueError(f"{name}: has shape {array.shape}: must be [pixel] or [row, pixel]{', and not empty' if array.size == 0 else ''}")
        self.is_single = array.ndim == 1
        self.nest = self.nest_out = nest
        self.rows: NDArray[Any] = array[None] if self.is_single else array
        self.grid = _grid_of(name, array.shape[-1]) if grid is None else grid
        self.pixels = pixels_of(self.grid)
        if self.grid.n_pixels != array.shape[-1]:
            raise ValueError(f"{name}: has {array.shape[-1]} pixels: must be {self.grid.n_pixels} for {self.grid.name}")
        if nest and self.grid.nside is None:
            raise ValueError(f"nest = True: is for HEALPix alone, not for {self.grid.name}")
        self.grid_out = self.grid
        self.fields = fields_of(name, len(self.rows), pol)
        if nest:
            self.rows = reordered(self.rows, to_nest=False)

    def new_output(self, out: NDArray[Any] | None, grid: Grid | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """The caller's array or a new one, and what the extension writes to. grid: of the result, if it is another."""
        self.grid_out = self.grid if grid is None else grid
        self.nest_out = self.nest and self.grid_out.nside is not None
        length = self.grid_out.n_pixels
        shape = (length,) if self.is_single else (len(self.rows), length)
        result = output(out, shape, self.rows.dtype, self.rows)
        written = np.empty((len(self.rows), length), self.rows.dtype) if self.nest_out else \
            result[None] if self.is_single else result
        return result, written

    def give_back(self, written: NDArray[Any], result: NDArray[Any], **changes: Any) -> Any:
        """The result, of the kind given. changes: what else is new in a Map."""
        if self.nest_out:
            result[...] = reordered(written, to_nest=True)[0 if self.is_single else slice(None)]
        return self.kind.maps(result, grid=self.grid_out, nest=self.nest_out, **changes)


def is_unseen(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether values mean UNSEEN, also as files and float32 round it."""
    unseen: NDArray[np.bool_] = np.abs(values - UNSEEN) <= 1e-5 * abs(UNSEEN)
    return unseen


def has_unseen(values: NDArray[Any]) -> bool:
    """Whether a value means UNSEEN, in one pass over other maps."""
    return values.size > 0 and bool(values.min() < -1e29) and bool(is_unseen(values).any())


def is_bad(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether values are not finite, or UNSEEN."""
    bad: NDArray[np.bool_] = ~np.isfinite(values) | is_unseen(values)
    return bad


def reordered(rows: NDArray[Any], to_nest: bool) -> NDArray[Any]:
    """Maps [row, pixel] in the other order, copied."""
    result = np.empty_like(rows, order="C")
    for row, out in zip(rows, result):
        _core.reorder(row, out, to_nest)
    return result


def _grid_of(name: str, n_pixels: int) -> Grid:
    nside = round((n_pixels / 12) ** 0.5)
    if 12 * nside**2 != n_pixels:
        raise ValueError(f"{name}: has {n_pixels} pixels, which is no HEALPix map (12 nside^2): give its grid")
    return Grid.healpix(nside)


def required_grid(name: str, grid: Any) -> Grid:
    """Raises TypeError for what is no grid."""
    if not isinstance(grid, Grid):
        raise TypeError(f"{name}: must be a zonal.Grid, not {type(grid).__name__}; for HEALPix zonal.Grid.healpix(nside)")
    return grid


def pixels_of(grid: Grid, name: str = "grid") -> Any:
    """The grid as the functions for whole maps know it. Raises ValueError for grids that they do not."""
    factory, *arguments = required_grid(name, grid)._recipe
    if factory == "healpix":
        return _core.HealpixPixels(arguments[0])
    if factory == "equidistant_cylindrical":
        n_rings, n_phi = arguments
        return _core.CarPixels(n_rings, n_phi, np.pi / n_phi, False)
    if factory in ("fejer1", "clenshaw_curtis") and 0 <= arguments[2] < 2 * np.pi / arguments[1]:
        n_rings, n_phi, phi_0 = arguments
        return _core.CarPixels(n_rings, n_phi, phi_0, factory == "clenshaw_curtis")
    raise ValueError(f"{name} = {grid.name}: must be HEALPix, or equidistant cylindrical rings of which the first pixel "
                     "lies less than a pixel from longitude 0; use zonal.SHT or zonal.plan for other grids")


def fields_of(name: str, n_rows: int, pol: bool) -> str:
    if not pol:
        return "scalars"
    if n_rows not in (2, 3):
        raise ValueError(f"{name}: has {n_rows} rows: must be I, Q, U or Q, U, or else pol = False")
    return "iqu" if n_rows == 3 else "qu"


def weights_of(name: str, values: ArrayLike | None, n_pixels: int, nest: bool = False) -> NDArray[np.float64] | None:
    """A mask or weights of pixels, [pixel] in ring order, or None."""
    if values is None:
        return None
    own_nest = getattr(values, "nest", None)  # of a Map
    nest = nest if own_nest is None else own_nest
    array = doubles(name, values)
    if array.shape != (n_pixels,):
        raise ValueError(f"{name}: has shape {array.shape}: must be [{n_pixels}]")
    return reordered(array[None], to_nest=False)[0] if nest else array


def ring_weights_of(values: ArrayLike | None) -> list[float]:
    return [] if values is None else vector("ring_weights", values).tolist()
