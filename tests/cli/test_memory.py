"""Subcommands predict the memory that they take, and refuse what there is not enough memory for before they begin."""

import resource

import healpy
import numpy as np
import pytest
from conftest import call

NSIDE = 1024  # a column takes 101 MB: beside these, code and tables are little

COMMANDS = [
    "alm2map teb.fits OUT --nside 1024", "anafast i.fits i.fits OUT --lmax 700 --iter 0", "anafast teb.fits OUT",
    "bin events.fits OUT --nside 1024 --lon L --lat B", "compare i.fits i.fits", "convert iqu.fits OUT --order nest",
    "convert i.fits OUT --partial", "convert i.fits OUT --multi-order", "convert teb.fits OUT", "info iqu.fits",
    "map2alm iqu.fits OUT --lmax 1000 --iter 0", "map2alm i.fits OUT --lmax 500 --tolerance 1e-2", "plot i.fits OUT.png",
    "rotate i.fits OUT --from G --to C --lmax 700 --iter 0", "smooth iqu.fits OUT --fwhm 2deg", "smooth teb.fits OUT --fwhm 1deg",
    "synfast cl.txt OUT --nside 1024 --lmax 1500 --seed 1", "synfast cl.txt OUT --nside 1024 --temperature-only --seed 1",
    "udgrade i.fits OUT --nside 512", "convert part.fits OUT --order nest", "convert part.fits OUT --full",
    "convert part.fits OUT --partial", "convert part.fits OUT --multi-order", "udgrade part.fits OUT --nside 1024",
    "anafast part.fits OUT --lmax 700 --iter 0"]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Maps, alm, spectra and events."""
    from astropy.io import fits

    folder = tmp_path_factory.mktemp("inputs")
    sky = np.sin(np.arange(12.0 * NSIDE**2))
    healpy.write_map(folder / "i.fits", sky, dtype=np.float64)
    healpy.write_map(folder / "iqu.fits", [sky] * 3, dtype=np.float64, extra_header=[("POLCCONV", "COSMO")])
    part = [fits.Column("PIXEL", "K", array=np.arange(sky.size)), fits.Column("T", "D", array=sky)]  # of nside 2 NSIDE
    table = fits.BinTableHDU.from_columns(part)
    table.header.update(PIXTYPE="HEALPIX", ORDERING="RING", NSIDE=2 * NSIDE, INDXSCHM="EXPLICIT", OBJECT="PARTIAL")
    table.writeto(folder / "part.fits")
    healpy.write_map(folder / "small.fits", sky[:768], dtype=np.float64)
    healpy.write_alm(folder / "teb.fits", [np.ones(healpy.Alm.getsize(2500), complex)] * 3)
    (folder / "cl.txt").write_text("# l TT EE BB TE\n" + "".join(f"{l} 1 1 1 0\n" for l in range(3 * NSIDE)))
    places = np.arange(5.0 * 10**6)  # all over the sky
    angles = {"L": 137.5 * places % 360, "B": np.degrees(np.arcsin(2 * places / len(places) - 1))}
    degrees = [fits.Column(name, "D", unit="deg", array=values) for name, values in angles.items()]
    fits.BinTableHDU.from_columns(degrees, name="EVENTS").writeto(folder / "events.fits")
    return folder


def memory(folder, command):
    """What a run predicts and takes, bytes."""
    result = call(*command.split(), "--json", cwd=folder)
    assert result.code == 0, result.err
    return result.report["memory_bytes"]


@pytest.mark.parametrize("command", COMMANDS)
def test_memory_is_predicted_within_a_tenth(inputs, tmp_path, command):
    idle = memory(inputs, "info small.fits")["most"]
    found = memory(inputs, command.replace("OUT", str(tmp_path / "out")))
    assert found["predicted"] - idle == pytest.approx(found["most"] - idle, rel=0.1)


def test_a_sky_larger_than_the_memory_is_refused_before_it_is_made(inputs, fails):
    limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (200_000_000, 200_000_000))
    line = fails(1, "synfast", inputs / "cl.txt", "out.fits", "--nside", NSIDE, "--temperature-only", "--threads", 1,
                 preexec_fn=limit)
    assert "a sky of nside 1024" in line and "needs" in line and "ulimit -d" in line
