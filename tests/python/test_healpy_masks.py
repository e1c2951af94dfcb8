"""What is masked in a map is masked in the result, as in healpy."""

import healpy
import numpy as np
import pytest

import zonal.healpy as hp
from healpy_peer import agree_within

RNG = np.random.default_rng(0)
MASK = np.abs(hp.pix2vec(8, np.arange(768))[2]) < 0.3
SKY = 3 + 2 * np.array(hp.pix2vec(8, np.arange(768))[0]) + RNG.normal(size=768)
SKY[MASK] = 50.0  # a bright plane, which may not leak out from below the mask


def masked(values, mask, fill_value=hp.UNSEEN):
    return np.ma.MaskedArray(values, mask, fill_value=fill_value)


MAPS = {
    "masked": masked(SKY, MASK), "single precision": masked(SKY.astype(np.float32), MASK),
    "masked UNSEEN": hp.ma(np.where(MASK, hp.UNSEEN, SKY)), "nothing masked": masked(SKY, np.zeros(768, bool)),
    "masked NaN": masked(np.where(MASK, np.nan, SKY), MASK),
    "masked, and UNSEEN elsewhere": masked(np.where(np.arange(768) % 7 == 0, hp.UNSEEN, SKY), MASK),
}
SETS = {
    "three": masked([SKY, SKY, SKY[::-1]], [MASK, MASK, MASK]), "a list": [masked(SKY, MASK), masked(2 * SKY, MASK)],
    "masks that differ": masked([SKY, SKY], [MASK, np.arange(768) % 5 == 0]),
}

OF_A_MAP = {
    "remove_dipole": lambda hp, m: hp.remove_dipole(m), "remove_dipole cut": lambda hp, m: hp.remove_dipole(m, gal_cut=30),
    "remove_dipole nest": lambda hp, m: hp.remove_dipole(m, nest=True), "remove_monopole": lambda hp, m: hp.remove_monopole(m),
    "fitval": lambda hp, m: hp.remove_dipole(m, fitval=True), "fit_dipole": lambda hp, m: hp.fit_dipole(m),
    "fit_monopole": lambda hp, m: hp.fit_monopole(m), "mask_good": lambda hp, m: hp.mask_good(m),
}
OF_MAPS = {
    "ud_grade down": lambda hp, m: hp.ud_grade(m, 4), "ud_grade pess": lambda hp, m: hp.ud_grade(m, 4, pess=True),
    "ud_grade up": lambda hp, m: hp.ud_grade(m, 16), "ud_grade power": lambda hp, m: hp.ud_grade(m, 4, power=-2),
    "ud_grade nest": lambda hp, m: hp.ud_grade(m, 4, order_in="NEST", order_out="RING"),
    "ud_grade type": lambda hp, m: hp.ud_grade(m, 4, dtype=np.float32), "mask_bad": lambda hp, m: hp.mask_bad(m),
    "reorder r2n": lambda hp, m: hp.reorder(m, r2n=True), "reorder n2r": lambda hp, m: hp.reorder(m, n2r=True),
    "smoothing": lambda hp, m: hp.smoothing(m, fwhm=0.3, iter=1, pol=False),
    "map2alm": lambda hp, m: hp.map2alm(m, lmax=5, iter=1, pol=False),
    "anafast": lambda hp, m: hp.anafast(m, lmax=5, iter=1, pol=False), "ma_to_array": lambda hp, m: hp.pixelfunc.ma_to_array(m),
    "harmonic_ud_grade": lambda hp, m: hp.harmonic_ud_grade(m, 4, use_pixel_weights=False, pixwin=False, iter=1, pol=False),
}


def same(call, maps):
    """Masks, fill values, types and values agree, also of what lies below the mask."""
    found, expected = call(hp, maps), call(healpy, maps)
    is_single = any(getattr(one, "dtype", None) == np.float32 for one in (maps, expected))
    agree_within(found, expected, 1e-6 if is_single else 1e-12)
    for one, other in zip(found if isinstance(found, tuple) else (found,), expected if isinstance(expected, tuple) else (expected,)):
        if np.ma.isMaskedArray(other):
            assert one.fill_value == other.fill_value


@pytest.mark.parametrize("maps", MAPS)
@pytest.mark.parametrize("name", OF_A_MAP | OF_MAPS)
def test_a_masked_map_gives_what_it_gives_in_healpy(name, maps):
    if maps == "masked NaN" and name in ("ud_grade up", "map2alm", "anafast", "harmonic_ud_grade", "mask_bad", "smoothing"):
        pytest.skip("healpy does not fill what is masked, or loses the mask")
    if maps == "masked, and UNSEEN elsewhere" and name in ("remove_monopole",):
        pytest.skip("healpy subtracts from UNSEEN")
    same((OF_A_MAP | OF_MAPS)[name], MAPS[maps])


@pytest.mark.parametrize("maps", SETS)
@pytest.mark.parametrize("name", OF_MAPS)
def test_masked_maps_give_what_they_give_in_healpy(name, maps):
    same(lambda hp, m: OF_MAPS[name](hp, m), SETS[maps])


@pytest.mark.parametrize("maps", ["masked", "single precision", "nothing masked", "masked UNSEEN"])
def test_interpolation_leaves_masked_pixels_out(maps):
    theta, phi = np.arccos(RNG.uniform(-1, 1, 300)), RNG.uniform(0, 7, 300)
    for m in (MAPS[maps], np.ma.stack([MAPS[maps]] * 2)):
        for nest in (False, True):
            found, expected = (module.get_interp_val(m, theta, phi, nest) for module in (hp, healpy))
            assert type(found) is type(expected) and found.mask.tolist() == expected.mask.tolist()
            np.testing.assert_allclose(found.filled(0), expected.filled(0), rtol=1e-6 if m.dtype == np.float32 else 0, atol=1e-12)


@pytest.mark.parametrize("maps", ["masked", "nothing masked"])
def test_what_is_masked_is_kept_below_any_fill_value(maps):
    """healpy takes the fill value of other masked arrays, 1e20, for a value of the map."""
    m = MAPS[maps]
    other = np.ma.MaskedArray(m.data, m.mask)
    assert other.fill_value == 1e20
    for call in (OF_A_MAP | OF_MAPS).values():
        found, expected = call(hp, other), call(hp, m)
        if call not in (OF_MAPS["ma_to_array"],):
            agree_within(found, expected, 1e-14)
    for one, expected in zip(hp.hotspots(other), hp.hotspots(np.where(m.mask, hp.UNSEEN, m.data))):
        np.testing.assert_array_equal(one, expected)


def test_the_fit_and_what_is_left_of_a_masked_map():
    m = MAPS["masked"]
    left, monopole, dipole = hp.remove_dipole(m, fitval=True)
    assert left.mask.tolist() == MASK.tolist() and abs(left.mean()) < 1e-14
    # A random walk of as many roundings as there are pixels, of values around 3.
    np.testing.assert_allclose(hp.fit_dipole(left)[1], 0, rtol=0, atol=3 * np.sqrt(m.size) * np.finfo(float).eps)
    assert abs(monopole - 3) < 0.3 and abs(dipole[0] - 2) < 0.3
