"""FITS files of maps, coefficients and spectra with the names, arguments and results of healpy.fitsfunc.

astropy reads and writes them. Arrays are returned in the machine's byte order. Files appear complete or not at all. See
zonal.io for files without astropy.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._astropy_fits import astropy_fits, write_tables
from .._notes import warn
from .._pixels import UNSEEN, has_unseen
from . import cookbook as cb
from . import pixelfunc
from ._alm import Alm, layout_of
from ._checked import checked
from ._fits import column_values, getformat, set_extra, table_of, texts_of
from ._maps import ma_to_array, maptype, mask_bad, reorder
from ._sizes import check_nside, npix2nside
from .utils.deprecation import note_verbose

allowed_paths = (str, pathlib.Path)
standard_column_names: dict[int, Any] = {
    1: "TEMPERATURE", 2: ["Q_POLARISATION", "U_POLARISATION"],
    3: ["TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"], 6: ["II", "IQ", "IU", "QQ", "QU", "UU"]}
# HEALPix's names of TT, EE, BB, TE, EB, TB, which is healpy's order of spectra.
_CL_NAMES = ["TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-G", "C-T"]


class HealpixFitsWarning(Warning):
    """Says what was assumed about a file that does not say it itself."""


@checked
def read_map(filename: Any, field: Any = 0, dtype: Any = None, nest: bool | None = False, partial: bool = False,
             hdu: int | str = 1, h: bool = False, verbose: Any = None, memmap: bool = False) -> Any:
    """Returns a map, [pixel], or maps, [row, pixel], from a file.

    filename: a name, an open HDUList or an HDU. field: the number or name of a column, a sequence of these, or None for
    all; a column of pixel numbers does not count. dtype: of the result, by default that of the file; with a sequence
    each map gets its own, and the maps come in a list. nest: whether the result is in nest order; None keeps the order
    of the file. partial: says that the first column holds pixel numbers, if the file does not say; all other pixels are
    UNSEEN. h: also returns the header, [(key, value)]. memmap: as in astropy.

    Raises OSError if there is no map, and ValueError for arguments that do not fit the file.
    """
    note_verbose(verbose)
    with table_of(filename, hdu, memmap) as table:
        header = table.header
        names = list(table.columns.names)
        pixels = column_values(table, 0) if _is_partial(header, partial) else None
        fields = _fields(field, names[1:] if pixels is not None else names)
        first = 0 if pixels is None else 1
        columns = [column_values(table, first + i) for i in fields]
        cards = list(header.items())
    types = _types(dtype, len(fields))
    nside = _nside(header, None if pixels is not None else columns[0].size)
    if pixels is not None:
        columns = [_whole_sky(values, pixels, nside) for values in columns]
    from_nest = _is_nested(header) if nest is not None else False
    if nest is not None and bool(nest) != from_nest:
        columns = [reorder(values, n2r=from_nest, r2n=not from_nest) for values in columns]
    maps: Any = [_converted(values, kind) for values, kind in zip(columns, types)]
    if len(maps) == 1:
        maps = maps[0]
    elif len({np.dtype(kind) if kind is not None else None for kind in types}) == 1:
        maps = np.array(maps)
    return (maps, cards) if h else maps


def _is_partial(header: Any, otherwise: bool) -> bool:
    scheme, sky = (str(header.get(key, "")).strip().upper() for key in ("INDXSCHM", "OBJECT"))
    if scheme in ("IMPLICIT", "EXPLICIT"):
        return scheme == "EXPLICIT"
    return sky == "PARTIAL" if sky in ("PARTIAL", "FULLSKY") else otherwise


def _is_nested(header: Any) -> bool:
    order = str(header.get("ORDERING", "")).strip().upper()
    if not order:
        warn(["the file has no ORDERING: its pixels are taken to be in ring order"], HealpixFitsWarning)
    elif order not in ("RING", "NEST", "NESTED"):
        raise OSError(f"ORDERING = {order}: must be RING or NESTED; nest = None reads the map as it stands")
    return order.startswith("NEST")


def _nside(header: Any, n_pixels: int | None) -> int:
    nside = header.get("NSIDE")
    if nside is None:
        if n_pixels is None:
            raise OSError("the file has no NSIDE, which a part of the sky needs")
        warn(["the file has no NSIDE: it is taken from the number of pixels"], HealpixFitsWarning)
        return npix2nside(n_pixels)
    if isinstance(nside, str):  # as some writers put it
        try:
            nside = int(nside)
        except ValueError:
            raise OSError(f"NSIDE = {nside!r}: must be an integer") from None
    check_nside(nside)
    if n_pixels is not None and n_pixels != 12 * nside**2:
        raise ValueError(f"the file has {n_pixels} pixels, but NSIDE = {nside}: must be {12 * nside**2}; set "
                         "partial = True if the first column holds pixels")
    return int(nside)


def _fields(field: Any, names: list[str]) -> list[int]:
    """Returns the numbers of the columns asked for."""
    if field is None:
        return list(range(len(names)))
    asked = [field] if isinstance(field, (int, np.integer, str)) else list(field)
    upper = [name.upper() for name in names]
    found = []
    for one in asked:
        number = upper.index(one.upper()) if isinstance(one, str) and one.upper() in upper else one
        if isinstance(number, str) or not 0 <= number < len(names):
            raise IndexError(f"field = {one!r}: the file has {len(names)} columns: {', '.join(names)}")
        found.append(int(number))
    return found


def _types(dtype: Any, n: int) -> list[Any]:
    types = list(dtype) if isinstance(dtype, (list, tuple)) else [dtype] * n
    if len(types) != n:
        raise ValueError(f"dtype: has {len(types)} types: must be one, or one for each of {n} columns")
    return types


def _converted(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Returns the values, in another type unless that is None. What means UNSEEN equals it, also if float32 rounded it."""
    result = values if dtype is None else values.astype(dtype, copy=False)
    if result.dtype.kind == "f" and has_unseen(result):
        result[mask_bad(result)] = UNSEEN
    return result


def _whole_sky(values: NDArray[Any], pixels: NDArray[Any], nside: int) -> NDArray[Any]:
    if ((pixels < 0) | (pixels >= 12 * nside**2)).any():
        raise OSError(f"the file has pixels outside the map of NSIDE = {nside}: must be from 0 to {12 * nside**2 - 1}")
    whole = np.full(12 * nside**2, UNSEEN, values.dtype if values.dtype.kind in "fc" else np.float64)
    whole[pixels] = values
    return whole


@checked
def write_map(filename: str | os.PathLike[str], m: Any, nest: bool = False, dtype: Any = None, fits_IDL: bool = True,
              coord: str | None = None, partial: bool = False, column_names: Any = None, column_units: Any = None,
              extra_header: Any = (), overwrite: bool = False) -> None:
    """Writes a map, [pixel], or maps, [row, pixel], each as a column, with masked pixels as UNSEEN.

    nest: the maps are in nest order; the file keeps their order. dtype: of the columns, one for all or one for each; by
    default that of each map. fits_IDL: writes rows of 1024 values, if 1024 divides the number of pixels. coord: "G",
    "E" or "C". partial: leaves out pixels that are UNSEEN in every map. column_units: one for all or one for each.
    extra_header: cards, (key, value) or (key, value, comment).
    """
    maps = [ma_to_array(m)] if maptype(m) == 0 else [np.asarray(ma_to_array(row)) for row in m]
    maps = [np.asarray(row) for row in maps]
    n_pixels = maps[0].size
    types = _types(dtype, len(maps))
    names = texts_of("column_names", column_names, len(maps),
                     _column_names(len(maps)))
    units = texts_of("column_units", column_units, len(maps), [None] * len(maps))
    if coord is not None and (not isinstance(coord, str) or coord.upper() not in ("G", "E", "C")):
        raise ValueError(f"coord = {coord!r}: must be 'G', 'E' or 'C'")
    kept = np.flatnonzero(~np.all([mask_bad(row) for row in maps], axis=0)) if partial else None
    fits, columns = astropy_fits(), []
    if kept is not None:
        kind = np.int32 if n_pixels <= 2**31 else np.int64
        columns.append(fits.Column(name="PIXEL", format=getformat(kind), array=kept.astype(kind)))
    width = 1024 if fits_IDL and kept is None and n_pixels % 1024 == 0 else 1
    for row, kind, name, unit in zip(maps, types, names, units):
        values = row if kept is None else row[kept]
        values = values if kind is None else values.astype(kind)
        form = getformat(values.dtype)
        columns.append(fits.Column(name=name, unit=unit, format=f"{width}{form}" if width > 1 else form,
                                   array=values.reshape(-1, width) if width > 1 else values))
    table = fits.BinTableHDU.from_columns(columns)
    _describe(table.header, npix2nside(n_pixels), nest, coord, kept)
    set_extra(table, extra_header)
    write_tables(filename, [table], overwrite)


def _column_names(n: int) -> list[str]:
    """The names of the columns of n maps, by default."""
    names = standard_column_names.get(n, [f"COLUMN_{i + 1}" for i in range(n)])
    return [names] if isinstance(names, str) else names


def _describe(header: Any, nside: int, nest: bool, coord: str | None, kept: NDArray[Any] | None) -> None:
    header["PIXTYPE"] = ("HEALPIX", "HEALPix pixels")
    header["ORDERING"] = ("NESTED" if nest else "RING", "order of the pixels: RING or NESTED")
    if coord is not None:
        header["COORDSYS"] = (coord.upper(), "G: galactic, E: ecliptic, C: equatorial")
    header["EXTNAME"] = ("xtension", "name of this table")
    header["NSIDE"] = (nside, "12 NSIDE^2 pixels cover the sphere")
    if kept is None:
        header["FIRSTPIX"] = (0, "first pixel, counted from 0")
        header["LASTPIX"] = (12 * nside**2 - 1, "last pixel")
    else:
        header["OBS_NPIX"] = (kept.size, "number of pixels in this table")
    header["INDXSCHM"] = ("IMPLICIT" if kept is None else "EXPLICIT", "EXPLICIT: the first column holds the pixels")
    header["OBJECT"] = ("FULLSKY" if kept is None else "PARTIAL", "part of the sky that is here")


@checked
def read_alm(filename: Any, hdu: int | Sequence[int] = 1, return_mmax: bool = False) -> Any:
    """Returns the alm of an HDU, [n_alm], or of several, [row, n_alm]; with return_mmax also their mmax.

    filename: a name, an open HDUList or an HDU. The tables must have columns of l^2 + l + m + 1 and of the real and
    imaginary parts; coefficients that they leave out are 0. Raises OSError for other tables.
    """
    numbers = [hdu] if isinstance(hdu, (int, np.integer, str)) else list(hdu)
    tables = []
    for number in numbers:
        with table_of(filename, number) as table:
            if len(table.columns.names) < 3:
                raise OSError(f"HDU {number}: has {len(table.columns.names)} columns: must have an index, real and "
                              "imaginary parts")
            tables.append([column_values(table, i) for i in range(3)])
    places = [_degrees(index, number) for (index, _, _), number in zip(tables, numbers)]
    lmax, mmax = (int(max(values[i].max() for values in places)) for i in (0, 1))
    kind = np.result_type(np.complex64, *(part.dtype for _, *parts in tables for part in parts))
    alm = np.zeros((len(tables), Alm.getsize(lmax, mmax)), kind)
    for row, (l, m), (_, real, imaginary) in zip(alm, places, tables):
        place = Alm.getidx(lmax, l, m)
        row.real[place], row.imag[place] = real, imaginary
    rows = alm[0] if len(alm) == 1 else alm
    return (rows, mmax) if return_mmax else rows


def _degrees(index: NDArray[Any], hdu: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    place = index.astype(np.int64) - 1
    l = np.floor(np.sqrt(np.maximum(place, 0))).astype(np.int64)
    m = place - l * l - l
    if place.size == 0 or (place < 0).any() or (m < 0).any():
        raise OSError(f"HDU {hdu}: its first column must hold l^2 + l + m + 1 with m >= 0")
    return l, m


@checked
def write_alm(filename: str | os.PathLike[str], alms: Any, out_dtype: Any = None, lmax: int = -1, mmax: int = -1,
              mmax_in: int = -1, overwrite: bool = False) -> None:
    """Writes alm, [n_alm], or several, [row, n_alm], each as an HDU.

    lmax, mmax: coefficients above these are left out. mmax_in: of the alm, by default their lmax. out_dtype: of the
    real and imaginary parts, by default that of the alm.
    """
    rows = [np.asarray(row) for row in (alms if cb.is_seq_of_seq(alms) else [alms])]
    lmax_in, mmax_in = layout_of(len(rows[0]), None, mmax_in)
    lmax = lmax_in if lmax < 0 else lmax
    if lmax > lmax_in:
        raise ValueError(f"lmax = {lmax}: must be at most {lmax_in}, that of the alm")
    if mmax > min(lmax, mmax_in):
        raise ValueError(f"mmax = {mmax}: must be at most {min(lmax, mmax_in)}, that of the alm up to lmax = {lmax}")
    mmax = min(lmax, mmax_in) if mmax < 0 else mmax
    m = np.repeat(np.arange(mmax + 1), lmax + 1 - np.arange(mmax + 1))
    l = np.arange(m.size) - m * (2 * lmax + 1 - m) // 2
    place = Alm.getidx(lmax_in, l, m)
    index = l * l + l + m + 1
    index = index.astype(np.int32 if index[-1] < 2**31 and lmax < 46340 else np.int64)
    fits, tables = astropy_fits(), []
    for row in rows:
        values = row[place]
        columns = [fits.Column(name="index", format=getformat(index.dtype), unit="l*l+l+m+1", array=index)]
        for name, part in (("real", values.real), ("imag", values.imag)):
            part = part if out_dtype is None else part.astype(out_dtype)
            columns.append(fits.Column(name=name, format=getformat(part.dtype), unit="unknown", array=part))
        tables.append(fits.BinTableHDU.from_columns(columns))
    write_tables(filename, tables, overwrite)


def read_cl(filename: Any) -> NDArray[Any]:
    """Returns the spectrum of a file, [lmax + 1], or its spectra, [n, lmax + 1], in the order of its columns.

    filename: a name, an open HDUList or an HDU.
    """
    with table_of(filename, 1) as table:
        spectra = [column_values(table, i) for i in range(len(table.columns.names))]
    return spectra[0] if len(spectra) == 1 else np.array(spectra)


@checked
def write_cl(filename: str | os.PathLike[str], cl: Any, dtype: Any = None, overwrite: bool = False,
             column_names: Any = None, column_units: Any = None, extra_header: Any = ()) -> None:
    """Writes a spectrum, [lmax + 1], or several of one length (TT, EE, BB, TE, EB, TB), each as a column.

    dtype: of the columns, by default that of cl. column_names, column_units: one for each; a single unit goes to all.
    """
    rows = [np.asarray(row) for row in (cl if cb.is_seq_of_seq(cl) else [cl])]
    if len({row.shape for row in rows}) > 1:
        raise ValueError(f"cl: has spectra of shapes {[row.shape for row in rows]}: must have one length")
    names = texts_of("column_names", column_names, len(rows),
                     (_CL_NAMES + [f"COLUMN_{i}" for i in range(7, len(rows) + 1)])[:len(rows)])
    units = texts_of("column_units", column_units, len(rows), [None] * len(rows))
    fits = astropy_fits()
    rows = [row if dtype is None else row.astype(dtype) for row in rows]
    table = fits.BinTableHDU.from_columns([fits.Column(name=name, unit=unit, format=getformat(row.dtype), array=row)
                                           for name, unit, row in zip(names, units, rows)])
    table.header["CREATOR"] = "zonal"
    set_extra(table, extra_header)
    write_tables(filename, [table], overwrite)


def __getattr__(name: str) -> Any:
    if name == "pf":  # the module astropy.io.fits, which programs use through this name
        return astropy_fits()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


__all__ = ["UNSEEN", "HealpixFitsWarning", "allowed_paths", "cb", "getformat", "pixelfunc", "read_alm", "read_cl",
           "read_map", "standard_column_names", "write_alm", "write_cl", "write_map"]
