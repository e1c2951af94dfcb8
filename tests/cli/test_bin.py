"""zonal bin: events to counts."""

import healpy
import numpy as np
import pytest
from astropy.io import fits

from conftest import DATA, header, read_map

PHOTONS = DATA / "fermi" / "fermi_2fhl_events_selected.fits.gz"


def write_events(path, units=("deg", "deg", "GeV"), **columns):
    named = dict(zip(("RA", "DEC", "ENERGY"), units))
    fits.BinTableHDU.from_columns([fits.Column(name=name, format="E", array=np.asarray(values, dtype=np.float32),
                                               unit=named.get(name)) for name, values in columns.items()],
                                  name="EVENTS").writeto(path)


@pytest.mark.parametrize("lon, lat, coordinates", [("L", "B", "GALACTIC"), ("RA", "DEC", "EQUATORIAL")])
def test_fermi_photons_are_where_healpy_puts_them(zonal, tmp_path, lon, lat, coordinates):
    report = zonal("bin", PHOTONS, "counts.fits", "--nside", "64", "--lon", lon, "--lat", lat)
    events = fits.getdata(PHOTONS, "EVENTS")
    pixels = healpy.ang2pix(64, events[lon].astype(float), events[lat].astype(float), lonlat=True)
    np.testing.assert_array_equal(read_map(tmp_path / "counts.fits"), np.bincount(pixels, minlength=12 * 64**2))
    assert report["events"] == report["binned"] == len(events) == 60347
    cards = header(tmp_path / "counts.fits")
    assert cards["COORDSYS"][0] == coordinates[0] if coordinates[0] == "G" else cards["COORDSYS"][0] in "CE"
    assert cards["TTYPE1"] == "COUNTS" and cards["TUNIT1"] == "count" and cards["NEVENTS"] == 60347


def test_energy_range_is_half_open_and_what_is_dropped_is_counted(zonal, tmp_path):
    nan = float("nan")
    write_events(tmp_path / "e.fits", RA=[0, 10, 20, nan, 30, 40, 50], DEC=[0, 0, 0, 0, 91, -90, 0],
                 ENERGY=[50, 2000, 1999, 60, 60, 60, nan])
    report = zonal("bin", "e.fits", "c.fits", "--nside", "4", "--lon", "RA", "--lat", "DEC", "--energy-range", "50GeV:2TeV")
    assert report["events"] == 7 and report["binned"] == 3
    assert report["dropped"] == {"outside_energy_range": 1, "without_position": 2, "without_energy": 1}
    assert report["energy_range_mev"] == [5e4, 2e6]
    assert read_map(tmp_path / "c.fits").sum() == 3


def test_nest_and_float_are_the_same_counts(zonal, tmp_path):
    arguments = ("bin", PHOTONS, "--nside", "32", "--lon", "L", "--lat", "B")
    zonal(*arguments, "ring.fits")
    zonal(*arguments, "nest.fits", "--nest", "--precision", "float")
    assert header(tmp_path / "nest.fits")["ORDERING"] == "NESTED"
    np.testing.assert_array_equal(healpy.read_map(tmp_path / "nest.fits"), read_map(tmp_path / "ring.fits"))


def test_columns_without_units_and_systems_are_said_so(zonal, tmp_path):
    write_events(tmp_path / "e.fits", X=[10, 20], Y=[5, 6])
    report = zonal("bin", "e.fits", "c.fits", "--nside", "8", "--lon", "X", "--lat", "Y")
    assert any("no unit: taken as deg" in note for note in report["notes"])
    assert any("unknown" in note for note in report["notes"])
    assert read_map(tmp_path / "c.fits")[healpy.ang2pix(8, 10, 5, lonlat=True)] == 1


@pytest.mark.parametrize("arguments, code, words", [
    ("--nside 4 --lon L", 2, ["--lat"]),
    ("--lon L --lat B", 2, ["--nside"]),
    ("--nside 4 --lon B --lat L", 2, ["column B", "latitudes"]),
    ("--nside 4 --lon L --lat DEC", 2, ["L (galactic)", "DEC (equatorial)"]),
    ("--nside 12 --lon L --lat B --nest", 2, ["--nside = 12", "power of 2"]),
    ("--nside 4 --lon L --lat B --energy-range 50:60", 2, ["--energy-range", "unit"]),
    ("--nside 4 --lon L --lat B --energy-range 50GeV", 2, ["--energy-range", "MIN:MAX"]),
    ("--nside 4 --lon L --lat B --energy-range 50GeV:50GeV", 2, ["--energy-range", "below"]),
    ("--nside 4 --lon L --lat B --energy-range 5kg:6kg", 2, ["kg", "MeV"]),
    ("--nside 4 --lon L --lat B --energy-column E", 2, ["--energy-column", "--energy-range"]),
    ("--nside 4 --lon NIX --lat NADA", 1, ["table of events"]),
    ("--nside 4 --lon L --lat B --energy-range 1GeV:2GeV --energy-column CALIB_VERSION", 1, ["CALIB_VERSION", "3I"]),
    ("--nside 4 --lon L --lat B --energy-range 1GeV:2GeV --energy-column TIME", 1, ["TIME", "'s'", "MeV"]),
])
def test_misuse_is_one_line(fails, arguments, code, words):
    line = fails(code, "bin", PHOTONS, "out.fits", *arguments.split())
    for word in words:
        assert word in line, line
