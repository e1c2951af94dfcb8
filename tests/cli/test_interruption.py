"""SIGINT, SIGTERM and SIGHUP: every subcommand ends soon, and leaves nothing half-written."""

import os
import signal
import subprocess

import healpy
import numpy as np
import pytest
from processes import interrupt

from conftest import ZONAL


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_run_leaves_nothing(tmp_path, number):
    healpy.write_map(tmp_path / "in.fits", np.arange(12.0 * 512**2), dtype=np.float64)
    process = subprocess.Popen([ZONAL, "map2alm", "in.fits", "out.fits", "--iter", "1000", "--threads", "1"],
                               cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               # A signal that the tests' parent ignores (nohup) would be ignored here, too.
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    out, err, _ = interrupt(process, number, after=1)  # the run would take much longer
    assert process.returncode == 130, err
    assert err == "zonal map2alm: interrupted\n" and out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["in.fits"]


@pytest.fixture(scope="module")
def long_inputs(folder):
    """Files that keep the tool busy: a map, alm, spectra and events."""
    from astropy.io import fits

    healpy.write_map(folder / "in.fits", np.arange(12.0 * 1024**2), dtype=np.float64)
    healpy.write_alm(folder / "alm.fits", np.ones(healpy.Alm.getsize(2000), complex))
    healpy.write_alm(folder / "alm0.fits", np.zeros(healpy.Alm.getsize(2000), complex))
    (folder / "cl.txt").write_text("# l TT\n" + "".join(f"{l} 1\n" for l in range(4001)))
    degrees = [fits.Column(name, "D", unit="deg", array=np.linspace(0, 80, 10**7)) for name in "LB"]
    fits.BinTableHDU.from_columns(degrees, name="EVENTS").writeto(folder / "events.fits")
    radians = [fits.Column(name, "D", unit="rad", array=np.linspace(0, 3, 10**7)) for name in ("THETA", "PHI", "PSI")]
    fits.BinTableHDU.from_columns(radians, name="POINTINGS").writeto(folder / "scan.fits")
    healpy.write_alm(folder / "beam.fits", np.ones(healpy.Alm.getsize(2000, 3), complex), lmax=2000, mmax=3, mmax_in=3)
    return folder


def is_whole(path):
    """Whether a FITS file ends where its headers say."""
    from astropy.io import fits
    with fits.open(path, memmap=False) as file:
        return sum(hdu.filebytes() for hdu in file) == path.stat().st_size and all(hdu.data is not None for hdu in file[1:])


@pytest.mark.parametrize("command", [
    "alm2map alm.fits OUT --nside 2048", "anafast in.fits OUT", "anafast in.fits OUT --decouple --bin-width 20 --lmax 2000",
    "bin events.fits OUT --nside 4096 --lon L --lat B", "calibrate",
    "compare in.fits in.fits", "convert in.fits OUT --order nest --precision double", "convert in.fits OUT.gz", "info in.fits",
    "evaluate alm.fits events.fits OUT.fits --gradient", "evaluate in.fits events.fits OUT.fits", "lens alm.fits alm0.fits OUT --nside 2048",
    "mask in.fits OUT --apodise cosine --scale 1deg --field 0", "map2alm in.fits OUT", "plan --nside 2048 --fwhm 3deg --lmax 4000 --error 1e-6 --reference discrete",
    "plot in.fits OUT.png --width 16384", "rotate in.fits OUT --from G --to C", "rotate in.fits OUT --from G --to C --by points", "smooth in.fits OUT --fwhm 1deg",
    "scan alm.fits scan.fits OUT --beam-alm beam.fits", "scan in.fits scan.fits OUT --beam-alm beam.fits --lmax 2000",
    "smooth in.fits OUT --beam-alm beam.fits --lmax 2000",
    "solve burgers -o OUT.fits --modes 40,100", "split --fwhm 20arcmin --lmax 3000 --theta-cut 5deg --knots 2000 -o OUT",
    "synfast cl.txt OUT --nside 2048 --lmax 4000", "udgrade in.fits OUT --nside 4096", "wavelet in.fits OUT",
    "weights OUT --nside 1024 --pixel"])
def test_signal_is_answered_at_once_wherever_the_work_is(tmp_path, long_inputs, command):
    name, *arguments = command.replace("OUT", str(tmp_path / "out")).split()
    process = subprocess.Popen([ZONAL, name, *arguments], cwd=long_inputs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")},
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    out, err, computed = interrupt(process, signal.SIGINT, after=0.3)
    if process.returncode != 0:  # else the machine is so fast that there was nothing to interrupt
        assert process.returncode == 130 and err == f"zonal {name}: interrupted\n" and out == ""
        assert computed < 1.0 * len(os.sched_getaffinity(0))  # 0.14 s for each on an idle machine
        left = [path for path in tmp_path.rglob("*") if path.is_file()]
        # All of the file may have been written just before the signal came; never a part of it.
        assert left == [] or [path.stem for path in left] == ["out"] and is_whole(left[0])
