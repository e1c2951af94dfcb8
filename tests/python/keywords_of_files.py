"""Keywords of files, and of zonal.Map; astropy and healpy say what a file holds."""

import healpy
import numpy as np
from astropy import units
from astropy.io import fits

import zonal
import zonal.healpy as hp
from keyword_cases import Case, Sent, With, outcome, split_with
from keywords_of_healpy import CL, FULL, IQU, NARROW, RNG, SKY, TEB
from keywords_of_maps import CAR, RINGS
from keywords_of_zonal import DEFAULT, NSIDE, PLAIN, N, of, to_nest, to_ring

KEYS = ("ORDERING", "NSIDE", "COORDSYS", "INDXSCHM", "OBJECT", "NAXIS2", "POLCCONV", "TELESCOP", "PIXTYPE", "MAX-LPOL",
        "MAX-MPOL")
CARD = ("TELESCOP", "none", "of this test")
PEAK = CL * (np.arange(CL.size) > 1)
LARGE = RNG.standard_normal((3, 12 * 16**2)).astype(np.float32)


def held(path, keys=KEYS):
    """What a file holds: some cards, and names, units, formats and values of its columns."""
    with fits.open(path) as file:
        return [({key: table.header.get(key) for key in keys},
                 [(c.name, c.unit or "", c.format if c.name != "PIXEL" else "") for c in table.columns],
                 [np.array(table.data[c.name],
                           float if c.name == "PIXEL" else table.data[c.name].dtype.newbyteorder("=")) for c in table.columns])
                for table in file[1:]]


def in_file(write, keys=KEYS):
    """write(path, **options), and what the file holds then."""
    def call(**options):
        write("keyword.fits", overwrite=True, **options)
        return held("keyword.fits", keys)
    return call


def part(write, take):
    """write(path, **options), and one fact of the first table of the file."""
    def call(**options):
        write("keyword.fits", overwrite=True, **options)
        with fits.open("keyword.fits") as file:
            return take(file[1])
    return call


def column(i=0):
    return lambda table: np.ravel(table.data.field(i)).astype(float)


def header(key):
    return lambda table: table.header.get(key)


def names(table):
    return list(table.columns.names)


def unit_of(i=0):
    return lambda table: table.columns[i].unit or ""


def kind(table):
    return table.columns[0].format[-1]


def like_healpy(name, write, keys=("ORDERING", "NSIDE", "COORDSYS", "INDXSCHM", "OBJECT", "TELESCOP"), base=None,
                **changes):
    """Cases of a function that writes: healpy's file holds the same."""
    found = []
    for keyword, value in changes.items():
        before, after = split_with(base or {}, keyword, value)
        ours, theirs = (in_file(lambda path, module=module, **k: write(module)(path, **k),
                                keys) for module in (hp, healpy))
        found.append(Case(f"zonal.healpy.{name}", keyword, ours, before, after, lambda theirs=theirs,
                          after=after: outcome(theirs, after), 0))
    return found


def read_again(name, make, *arguments, base=None, **changes):
    """Cases of a function that reads what make(path) wrote: healpy reads the same."""
    found = []
    for keyword, value in changes.items():
        before, after = split_with(base or {}, keyword, value)

        def call(module, options):
            make("keyword.fits")
            result = getattr(module, name)("keyword.fits", *arguments, **options)
            return [r if isinstance(r, np.ndarray) else str(r) if not isinstance(r, (list, tuple)) else len(r) for r in
                    (result if isinstance(result, tuple) else (np.asarray(result),))]
        found.append(Case(f"zonal.healpy.{name}", keyword, lambda call=call, **k: call(hp, k), before, after,
                          lambda call=call, after=after: outcome(lambda **k: call(healpy, k), after), 0))
    return found


def _alm_file(path):
    healpy.write_alm(path, [TEB[0], TEB[1]], overwrite=True)


def _map_file(path, **options):
    healpy.write_map(path, IQU, dtype=np.float64, overwrite=True, **options)


def _table(path, columns, **cards):
    hdu = fits.BinTableHDU.from_columns([fits.Column(n, f, array=v) for n, f, v in columns])
    hdu.header.update(cards)
    fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path, overwrite=True)


def _part_file(path):
    _table(path, [("PIXEL", "J", np.array([3, 500])), ("I", "D", np.array([1.0, 2.0]))], NSIDE=NSIDE, ORDERING="RING")


def _two_maps(path):
    tables = [fits.BinTableHDU.from_columns([fits.Column("I", "D", array=m)]) for m in (PLAIN, 2 * PLAIN)]
    for table in tables:
        table.header.update({"PIXTYPE": "HEALPIX", "NSIDE": NSIDE, "ORDERING": "RING", "INDXSCHM": "IMPLICIT"})
    fits.HDUList([fits.PrimaryHDU(), *tables]).writeto(path, overwrite=True)


def _of_healpy():
    maps = np.where(SKY < -1e30, hp.UNSEEN, FULL)  # all with the same bad pixels: others are left out of all in healpy
    with_maps = lambda module: lambda path, **k: module.write_map(path, maps, **({"dtype": np.float64} | k))
    with_large = lambda module: lambda path, **k: module.write_map(path, LARGE, **({"dtype": np.float32} | k))
    with_alm = lambda module: lambda path, **k: module.write_alm(path, TEB, **k)
    with_cl = lambda module: lambda path, **k: module.write_cl(path, [CL, CL, CL, CL], **({"dtype": np.float64} | k))
    return [
        like_healpy("write_map", with_maps, nest=True, dtype=np.float32, coord="G", partial=True,
                    column_names=["A", "B", "C"],
                    column_units="mK", extra_header=[("TELESCOP", "none")]),
        like_healpy("write_map", with_maps, base={"nest": True}, partial=True, coord="E"),
        like_healpy("write_map", with_large, fits_IDL=False),
        # a pixel that one map has is kept
        of("healpy.write_map", part(lambda path, **k: hp.write_map(path, [SKY, PLAIN], dtype=np.float64, **k),
                                    column()),
           partial=(True, False, lambda: np.arange(float(N)))),
        like_healpy("write_alm", with_alm, keys=(), out_dtype=np.float32, lmax=6, mmax=4),
        like_healpy("write_alm", lambda module: lambda path, **k: module.write_alm(path, NARROW, **k), keys=(),
                    mmax_in=3),
        like_healpy("write_cl", with_cl, keys=("TELESCOP",), dtype=np.float32, column_names=list("ABCD"),
                    column_units="K2", extra_header=[("TELESCOP", "none")]),
        read_again("read_map", _map_file, field=1, dtype=np.float32, nest=True, h=True, verbose=True),
        read_again("read_map", _map_file, base={"field": (0, 1, 2)}, dtype=np.float32, nest=True),
        read_again("read_map", lambda path: _map_file(path, nest=True), base={"field": None}, nest=None),
        read_again("read_map", _part_file, partial=True),
        read_again("read_map", _two_maps, hdu=2),
        read_again("read_alm", _alm_file, hdu=2, return_mmax=True),
        read_again("read_alm", _alm_file, base={"hdu": (1, 2)}, return_mmax=True),
    ]


def _of_writing():
    write = lambda maps: lambda path, **k: zonal.io.write_map(path, maps, **k)
    name = "io.write_map"
    return [
        of(name, part(write(IQU), header("POLCCONV")), pol=(True, DEFAULT, lambda: "COSMO")),
        of(name, part(write(IQU), names), names=(("A", "B", "C"), DEFAULT, lambda: ["A", "B", "C"])),
        of(name, part(write(PLAIN), unit_of()), units=(("mK",), DEFAULT, lambda: "mK")),
        of(name, part(write(PLAIN), header("COORDSYS")), coordinates=("galactic", "unknown", lambda: "G")),
        of(name, part(write(SKY), column()), nest=(True, False, lambda: to_nest(SKY))),
        of(name, part(write(SKY), lambda table: (column()(table),
                                                 column(1)(table)) if len(table.columns) > 1 else column()(table)),
           partial=(True, False, lambda: (np.flatnonzero(SKY > -1e30).astype(float), SKY[SKY > -1e30]))),
        of(name, part(write(SKY), lambda table: (column()(table),
                                                 column(1)(table)) if len(table.columns) > 1 else column()(table)), {"nest": True},
           partial=(True, False, lambda: (np.flatnonzero(to_nest(SKY) > -1e30).astype(float),
                                          to_nest(SKY)[to_nest(SKY) > -1e30]))),
        of(name, part(write(PLAIN), header("ORDERING")), multi_order=(True, False, lambda: "NUNIQ")),
        of(name, part(write(PLAIN), kind), single=(True, False, lambda: "E")),
        of(name, part(write(PLAIN), header("TELESCOP")), cards=([CARD], DEFAULT, lambda: "none")),
        of(name, lambda **k: _read_grid(**k), grid=(RINGS, DEFAULT, lambda: RINGS.name)),
        of("io.write_alm", lambda **k: _alm_back(**k), {"lmax": 8, "mmax": 3},
           lmax=(With(7, mmax=4), DEFAULT, lambda: (7, 4)),
           mmax=(With(4, lmax=7), DEFAULT, lambda: (7, 4))),
        of("io.write_alm", part(lambda path, **k: zonal.io.write_alm(path, TEB[0], **k), unit_of(1)),
           unit=("mK", DEFAULT, lambda: "mK")),
        of("io.write_alm", part(lambda path, **k: zonal.io.write_alm(path, TEB[0], **k), header("COORDSYS")),
           coordinates=("galactic", "unknown", lambda: "G")),
        of("io.write_alm", part(lambda path, **k: zonal.io.write_alm(path, TEB[0], **k), header("TELESCOP")),
           cards=([CARD], DEFAULT, lambda: "none")),
        of("io.write_cl", part(lambda path, **k: zonal.io.write_cl(path, CL, **k), unit_of()),
           unit=("mK2", DEFAULT, lambda: "mK2")),
        of("io.write_cl", part(lambda path, **k: zonal.io.write_cl(path, CL, **k), kind),
           single=(True, False, lambda: "E")),
        of("io.write_cl", part(lambda path, **k: zonal.io.write_cl(path, CL, **k), header("TELESCOP")),
           cards=([CARD], DEFAULT, lambda: "none")),
    ]


def _read_grid(**options):
    zonal.io.write_map("grid.fits", CAR, overwrite=True, **options)
    return zonal.io.read_map("grid.fits").grid.name


def _alm_back(**options):
    zonal.io.write_alm("alm.fits", NARROW, overwrite=True, **options)
    return zonal.io.read_alm("alm.fits")[1:]


def reading(make, take, function=zonal.io.read_map):
    """What take finds in what function(path, **options) reads of the file that make(path) wrote."""
    def call(**options):
        make("keyword.fits")
        return take(function("keyword.fits", **options))
    return call


def _hits(path):
    healpy.write_map(path, [PLAIN, np.ones(N)], column_names=["TEMPERATURE", "N_OBS"], dtype=np.float64, overwrite=True)


def _without_order(path):
    _table(path, [("I", "D", SKY)], NSIDE=NSIDE, PIXTYPE="HEALPIX", INDXSCHM="IMPLICIT")


def _with_nan(path):
    _table(path, [("I", "D", np.where(np.arange(N) == 5, np.nan, PLAIN))], NSIDE=NSIDE, PIXTYPE="HEALPIX",
           INDXSCHM="IMPLICIT", ORDERING="RING")


def _multi_order(path):
    zonal.io.write_map(path, np.repeat(np.arange(48.0), 16), nest=None, multi_order=True, overwrite=True)


def _events(path):
    columns = [fits.Column(name, "D", unit="deg", array=array) for name,
               array in (("L", [10.0, 20.0]), ("B", [5.0, 6.0]), ("RA", [30.0, 40.0]), ("DEC", [7.0, 8.0]))]
    columns.append(fits.Column("E", "D", unit="MeV", array=[100.0, 900.0]))
    tables = [fits.BinTableHDU.from_columns(columns, name=name) for name in ("EVENTS", "OTHER")]
    tables[1].data["L"] = [50.0, 60.0]
    fits.HDUList([fits.PrimaryHDU(), *tables]).writeto(path, overwrite=True)


def _two_spectra(path):
    tables = [fits.BinTableHDU.from_columns([fits.Column("TEMPERATURE", "D", array=c)], name=n) for n,
              c in (("A", PEAK), ("B", 2 * PEAK))]
    fits.HDUList([fits.PrimaryHDU(), *tables]).writeto(path, overwrite=True)


def _windows(path):
    columns = [fits.Column(name, "D", array=CL * k) for k,
               name in ((1, "TEMPERATURE"), (2, "POLARIZATION"), (3, "OTHER"))]
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns(columns)]).writeto(path, overwrite=True)


def noted(result):
    return Sent(result, ["ZonalWarning"])


def _of_reading():
    values = lambda sky: sky.values
    l = np.arange(CL.size)
    return [
        of("io.read_map", reading(_map_file, values), fields=([0], (0, 1, 2), lambda: IQU[:1])),
        of("io.read_map", reading(_two_maps, values), hdu=(2, DEFAULT, lambda: 2 * PLAIN[None])),
        of("io.read_map", reading(_hits, values), auxiliary=(True, False, lambda: np.array([PLAIN, np.ones(N)]))),
        of("io.read_map", reading(_map_file, lambda sky: sky.pol), pol=(False, True, lambda: False)),
        of("io.read_map", reading(_without_order, values), nest_if_absent=(True, DEFAULT, lambda: to_ring(SKY)[None])),
        of("io.read_map", reading(_with_nan, values),
           nan_is_unseen=(True, False, lambda: noted(np.where(np.arange(N) == 5, zonal.UNSEEN, PLAIN)[None]))),
        of("io.read_map", reading(_multi_order, lambda sky: sky.nside),
           multi_order_nside=(16, DEFAULT, lambda: noted(16))),
        of("io.read_cl", reading(_two_spectra, dict, zonal.io.read_cl), hdu=(2, 1, lambda: {"TT": 2 * PEAK})),
        of("io.read_cl", reading(_two_spectra, lambda c: c["TT"][1:], zonal.io.read_cl), {}, within=1e-14,
           dl=(True, False, lambda: PEAK[1:] * 2 * np.pi / (l * (l + 1))[1:])),
        of("io.read_beam", reading(_windows, np.asarray, zonal.io.read_beam),
           pixel_window=(True, False, lambda: np.array([CL, 2 * CL, 2 * CL]))),
        of("io.read_events", reading(_events, lambda e: np.degrees(e[0]), zonal.io.read_events), {}, within=1e-14,
           longitude=(With("RA", latitude="DEC"), "L", lambda: np.array([30.0, 40.0])),
           hdu=("OTHER", DEFAULT, lambda: np.array([50.0, 60.0]))),
        of("io.read_events", reading(_events, lambda e: np.degrees(e[1]), zonal.io.read_events), {}, within=1e-14,
           latitude=(With("DEC", longitude="RA"), "B", lambda: np.array([7.0, 8.0]))),
        of("io.read_events", reading(_events, lambda e: e[2], zonal.io.read_events),
           energy=("E", DEFAULT, lambda: np.array([100.0, 900.0]))),
        of("io.bin_events", lambda **k: zonal.io.bin_events(zonal.io.Events(np.zeros(3), np.zeros(3),
                                                                            np.array([1.0, 5.0, 9.0]),
                                                                            "galactic"), 1, **k).sum(),
           energies=((2.0, 9.0), DEFAULT, lambda: 1.0)),
        of("io.bin_events", lambda **k: zonal.io.bin_events(zonal.io.Events(np.zeros(2), np.zeros(2),
                                                                            np.array([5.0, np.nan]),
                                                                            "galactic"), 1, **k).sum(),
           energies=((2.0, 9.0), DEFAULT, lambda: noted(1.0))),
        of("io.quadrature_weights", lambda **k: zonal.io.quadrature_weights(2, **k).shape,
           kind=("ring", "pixel", lambda: (7,))),
    ]


def _of_objects():
    made = lambda **k: zonal.Map(IQU, **k)
    fact = lambda what, maps=IQU: lambda **k: getattr(zonal.Map(maps, **k), what)
    temperature = zonal.Map([PLAIN, PLAIN], unit=["K_CMB", "mK_CMB"])
    factor = (1 * units.K).to_value("MJy/sr", units.thermodynamic_temperature(217 * units.GHz, 2.7255 * units.K))
    theta, sizes, weight = [0.5, 1.5, 2.5], [4, 8, 4], [0.1, 0.2, 0.1]
    grid = lambda **k: zonal.Grid(theta, sizes, weight, **k)
    return [
        of("Map.__init__", lambda **k: zonal.Map(CAR, **k).grid.name, grid=(RINGS, DEFAULT, lambda: RINGS.name)),
        of("Map.__init__", lambda **k: made(**k).reordered(nest=False).values,
           nest=(True, False, lambda: to_ring(IQU))),
        of("Map.__init__", fact("units"), unit=(["K", "mK", "uK"], "", lambda: ["K", "mK", "uK"])),
        of("Map.__init__", fact("coordinates"), coordinates=("C", "unknown", lambda: "equatorial")),
        of("Map.__init__", fact("columns"), columns=("IQU", [], lambda: ["I", "Q", "U"])),
        of("Map.__init__", fact("pol"), pol=(True, False, lambda: True)),
        of("Map.__init__", fact("pol"), {"columns": "IQU"}, pol=(False, True, lambda: False)),
        of("Map.__init__", lambda **k: zonal.Map(zonal.Map(IQU, pol=True), **k).pol, pol=(False, True, lambda: False)),
        of("Map.__init__", lambda **k: zonal.Map(CAR, RINGS, **k).values,
           pixels=(np.arange(CAR.size)[::-1], DEFAULT, lambda: CAR[::-1])),
        of("Map.__init__", fact("nest_in_file"), nest_in_file=(True, False, lambda: True)),
        of("Map.__init__", fact("partial"), partial=(True, False, lambda: True)),
        of("Map.__init__", lambda **k: str(made(**k).single), single=(True, DEFAULT, lambda: "True")),
        of("Map.__init__", lambda **k: str(made(**k).cards), cards=([CARD], (), lambda: str([CARD]))),
        of("Map.to", lambda **k: temperature.to("MJy/sr", **k).values, {"frequency": "100 GHz"}, within=1e-9,
           frequency=("217 GHz", DEFAULT, lambda: np.array([PLAIN * factor, PLAIN * factor / 1000]))),
        of("Grid.__init__", lambda **k: grid(**k).phi_0,
           phi_0=([0.1, 0.2, 0.3], 0.0, lambda: np.array([0.1, 0.2, 0.3]))),
        of("Grid.__init__", lambda **k: grid(**k).first_pixels, {"n_map_pixels": 40},
           first_pixel=([20, 8, 0], [0, 4, 12], lambda: np.array([20, 8, 0]))),
        of("Grid.__init__", lambda **k: grid(**k).n_pixels, n_map_pixels=(40, 16, lambda: 40)),
        *(of(f"Grid.{name}", lambda name=name, **k: getattr(zonal.Grid, name)(9, 20, **k).phi_0,
             phi_0=(0.1, 0.0, lambda: np.full(9, 0.1)))
          for name in ("gauss_legendre", "clenshaw_curtis", "fejer1", "fejer2", "driscoll_healy", "mcewen_wiaux")),
        of("Grid.mcewen_wiaux", lambda **k: zonal.Grid.mcewen_wiaux(5, 9, **k).theta, within=1e-15,
           flipped=(True, False, lambda: np.arange(5) * 2 * np.pi / 9)),
        of("Grid.reduced_gauss_legendre", lambda **k: zonal.Grid.reduced_gauss_legendre(65, 64, **k).n_pixels,
           spin=(3, 0, lambda: zonal.Grid.reduced_gaussian(zonal.Grid.reduced_gauss_legendre(65, 64, 3).ring_sizes).n_pixels)),
        of("angle", lambda **k: _message(lambda: zonal.angle("x", **k)), name=("tilt", "angle", lambda: "tilt")),
    ]


def _message(call):
    try:
        return call()
    except ValueError as error:
        return str(error).split(" ")[0].rstrip(":")


def cases():
    """All of them."""
    return [case for group in (*_of_healpy(), *_of_writing(), *_of_reading(), *_of_objects()) for case in group]
