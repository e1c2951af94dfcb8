"""Files of a job: each rank reads and writes its own part."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import boolean, complex_input, real_input, sequence, text
from .._arrays import path as path_of
from .._maps import pixels_of
from ..grid import Grid
from ..io import Path, described
from ._job import Job
from ._parts import plain


class PlanFiles:
    """The methods of a Plan that read and write."""

    _job: Job
    _grid: Grid
    _lmax: int
    _mmax: int
    _threads: int
    _speeds: list[float]
    _device: str
    _divided_sky: _core.DividedSky | None
    _shares: list[_core.RankShare]

    def read_map(self, path: Path, fields: Sequence[str | int] = (), *, hdu: str | int | None = None, auxiliary: bool = False,
                 pol: bool | None = None, nest_if_absent: bool | None = None, nan_is_unseen: bool = False) -> NDArray[np.float64]:
        """Reads this rank's part of a HEALPix map, [n_pixels], or [row, n_pixels] of several columns: no rank reads the whole.

        The arguments are those of `zonal.io.read_map`; fields=[0], say, reads the first column. A map in nest order is
        brought into ring order by way of the other ranks. Raises OSError for partial skies, images and gzipped files, which
        cannot be read in parts, and for another nside than the grid's.
        """
        with self._job.together("read_map") as about:
            names = [str(name) for name in sequence("fields", fields)]
            options = ("" if hdu is None else str(hdu), names, boolean("auxiliary", auxiliary),
                       None if pol is None else boolean("pol", pol),
                       None if nest_if_absent is None else boolean("nest_if_absent", nest_if_absent),
                       boolean("nan_is_unseen", nan_is_unseen))
            about.append(f"{path_of('path', path)}: {options}")
            self._require_healpix()
        found = self._sky().read_map(os.fspath(path), *options)
        self._job.warn(found["notes"])
        values: NDArray[np.float64] = found["values"].reshape(len(found["names"]), -1)
        return values[0] if len(values) == 1 else values

    def write_map(self, path: Path, maps: ArrayLike, *, pol: bool = False, names: Sequence[str] = (), units: Sequence[str] = (),
                  coordinates: str = "unknown", nest: bool = False, single: bool | None = None, overwrite: bool = False) -> None:
        """Writes the ranks' parts of HEALPix maps, [n_pixels] or [row, n_pixels], into one file.

        The file is that of `zonal.io.write_map`, whose arguments these are. All ranks must see the same folder. The file
        appears when all of it is written, and not at all where a rank fails.
        """
        with self._job.together("write_map") as about:
            rows, n_pixels = np.atleast_2d(real_input("maps", plain("maps", maps))), self._shares[self._job.rank].n_pixels
            if rows.ndim != 2 or rows.shape[1] != n_pixels:
                raise ValueError(f"maps: has shape {np.shape(maps)}: must be [{n_pixels}] or [row, {n_pixels}]")
            self._require_healpix()
            single = rows.dtype == np.float32 if single is None else boolean("single", single)
            header = described(len(rows), boolean("pol", pol), names, units, text("coordinates", coordinates), boolean("nest", nest), single)
            overwrite = boolean("overwrite", overwrite)
            about.append(f"{path_of('path', path)}: {len(rows)} rows, {pol}, {names}, {units}, {coordinates}, {nest}, {single}, {overwrite}")
        self._sky().write_map(os.fspath(path), np.ascontiguousarray(rows, np.float64), pixels_of(self._grid), header, overwrite)

    def read_alm(self, path: Path) -> NDArray[np.complex128]:
        """Reads this rank's part of alm, [n_alm], or [component, n_alm] for T, E, B.

        What the file has beyond lmax and mmax is left out. Raises OSError where it has fewer, and for gzipped files.
        """
        with self._job.together("read_alm") as about:
            about.append(path_of("path", path))
        alm = np.stack(self._sky().read_alm(os.fspath(path)))
        return alm[0] if len(alm) == 1 else alm

    def write_alm(self, path: Path, alm: ArrayLike, *, unit: str = "", overwrite: bool = False) -> None:
        """Writes the ranks' parts of alm, [n_alm] or [component, n_alm], into one file, as `write_map` does.

        complex64 is written in single precision.
        """
        with self._job.together("write_alm") as about:
            rows, n_alm = np.atleast_2d(complex_input("alm", plain("alm", alm))), self._shares[self._job.rank].n_coefficients
            if rows.ndim != 2 or rows.shape[1] != n_alm or len(rows) not in (1, 3):
                raise ValueError(f"alm: has shape {np.shape(alm)}: must be [{n_alm}] or [3, {n_alm}]")
            overwrite = boolean("overwrite", overwrite)
            about.append(f"{path_of('path', path)}: {len(rows)} rows of {rows.dtype}, {text('unit', unit)}, {overwrite}")
        self._sky().write_alm(os.fspath(path), np.ascontiguousarray(rows, np.complex128), rows.dtype == np.complex64, unit, overwrite)

    def _require_healpix(self) -> None:
        if self._grid.nside is None:
            raise ValueError(f"grid = {self._grid.name}: only HEALPix maps are read and written in parts")

    def _sky(self) -> _core.DividedSky:
        """Collective where it is the first call."""
        if self._divided_sky is None:
            self._divided_sky = _core.DividedSky(self._job.ranks, self._grid._grid, self._lmax, self._mmax, self._threads, self._speeds,
                                                  self._device)
        return self._divided_sky
