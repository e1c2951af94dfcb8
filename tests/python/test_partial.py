"""Maps of which little is known: smoothed as others, with memory for what is known."""

import subprocess
import sys

import numpy as np
import pytest

import zonal.healpy

NSIDE = 64


def disc(nside, theta, radius):
    """Whether pixels lie in a disc, rad."""
    x, _, z = zonal.healpy.pix2vec(nside, np.arange(12 * nside**2))
    return np.sin(theta) * x + np.cos(theta) * z > np.cos(radius)


@pytest.mark.parametrize("theta", [0.1, 1.6, 2.3])
@pytest.mark.parametrize("options", [dict(method="pixel-sum"), dict(method="ring-fft"), dict(method="pixel-sum", mask_mode="renormalize")])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_known_is_smoothed_as_in_a_map_that_is_0_elsewhere(theta, options, dtype):
    inside = disc(NSIDE, theta, 0.2)
    rows = np.random.default_rng(1).normal(size=(2, inside.size)).astype(dtype)
    part = np.where(inside, rows, zonal.UNSEEN).astype(dtype)
    mask = np.random.default_rng(2).random(inside.size)
    found = zonal.smooth(part, "3deg", error=1e-4, mask=mask, **options)
    # A map with UNSEEN pixels in a few places is smoothed on the whole sky.
    whole = zonal.smooth(np.where(inside, rows, 0).astype(dtype), "3deg", error=1e-4, mask=np.where(inside, mask, 0), **options)
    assert (found[:, ~inside] == dtype(zonal.UNSEEN)).all()
    # The same sums in another order, of about a thousand pixels; ring FFTs round relative to the ring's largest.
    assert np.abs(found - whole)[:, inside].max() <= 1e3 * np.finfo(dtype).eps * np.abs(whole[:, inside]).max()


def test_a_bad_mask_names_its_pixel_as_for_other_maps():
    part = np.full(12 * NSIDE**2, zonal.UNSEEN)
    part[5000:5100] = 1
    mask = np.ones(part.size)
    mask[40] = 2
    with pytest.raises(ValueError, match="pixel 40"):
        zonal.smooth(part, "3deg", method="pixel-sum", mask=mask)


PEAK = """
import resource
import numpy as np
import zonal

part = np.full(12 * 2048**2, zonal.UNSEEN)
part[24_000_000:24_100_000] = 1
out = np.ones(part.size)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
zonal.smooth(part, "6arcmin", method="pixel-sum", error=1e-4, out=out)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def test_takes_the_memory_of_what_is_known():
    printed = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True).stdout
    # Two bands of a 64th of the sky, input and output, half as much again for the rings within reach; 32 MB for tables and
    # threads. The whole sky would take copies of it, 403 MB each.
    sky = 12 * 2048**2 * 8
    assert int(printed) <= 2 * 1.5 * sky / 64 + 32e6 < 0.2 * sky
