"""E and B that do not mix under masks, against skies of one of them and transforms of every basis coefficient."""

import numpy as np
import pytest

import zonal
from zonal.spectra import coupling_matrices, pure_alm, pure_coupling_matrices

LMAX, MASK_LMAX, SKY_LMAX = 16, 6, 10
GRID = zonal.Grid.gauss_legendre(28, 56)  # where every analysis is exact


def transform(lmax, spin=0):
    return zonal.SHT(GRID, lmax, spin=spin)


def degrees(lmax):
    return np.concatenate([np.arange(m, lmax + 1) for m in range(lmax + 1)])


def random_alm(lmax, seed):
    return zonal.synalm(np.ones(lmax + 1), seed=seed)


MASK_ALM = random_alm(MASK_LMAX, 1)
MASK = transform(MASK_LMAX).synthesize(MASK_ALM)
SPECTRUM = zonal.alm2cl(MASK_ALM)


@pytest.mark.parametrize(("sky", "pure"), [(0, "B"), (0, "EB"), (1, "E"), (1, "EB")])
def test_a_sky_of_one_part_has_nothing_of_the_other(sky, pure):
    """What is left is rounding of fields of order 1 in some hundred operations."""
    alm = np.zeros((2, zonal.alm_size(SKY_LMAX)), complex)
    alm[sky] = np.where(degrees(SKY_LMAX) < 2, 0, random_alm(SKY_LMAX, 2))
    maps = transform(SKY_LMAX, 2).synthesize(alm)
    found = pure_alm(maps, MASK, LMAX, pure=pure, grid=GRID)
    assert np.abs(found[1 - sky]).max() <= 1e-14 * np.abs(found[sky]).max()
    plain = transform(LMAX, 2).analyze(MASK * maps)
    assert np.abs(plain[1 - sky]).max() > 0.1 * np.abs(plain[sky]).max()
    if pure != "EB":  # the other part is the plain one
        assert np.abs(found[sky] - plain[sky]).max() <= 1e-13 * np.abs(plain).max()


@pytest.mark.parametrize("mask_lmax", [None, 4])
def test_the_formula_by_transforms(mask_lmax):
    """Term by term, with the derivatives of as much of the mask as mask_lmax says."""
    maps = transform(SKY_LMAX, 2).synthesize([random_alm(SKY_LMAX, 3), random_alm(SKY_LMAX, 4)])
    end = MASK_LMAX if mask_lmax is None else mask_lmax
    whole = zonal.almxfl(MASK_ALM, 0.1 ** np.arange(MASK_LMAX + 1.0))  # smooth enough with less of it
    mask, alm = transform(MASK_LMAX).synthesize(whole), zonal.resize_alm(whole, end)
    l = degrees(end).astype(float)
    w = [(v := transform(end, s).synthesize([alm * f, 0 * alm]))[0] - 1j * v[1]
         for s, f in ((1, np.sqrt(l * (l + 1))), (2, np.sqrt((l + 2) * (l + 1) * l * (l - 1).clip(0))))]
    p = maps[0] + 1j * maps[1]
    k = degrees(LMAX).clip(2).astype(float)
    zero = degrees(LMAX) < 2
    first = transform(LMAX, 1).analyze([(w[0] * p).real, (w[0] * p).imag])
    second = transform(LMAX).analyze(np.stack([(w[1] * p).real, (w[1] * p).imag]))
    expected = transform(LMAX, 2).analyze(mask * maps) - np.where(zero, 0, 2 / np.sqrt((k + 2) * (k - 1))) * first \
        + np.where(zero, 0, 1 / np.sqrt((k + 2) * (k + 1) * k * (k - 1))) * second
    found = pure_alm(maps, mask, LMAX, pure="EB", grid=GRID, mask_lmax=mask_lmax)
    assert np.abs(found - expected).max() <= 1e-13 * np.abs(expected).max()


def test_matrices_are_those_of_transforms_of_every_coefficient():
    """Sums of the power that each of the real basis fields of B leaves, for a mask of random coefficients."""
    size = zonal.alm_size(SKY_LMAX)
    sums = {kind: np.zeros((LMAX + 1, SKY_LMAX + 1)) for kind in ("0p", "2p", "pp")}
    scalar, spin = transform(SKY_LMAX), transform(SKY_LMAX, 2)
    orders = np.concatenate([np.full(SKY_LMAX + 1 - m, m) for m in range(SKY_LMAX + 1)])
    for i, (l, m) in enumerate(zip(degrees(SKY_LMAX), orders)):
        if l < 2:
            continue
        for value in (1,) if m == 0 else (np.sqrt(0.5), 1j * np.sqrt(0.5)):
            b = np.zeros(size, complex)
            b[i] = value
            maps = spin.synthesize([0 * b, b])
            pure = pure_alm(maps, MASK, LMAX, grid=GRID)[1]
            plain = transform(LMAX, 2).analyze(MASK * maps)[1]
            t = transform(LMAX).analyze(MASK * scalar.synthesize(b))
            for kind, other in (("0p", t), ("2p", plain), ("pp", pure)):
                sums[kind][:, l] += zonal.alm2cl(other, pure)
    found = dict(zip(sums, pure_coupling_matrices(SPECTRUM, LMAX)))
    for kind, expected in sums.items():
        expected[:2] = 0
        assert np.abs(found[kind][:, :SKY_LMAX + 1] - expected).max() <= 1e-13 * expected.max(), kind


def test_matrices_follow_from_plain_ones():
    plain = coupling_matrices(SPECTRUM, 20, ["00", "02"])
    l = np.arange(21.0)
    n = np.sqrt(((l + 2) * (l + 1) * l * (l - 1)).clip(0))
    ratio = np.zeros((21, 21))
    ratio[2:] = n / n[2:, None]
    one, two, three = pure_coupling_matrices(SPECTRUM, 20)
    for found, expected in ((one, plain[0] * ratio), (two, plain[1] * ratio), (three, plain[0] * ratio**2)):
        assert np.allclose(found, expected, rtol=1e-14, atol=0)
    assert np.array_equal(pure_coupling_matrices([SPECTRUM, SPECTRUM], 20, "pp", threads=2)[1], three)


def cap(nside, kind, scale):
    mask = (zonal.Grid.healpix(nside).angles()[0] < np.radians(30)).astype(float)
    return mask if kind is None else zonal.masks.apodize(mask, scale, kind)


@pytest.fixture(scope="module")
def e_sky():
    """E alone, nside 128, l(l+1) C_l constant."""
    l = np.arange(257.0)
    e = zonal.synalm(np.divide(1, l * (l + 1), out=np.zeros(257), where=l > 1), seed=1)
    return zonal.SHT(zonal.Grid.healpix(128), 256, spin=2).synthesize([e, 0 * e])


def share(alm):
    e, b = zonal.alm2cl(alm[0])[10:101], zonal.alm2cl(alm[1])[10:101]
    return b.sum() / e.sum()


def test_a_cap_on_healpix(e_sky):
    """BB / EE of an E sky, l from 10 to 100; the pixels' quadrature is what is left."""
    mask = cap(128, "sine", "10deg")
    assert share(pure_alm(e_sky, mask, 256)) < 1e-5
    assert share(zonal.map2alm(mask * e_sky, 256, pol=True, iterations=0)) > 1e-2


def test_unseen_pixels_under_the_mask_and_orders(e_sky):
    mask = cap(128, "cosine", "10deg")
    expected = pure_alm(e_sky, mask, 64)
    hidden = np.where(mask == 0, zonal.UNSEEN, e_sky)
    assert np.array_equal(pure_alm(hidden, mask, 64), expected)
    nested = [zonal.healpy.reorder(one, r2n=True) for one in (*hidden, mask)]
    assert np.array_equal(pure_alm(nested[:2], nested[2], 64, nest=True), expected)
    assert np.array_equal(pure_alm(np.stack([hidden, hidden]), mask, 64)[1], expected)


def test_masks_with_jumps_are_refused_and_kinks_told(e_sky):
    with pytest.raises(ValueError, match="mask: has jumps: the power of its second derivatives grows .* times"):
        pure_alm(e_sky, cap(128, None, None), 64)
    theta = zonal.Grid.healpix(128).angles()[0]
    with pytest.warns(zonal.ZonalWarning, match="mask: has kinks"):
        pure_alm(e_sky, np.clip((np.radians(30) - theta) / np.radians(10), 0, 1), 64)


@pytest.mark.parametrize(("change", "words"), [
    ({"pure": "T"}, "pure = 'T'"), ({"lmax": 1}, "lmax = 1: must be 2 or more"), ({"mask_lmax": -3}, "mask_lmax = -3"),
    ({"iterations": -1}, "iterations = -1"), ({"maps": np.ones((3, 768))}, "maps: has shape"), ({"mask": np.ones(12)}, "mask: has shape"),
    ({"maps": np.full((2, 768), np.nan)}, "maps: pixel 0 is nan"), ({"maps": np.ones((2, 700))}, "maps: has 700 pixels"),
    ({"mask": np.full(768, np.inf)}, "mask: pixel 0 is inf")])
def test_refusals(change, words):
    with pytest.raises(ValueError, match=words):
        pure_alm(**{"maps": np.ones((2, 768)), "mask": np.ones(768), "lmax": 8} | change)


def test_refusals_of_matrices():
    for arguments, words in [(([], 3), "mask_spectra: has shape"), (([1], -1), "lmax = -1"), (([1], 3, "00"), "kinds = '00'")]:
        with pytest.raises(ValueError, match=words):
            pure_coupling_matrices(*arguments)
