"""Maps on a GPU are smoothed there."""

import numpy as np
import pytest

import zonal


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_whole_maps_are_smoothed_where_they_lie(library, dtype):
    sky = zonal.synfast(np.ones(49), 32, seed=1, dtype=dtype)
    for smooth in (lambda maps, **options: zonal.smooth(maps, "10deg", method="harmonic", return_report=True, **options),
                   lambda maps, **options: zonal.convolve(maps, zonal.Kernel.gaussian("10deg"), method="ring-fft", error=1e-6, return_report=True, **options)):
        mask = (np.arange(sky.size) > 100).astype(float)
        expected, _ = smooth(sky, device="cuda", mask=mask)
        found, (report,) = smooth(library.put(sky), mask=library.put(mask))
        assert report.device == "cuda:0" and isinstance(found, library.kind)
        assert np.array_equal(library.get(found), expected)
        if library.name != "jax":  # whose arrays never change
            out = library.empty(sky.shape, dtype)
            assert smooth(library.put(sky), mask=mask, out=out)[0] is out and np.array_equal(library.get(out), expected)


def test_smoothing_waits_for_the_streams_of_its_library(torch):
    sky = torch.put(zonal.synfast(np.ones(49), 32, seed=1))
    expected = torch.get(zonal.smooth(2 * sky, "10deg", method="harmonic"))
    with torch.xp.cuda.stream(torch.xp.cuda.Stream()):
        torch.xp.cuda._sleep(200_000_000)  # a tenth of a second
        found = zonal.smooth(2 * sky, "10deg", method="harmonic") + 0
    torch.xp.cuda.synchronize()
    assert np.array_equal(torch.get(found), expected)


def test_maps_are_read_between_pixels_on_a_gpu(rng):
    sky = zonal.synfast({"TT": np.ones(49), "EE": np.ones(49)}, 32, seed=1)
    theta, phi = np.arccos(rng.uniform(-1, 1, 500)), rng.uniform(0, 6, 500)
    for call in (lambda **options: zonal.rotate_map(sky, (10, 20, 30), pol=True, by="points", error=1e-9, **options),
                 lambda **options: zonal.resample(sky, (theta, phi), pol=True, error=1e-9, **options)):
        expected, found = call(), call(device="cuda")
        # Each errs by the error named, of the largest value on the sphere, which is a few times that of these.
        assert np.abs(found - expected).max() <= 8e-9 * np.abs(expected).max()
        assert not np.array_equal(found, expected)  # as a GPU has other samples
