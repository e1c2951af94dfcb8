"""Files of maps, coefficients, spectra, beams and weights.

FITS files are those of HEALPix and healpy, plain or gzipped (names that end in .gz). What was assumed while reading
becomes a ZonalWarning. Files appear complete or not at all, and an existing one is kept unless overwrite=True.
Everything here raises OSError, which names the file and the HDU, where a file cannot be read or written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._angles import angles
from ._arrays import complex_input, sequence, spectrum, text, vector
from ._arrays import path as path_of
from ._checked import checked, within
from ._energies import EnergyLike
from ._energies import energy as mev
from ._maps import MapRows, fields_of, pixels_of
from ._names import no_attribute
from ._notes import warn
from ._progress import Progress, reporting
from ._threads import resolve
from ._units import quantity_unit, text_of
from .grid import Grid
from .kernel import Kernel
from .skies import lmax_of
from .sky_map import Card, Map, agreed

Path = str | os.PathLike[str]


@checked
def read_map(path: Path, fields: Sequence[str | int] = (), *, hdu: str | int | None = None, auxiliary: bool = False,
             pol: bool | None = None, nest_if_absent: bool | None = None, nan_is_unseen: bool = False,
             multi_order_nside: int | None = None) -> Map:
    """Reads a map of HEALPix pixels or a cylindrical (CAR) image, of the sky or of a part, as a `zonal.Map`, [row, pixel].

    Its values are in ring order and float64, and UNSEEN where a partial sky has no pixels; it takes the memory of these alone
    until its values are asked for (see `zonal.Map`). Rows that are I, Q, U (or
    Q, U) come first, U in the COSMO convention. Its nest_in_file, partial, single and cards say how the file holds it.

    fields: names or numbers of the columns; by default all that hold fields of the sky. auxiliary: hits, errors and
    covariances too. hdu: name or number of the extension; by default the first that holds a map.
    pol: True takes the first three columns as I, Q, U (of two: Q, U), False none; by default their names decide.
    nest_if_absent: the order of HEALPix files that do not say theirs; by default ring, with a warning.
    nan_is_unseen: takes NaN as pixels without data, which otherwise are an error. Infinite pixels are kept.
    multi_order_nside: nside on which multi-order maps (NUNIQ) are read, a power of 2; by default that of their finest cell.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "sky.fits")
    >>> zonal.io.write_map(path, np.arange(12.0), units=["uK"])
    >>> zonal.io.read_map(path).units
    ['uK']
    """
    found = _core.read_map(_existing(path), "" if hdu is None else str(hdu), [str(name) for name in sequence("fields", fields)],
                           auxiliary, pol, nest_if_absent, nan_is_unseen, multi_order_nside)
    warn(found["notes"])
    return Map(found["values"].reshape(len(found["names"]), -1), _grid_of_file(found["nside"], found["rings"]), False,
               found["units"], found["coordinates"], found["names"], pol=found["polarized"], pixels=found["pixels"],
               nest_in_file=found["nest"], single=found["single"], cards=found["cards"])


def _grid_of_file(nside: int, rings: tuple[int, int, float, bool] | None) -> Grid:
    if rings is None:
        return Grid.healpix(nside)
    n_rings, n_phi, phi_0, poles = rings
    if poles:
        return Grid.clenshaw_curtis(n_rings, n_phi, phi_0)
    return Grid.equidistant_cylindrical(n_rings, n_phi) if phi_0 == np.pi / n_phi else Grid.fejer1(n_rings, n_phi, phi_0)


@checked
def write_map(path: Path, maps: ArrayLike | Map, *, grid: Grid | None = None, pol: bool | None = None,
              names: Sequence[str] = (), units: Sequence[str] = (), coordinates: str = "unknown",
              nest: bool | None = None, partial: bool = False, multi_order: bool = False, single: bool | None = None,
              cards: Sequence[Card] = (), overwrite: bool = False) -> None:
    """Writes maps, [pixel] or [row, pixel] in ring order, a Quantity of them, or a `zonal.Map`.

    grid: HEALPix by default, or cylindrical rings, which become an image. pol: the rows are I, Q, U or Q, U. names,
    units: of the columns. nest: writes them in nest order. partial: leaves out pixels that are UNSEEN in every row;
    of an image, what is outside the smallest rectangle that holds the others.
    multi_order: writes a multi-order map (NUNIQ), with cells as large as possible without loss. It has no order, and
    also leaves out pixels that are UNSEEN in every row. single: in float32, else float64; by default as the maps are.
    cards: more of them for the header.

    A Map gives what is not given here: its columns, units, coordinates and order, and partial, single, cards and the
    order of the file that it was read from. One of a part of the sky is written with all of its pixels, UNSEEN ones among
    them. Other maps are written in ring order.
    """
    if multi_order and nest:
        raise ValueError("nest = True: has no effect with multi_order = True: leave one of them out")
    values: Any = maps
    own = quantity_unit(maps)
    if own is not None and not units:
        units = [text_of(own)] * len(np.atleast_2d(values))
    if isinstance(maps, Map):
        grid, _ = agreed("maps", maps, grid, None)
        names, units, pol = names or maps.columns, units or maps.units, maps.pol if pol is None else pol
        coordinates = maps.coordinates if coordinates == "unknown" else coordinates
        nest = maps.nest or maps.nest_in_file if nest is None else nest
        partial, single = partial or maps.partial, maps.single if single is None else single
        cards = [*maps.cards, *sequence("cards", cards)]
    own, rows, pixels = _rows_to_write(maps, values, grid, bool(pol), partial)
    about = described(len(rows), bool(pol), names, units, coordinates, bool(nest),
                      rows.dtype == np.float32 if single is None else single)
    about.cards, about.partial, about.multi_order = _cards(cards), partial, multi_order
    _core.write_map(os.fspath(path), np.asarray(rows, np.float64), pixels, about, overwrite, own)


def _rows_to_write(maps: Any, values: Any, grid: Grid | None, pol: bool,
                   partial: bool) -> tuple[NDArray[np.int64] | None, NDArray[Any], Any]:
    """The pixels of a Map of a part of the sky, else None; values of these, or of all; and the kind of pixels."""
    if isinstance(maps, Map) and partial and maps.is_part:
        own, rows = maps.own()
        return own, rows, pixels_of(maps.grid)
    given = MapRows(maps.reordered(nest=False).values if isinstance(maps, Map) else values, grid, False, pol)
    return None, given.rows, given.pixels


def described(n_rows: int, pol: bool, names: Sequence[str], units: Sequence[str], coordinates: str, nest: bool,
              single: bool) -> _core.MapMetadata:
    """What a file says of a map of n_rows rows."""
    about = _core.MapMetadata()
    about.fields, about.names, about.units = fields_of("maps", n_rows, pol), _texts("names", names), _texts("units", units)
    about.coordinates, about.nest, about.single = _coordinates(coordinates), nest, single
    for what, texts in (("names", about.names), ("units", about.units)):
        if len(texts) not in (0, n_rows):
            raise ValueError(f"{what}: has {len(texts)} texts: must have one for each of {n_rows} rows")
    return about


@checked
def read_alm(path: Path) -> tuple[NDArray[np.complex128], int, int]:
    """Returns alm, [n_alm] or [component, n_alm] for T, E, B, and their lmax and mmax."""
    found = _core.read_alm(_existing(path))
    warn(found["notes"])
    alm = np.stack(found["components"])
    return (alm[0] if len(alm) == 1 else alm), found["lmax"], found["mmax"]


@checked
def write_alm(path: Path, alm: ArrayLike, lmax: int | None = None, mmax: int | None = None, *, unit: str = "",
              coordinates: str = "unknown", cards: Sequence[Card] = (), overwrite: bool = False) -> None:
    """Writes alm, [n_alm], or [3, n_alm] for T, E, B; complex64 in single precision. lmax: by default what the number
    of coefficients tells, with mmax = lmax. unit: by default that of a Quantity."""
    rows = complex_input("alm", alm)
    if rows.ndim not in (1, 2):
        raise ValueError(f"alm: has shape {rows.shape}: must be [n_alm], or [3, n_alm] for T, E and B")
    rows = np.atleast_2d(rows)
    lmax = lmax_of(rows.shape[-1], lmax, mmax)
    _core.write_alm(os.fspath(path), np.ascontiguousarray(rows, np.complex128), lmax, lmax if mmax is None else mmax,
                    rows.dtype == np.complex64, unit or text_of(quantity_unit(alm)), _coordinates(coordinates),
                    _cards(cards), overwrite)


@checked
def read_cl(path: Path, *, hdu: str | int | None = None, dl: bool = False) -> dict[str, NDArray[np.float64]]:
    """Returns the power spectra of a FITS or text file by their names (TT, EE, ...), each [lmax + 1] from l = 0 on.

    dl: the file holds D_l = l (l + 1) C_l / 2 pi."""
    spectra, _, notes = _core.read_spectrum(_existing(path), "" if hdu is None else str(hdu), dl, None)
    warn(notes)
    return spectra


@checked
def write_cl(path: Path, c_l: ArrayLike | Mapping[str, ArrayLike], *, unit: str = "", single: bool = False,
             cards: Sequence[Card] = (), overwrite: bool = False) -> None:
    """Writes spectra as a FITS table: a dict of the first 1, 4, 6 or 9 of TT, EE, BB, TE, TB, EB, ET, BT, BE or of any
    one of them, or one spectrum TT, [lmax + 1]. unit: by default that of Quantities."""
    named = c_l if isinstance(c_l, Mapping) else {"TT": c_l}
    if not named:
        raise ValueError("c_l: holds no spectra: must hold one or more")
    spectra = [(text("c_l", name), spectrum(f"c_l[{name!r}]" if named is c_l else "c_l", values).tolist())
               for name, values in named.items()]
    if not all(values for _, values in spectra):
        raise ValueError("c_l: holds an empty spectrum: must begin at l = 0")
    units = {text_of(quantity_unit(values)) for values in named.values()}
    if not unit and len(units) > 1:
        raise ValueError(f"c_l: are in {', '.join(sorted(map(repr, units)))}: must all be in one unit, or give unit")
    unit = unit or units.pop()
    _core.write_spectrum(os.fspath(path), spectra, unit, single, _cards(cards), overwrite)


@checked
def read_beam(path: Path, *, pixel_window: bool = False) -> NDArray[np.float64]:
    """Returns the windows of a beam or pixel window, [3, lmax + 1] for T, E and B: FITS or text of one to three columns;
    one column serves all."""
    beam, notes = _core.read_beam(_existing(path), pixel_window)
    warn(notes)
    return np.stack([beam.temperature(), beam.gradient(), beam.curl()])


@checked
def read_profile(path: Path) -> Kernel:
    """Returns the kernel of a text file of two columns, angles and values, whose units stand in the last '#' line above
    them: "# theta [deg] value [1/sr]"."""
    return Kernel.from_profile(*_core.read_profile(_existing(path)))


@checked
def read_psf(path: Path, energy: EnergyLike) -> Kernel:
    """Returns the kernel of a point-spread function of the Fermi tools (gtpsf) at an energy, which must lie in the file's
    range: a number in MeV, a text such as "100GeV", or a Quantity."""
    return Kernel.from_profile(*_core.read_psf(_existing(path), mev(energy)))


@checked
def read_events(path: Path, *, longitude: str = "L", latitude: str = "B", energy: str | None = None,
                hdu: str | int | None = None) -> Events:
    """Reads a table of events (photons). longitude, latitude, energy: names of the columns; energies are read where
    theirs is named."""
    *columns, coordinates, notes = _core.read_events(_existing(path), "" if hdu is None else str(hdu), longitude,
                                                     latitude, energy or "")
    warn(notes)
    return Events(columns[0], columns[1], columns[2] if energy else None, coordinates)


class Events(NamedTuple):
    """Where events came from: longitude and latitude in rad, energy in MeV or None, [event] each; NaN where undefined."""

    longitude: NDArray[np.float64]
    latitude: NDArray[np.float64]
    energy: NDArray[np.float64] | None
    coordinates: str


@checked
def bin_events(events: Events, nside: int, energies: tuple[EnergyLike, EnergyLike] | None = None) -> NDArray[np.float64]:
    """Returns the counts of events in HEALPix pixels, [12 nside^2] in ring order.

    energies: from and below which energy they count, as in `read_psf`; by default all. Events without a position or, where
    energies matter, without an energy do not count, which becomes a ZonalWarning.

    >>> photons = zonal.io.Events(np.zeros(3), np.zeros(3), None, "galactic")
    >>> float(zonal.io.bin_events(photons, 1).max())
    3.0
    """
    if not isinstance(events, Events):
        raise TypeError(f"events: must be a zonal.io.Events, not {type(events).__name__}")
    if energies is not None:
        ends = [mev(end, "energies") for end in sequence("energies", energies)]
        if len(ends) != 2 or not ends[0] < ends[1]:
            raise ValueError(f"energies = {energies}: must be two, the smaller one first")
        energies = ends[0], ends[1]
        if events.energy is None:
            raise ValueError(f"energies = {energies} MeV: the events have none: read_events(..., energy=) names their column")
    energy = None if events.energy is None else vector("energy", events.energy)
    counts, _, lost, silent = _core.bin_events(angles("longitude", events.longitude), angles("latitude", events.latitude),
                                               energy, nside, energies)
    warn(f"{n} of {len(events.longitude)} events have no {what} and do not count"
         for n, what in ((lost, "position"), (silent, "energy")) if n)
    return counts


@checked
def quadrature_weights(nside: int, kind: Literal["ring", "pixel"] | Path = "pixel", *, threads: int | None = None,
                       progress: Progress = False) -> NDArray[np.float64]:
    """Returns quadrature weights of HEALPix relative to the pixels' area: [4 nside - 1] for "ring", for ring_weights=,
    or [12 nside^2] in ring order for "pixel", for pixel_weights=.

    They are read from Zonal's cache folder, or computed and kept there. kind: may be the path of a file of HEALPix.
    """
    kind = path_of("kind", kind)
    if kind not in ("ring", "pixel") and not os.path.exists(kind):
        raise FileNotFoundError(f"kind = {kind!r}: must be 'ring', 'pixel' or the path of a file, and there is no such file")
    with reporting(progress, "weights") as report:
        _, weights, notes = _core.find_weights(kind, nside, resolve(threads), report)
    warn(notes)
    return weights


def _cards(cards: Sequence[Card]) -> list[Card]:
    for card in sequence("cards", cards):
        if not isinstance(card, tuple) or len(card) != 3 or not isinstance(card[0], str) or not isinstance(card[2], str) \
                or not isinstance(card[1], (bool, int, float, str)):
            raise TypeError(f"cards: {card!r}: must be a tuple of a key, a value (bool, int, float or str) and a comment")
    return list(cards)


def _texts(name: str, texts: Sequence[str]) -> list[str]:
    return [text(name, one) for one in sequence(name, texts)]


def _coordinates(name: str) -> str:
    with within("coordinates"):
        _core.parse_coordinate_system(name)
    return name


def _existing(path: Path) -> str:
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(f"{name}: does not exist")
    return name


__all__ = ["Events", "Map", "bin_events", "quadrature_weights", "read_alm", "read_beam", "read_cl", "read_events",
           "read_map", "read_profile", "read_psf", "write_alm", "write_cl", "write_map"]


def __dir__() -> list[str]:
    return list(__all__)


if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        raise no_attribute(__name__, name, __all__)
