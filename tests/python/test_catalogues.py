"""Pseudo-spectra of catalogues: means that are exact, and noise that is shot noise."""

import numpy as np
import pytest

import zonal
from zonal import spectra as zs

RNG = np.random.default_rng(5)
EXACT = 2e-14  # the least error of transforms at points


def points(n, cut=0.4):
    """Most of them on one side of the sky."""
    z = np.where(RNG.uniform(size=n) < 0.8, RNG.uniform(cut, 1, n), RNG.uniform(-1, 1, n))
    return np.arccos(z), RNG.uniform(0, 2 * np.pi, n)


def basis(degree, lmax, parts):
    """Coefficients of orthonormal real functions of one degree; E and B in turn for two parts."""
    for part in range(parts):
        for m in range(degree + 1):
            for unit in (1, 1j) if m else (1,):
                alm = np.zeros((parts, zonal.alm_size(lmax)), complex)
                alm[part, zonal.alm_index(lmax, degree, m)] = unit / (np.sqrt(2) if m else 1)
                yield part, alm if parts == 2 else alm[0]


@pytest.mark.parametrize("degree", [3, 7])
def test_the_mean_of_values_at_fixed_points_is_exact(degree):
    """A sky with C_l = 1 at one degree: its mean is a sum over coefficients, without drawing. Transforms at points err by 2e-14 of the
    largest value, and 120 points of random weights sum to some times more."""
    lmax, (theta, phi) = 10, points(120)
    weights = RNG.uniform(0.5, 2, 120)
    for parts in (1, 2):
        found = np.zeros((2, lmax + 1))
        transform = zonal.PointTransform(theta, phi, degree, spin=0 if parts == 1 else 2, error=EXACT)
        for part, alm in basis(degree, degree, parts):
            made = zs.catalogue_field(theta, phi, transform.synthesize(alm), lmax, weights=weights, mask_lmax=lmax + degree, error=EXACT)
            first = np.atleast_2d(made.alm)
            if part == 0:  # E of the sky: E and B of the catalogue
                found += [zonal.alm2cl(first[k]) - made.noise * (np.arange(lmax + 1) >= (0 if parts == 1 else 2)) for k in (0, parts - 1)]
        matrices = zs.coupling_matrices(zonal.alm2cl(made.mask) - made.mask_noise, lmax)
        expected = matrices[:, :, degree]
        scale = np.abs(expected).max()
        if parts == 1:
            assert np.abs(found[0] - expected[0]).max() < 1e-13 * zonal.alm2cl(made.mask).max()
        else:
            assert np.abs(found[0] - expected[2])[2:].max() < 1e-13 * max(scale, zonal.alm2cl(made.mask).max())
            assert np.abs(found[1] - expected[3])[2:].max() < 1e-13 * max(scale, zonal.alm2cl(made.mask).max())


def test_points_of_a_grid_are_its_map():
    grid = zonal.Grid.healpix(8)
    sky, mask = zonal.synfast(np.ones(17), 8, seed=1), RNG.uniform(size=768)
    area = 4 * np.pi / 768
    found = zs.catalogue_field(*grid.angles(), sky, 12, weights=area * mask, mask_lmax=5, error=1e-12)
    np.testing.assert_allclose(found.alm, zonal.SHT(grid, 12).adjoint(area * mask * sky), atol=1e-10)
    np.testing.assert_allclose(found.mask, zonal.SHT(grid, 5).adjoint(area * mask), atol=1e-10)
    np.testing.assert_allclose([found.noise, found.mask_noise], [np.sum((area * mask * sky) ** 2) / (4 * np.pi),
                                                                 np.sum((area * mask) ** 2) / (4 * np.pi)], rtol=1e-13)
    coarse = zs.catalogue_field(*grid.angles(), sky, 12, weights=area * mask, error=1e-3)
    assert 1e-9 < np.abs(coarse.alm - found.alm).max() < 1e-1
    assert len(coarse.mask) == zonal.alm_size(24)
    assert np.array_equal(coarse.alm, zs.catalogue_field(*grid.angles(), sky, 12, weights=area * mask, error=1e-3, threads=1).alm)


def test_counts_have_the_noise_of_both_catalogues():
    theta, phi, *random = *points(50), *points(300)
    w, w_r = RNG.uniform(1, 2, 50), RNG.uniform(1, 2, 300)
    alpha = w.sum() / w_r.sum()
    found = zs.catalogue_counts(theta, phi, *random, 6, weights=w, random_weights=w_r, error=1e-12)
    of_random = zonal.PointTransform(*random, 12, error=1e-12).adjoint(alpha * w_r)
    np.testing.assert_allclose(found.mask, of_random, atol=1e-9)
    of_points = zonal.PointTransform(theta, phi, 6, error=1e-12).adjoint(w)
    np.testing.assert_allclose(found.alm, of_points - zonal.resize_alm(of_random, 6), atol=1e-9)
    np.testing.assert_allclose(4 * np.pi * found.mask_noise, np.sum((alpha * w_r) ** 2), rtol=1e-13)
    np.testing.assert_allclose(4 * np.pi * found.noise, np.sum(w**2) + np.sum((alpha * w_r) ** 2), rtol=1e-13)
    low = zs.catalogue_counts(theta, phi, *random, 6, weights=w, random_weights=w_r, error=1e-12, mask_lmax=3)
    np.testing.assert_allclose(low.mask, zonal.resize_alm(of_random, 3), atol=1e-9)
    np.testing.assert_allclose(low.alm, found.alm, atol=1e-9)
    coarse = zs.catalogue_counts(theta, phi, *random, 6, weights=w, random_weights=w_r, error=1e-3)
    # The error is of the largest value of a function; the adjoint sums up that of 350 points with weights up to 2.
    assert 1e-7 < np.abs(coarse.alm - found.alm).max() < 2 * 350 * 1e-3


def test_unclustered_points_have_shot_noise_alone():
    """The mean over degrees 2 to 20 and 40 catalogues errs by sqrt(2 / (40 * 437)) = 1 %, here 4 times that."""
    spectra = []
    for _ in range(40):
        where = [(np.arccos(RNG.uniform(0, 1, n)), RNG.uniform(0, 2 * np.pi, n)) for n in (300, 3000)]
        found = zs.catalogue_counts(*where[0], *where[1], 20, mask_lmax=0)
        spectra.append(zonal.alm2cl(found.alm)[2:] / found.noise)
    weight = 2 * np.arange(2, 21) + 1
    # A half sky has half as many modes.
    assert abs(np.mean(spectra, 0) @ weight / weight.sum() - 1) < 0.06


@pytest.mark.parametrize("call,message", [
    (lambda: zs.catalogue_field([0.1], [0.2, 0.3], [1.0], 4), r"phi: axis 0 \(point\) has length 2: must be 1"),
    (lambda: zs.catalogue_field([0.1], [0.2], [1.0, 2.0], 4), r"values: axis 1 \(point\) has length 2: must be 1"),
    (lambda: zs.catalogue_field([0.1], [0.2], [[1.0]] * 3, 4), r"values: axis 0 \(component\) has length 3: must be 1, or 2"),
    (lambda: zs.catalogue_field([0.1], [0.2], [np.inf], 4), r"values\[0, 0\] = inf: must be a finite number"),
    (lambda: zs.catalogue_field([0.1], [0.2], [1.0], 4, weights=[np.nan]), r"weights\[0\] = nan: must be a finite number"),
    (lambda: zs.catalogue_field([0.1], [0.2], [1.0], -1), "lmax = -1: must be 0 or more"),
    (lambda: zs.catalogue_field([0.1], [0.2], [1.0], 3, mask_lmax=-2), "mask_lmax = -2: must be 0 or more"),
    (lambda: zs.catalogue_field([0.1], [0.2], [[1.0], [1.0]], 1), "lmax = 1: must be 2 or more for Q and U"),
    (lambda: zs.catalogue_field([0.1], [0.2], [1.0], 4, error=1.0), "error = 1"),
    (lambda: zs.catalogue_field([4.0], [0.2], [1.0], 4), r"theta = 4: must be from 0 to pi"),
    (lambda: zs.catalogue_field([], [], [], 4), "theta: is empty"),
    (lambda: zs.catalogue_counts([0.1], [0.2], [0.1], [0.2], 4, random_weights=[0.0]), "random_weights: have the sum 0: must be positive"),
    (lambda: zs.catalogue_counts([0.1], [0.2], [], [], 4), "random_theta: is empty")])
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_coefficients_that_no_machine_holds_are_refused_by_their_size():
    with pytest.raises(MemoryError, match="lmax = 536870912 and mask_lmax = 1073741824 needs .* GB"):
        zs.catalogue_field([0.1], [0.2], [1.0], 2**29)
    with pytest.raises(ValueError, match="mask_lmax = 2147483648: must be an integer below 2"):
        zs.catalogue_field([0.1], [0.2], [1.0], 2**30)
