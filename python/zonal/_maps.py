"""Arrays of maps on HEALPix or cylindrical pixels, as the extension takes them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import doubles, output, real_input, vector
from ._device_arrays import device_arrays
from ._devices import DeviceLike, resolve_device
from ._kinds import kind_of
from ._libraries import gpu_index
from ._pixels import grid_of_length, is_unseen, reordered, required_grid
from ._units import quantity_unit
from .grid import Grid
from .sky_map import Map, agreed


class MapRows:
    """Maps as rows: `rows` is [row, pixel] in ring order, and `give_back` makes results of the order and kind given.

    grid, nest, pol: None stands for what a Map says; for others it is HEALPix, ring order and no polarisation. any_grid: also
    one that the functions for whole maps do not know.
    """

    def __init__(self, maps: Any, grid: Grid | None, nest: bool | None, pol: bool | None, name: str = "maps", *,
                 any_grid: bool = False) -> None:
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
        self.grid = grid_of_length(name, array.shape[-1]) if grid is None else grid
        self.pixels: Any = None if any_grid else pixels_of(self.grid)
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


class MapRowsAnywhere(MapRows):
    """Maps as rows for calls that also take maps in the memory of a GPU, but work on the host's: a copy goes there, and the
    result comes back.

    device: where to compute, the GPU where such maps are; None is where the maps are. `device` is its name.
    """

    def __init__(self, maps: Any, grid: Grid | None, nest: bool | None, pol: bool | None, device: DeviceLike | None) -> None:
        gpu = gpu_index("maps", maps)
        self.device = resolve_device(device if device is not None else "cpu" if gpu is None else f"cuda:{gpu}")
        self._arrays = device_arrays("maps", maps, self.device, None)
        super().__init__(maps if self._arrays is None else self._arrays.copied("maps", maps), grid, nest, pol)

    def new_output(self, out: Any, grid: Grid | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        if self._arrays is None:
            return super().new_output(out, grid)
        result, written = super().new_output(None, grid)
        self._out, self._made = out, self._arrays.made(out, result.shape, result.dtype.name)
        return result, written

    def give_back(self, written: NDArray[Any], result: NDArray[Any], **changes: Any) -> Any:
        result = super().give_back(written, result, **changes)
        return result if self._arrays is None else self._arrays.fill(self._made, result, self._out)

    def weights(self, name: str, values: Any) -> NDArray[np.float64] | None:
        """A mask or weights of the pixels, which may be where the maps are, as `weights_of` returns them."""
        if self._arrays is not None and gpu_index(name, values) is not None:
            values = self._arrays.copied(name, values)
        return weights_of(name, values, self.rows.shape[1], self.nest, coordinates=self.kind.coordinates)


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


def require_same_coordinates(name: str, system: str, expected: str, whose: str = "the map's") -> None:
    """Raises ValueError for coordinates that are known to be others than those expected."""
    if "unknown" not in (system, expected) and system != expected:
        raise ValueError(f"{name}: coordinates are {system}, {whose} are {expected}; zonal.rotate_map turns maps")


def weights_of(name: str, values: ArrayLike | None, n_pixels: int, nest: bool = False, *, coordinates: str = "unknown",
               keep_unseen: bool = False) -> NDArray[np.float64] | None:
    """A mask or weights of pixels, [pixel] in ring order, or None. A Map of one row serves as it was read, and is 0 where it is
    UNSEEN, unless that is kept. coordinates: of the map that they are for.
    """
    if values is None:
        return None
    array = doubles(name, values)
    if isinstance(values, Map):
        require_same_coordinates(name, values.coordinates, coordinates)
        nest = values.nest
        if array.ndim == 2 and len(array) != 1:
            raise ValueError(f"{name}: has {len(array)} rows: must be one, such as {name}[0] or zonal.io.read_map(path, [field])")
        array = (array if keep_unseen else np.where(is_unseen(array), 0, array)).reshape(-1)
    if array.shape != (n_pixels,):
        raise ValueError(f"{name}: has shape {array.shape}: must be [{n_pixels}]")
    return reordered(array[None], to_nest=False)[0] if nest else array


def own_weights_of(name: str, values: Any, maps: Map, pixels: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """A mask of these pixels of a Map, in the memory of these. values: as in weights_of, or a Map of a part of the sky."""
    if values is None:
        return None
    if isinstance(values, Map):
        require_same_coordinates(name, values.coordinates, maps.coordinates)
    if isinstance(values, Map) and values.is_part and values.grid == maps.grid:
        theirs, rows = values.own()
        if len(rows) != 1:
            raise ValueError(f"{name}: has {len(rows)} rows: must be one, such as {name}[0] or zonal.io.read_map(path, [field])")
        places = np.minimum(np.searchsorted(theirs, pixels), theirs.size - 1)
        own = np.where((theirs[places] == pixels) & ~is_unseen(rows[0][places]), rows[0][places], 0).astype(np.float64)
    elif maps.nest or isinstance(values, Map) or quantity_unit(values) is not None:
        whole = weights_of(name, values, maps.grid.n_pixels, maps.nest)
        assert whole is not None
        own = whole[pixels]
    else:
        array = real_input(name, values)
        if array.shape != (maps.grid.n_pixels,):
            raise ValueError(f"{name}: has shape {array.shape}: must be [{maps.grid.n_pixels}]")
        own = doubles(name, array[pixels])
    bad = ~((own >= 0) & (own <= 1))
    if bad.any():
        raise ValueError(f"{name}: pixel {pixels[bad][0]} is {own[bad][0]}: must be from 0 to 1")
    return own


def ring_weights_of(values: ArrayLike | None) -> list[float]:
    if values is None:
        return []
    weights: list[float] = vector("ring_weights", values).tolist()
    if not weights:
        raise ValueError("ring_weights: is empty: must be [ring], one for each ring of the grid")
    return weights
