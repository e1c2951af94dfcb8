"""Every subcommand predicts the memory that it takes, and refuses what there is not enough memory for before it begins."""

import os
import re
import resource

import healpy
import numpy as np
import pytest

from conftest import call

NSIDE = 512  # a column takes 25 MB: beside these, code and tables are little

COMMANDS = [
    "alm2map teb.fits OUT --nside 512", "anafast i.fits i.fits OUT --lmax 350 --iter 0", "anafast teb.fits OUT",
    "bin events.fits OUT --nside 512 --lon L --lat B", "compare i.fits i.fits", "convert iqu.fits OUT --order nest",
    "convert i.fits OUT --partial", "convert i.fits OUT --multi-order", "convert teb.fits OUT", "info iqu.fits",
    "evaluate teb.fits events.fits OUT.fits --gradient", "evaluate iqu.fits few.fits OUT.fits --lmax 350 --iter 0", "convert i.fits OUT --nside 400 --lmax 350 --iter 0",
    "rotate iqu.fits OUT --from G --to C --lmax 350 --iter 0 --by points",
    "lens teb.fits phi.fits OUT --nside 512", "lens t.fits phi.fits OUT --nside 512 --error 1e-3",
    "mask mask.fits OUT --apodise cosine --scale 1deg",
    "map2alm iqu.fits OUT --lmax 500 --iter 0", "map2alm i.fits OUT --lmax 500 --tolerance 1e-2", "plot i.fits OUT.png",
    "rotate i.fits OUT --from G --to C --lmax 350 --iter 0", "smooth iqu.fits OUT --fwhm 2deg", "smooth teb.fits OUT --fwhm 1deg",
    "scan t.fits scan.fits OUT --beam-alm beam.fits", "scan teb.fits scan.fits OUT --fwhm 1deg --ellipticity 1.2 --error 1e-3",
    "smooth i.fits OUT --beam-alm beam.fits --lmax 750 --iter 0",
    "synfast cl.txt OUT --nside 512 --lmax 750 --seed 1", "synfast cl.txt OUT --nside 512 --temperature-only --seed 1",
    "udgrade i.fits OUT --nside 256", "convert part.fits OUT --order nest", "convert part.fits OUT --full",
    "convert part.fits OUT --partial", "convert part.fits OUT --multi-order",
    "convert odd.fits OUT --multi-order", "udgrade part.fits OUT --nside 512",
    "anafast part.fits OUT --lmax 350 --iter 0", "anafast iqu.fits OUT --decouple --bin-width 20 --lmax 500 --mask mask.fits",
    "anafast i.fits i.fits OUT --decouple --bin-width 20 --lmax 750 --mask mask.fits",
    "anafast i.fits OUT --decouple --bin-width 20 --lmax 300 --mask mask.fits --theory cl.txt --exact-lmax 8",
    "anafast iqu.fits OUT --decouple --bin-width 20 --lmax 300 --theory cl.txt --exact-lmax 8", "calibrate", "convert cells.fits OUT",
    "plan --nside 2048 --fwhm 10arcmin --error 1e-5", "smooth i.fits OUT --fwhm 1deg --method ring-fft",
    "smooth iqu.fits OUT --fwhm 20arcmin --method ring-fft", "smooth i.fits OUT --fwhm 10arcmin --method pixel-sum",
    "smooth i.fits OUT --fwhm 1deg --method split --theta-cut 3deg --error 1e-4", "smooth i.fits OUT --fwhm 20arcmin --method ring-fft --normalize pixel",
    "smooth i.fits OUT --fwhm 1deg --method ring-fft --mask mask.fits --mask-mode renormalize",
    "smooth iqu.fits OUT --fwhm 1deg --method harmonic --iter 1 --lmax 350 --mask mask.fits --mask-mode renormalize",
    "smooth i.fits OUT --fwhm 1deg --method harmonic --tolerance 1e-2", "smooth part.fits OUT --fwhm 20arcmin --method ring-fft",
    "solve burgers --modes 40,300 --set t1=0.01", "split --fwhm 20arcmin --lmax 3000 --theta-cut 5deg --knots 400 --error 1e-4",
    "synfast cl.txt OUT --nside 512 --temperature-only --method harmonic --seed 1",
    "synfast fading.txt OUT --nside 512 --method split --error 1e-3 --seed 1", "wavelet i.fits OUT --lmax 400 --iter 0",
    "wavelet scales.fits OUT --inverse --iter 0", "weights OUT --nside 512 --pixel"]


@pytest.fixture(scope="module")
def inputs(folder):
    """Maps, alm, spectra and events."""
    from astropy.io import fits

    sky = np.sin(np.arange(12.0 * NSIDE**2))
    healpy.write_map(folder / "i.fits", sky, dtype=np.float64)
    healpy.write_map(folder / "iqu.fits", [sky] * 3, dtype=np.float64, extra_header=[("POLCCONV", "COSMO")])
    for name, n in (("part", sky.size), ("odd", 2**21 + 1)):  # growing arrays would be doubled for the last one
        part = [fits.Column("PIXEL", "K", array=np.arange(n)), fits.Column("T", "D", array=sky[:n])]
        table = fits.BinTableHDU.from_columns(part)
        table.header.update(PIXTYPE="HEALPIX", ORDERING="RING", NSIDE=2 * NSIDE, INDXSCHM="EXPLICIT", OBJECT="PARTIAL")
        table.writeto(folder / f"{name}.fits")
    healpy.write_map(folder / "small.fits", sky[:768], dtype=np.float64)
    healpy.write_alm(folder / "teb.fits", [np.ones(healpy.Alm.getsize(750), complex)] * 3)
    healpy.write_alm(folder / "t.fits", np.ones(healpy.Alm.getsize(750), complex))
    healpy.write_alm(folder / "phi.fits", np.full(healpy.Alm.getsize(750), 1e-8j))
    io = call("convert", folder / "i.fits", folder / "cells.fits", "--multi-order")
    assert io.code == 0, io.err
    scales = call("wavelet", folder / "i.fits", folder / "scales.fits", "--lmax", 100, "--base", 4, "--iter", 0)
    assert scales.code == 0, scales.err
    healpy.write_map(folder / "mask.fits", (np.arange(sky.size) > sky.size / 4).astype(float), dtype=np.float64)
    (folder / "fading.txt").write_text("# l TT\n" + "".join(f"{l} {np.exp(-l * (l + 1) / 1e5)}\n" for l in range(3 * NSIDE)))
    (folder / "cl.txt").write_text("# l TT EE BB TE\n" + "".join(f"{l} 1 1 1 0\n" for l in range(3 * NSIDE)))
    places = np.arange(1.25 * 10**6)  # all over the sky
    angles = {"L": 137.5 * places % 360, "B": np.degrees(np.arcsin(2 * places / len(places) - 1))}
    degrees = [fits.Column(name, "D", unit="deg", array=values) for name, values in angles.items()]
    fits.BinTableHDU.from_columns(degrees, name="EVENTS").writeto(folder / "events.fits")
    pointings = {"THETA": np.radians(90 - angles["B"]), "PHI": np.radians(angles["L"]), "PSI": places % 7}
    radians = [fits.Column(name, "D", unit="rad", array=values) for name, values in pointings.items()]
    fits.BinTableHDU.from_columns(radians, name="POINTINGS").writeto(folder / "scan.fits")
    healpy.write_alm(folder / "beam.fits", np.ones(healpy.Alm.getsize(750, 3), complex), lmax=750, mmax=3, mmax_in=3)
    few = [fits.Column(name, "D", unit="deg", array=values[:1000]) for name, values in angles.items()]
    fits.BinTableHDU.from_columns(few).writeto(folder / "few.fits")
    return folder


def memory(folder, command, cache):
    """What a run predicts and takes, bytes. cache: a folder; costs that are measured here are for nobody else."""
    result = call(*command.split(), "--json", cwd=folder, env=os.environ | {"XDG_CACHE_HOME": str(cache)})
    assert result.code == 0, result.err
    return result.report["memory_bytes"]


@pytest.mark.parametrize("command", COMMANDS)
def test_memory_is_predicted_within_a_tenth(inputs, tmp_path, command):
    idle = memory(inputs, "info small.fits", tmp_path)["most"]
    found = memory(inputs, command.replace("OUT", str(tmp_path / "out")), tmp_path)
    # Or to a tenth of what the program takes by itself: plan takes little more.
    assert found["predicted"] - idle == pytest.approx(found["most"] - idle, rel=0.1, abs=idle / 10)


def test_every_subcommand_is_in_the_table():
    named = re.findall(r"^  ([a-z]\S*)", call("--help").out, re.MULTILINE)
    assert len(named) > 10 and set(named) == {command.split()[0] for command in COMMANDS}


def test_a_sky_larger_than_the_memory_is_refused_before_it_is_made(inputs, fails):
    limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (120_000_000, 120_000_000))
    line = fails(1, "synfast", inputs / "cl.txt", "out.fits", "--nside", 2 * NSIDE, "--lmax", NSIDE,
                 "--temperature-only", "--threads", 1, preexec_fn=limit)
    assert "a sky of nside 1024" in line and "needs" in line and "ulimit -d" in line
