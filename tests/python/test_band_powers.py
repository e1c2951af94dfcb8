"""zonal.spectra: from masked maps to band powers."""

import copy
import pickle
import warnings
from functools import lru_cache

import numpy as np
import pytest

import zonal
import zonal.healpy
from zonal.spectra import Bins, Field, chi_squared, coupling_matrices, estimate

NSIDE, LMAX = 16, 24
GRID = zonal.Grid.healpix(NSIDE)
N = GRID.n_pixels
THETA, PHI = GRID.angles()
Z = np.cos(THETA)
SMOOTH = np.sin(np.pi / 2 * np.clip((Z + 0.3 + 0.2 * np.cos(2 * PHI)) / 0.5, 0, 1)) ** 2
DEGREES = np.concatenate([np.arange(m, LMAX + 1) for m in range(LMAX + 1)])
ORDERS = np.concatenate([np.full(LMAX + 1 - m, m) for m in range(LMAX + 1)])
BINS = Bins.edges([2, 6, 10, 14, 18, 23])


@lru_cache
def sky():
    """I, Q, U of coefficients that anyone can compute, so that what is found can be compared with twelve digits."""
    def alm(i):
        return (np.cos(DEGREES + 2 * ORDERS + i) + 1j * (ORDERS > 0) * np.sin(3 * DEGREES - ORDERS + i)) / (DEGREES + 1.0) ** 2 \
            * (DEGREES >= (0 if i == 0 else 2))
    scalar, spin = zonal.SHT(GRID, LMAX), zonal.SHT(GRID, LMAX, spin=2)
    return np.stack([scalar.synthesize(alm(0)), *spin.synthesize(np.stack([alm(1), 0.1 * alm(2)]))])


@lru_cache
def powers():
    return estimate(Field(sky(), mask=SMOOTH), BINS, lmax_sky=LMAX, low_degrees=False)


def close(found, value, scale=None):
    """To twelve digits, of which the last is rounded. scale: where a number is a difference of larger ones."""
    assert found == pytest.approx(value, rel=0, abs=1e-12 * abs(value if scale is None else scale))


def test_reference_values():
    """Twelve digits, from transforms and 3j symbols of other packages' algorithms."""
    W = powers().mask_spectra[0, 0]
    close(W[0], 3.463604404196)
    close(W[1], 0.7321640911394)
    found = powers().pseudo
    close(found["TT"][10], 7.837802982344e-5)
    close(found["EE"][10], 3.507869539705e-5)
    close(found["BB"][10], 1.946651891515e-6)
    largest = 1.608582494264e-2
    for band, value in enumerate([largest, -8.451813071785e-4, 1.323732622943e-4, 2.717528260758e-6, 5.941349319856e-6]):
        close(powers()["TT"][band], value, largest)
    close(powers()["TE"][0], 3.454370857605e-3)
    close(powers()["TB"][0], 9.598617319444e-4)
    close(powers()["EE"][0], 3.643409370238e-3)
    close(powers()["EB"][0], 1.295196055478e-4, 3.6e-3)
    close(powers()["BB"][0], 5.951783703855e-4, 3.6e-3)
    close(powers()["BB"][1], -5.390521275258e-5, 3.6e-3)
    close(powers().windows["TT"][0, 3], 0.2788783474048)
    close(powers().windows["TT"][0, 7], -1.425285891698e-2)
    assert list(powers()) == ["TT", "TE", "TB", "EE", "EB", "BB"]


def test_bands_of_a_whole_sky_are_those_of_its_spectrum():
    """On a grid whose quadrature is exact, without a mask."""
    grid = zonal.Grid.gauss_legendre(50, 99)
    cl = {name: 1 / (np.arange(41.0) + 3) ** 2 for name in ("TT", "EE", "BB")} | {"TE": 0.5 / (np.arange(41.0) + 3) ** 2}
    alm = zonal.synalm(cl, seed=3)
    maps = np.stack([zonal.SHT(grid, 40).synthesize(alm[0]), *zonal.SHT(grid, 40, spin=2).synthesize(alm[1:])])
    bins = Bins.linear(5, lmax=40, dl=True)
    found, expected = estimate(Field(maps, grid=grid), bins), zonal.alm2cl(alm)
    assert found.condition < 1 + 1e-10
    for name in found:
        assert found[name] == pytest.approx(bins.bin(expected[name]), rel=0, abs=1e-13 * np.abs(bins.bin(expected["TT"])).max())


def test_windows_of_constant_bands_are_ones():
    """F U = 1, to rounding times the condition of K."""
    bins = Bins.linear(6, lmax=31, dl=True)
    found = estimate(Field(sky(), mask=SMOOTH, beam="5deg", pixel_window=True), bins)
    l = np.arange(bins.lmax + 1)
    factor = l * (l + 1) / (2 * np.pi)
    for name, windows in found.windows.items():
        of_bands = np.array([[(window[a:b + 1] / factor[a:b + 1]).sum() for a, b in zip(bins.first, bins.last)] for window in windows])
        expected = np.zeros((5, 5)) if "<-" in name else np.eye(5)
        assert np.abs(of_bands - expected).max() < 1e-13 * found.condition * factor[-1] / factor[2]


def test_mean_of_a_mask_of_random_weights_is_exact():
    """The mean over skies of C_l = 1 at one degree is a sum over its coefficients: no drawing. lmax is above 2 nside, where
    HEALPix sums are far from integrals."""
    nside, degree = 4, 9
    rng = np.random.default_rng(5)
    grid = zonal.Grid.healpix(nside)
    masks = rng.uniform(size=(2, grid.n_pixels)) * (rng.uniform(size=(2, grid.n_pixels)) < 0.7)
    bins = Bins.linear(1, lmax=9, lmin=0)
    scalar, spin = zonal.SHT(grid, 10), zonal.SHT(grid, 10, spin=2)
    n = zonal.alm_size(10)
    mean = {}
    for m in range(degree + 1):
        for unit in (1, 1j) if m else (1,):
            alm = np.zeros(n, complex)
            alm[zonal.alm_index(10, degree, m)] = unit / (np.sqrt(2) if m else 1)
            t, e = scalar.synthesize(alm), spin.synthesize(np.stack([alm, 0 * alm]))
            found = estimate(Field([t, *e], mask=masks), Bins.edges([2, 10]), lmax_sky=10, low_degrees=False)
            for name, values in found.pseudo.items():
                mean[name] = mean.get(name, 0) + values
    W = found.mask_spectra
    tt = coupling_matrices(W[0, 0], 10, "00")[:10, degree]
    te = coupling_matrices(W[0, 1], 10, "02")[:10, degree]
    ee, bb = (matrix[:10, degree] for matrix in coupling_matrices(W[1, 1], 10, ("++", "--")))
    for name, expected in (("TT", tt), ("TE", te), ("EE", ee), ("BB", bb)):
        assert np.abs(mean[name] - expected).max() < 1e-13 * np.abs(tt).max(), name
    assert len(bins) == 10


def test_theory_is_the_mean_of_simulated_skies():
    """Three hundred skies with a beam, white noise and a mask with holes: their mean is F C within its own scatter."""
    rng = np.random.default_rng(11)
    mask = SMOOTH * (rng.uniform(size=N) > 0.02)
    bins = Bins.linear(6, lmax=25)
    l = np.arange(33.0)
    cl = {"TT": 1 / (l + 10) ** 2, "EE": 0.3 / (l + 10) ** 2, "BB": 0.03 / (l + 10) ** 2, "TE": 0.2 / (l + 10) ** 2}
    variance = np.array([0.002, 0.004])[:, None] * rng.uniform(0.5, 1.5, size=(2, N))
    beam = {spin: zonal.gaussian_window("10deg", 32, spin) for spin in (0, 2)}
    scalar, spin = zonal.SHT(GRID, 32), zonal.SHT(GRID, 32, spin=2)
    found, theory, errors = [], None, None
    for seed in range(300):
        t, e, b = zonal.synalm(cl, seed=seed)
        maps = np.stack([scalar.synthesize(zonal.almxfl(t, beam[0])),
                         *spin.synthesize(np.stack([zonal.almxfl(e, beam[2]), zonal.almxfl(b, beam[2])]))])
        maps += rng.normal(size=(3, N)) * np.sqrt(variance[[0, 1, 1]])
        one = estimate(Field(maps, mask=mask, beam="10deg", variance=variance), bins, lmax_sky=32, theory=cl if seed == 0 else None)
        found.append([one[name] for name in one])
        errors = one if errors is None else errors
        theory = one.theory(cl) if theory is None else theory
    found = np.array(found)
    pulls = (found.mean(0) - np.array([theory[name] for name in one])) / (found.std(0) / np.sqrt(300))
    # 24 numbers, of which one in 2,000 sets has one beyond 4.4.
    assert np.isfinite(pulls).all() and np.abs(pulls).max() < 4.4
    # Errors of 300 skies scatter by 0.041 of themselves if bands are Gaussian; those of the first degrees have a kurtosis of up to 12/5,
    # which makes it 0.06.
    ratios = np.array([errors.error[name] for name in one]) / found.std(0, ddof=1)
    assert np.isfinite(ratios).all() and np.abs(ratios - 1).max() < 4.4 * 0.06
    # The mean of chi^2 is the number of values, exactly.
    values = [chi_squared(row.ravel() - np.concatenate(list(theory.values())), errors.covariance).value for row in found]
    assert abs(np.mean(values) - 24) < 4.4 * np.std(values) / np.sqrt(300)


def test_noise_is_what_it_adds_exactly():
    """The mean over the noise of every pixel, one by one."""
    grid = zonal.Grid.healpix(2)
    rng = np.random.default_rng(2)
    mask, variance = rng.uniform(size=48) * (np.arange(48) > 8), rng.uniform(size=48)
    bins = Bins.edges([2, 7])
    mean = 0
    for pixel in range(9, 48):
        for row in range(3):
            maps = np.zeros((3, 48))
            maps[row, pixel] = np.sqrt(variance[pixel])
            found = estimate(Field(maps, mask=mask, grid=grid, variance=variance), bins, lmax_sky=6)
            mean = mean + np.stack([found.pseudo[name] for name in ("TT", "EE", "BB")])
    expected = np.stack([found.noise[name] for name in ("TT", "EE", "BB")])
    assert np.abs(mean - expected).max() < 1e-14 * expected.max() and (expected[1:, :2] == 0).all() and (expected[1:, 2:] > 0).all()


def test_a_given_noise_spectrum_is_taken_off_as_the_mask_mixes_it():
    l = np.arange(LMAX + 1.0)
    noise = {"TT": 1 / (l + 1), "EE": 2 / (l + 1), "BB": 3 / (l + 1)}
    found = estimate(Field(sky(), mask=SMOOTH, noise=noise, beam="5deg"), BINS, lmax_sky=LMAX)
    m00, plus, minus = coupling_matrices(found.mask_spectra[0, 0], LMAX, ("00", "++", "--"))
    for name, expected in (("TT", m00 @ noise["TT"]), ("EE", plus @ noise["EE"] + minus @ noise["BB"]),
                           ("BB", minus @ noise["EE"] + plus @ noise["BB"]), ("TE", 0 * l)):
        assert np.abs(found.noise[name] - expected[:23]).max() <= 1e-15
    flat = {name: np.full(LMAX + 1, 0.5) for name in ("TT", "EE", "BB")}
    one = estimate(Field(sky()[0], mask=SMOOTH, noise=flat["TT"]), BINS, lmax_sky=LMAX)
    assert one["TT"] == pytest.approx(estimate(Field(sky()[0], mask=SMOOTH), BINS, lmax_sky=LMAX)["TT"] - one.theory(flat["TT"])["TT"], abs=1e-13)


def test_spectra_of_several_fields_are_those_of_each_pair():
    other = np.where(Z > -0.2, 1.0, 0.0)
    fields = [Field(sky()[0], mask=SMOOTH), Field(sky()[1:], mask=other, beam="4deg"), Field(sky(), mask=[other, SMOOTH])]
    all_of_them = estimate(fields, BINS, lmax_sky=LMAX, low_degrees=False)
    assert [key for key in all_of_them if key[1:] == (0, 1)] == [("TE", 0, 1), ("TB", 0, 1)]
    assert [key[0] for key in all_of_them if key[1:] == (1, 2)] == ["ET", "BT", "EE", "EB", "BE", "BB"]
    for i in range(3):
        for j in range(i, 3):
            pair = estimate([fields[i], fields[j]] if i < j else fields[i], BINS, lmax_sky=LMAX, low_degrees=False)
            own = [(name, a, b) for name, a, b in pair.bands._values if (a, b) == (0, 1 if i < j else 0)]
            assert own
            for name, a, b in own:
                assert all_of_them[name, i, j] == pytest.approx(pair[name, a, b], rel=1e-12, abs=1e-17)
    # Masks of one place in memory or of several are the same mask.
    assert all_of_them.mask_spectra.shape[0] == 2
    # The other order swaps the letters.
    swapped = estimate(fields[::-1], BINS, lmax_sky=LMAX, low_degrees=False)
    for one, two in (("TE", "ET"), ("BE", "EB"), ("TT", "TT")):
        i, j = (0, 2) if one == "TT" else (1, 2)
        assert swapped[one, 2 - j, 2 - i] == pytest.approx(all_of_them[two, i, j], rel=1e-11, abs=1e-17)


def test_a_masked_map_is_not_multiplied_twice():
    direct = estimate(Field(sky(), mask=SMOOTH), BINS)
    times = estimate(Field(sky() * SMOOTH, mask=SMOOTH, masked=True), BINS)
    for name in direct:
        assert np.array_equal(direct[name], times[name])


def test_what_lies_under_the_mask_does_not_matter():
    maps = sky().copy()
    maps[:, SMOOTH == 0] = [[zonal.UNSEEN], [np.nan], [np.inf]]
    for name, bands in estimate(Field(maps, mask=SMOOTH), BINS).bands.items():
        assert np.array_equal(bands, estimate(Field(sky(), mask=SMOOTH), BINS)[name])
    with pytest.raises(ValueError, match=r"maps\[0, \d+\] = .*: must be a finite number: give a mask that is 0 there|set the mask"):
        estimate(Field(maps), BINS)
    maps[1, 0] = np.nan
    with pytest.raises(ValueError, match=r"maps\[0, 0\] = nan: must be a finite number where the mask is not 0"):
        estimate(Field(maps[1:], mask=SMOOTH), BINS)


def test_maps_say_what_they_are():
    nested = zonal.Map(sky(), unit="uK", columns=["I", "Q", "U"]).reordered(nest=True)
    found = estimate(Field(nested, mask=zonal.Map(SMOOTH).reordered(nest=True)), BINS)
    for name in found:
        assert np.array_equal(found[name], estimate(Field(sky(), mask=SMOOTH), BINS)[name])
    assert found.units == ["uK"]
    with pytest.raises(ValueError, match="pol = True"):
        Field(zonal.Map(sky()))


def plain_decoupling(found, block, bins, transfer):
    """K^-1 B and F of a block by the formulas as they stand, and K's condition."""
    i, j = (found.mask_of[field, "T" if name in "T" else "P"] for field, name in zip(block.pair, block.names[0]))
    m00, m02, plus, minus = coupling_matrices(found.mask_spectra[i, j], found.lmax_sky)
    n, lmax = len(block.names), bins.lmax
    matrix = np.zeros((n, lmax + 1, n, found.lmax_sky + 1))
    for k in range(n):
        matrix[k, :, k] = {1: m00, 2: m02, 4: plus}[n][:lmax + 1]
    if n == 4:
        for k, sign in enumerate((1, -1, -1, 1)):
            matrix[k, :, 3 - k] = sign * minus[:lmax + 1]
    matrix = matrix * transfer
    l = np.arange(lmax + 1)
    factor = np.where(l > 0, l * (l + 1) / (2 * np.pi), 1) if bins.dl else np.ones(lmax + 1)
    b = bins.weights * factor
    u = np.zeros((found.lmax_sky + 1, len(bins)))
    for band, (first, last) in enumerate(zip(bins.first, bins.last)):
        u[first:last + 1, band] = 1 / factor[first:last + 1]
    bm = np.einsum("bl,sltp->sbtp", b, matrix)
    k = np.einsum("sbtp,pc->sbtc", bm, u).reshape(n * len(bins), -1)
    inverse = np.linalg.inv(k)
    whole_b = np.einsum("st,bl->sbtl", np.eye(n), b)
    return [(inverse @ x.reshape(n * len(bins), -1)).reshape(x.shape) for x in (whole_b, bm)] + [np.linalg.cond(k)]


B_L = np.exp(-1e-3 * np.arange(LMAX + 4) ** 2)
PIXELS = np.array(zonal.healpy.pixwin(NSIDE, pol=True))


@pytest.mark.parametrize("keywords,of_t,of_p", [
    ({}, 1 + 0 * B_L, 1 + 0 * B_L), ({"beam": B_L}, B_L, B_L), ({"beam": [B_L, B_L**2]}, B_L, B_L**2), ({"beam": [B_L, B_L**2, B_L**2]}, B_L, B_L**2),
    ({"beam": "6deg"}, zonal.gaussian_window("6deg", LMAX), zonal.gaussian_window("6deg", LMAX, 2)),
    ({"pixel_window": True}, *PIXELS), ({"pixel_window": PIXELS}, *PIXELS),
    ({"pixel_window": True, "beam": B_L}, *(B_L[:LMAX + 1] * PIXELS[:, :LMAX + 1]))])
@pytest.mark.parametrize("bins", [BINS, Bins.linear(5, lmax=21, dl=True, weights=1 + np.arange(25.0))])
def test_decoupling_is_what_the_formulas_say(bins, keywords, of_t, of_p):
    """Beams and pixel windows multiply the columns of M. Rounding, times a condition below 100 and a beam that falls to 0.3."""
    found = estimate(Field(sky(), mask=[SMOOTH, np.where(Z > 0, 1.0, 0.0)], **keywords), bins, lmax_sky=LMAX, low_degrees=False)
    for block in found.blocks:
        transfer = (of_t if block.names[0][0] == "T" else of_p)[:LMAX + 1] * (of_t if block.names[0][1] == "T" else of_p)[:LMAX + 1]
        *matrices, condition = plain_decoupling(found, block, bins, transfer)
        if not keywords and not bins.dl:  # which it does not count
            assert block.condition == pytest.approx(condition, rel=0.01)
        for matrix, expected in zip((block.decoupling, block.windows), matrices):
            assert np.abs(matrix - expected).max() < 1e-12 * np.abs(expected).max()
        assert block.bands == pytest.approx(np.einsum("sbtl,tl->sb", block.decoupling, block.pseudo), abs=1e-17)


def test_power_beyond_the_bins_is_reported():
    binary = np.where(Z > 0.3, 1.0, 0.0)
    found = estimate(Field(sky()[0], mask=binary), Bins.linear(5, lmax=21))
    assert found.lmax_sky == 26 and found.outside["TT"][-1] > 10 * abs(found.outside["TT"][0])
    flat = found.theory(np.ones(27))["TT"]
    inside = found.theory(np.where(np.arange(27) <= 21, 1.0, 0.0))["TT"]
    assert flat - inside == pytest.approx(found.outside["TT"], abs=1e-13)
    assert (estimate(Field(sky()[0], mask=binary), Bins.linear(5, lmax=21), lmax_sky=21).outside["TT"] == 0).all()


def test_a_mask_too_small_is_refused_with_a_width_that_does():
    cap = np.where(Z > np.cos(np.radians(15)), 1.0, 0.0)
    with pytest.raises(ValueError, match=r"bins: are too narrow for the mask: K of TT has condition .*; bands of \d+ degrees would do") as caught:
        estimate(Field(sky()[0], mask=cap), Bins.linear(1, lmax=33))
    width = int(str(caught.value).split("bands of ")[1].split()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate(Field(sky()[0], mask=cap), Bins.linear(width, lmax=33))
    with pytest.warns(zonal.ZonalWarning, match="the bins are narrow for the mask"):
        estimate(Field(sky()[0], mask=cap), Bins.linear(width - 1, lmax=33), low_degrees=False)


def test_results_do_not_depend_on_threads():
    one, three = (estimate(Field(sky(), mask=SMOOTH), BINS, threads=n) for n in (1, 3))
    assert all(np.array_equal(one[name], three[name]) for name in one)


def test_names_of_several_pairs_have_to_be_told_apart():
    found = estimate([Field(sky()[0], mask=SMOOTH)] * 2, BINS)
    with pytest.raises(KeyError, match="3 pairs of fields"):
        found["TT"]
    with pytest.raises(KeyError, match="must be one of"):
        found["EE"]
    assert found["TT", 0, 1].shape == (5,)


def test_errors_say_which_field_they_are_about():
    wrong = sky()[0].copy()
    wrong[5] = np.nan
    with pytest.raises(ValueError, match=r"fields\[1\]: maps\[0, 5\] = nan"):
        estimate([Field(sky()[0]), Field(wrong)], BINS)


def test_bins_stay_what_they_were_made_of():
    weights = np.eye(6)[2:]
    bins = Bins.from_weights(weights)
    weights[:] = 0
    assert pickle.loads(pickle.dumps(bins)) == bins


def test_bins_and_results_can_be_copied_and_pickled():
    for bins in (BINS, Bins.linear(4, lmax=20, dl=True, weights=np.arange(30.0)), Bins.logarithmic(3, 20), Bins.from_weights(np.eye(6)[2:])):
        again = pickle.loads(pickle.dumps(bins))
        assert again == bins == copy.deepcopy(bins) and hash(again) == hash(bins) and repr(again) == repr(bins)
    assert Bins.linear(4, lmax=20, dl=True) != Bins.linear(4, lmax=20) != Bins.linear(5, lmax=20) and BINS != 5
    again = pickle.loads(pickle.dumps(powers()))
    assert repr(again) == repr(powers()) and np.array_equal(again.windows["EE<-BB"], powers().windows["EE<-BB"])
    field = pickle.loads(pickle.dumps(Field(sky(), mask=SMOOTH, beam="5deg")))
    assert repr(field) == f"<zonal.spectra.Field: TEB, healpix nside=16, {np.mean(SMOOTH > 0):.3f} of the sky, beam>"


def test_a_picture_has_bands_and_theory():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = powers().plot({"TT": np.ones(LMAX + 1), "EE": np.ones(LMAX + 1)}, names=["TT", "EE"])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["TT", "EE"]
    assert ax.containers[0].lines[0].get_ydata().tolist() == powers()["TT"].tolist()
    assert len(ax.lines) >= 4
    assert powers().plot(names=["EE"], ax=ax) is ax and len(ax.containers) == 3
