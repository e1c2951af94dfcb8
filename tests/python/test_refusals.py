"""What a call cannot do is refused, and not done in part or in another way."""
import numpy as np
import pytest

import zonal
from zonal.chebyshev import Series

SKY = np.random.default_rng(4).normal(size=768)
SHT = zonal.SHT(zonal.Grid.healpix(8), 16)
CAR = zonal.Grid.fejer1(16, 48)  # as many pixels as HEALPix of nside 8
ALM = SHT.analyze(SKY)


@pytest.mark.parametrize("call, error, message", [
    (lambda: zonal.smooth(SKY, "20deg", grid=CAR, nest=True), ValueError, "nest = True: is for HEALPix alone"),
    (lambda: zonal.map2alm(SKY, 10, grid=CAR, nest=True), ValueError, "nest = True: is for HEALPix alone"),
    (lambda: zonal.map2alm(SKY, 10, iterations=7, tolerance=1e-8), ValueError, "tolerance, iterations: exclude each other"),
    (lambda: zonal.smooth(SKY, "20deg", floor=-1.0), ValueError, "floor = -1.0: must be finite and 0 or more"),
    (lambda: zonal.smooth(SKY, "20deg", floor=0.5), ValueError, "floor = 0.5: .* needs fwhm_in or beam_in"),
    (lambda: zonal.rotate_map(SKY, zonal.rotation_matrix((0.1, 0.2, 0.3)), lmax=-5), ValueError, "lmax = -5"),
    (lambda: zonal.synfast(np.ones(5), 4, seed=1, dtype=np.float16), ValueError, "dtype = .*float16.*: must be float64"),
    (lambda: zonal.Grid.healpix(4).subset([1.7]), TypeError, "rings = 1.7: must be an integer"),
    (lambda: zonal.alm_size(1.5), TypeError, "lmax = 1.5: must be an integer"),
    (lambda: zonal.threads(1.5), TypeError, "n = 1.5: must be an integer"),
    (lambda: zonal.threads(2**70), ValueError, "n = 1180591620717411303424: must be"),
    (lambda: zonal.SHT(zonal.Grid.healpix(8), 16, threads=1.5), TypeError, "threads = 1.5: must be an integer"),
    (lambda: Series.from_numpy(np.polynomial.Polynomial([1, 2])), TypeError, "must be a numpy.polynomial.Chebyshev"),
    (lambda: Series.from_function(np.sin, degree=3, tolerance=1e-3), ValueError, "degree, tolerance: exclude each other"),
])
def test_contradictions_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_an_integer_is_asked_for_also_where_a_transform_is_kept():
    zonal.alm2map(ALM, 8)
    with pytest.raises(TypeError, match="nside = 8.0: must be an integer"):
        zonal.alm2map(ALM, 8.0)


@pytest.mark.parametrize("call", [
    lambda memory: SHT.analyze(memory, out=memory[:2 * SHT.n_alm].view(complex)),
    lambda memory: SHT.adjoint(memory, out=memory[:2 * SHT.n_alm].view(complex)),
    lambda memory: SHT.synthesize(memory[:2 * SHT.n_alm].view(complex), out=memory),
])
def test_output_over_the_input_is_refused(call):
    with pytest.raises(ValueError, match="out: must not share memory with the input"):
        call(SKY.copy())


def test_cross_spectra_keep_the_precision_of_both():
    one, other = np.ones(15, np.complex64), np.full(15, 1e300 + 0j)
    assert np.allclose(zonal.alm2cl(one, other), zonal.alm2cl(other, one.astype(complex)))


def test_a_map_that_was_read_is_written_in_the_precision_asked_for(tmp_path):
    zonal.io.write_map(tmp_path / "single.fits", SKY)
    sky = zonal.io.read_map(tmp_path / "single.fits")
    assert sky.single
    for single, expected in ((None, True), (False, False), (True, True)):
        path = tmp_path / f"{single}.fits"
        zonal.io.write_map(path, sky, single=single)
        assert zonal.io.read_map(path).single == expected


def test_a_plan_is_not_used_by_its_own_callback():
    plan = zonal.plan(zonal.Kernel.gaussian("20deg"), zonal.Grid.healpix(8), error=1e-3)
    with pytest.raises(ValueError, match="plan: is at work in the call that this callback belongs to"):
        plan(SKY, progress=lambda done: plan(SKY) is not None)
    assert np.array_equal(plan(SKY), plan(SKY))
