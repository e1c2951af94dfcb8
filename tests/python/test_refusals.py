"""What a call cannot do is refused, and not done in part or in another way."""
import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import Normalize

import zonal
import zonal.healpy
from zonal import gwrm
from zonal.chebyshev import Series

SKY = np.random.default_rng(4).normal(size=768)
SHT = zonal.SHT(zonal.Grid.healpix(8), 16)
CAR = zonal.Grid.fejer1(16, 48)  # as many pixels as HEALPix of nside 8
ALM = SHT.analyze(SKY)
KERNEL = zonal.Kernel.gaussian("20deg")
EVENTS = zonal.io.Events(np.zeros(3), np.zeros(3), np.full(3, 200.0), "galactic")
U, X = gwrm.Unknown("u"), gwrm.Axis("x")


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
    (lambda: zonal.smooth(SKY, "20deg", mask_threshold=0.5), ValueError, "mask_threshold = 0.5: has an effect only with"),
    (lambda: zonal.ConvolutionPlan(KERNEL, SHT.grid, mask_threshold=0.5), ValueError, "mask_threshold = 0.5: has an effect only"),
    (lambda: SHT.analyze(SKY, max_iterations=5), ValueError, "max_iterations = 5: has an effect only with tolerance"),
    (lambda: zonal.map2alm(SKY, tolerance=0), ValueError, "tolerance = 0: must be above 0"),
    (lambda: zonal.smooth(SKY, "20deg", method="harmonic", tolerance=0), ValueError, "tolerance = 0: must be above 0"),
    (lambda: zonal.plot.mollweide(SKY, norm=Normalize(0, 1), max=2.0), ValueError, "max = 2.0: has no effect with norm"),
    (lambda: zonal.io.bin_events(EVENTS, 4, (300.0, 100.0)), ValueError, "energies = .*: must be two, the smaller one first"),
    (lambda: zonal.io.bin_events(EVENTS, 4, ("100GeV", "1 furlong")), ValueError, 'energies = .1 furlong.: must be above 0, in MeV, or with a unit'),
    (lambda: zonal.io.read_psf(__file__, "-1GeV"), ValueError, "energy = '-1GeV': must be above 0"),
    (lambda: zonal.io.read_psf(__file__, [1.0, 2.0]), TypeError, "energy: must be one energy, not list"),
    (lambda: gwrm.solve({U: -U}, {U: 1}, t=(0, 1), axes=[X, X]), ValueError, "axes: 2 have the name x"),
    (lambda: gwrm.solve({U: -U}, {U: 1, gwrm.Unknown("u"): 2}, t=(0, 1)), ValueError, "equations: lack one for u"),
    # Each speaks of the caller's argument, whatever that is called within.
    (lambda: zonal.synfast(np.ones(5), 3.5, seed=1), TypeError, "grid = 3.5: must be an integer"),
    (lambda: zonal.alm2map(ALM, 0), ValueError, "grid = 0: must be"),
    (lambda: zonal.Split(np.ones(12), 1.4, l_cut=3, c_l=np.ones(3)), ValueError, "c_l: 3 values"),
    (lambda: zonal.Split(np.ones(12), 1.4, l_cut=3, c_l_beyond=-1.0), ValueError, "c_l_beyond = -1: must be 0 or more"),
    (lambda: zonal.anafast(SKY, SKY[:-1]), ValueError, "maps2: has 767 pixels"),
    (lambda: zonal.smooth(SKY, "20deg", grid_out="car"), TypeError, "grid_out: must be a zonal.Grid, not str"),
    (lambda: zonal.smooth(SKY, "20deg", fwhm_in=-1.0), ValueError, r"fwhm_in = -1 rad \(-57.2958 deg\): must be above 0"),
    (lambda: zonal.synfast(np.ones(33), 0, seed=1), ValueError, "grid = 0: must be from 1"),
    (lambda: zonal.smooth(SKY), ValueError, "fwhm, beam: neither is given: give one"),
    (lambda: zonal.wavelet_transform(SKY, [np.ones(9)]), ValueError, "alm: has 768 coefficients.*; a map has as many pixels: map2alm"),
    (lambda: zonal.smooth(SKY, beam_window=np.ones(9)), TypeError, r"smooth\(\) got an unexpected .* 'beam_window'; is beam meant\?"),
    (lambda: zonal.smooth(SKY, sigma=0.1), TypeError, r"'sigma'; is fwhm = sqrt\(8 ln 2\) sigma meant\?"),
    (lambda: zonal.smooth(SKY, 0.1, iter=3), TypeError, "'iter'; is iterations meant"),
    (lambda: zonal.map2alm(SKY, iter=3), TypeError, r"map2alm\(\) got an unexpected .* 'iter'; is iterations meant"),
    (lambda: zonal.alm2map(ALM, nside=8), TypeError, r"alm2map\(\) got an unexpected .* 'nside'; is grid meant"),
    (lambda: zonal.smooth(SKY, 10), ValueError, r'fwhm = 10 rad \(572.958 deg\): must be above 0 and at most pi rad \(180 deg\); '
     'a number is in radians: write "10deg" for degrees'),
    (lambda: zonal.smooth(SKY, "200deg"), ValueError, r"fwhm = .* rad \(200 deg\): must be above 0 and at most pi rad \(180 deg\)$"),
    (lambda: zonal.smooth(SKY, 180), ValueError, "fwhm = 180 rad .*180deg"),
    (lambda: zonal.smooth(SKY, 180.5), ValueError, r"fwhm = 180.5 rad .*: must be above 0 and at most pi rad \(180 deg\)$"),
    (lambda: zonal.smooth(SKY, 0.1, fwhm_in=5), ValueError, "fwhm_in = 5 rad .*5deg"),
    (lambda: zonal.convolve(SKY, KERNEL, cut=30), ValueError, "cut = 30 rad .*30deg"),
    (lambda: zonal.convolve(SKY, KERNEL, method="split", theta_cut=30), ValueError, "theta_cut = 30 rad .*30deg"),
    (lambda: zonal.Kernel.gaussian(10), ValueError, "fwhm = 10 rad .*10deg"),
    (lambda: zonal.Kernel.top_hat(90), ValueError, "radius = 90 rad .*90deg"),
    (lambda: zonal.Kernel.mexican_hat(2), ValueError, r"radius = 2 rad .*at most 1 rad \(57.2958 deg\).*2deg"),
    (lambda: KERNEL.truncated(20), ValueError, "theta_cut = 20 rad .*20deg"),
    (lambda: zonal.gaussian_window(10, 5), ValueError, "fwhm = 10 rad .*10deg"),
    (lambda: zonal.synfast(np.ones(9), 4, seed=1, fwhm=10), ValueError, "fwhm = 10 rad .*10deg"),
    (lambda: zonal.healpy.smoothing(SKY, 10), ValueError, r"fwhm = 10 rad \(572.958 deg\): must be from 0 to 3.14159 rad .*np.radians"),
    (lambda: zonal.healpy.smoothing(SKY, sigma=10), ValueError, "sigma = 10 rad .*: must be from 0 to 1.33411 rad"),
    (lambda: zonal.synalm({"TT": np.ones(3), "EE": 1.0}, seed=1), ValueError, "c_l.'EE'.: has shape"),
    (lambda: zonal.healpy.smoothing(SKY, sigma=-1.0), ValueError, "sigma = -1 rad .*: must be from 0 to"),
    (lambda: Series.from_function(np.sin, degree=3, tolerance=1e-3), ValueError, "degree, tolerance: exclude each other"),
    (lambda: zonal.map2alm(SKY, lmax=-1), ValueError, "lmax = -1: must be 0 or more"),
    (lambda: zonal.map2alm(SKY, mmax=-1), ValueError, "mmax = -1: must be 0 or more"),
    (lambda: zonal.alm_size(-1), ValueError, "lmax = -1: must be 0 or more"),
    (lambda: zonal.resize_alm(ALM, -1), ValueError, "lmax_out = -1: must be 0 or more"),
    (lambda: zonal.alm2map(ALM, 8, lmax=16, mmax=0), ValueError, "not those of lmax = 16 and mmax = 0"),
    (lambda: zonal.anafast(SKY, np.ones(12)), ValueError, "maps2: its alm have shape"),
    (lambda: zonal.synalm([], seed=1), ValueError, "c_l: TT is empty"),
    (lambda: zonal.synalm([1, 1], seed=-1), ValueError, "seed = -1: must be from 0"),
    (lambda: zonal.synalm([1, -1], seed=1), ValueError, "c_l: the matrix at l = 1"),
    (lambda: zonal.smooth(SKY, True), TypeError, "fwhm: must be one angle, not bool"),
    (lambda: zonal.smooth(SKY, "20deg", sigma=1), TypeError, r"^smooth\(\) got an unexpected keyword argument 'sigma'"),
    (lambda: zonal.anafast(SKY, lmx=1), TypeError, "anafast.* 'lmx'; is 'lmax' meant?"),
    (lambda: zonal.smooth(SKY, "20deg", method="pixel-sum", grid_out=CAR), ValueError, "method = pixel-sum: must be auto or harmonic: .*other pixels"),
    (lambda: zonal.smooth(SKY, "5deg", fwhm_in="2rad", lmax=23), zonal.ErrorNotKept, "no error can be certified"),
    (lambda: zonal.rotate_map(SKY, 3), ValueError, "rotation = 3: must be three Euler angles"),
    (lambda: zonal.Map(SKY, grid=8), TypeError, r"grid: must be a zonal.Grid, not int; .* zonal.Grid.healpix\(nside\)"),
    (lambda: zonal.Map(SKY, unit=5), TypeError, "unit: must be a text or an astropy unit, not int"),
    (lambda: KERNEL * "2", TypeError, "factor = '2': must be a real number"),
    (lambda: zonal.io.quadrature_weights(8, "pixels"), OSError, "kind = 'pixels': must be 'ring', 'pixel' or"),
    (lambda: zonal.plot.mollweide(1j * SKY), TypeError, "map: must hold real numbers"),
    (lambda: zonal.plot.mollweide(SKY, ax=3), TypeError, "ax: must be matplotlib's axes, not int"),
    (lambda: zonal.plot.mollweide(SKY, cmap="none"), ValueError, "cmap = 'none': "),
    (lambda: zonal.plot.points(zonal.plot.mollweide(SKY), 10.0, 20.0), ValueError, "lat: holds 20 rad: must be from"),
    # Arguments in the wrong order are not printed at length.
    (lambda: zonal.udgrade(4, SKY), TypeError, r"^nside = <ndarray of shape \(768,\)>: must be an integer$"),
    (lambda: zonal.io.write_map(SKY, "sky.fits"), TypeError, r"^path = <ndarray of shape \(768,\)>: must be a path"),
    (lambda: zonal.rotate_alm(np.eye(3), ALM), ValueError, r"^rotation = <ndarray of shape \(153,\)>: must be three"),
    (lambda: zonal.threads("4" * 500), TypeError, r"^n = '4{96}\.\.\.: must be an integer$"),
    (lambda: zonal.plan(SHT.grid, KERNEL), TypeError, "kernel: must be a zonal.Kernel, such as .*, not Grid"),
    (lambda: zonal.plan(KERNEL, 8), TypeError, r"grid: must be a zonal.Grid, not int; for HEALPix zonal.Grid.healpix\(nside\)"),
    (lambda: zonal.SHT(8, lmax=16), TypeError, r"grid: must be a zonal.Grid, not int; for HEALPix zonal.Grid.healpix\(nside\)"),
    (lambda: zonal.PixelConvolution(KERNEL, 8), TypeError, r"grid: must be .* zonal.Grid.healpix\(nside\)"),
    (lambda: zonal.smooth("sky.fits", "1deg"), TypeError, "maps = 'sky.fits': must be an array of real numbers; zonal.io reads files"),
    (lambda: zonal.plot.mollweide("sky.fits"), TypeError, "map: must hold real numbers, .*; zonal.io.read_map reads files"),
    (lambda: zonal.plot.mollweide(np.stack([SKY] * 3)), ValueError, r"map: has shape \(3, 768\): .*; choose a row, such as map\[0\]"),
    # Choices that are arrays are compared by no element.
    (lambda: zonal.smooth(SKY, "20deg", device=SKY), TypeError, "device = <ndarray of shape .*: must be 'cpu'"),
    (lambda: zonal.smooth(SKY, "20deg", costs=SKY), ValueError, "costs = <ndarray of shape .*: must be 'default' or"),
    (lambda: zonal.udgrade(SKY, 4, combine=SKY), ValueError, "combine = <ndarray of shape .*: must be 'mean' or 'sum'"),
    (lambda: zonal.smooth(SKY, beam=[]), ValueError, "beam: is empty"),
    (lambda: zonal.smooth(SKY, beam=np.zeros(9)), ValueError, "beam: is 0 for all l"),
    (lambda: zonal.smooth(SKY, "20deg", beam_in=[1, np.nan]), ValueError, "beam_in: has NaN or infinite values"),
    (lambda: zonal.smooth(SKY, beam=np.ones(9), method="harmonic"), ValueError, "beam .*: ends at l = 8, lmax = 23 needs more: extend it"),
    (lambda: zonal.smooth(SKY, "20deg", ring_weights=[]), ValueError, "ring_weights: is empty"),
    (lambda: zonal.map2alm(np.where(np.arange(768) == 5, np.nan, SKY)), ValueError, "maps: 1 of its values are NaN .* pixel 5 of row 0"),
    (lambda: zonal.anafast(np.where(np.arange(768) == 5, np.inf, SKY)), ValueError, "maps: 1 of its values are NaN or infinite"),
    (lambda: zonal.rotate_map(np.where(np.arange(768) == 5, np.nan, SKY), "GC"), ValueError, "maps: 1 of its values are NaN"),
    (lambda: zonal.wavelet_transform(1.0, [np.ones(1)]), ValueError, r"alm: has shape \(\): must be \[n_alm\]"),
    (lambda: zonal.wavelet_transform(ALM, [np.ones(9)]), ValueError, "windows: has 9 values: lmax = 16 needs 17"),
    (lambda: zonal.inverse_wavelet_transform(np.ones((2, 7)), [np.ones(9)] * 2), ValueError, "scales: has 7 coefficients"),
    (lambda: zonal.io.write_alm("alm.fits", 1.0), ValueError, r"alm: has shape \(\): must be \[n_alm\]"),
    (lambda: zonal.synfast(np.ones((4, 9)), 4, seed=1), ValueError, r"c_l: has shape \(4, 9\): must be .* {'TT': c_l\[0\], 'EE': c_l\[1\]"),
    (lambda: zonal.Map(SKY)["I"], ValueError, "row = 'I': must be a number: the rows of this map have no names"),
    (lambda: zonal.Map(SKY, unit="K_CMB").to("MJy/sr", 353), ValueError, 'frequency = 353: a number is in Hz, .* write "353 GHz"'),
    (lambda: zonal.io.bin_events(EVENTS._replace(energy=None), 4, (1, 2)), ValueError, "energies = .* MeV: the events have none"),
    (lambda: gwrm.Axis(3), TypeError, "name = 3: must be a string"),
    (lambda: gwrm.Axis("x", 5), TypeError, "interval = 5: must be a sequence"),
    (lambda: gwrm.Axis("x", (0, 1, 2)), ValueError, r"interval = \(0, 1, 2\): must be its two ends"),
    (lambda: gwrm.Axis("x", modes=2.5), TypeError, "modes = 2.5: must be an integer"),
    (lambda: gwrm.dirichlet(U, "x"), TypeError, "axis = 'x': must be a zonal.gwrm.Axis"),
    (lambda: gwrm.periodic("u", X, 1), TypeError, "field = 'u': must be a zonal.gwrm.Unknown"),
    (lambda: U ** -1, ValueError, "exponent = -1: must be from 0 to 8"),
    (lambda: gwrm.solve({U: -U}, {U: "1"}, t=(0, 1)), TypeError, "initial value of u = '1': must be a real number"),
    (lambda: gwrm.solve({U: "-u"}, {U: 1}, t=(0, 1)), TypeError, "equation of u = '-u': must be a real number"),
    (lambda: gwrm.solve({"u": -U}, {U: 1}, t=(0, 1)), TypeError, "equations: 'u': must be a zonal.gwrm.Unknown"),
    (lambda: gwrm.solve(lambda t, u: -u[0], [1], t=(0, 1)), TypeError, "equations = .*: must be a sequence"),
    # What healpy calls arguments.
    (lambda: zonal.smooth(SKY, "20deg", use_weights=True), TypeError, r'is ring_weights = zonal.io.quadrature_weights\(nside, "ring"\) meant'),
    (lambda: zonal.map2alm(SKY, use_pixel_weights=True), TypeError, r"is pixel_weights = zonal.io.quadrature_weights\(nside\) meant"),
    (lambda: zonal.synfast(np.ones(9), 4, seed=1, pixwin=True), TypeError, r"is window = zonal.pixel_window\(nside, lmax\) meant"),
    (lambda: zonal.smooth(SKY, "20deg", nside_out=4), TypeError, r"is grid_out = zonal.Grid.healpix\(nside_out\) meant"),
    (lambda: zonal.udgrade(SKY, nside_out=4), TypeError, "is nside meant"),
    (lambda: zonal.io.read_map("sky.fits", field=0), TypeError, "is fields meant"),
    (lambda: zonal.plot.mollweide(SKY, xsize=400), TypeError, "is width meant"),
    (lambda: zonal.SHT(SHT.grid, lmx=3), TypeError, r"^SHT\(\) got an unexpected keyword argument 'lmx'; is 'lmax' meant"),
])
def test_contradictions_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_an_integer_is_asked_for_also_where_a_transform_is_kept():
    zonal.alm2map(ALM, 8)
    with pytest.raises(TypeError, match="grid = 8.0: must be an integer"):
        zonal.alm2map(ALM, 8.0)


@pytest.mark.parametrize("call", [
    lambda memory: SHT.analyze(memory, out=memory[:2 * SHT.n_alm].view(complex)),
    lambda memory: SHT.adjoint(memory, out=memory[:2 * SHT.n_alm].view(complex)),
    lambda memory: SHT.synthesize(memory[:2 * SHT.n_alm].view(complex), out=memory),
])
def test_output_over_the_input_is_refused(call):
    with pytest.raises(ValueError, match="out: must not share memory with the input"):
        call(SKY.copy())


def test_output_that_overlaps_itself_is_refused():
    alm = np.zeros((2, SHT.n_alm), complex)
    rows = np.broadcast_to(np.empty(SKY.size), (2, SKY.size))
    rows.flags.writeable = True
    overlapping = np.lib.stride_tricks.as_strided(np.empty(2 * SKY.size), (2, SKY.size), (8 * (SKY.size - 1), 8))
    for out in (rows, overlapping):
        with pytest.raises(ValueError, match="out: has elements that share memory"):
            SHT.synthesize(alm, out=out)
    apart = np.empty((4, SKY.size))[::2]
    assert SHT.synthesize(alm, out=apart) is apart


def test_a_list_of_pixels_that_memory_cannot_hold_is_refused():
    with pytest.raises(MemoryError, match="a list of 824633720832 pixels .*return_ranges = True.* needs"):
        zonal.healpy.query_disc(2**18, (1, 0, 0), np.pi)


def test_cross_spectra_keep_the_precision_of_both():
    one, other = np.ones(15, np.complex64), np.full(15, 1e300 + 0j)
    assert np.allclose(zonal.alm2cl(one, other), zonal.alm2cl(other, one.astype(complex)))


def test_maps_are_written_in_their_own_precision(tmp_path):
    for dtype in (np.float64, np.float32):
        path = tmp_path / f"{np.dtype(dtype)}.fits"
        sky = SKY.astype(dtype) / 3
        zonal.io.write_map(path, sky)
        assert np.array_equal(zonal.io.read_map(path).values[0], sky)


def test_a_map_that_was_read_is_written_in_the_precision_asked_for(tmp_path):
    zonal.io.write_map(tmp_path / "single.fits", SKY, single=True)
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_unseen_is_not_analysed_as_a_number(dtype):
    sky = SKY.astype(dtype)
    sky[5] = zonal.UNSEEN
    with pytest.raises(ValueError, match="map: 1 pixels are UNSEEN, the first is pixel 5"):
        SHT.analyze(np.stack([SKY.astype(dtype), sky]))


def test_what_no_memory_holds_is_refused_before_it_is_tried():
    code = """if True:
        import resource, zonal
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30,) * 2)
        for make in (lambda: zonal.SHT(zonal.Grid.healpix(1), 2**30), lambda: zonal.Grid.gauss_legendre(2**30, 1)):
            try:
                make()
            except MemoryError as error:
                print(error)
    """
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert re.fullmatch("mmax = 1073741824: .* needs .*\nn_rings = 1073741824: .* needs .*\n", told)


def test_options_that_are_passed_on_are_in_the_signature():
    for function, options in ((zonal.smooth, ("fwhm", "error", "mask", "threads")), (zonal.convolve, ("kernel", "method")),
                              (zonal.anafast, ("pol", "iterations")), (zonal.plot.polar, ("radius", "cmap", "ax"))):
        parameters = inspect.signature(function).parameters
        assert set(options) < set(parameters) and "options" not in parameters


def test_an_error_says_its_argument_by_attributes():
    with pytest.raises(ValueError, match="nside = 0: must be from 1") as caught:
        zonal.Grid.healpix(0)
    error = caught.value
    assert (error.argument, error.value, error.requirement) == ("nside", "0", "must be from 1 to 2^29")
    with pytest.raises(ValueError, match="grid = 0: must be from 1") as caught:  # as the caller knows it
        zonal.alm2map(ALM, 0)
    assert caught.value.argument == "grid"


@pytest.mark.parametrize(("call", "message"), [
    (lambda: zonal.smooth(np.zeros(48), "90deg", threads=1048576), "threads = 1048576: must be from 0 (all CPUs) to 4096"),
    (lambda: zonal.SHT(zonal.Grid.healpix(1), 2, threads=4097), "threads = 4097: must be from 0 (all CPUs) to 4096"),
    (lambda: zonal.threads(1048576), "n = 1048576: must be from 0 (the default) to 4096"),
    (lambda: zonal.Kernel.gaussian("10deg").window(2**29), "lmax = 536870912: must be from 0 to 10000000"),
    (lambda: zonal.gaussian_window("10deg", 2**29), "lmax = 536870912: must be at most 10000000"),
    (lambda: zonal.healpy.gauss_beam(0.1, 2**29), "lmax = 536870912: must be at most 10000000"),
    (lambda: zonal.plot.mollweide(np.zeros(48), width=2**29), "width = 536870912: must be from 1 to 20000 pixels")])
def test_work_without_end_is_refused_before_it_starts(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
