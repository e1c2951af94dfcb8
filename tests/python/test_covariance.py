"""How pseudo-spectra of masked skies scatter: beside dense matrices, reference values and simulated skies."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy import special, stats

import zonal
from zonal import spectra as zs

RNG = np.random.default_rng(7)


def bands_of(edges, lmax, *matrices):
    """K^-1 B for flat bands, of a matrix that takes C_l to mean pseudo-spectra."""
    b = np.zeros((len(edges), lmax + 1))
    u = np.zeros((lmax + 1, len(edges)))
    for number, (first, last) in enumerate(edges):
        b[number, first:last + 1] = 1 / (last + 1 - first)
        u[first:last + 1, number] = 1
    n = len(matrices)
    whole = np.block([[matrices[i][j] for j in range(n)] for i in range(n)])
    b, u = np.kron(np.eye(n), b), np.kron(np.eye(n), u)
    return np.linalg.solve(b @ whole @ u, b).reshape(n * len(edges), n, lmax + 1), whole


def smooth_mask(nside):
    theta, phi = zonal.Grid.healpix(nside).angles()
    return np.sin(np.pi / 2 * np.clip((np.cos(theta) + 0.3 + 0.2 * np.cos(2 * phi)) / 0.5, 0, 1)) ** 2


def plain_spectrum(mask, lmax):
    grid = zonal.Grid.healpix(round((len(mask) / 12) ** 0.5))
    return zonal.alm2cl(zonal.SHT(grid, lmax).adjoint(mask * (4 * np.pi / len(mask))))


def polarized(n, tilt=-2.0, b_share=0.1):
    """T, E and B with TE of a fixed correlation, [3, 3, l]."""
    l = np.arange(n)
    c_l = np.zeros((3, 3, n))
    c_l[0, 0] = (l + 2.0) ** tilt
    c_l[1, 1] = 0.3 * (l + 3.0) ** tilt
    c_l[2, 2] = b_share * c_l[1, 1]
    c_l[0, 1] = c_l[1, 0] = 0.4 * np.sqrt(c_l[0, 0] * c_l[1, 1])
    return c_l


def test_narrow_kernels_give_the_reference_values():
    """Twelve digits from healpy's transforms and exact 3j symbols; two sums over some hundred terms round by 1e-13."""
    mask, lmax = smooth_mask(16), 24
    w = plain_spectrum(mask, 2 * lmax)
    bands, _ = bands_of([(2, 5), (6, 9), (10, 13), (14, 17), (18, 22)], lmax, [zs.coupling_matrices(w, lmax, "00")])
    c_l = (np.arange(lmax + 1) + 10.0) ** -2
    whole = zs.covariance(c_l, mask, lmax, exact_lmax=-1)
    for found in (zs.covariance(c_l, mask, lmax, exact_lmax=-1, values=bands), bands[:, 0] @ whole @ bands[:, 0].T):
        np.testing.assert_allclose(found[[0, 0, 4], [0, 1, 4]], [4.913876533570e-6, -2.651030590331e-7, 2.656070493123e-8], rtol=1e-12)


def real_modes(alm, lmax):
    """alm [.., n_alm] as coefficients of orthonormal real functions, [.., (lmax + 1)^2], with degree l from l^2 on."""
    out = []
    for l in range(lmax + 1):
        for m in range(l + 1):
            value = alm[..., zonal.alm_index(lmax, l, m)] * (np.sqrt(2) if m else 1)
            out += [value.real, value.imag] if m else [value.real]
    return np.stack(out, -1)


def units(n, lmax, spin):
    """Every real mode of n components from degree spin on, as in real_modes: its component, number and alm, [n, n_alm]."""
    for part in range(n):
        mode = 0
        for l in range(lmax + 1):
            for m in range(l + 1):
                for unit in (1, 1j) if m else (1,):
                    alm = np.zeros((n, zonal.alm_size(lmax)), complex)
                    alm[part, zonal.alm_index(lmax, l, m)] = unit / (np.sqrt(2) if m else 1)
                    if l >= spin:
                        yield part, mode, alm
                    mode += 1


class Dense:
    """The covariance by its definition: every basis function of the sky goes through the pixels."""

    def __init__(self, nside, masks, spins, lmax, sky_lmax, c_l, noise):
        grid = zonal.Grid.healpix(nside)
        area = 4 * np.pi / grid.n_pixels
        self.lmax, blocks, noises = lmax, [], []
        for spin, mask, variance in zip(spins, masks, noise):
            n = 1 if spin == 0 else 2
            sky, pseudo = zonal.SHT(grid, sky_lmax, spin=spin), zonal.SHT(grid, lmax, spin=spin)
            block = np.zeros((n, (lmax + 1) ** 2, n, (sky_lmax + 1) ** 2))
            for part, mode, alm in units(n, sky_lmax, spin):
                seen = pseudo.adjoint(area * mask * sky.synthesize(alm if n == 2 else alm[0]))
                block[:, :, part, mode] = real_modes(np.atleast_2d(seen), lmax)
            blocks.append(block)
            of_noise = np.zeros((n, (lmax + 1) ** 2, n, (lmax + 1) ** 2))
            for part, mode, alm in units(n, lmax, spin):
                there = pseudo.synthesize(alm if n == 2 else alm[0])
                of_noise[:, :, part, mode] = real_modes(np.atleast_2d(pseudo.adjoint(area**2 * mask**2 * variance * there)), lmax)
            noises.append(of_noise)
        maps = [k for k, spin in enumerate(spins) for _ in range(1 if spin == 0 else 2)]
        parts = [part for spin in spins for part in range(1 if spin == 0 else 2)]
        degree = np.concatenate([np.full(2 * l + 1, l) for l in range(sky_lmax + 1)])
        n = len(maps)
        self.sigma = np.zeros((n, n, (lmax + 1) ** 2, (lmax + 1) ** 2))
        for a in range(n):
            for b in range(n):
                for x in range(n):
                    for y in range(n):
                        if maps[x] == maps[a] and maps[y] == maps[b]:
                            self.sigma[a, b] += (blocks[maps[a]][parts[a], :, parts[x]] * c_l[x, y][degree]) @ blocks[maps[b]][parts[b], :, parts[y]].T
                if maps[a] == maps[b]:
                    self.sigma[a, b] += noises[maps[a]][parts[a], :, parts[b]]

    def mean(self, a, b):
        return np.array([np.trace(self.sigma[a, b][l * l:(l + 1) ** 2, l * l:(l + 1) ** 2]) / (2 * l + 1) for l in range(self.lmax + 1)])

    def covariance(self, first, second):
        (a, b), (c, d) = first, second
        squares = self.sigma[a, c] * self.sigma[b, d] + self.sigma[a, d] * self.sigma[b, c]
        starts = np.arange(self.lmax + 1) ** 2
        sums = np.add.reduceat(np.add.reduceat(squares, starts, 0), starts, 1)
        width = 2 * np.arange(self.lmax + 1) + 1
        return sums / np.outer(width, width)


@pytest.mark.parametrize("spins,same", [((0, 2), True), ((2, 0), False)])
def test_low_degrees_are_exact(spins, same):
    """Random weights, of which sums over pixels are no integrals; both computations sum some thousand terms."""
    nside, lmax, sky_lmax = 4, 6, 10
    n = 12 * nside**2
    masks = RNG.uniform(size=(1 if same else 2, n))
    noise = RNG.uniform(0.1, 0.3, (2, n))
    c_l = polarized(sky_lmax + 1)
    if spins == (2, 0):
        c_l = c_l[[1, 2, 0]][:, [1, 2, 0]]
    dense = Dense(nside, np.broadcast_to(masks, (2, n)), spins, lmax, sky_lmax, c_l, noise)
    pairs = list(combinations_with_replacement(range(3), 2))
    found, report = zs.covariance(c_l, masks, lmax, spins, noise=noise, exact_sky_lmax=sky_lmax, return_report=True)
    assert report == (lmax, sky_lmax, 0.0)
    expected = np.array([[dense.covariance(i, j) for j in pairs] for i in pairs]).transpose(0, 2, 1, 3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * expected.max())
    means = zs.mean_pseudo_spectra(c_l, masks, lmax, spins, noise=noise)
    expected = np.array([[dense.mean(a, b) for b in range(3)] for a in range(3)])
    np.testing.assert_allclose(means, expected, rtol=0, atol=1e-13 * expected.max())
    # The mask takes E and B from the same sky: their powers go up and down together.
    e, b = (spins.index(2) + k for k in (0, 1))
    assert np.all(found[pairs.index((e, e)), 2:, pairs.index((b, b)), 2:] > 0)
    assert np.all(np.linalg.eigvalsh(found.reshape(6 * (lmax + 1), -1)) > -1e-14 * found.max())


def test_what_is_spliced_is_exact_at_low_degrees_and_narrow_elsewhere():
    mask, lmax, c_l = smooth_mask(8), 12, polarized(13)
    both, exact, narrow = (zs.covariance(c_l, mask, lmax, (0, 2), exact_lmax=degree, exact_sky_lmax=12 if degree > 0 else None)
                           for degree in (6, 12, -1))
    np.testing.assert_allclose(both[:, :7, :, :7], exact[:, :7, :, :7], rtol=0, atol=1e-13 * exact.max())
    for part in (np.s_[:, 7:], np.s_[:, :, :, 7:]):
        assert np.array_equal(both[part], narrow[part])
    pairs = list(combinations_with_replacement(range(3), 2))
    ee, bb = pairs.index((1, 1)), pairs.index((2, 2))
    assert np.all(narrow[ee, :, bb] == 0)
    weights = RNG.normal(size=(5, 6, lmax + 1))
    expected = np.einsum("vil,iljk,wjk->vw", weights, both, weights)
    found = zs.covariance(c_l, mask, lmax, (0, 2), exact_lmax=6, exact_sky_lmax=12, values=weights)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_the_sky_of_the_exact_part_ends_where_little_is_lost():
    mask = smooth_mask(32)
    steep, flat = (np.arange(200) + 2.0) ** -3, np.ones(200)
    _, report = zs.covariance(steep, mask, 10, exact_lmax=6, return_report=True)
    assert 6 <= report.exact_sky_lmax < 40 and report.lost_share <= 1e-3
    sharp = (zonal.Grid.healpix(32).angles()[0] < 0.2).astype(float)
    with pytest.warns(zonal.ZonalWarning, match="up to l = 128, without which"):
        zs.covariance(flat, sharp, 4, exact_lmax=2)
    lost = zs.mean_pseudo_spectra(flat, mask, 6) - zs.mean_pseudo_spectra(flat[:21], mask, 6)
    with pytest.warns(zonal.ZonalWarning, match="up to l = 20, without which"):
        _, report = zs.covariance(flat, mask, 10, exact_lmax=6, exact_sky_lmax=20, return_report=True)
    np.testing.assert_allclose(report.lost_share, (lost / zs.mean_pseudo_spectra(flat, mask, 6)).max(), rtol=1e-9)


def test_grids_of_other_kinds():
    """Weights that are spherical harmonics of low degree have the same alm on all grids that integrate them."""
    lmax, c_l = 6, (np.arange(13) + 2.0) ** -2
    grids = zonal.Grid.gauss_legendre(20, 40), zonal.Grid.clenshaw_curtis(50, 64)
    masks = [1 + 0.5 * np.cos(grid.angles()[0]) for grid in grids]
    for exact_lmax in (3, -1):
        one, other = (zs.covariance(c_l, mask, lmax, exact_lmax=exact_lmax, grid=grid) for mask, grid in zip(masks, grids))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-13 * one.max())
    one, other = (zs.mean_pseudo_spectra(c_l, mask, lmax, grid=grid) for mask, grid in zip(masks, grids))
    np.testing.assert_allclose(one, other, rtol=1e-13)
    one, other = (zs.simulated_spectra(c_l, mask, lmax, 2, grid=grid) for mask, grid in zip(masks, grids))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_two_maps_of_one_sky_with_masks_of_their_own():
    """Cross spectra of parts of the sky have no noise in common; they are half as exact where each part has the noise."""
    n, lmax = 12 * 8**2, 8
    masks = np.stack([smooth_mask(8), smooth_mask(8)[::-1].copy()])
    c_l = np.broadcast_to((np.arange(lmax + 1) + 3.0) ** -2, (2, 2, lmax + 1))
    noise = np.full((2, n), 0.2)
    dense = Dense(8, masks, (0, 0), 4, lmax, c_l, noise)
    found = zs.covariance(c_l, masks, 4, (0, 0), noise=noise, spectra=[(0, 1)], exact_sky_lmax=lmax)
    expected = dense.covariance((0, 1), (0, 1))
    np.testing.assert_allclose(found[0, :, 0], expected, rtol=0, atol=1e-13 * expected.max())


def test_simulated_skies_are_those_of_synfast():
    nside, lmax = 8, 12
    c_l, mask = polarized(lmax + 1), smooth_mask(8)
    named = {"TT": c_l[0, 0], "EE": c_l[1, 1], "BB": c_l[2, 2], "TE": c_l[0, 1]}
    found = zs.simulated_spectra(c_l, mask, lmax, 3, (0, 2), seed=5)
    for k in range(3):
        sky = zonal.synfast(named, nside, seed=5 + k, lmax=lmax)
        cl = zonal.anafast(sky * mask, lmax=lmax, iterations=0, pol=True)
        expected = np.array([cl[name] for name in ("TT", "TE", "TB", "EE", "EB", "BB")])
        np.testing.assert_allclose(found[k], expected, rtol=0, atol=1e-13 * expected.max())
    assert np.array_equal(found[1:], zs.simulated_spectra(c_l, mask, lmax, 2, (0, 2), seed=6, threads=1))
    assert np.array_equal(found, zs.simulated_spectra(c_l, mask, lmax, 3, (0, 2), seed=5, threads=3))
    weights = RNG.normal(size=(4, 6, lmax + 1))
    np.testing.assert_allclose(zs.simulated_spectra(c_l, mask, lmax, 3, (0, 2), seed=5, values=weights),
                               np.einsum("vil,kil->kv", weights, found), rtol=0, atol=1e-13 * np.abs(found).sum(-1).max())


def test_simulated_maps_of_several_instruments_are_correlated_as_asked():
    """Two maps of T with one sky and their own noise: 200 skies of 13 degrees leave 3 % of the means."""
    n, lmax = 12 * 8**2, 12
    levels = np.array([[1.0, 0.5], [0.5, 2.0]])
    c_l = np.broadcast_to(levels[..., None], (2, 2, lmax + 1))
    noise = np.stack([np.full(n, 3.0), np.full(n, 0.0)])
    found = zs.simulated_spectra(c_l, np.ones(n), lmax, 200, (0, 0), noise=noise).mean(0)
    weight = (2 * np.arange(lmax + 1) + 1) / (lmax + 1) ** 2
    expected = [1 + 3 * 4 * np.pi / n, 0.5, 2]
    np.testing.assert_allclose(found @ weight, expected, atol=0.05)


@pytest.mark.parametrize("n,k", [(3, 2), (500, 70)])
def test_covariances_of_samples(n, k):
    samples = RNG.normal(size=(n, k))
    mean, covariance = zs.sample_covariance(samples)
    np.testing.assert_allclose(mean, samples.mean(0), atol=1e-14)
    np.testing.assert_allclose(covariance, np.cov(samples.T), atol=1e-14)
    for threads in (1, 3):
        assert np.array_equal(zs.sample_covariance(samples, threads=threads)[1], covariance)


def test_chi_squared_and_its_share():
    """Right to a few eps times the square root of the degrees of freedom over two, by which logarithms of large numbers err."""
    root = RNG.normal(size=(6, 6))
    covariance, d = root @ root.T, RNG.normal(size=6)
    found = zs.chi_squared(d, covariance)
    np.testing.assert_allclose(found.value, d @ np.linalg.solve(covariance, d), rtol=1e-10)
    np.testing.assert_allclose(zs.chi_squared(d, covariance, n_samples=20).value, found.value * 12 / 19, rtol=1e-13)
    for k in (1, 2, 3, 10, 101, 400):
        for value in (1e-3, 0.3, k / 3, k - 1.0, k + 1.0, 2.0 * k, 30 + k, 5.0 * k + 100):
            found = zs.chi_squared(np.full(k, np.sqrt(value / k)), np.eye(k))
            np.testing.assert_allclose(found.p, special.gammaincc(k / 2, found.value / 2), rtol=3e-12, atol=1e-300)


def test_errors_and_chi_squared_of_simulated_skies():
    """Bands of 300 skies with I, Q, U, noise and a mask with holes; bench/masked_errors.py has 2,000 at nside 32."""
    nside, lmax, n = 16, 32, 300
    mask = smooth_mask(nside)
    theta, phi = zonal.Grid.healpix(nside).angles()
    for centre in ((0.5, 1.0), (1.1, 4.0)):
        near = np.cos(theta) * np.cos(centre[0]) + np.sin(theta) * np.sin(centre[0]) * np.cos(phi - centre[1]) > np.cos(0.15)
        mask = mask * ~near
    c_l, noise = polarized(lmax + 1), np.full((2, len(mask)), 0.02)
    w = plain_spectrum(mask, 2 * lmax)
    m00, m02, plus, minus = zs.coupling_matrices(w, lmax)
    zero = np.zeros_like(m00)
    edges = [(2, 5), (6, 9), (10, 14), (15, 19), (20, 26)]
    #                                     TT, TE, EE, BB
    bands, whole = bands_of(edges, lmax, [m00, zero, zero, zero], [zero, m02, zero, zero], [zero, zero, plus, minus], [zero, zero, minus, plus])
    spectra = [(0, 0), (0, 1), (1, 1), (2, 2)]
    samples = zs.simulated_spectra(c_l, mask, lmax, n, (0, 2), noise=noise, spectra=spectra, values=bands)
    covariance = zs.covariance(c_l, mask, lmax, (0, 2), noise=noise, spectra=spectra, values=bands)
    mean, scatter = zs.sample_covariance(samples)
    means = zs.mean_pseudo_spectra(c_l, mask, lmax, (0, 2), noise=noise)
    expected = np.einsum("vil,il->v", bands, np.array([means[pair] for pair in spectra]))
    error = np.sqrt(covariance.diagonal())
    assert np.abs((mean - expected) / error).max() * np.sqrt(n) < 4  # of 20 bands
    ratio = error / np.sqrt(scatter.diagonal())
    assert np.abs(ratio - 1).max() < 4.5 / np.sqrt(2 * n)  # a variance of n samples errs by sqrt(2 / n), and bands are not Gaussian
    chi = [zs.chi_squared(sample - expected, covariance) for sample in samples]
    assert stats.kstest([one.p for one in chi], "uniform").pvalue > 1e-3
    assert abs(np.mean([one.value for one in chi]) / 20 - 1) < 0.1


def test_results_do_not_depend_on_threads():
    mask, c_l = smooth_mask(8), polarized(13)
    one, three = (zs.covariance(c_l, mask, 12, (0, 2), exact_lmax=5, threads=threads) for threads in (1, 3))
    assert np.array_equal(one, three)


CL, MASK = np.ones(9), np.ones(48)


@pytest.mark.parametrize("call,message", [
    (lambda: zs.covariance(CL, MASK, -1), "lmax = -1: must be 0 or more"),
    (lambda: zs.covariance(CL, MASK, 4, 1), "spins = 1: must be 0 or 2"),
    (lambda: zs.covariance(CL, MASK, 4, (0, 2)), r"c_l: has shape \(9,\): must be \[3, 3, l\] for spins = \(0, 2\)"),
    (lambda: zs.covariance(CL[:2], MASK, 4), "c_l: has 2 degrees: must have 3"),
    (lambda: zs.covariance(CL, MASK[:47], 4), "masks: has 47 pixels, which is no HEALPix map"),
    (lambda: zs.covariance(CL, np.where(np.arange(48) == 3, zonal.UNSEEN, 1.0), 4), "masks: has UNSEEN pixels"),
    (lambda: zs.covariance(CL, np.full(48, np.nan), 4), "masks: has nan: must hold finite numbers"),
    (lambda: zs.covariance(CL, np.ones((3, 48)), 4), "masks: has 3 rows: must be 1 or 1"),
    (lambda: zs.covariance(CL, MASK, 4, noise=np.full(48, -1.0)), r"variances\[0, 0\] = -1: must be 0 or more"),
    (lambda: zs.covariance(CL, MASK, 4, noise=np.ones(12)), r"noise: has 1 rows of 12 pixels: must be \[1, 48\]"),
    (lambda: zs.covariance(CL, MASK, 4, exact_lmax=-2), "exact_lmax = -2: must be 0 or more, or -1"),
    (lambda: zs.covariance(CL, MASK, 4, exact_sky_lmax=2), "exact_sky_lmax = 2: must be from exact_lmax = 4 to 8, where c_l ends"),
    (lambda: zs.covariance(polarized(9), MASK, 4, (0, 2), exact_lmax=1), "exact_lmax = 1: must be 2 or more where a map has spin 2"),
    (lambda: zs.covariance(CL, MASK, 4, spectra=[(0, 1)]), r"spectra: has \(0, 1\): must be pairs of components from 0 to 0"),
    (lambda: zs.covariance(CL, MASK, 4, spectra=[]), "spectra: is empty"),
    (lambda: zs.covariance(CL, MASK, 4, values=np.ones((2, 4))), r"values: has shape \(2, 4\): must be \[value, 1, 5\]"),
    (lambda: zs.covariance(np.arange(36.0).reshape(2, 2, 9), MASK, 4, 2), r"c_l: \[1, 0\] and \[0, 1\] differ at l = 0"),
    (lambda: zs.simulated_spectra(-CL, MASK, 4, 2), "c_l: is no covariance at l = 0"),
    (lambda: zs.simulated_spectra(CL, MASK, 4, 0), "n = 0: must be 1 or more"),
    (lambda: zs.sample_covariance([[1.0, 2.0]]), "samples: are 1: must be 2 or more"),
    (lambda: zs.hartlap_factor(5, 3), "n_samples = 5: must be above 5 for 3 values"),
    (lambda: zs.chi_squared([1.0, 1.0], [[1.0, 2.0], [2.0, 1.0]]), "covariance: is not positive definite"),
    (lambda: zs.chi_squared([1.0, 1.0], np.eye(3)), r"covariance: has shape \(3, 3\)"),
    (lambda: zs.chi_squared([np.nan], [[1.0]]), r"residual\[0\] = nan")])
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
