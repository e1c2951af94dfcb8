"""zonal.ducc0's transforms on rings that the caller lists are those of ducc0."""

import ducc0
import numpy as np
import pytest

import zonal
import zonal.ducc0
from ducc0_peer import LMAX, agree, both, length, random_alm, rings, tolerance

MODES = [(0, "STANDARD"), *((spin, mode) for spin in (1, 2, 3) for mode in ("STANDARD", "GRAD_ONLY")), (1, "DERIV1"), (2, "DERIV1")]
REALS = [np.float64, np.float32]


def components(spin, mode):
    return 1 if spin == 0 or mode != "STANDARD" else 2, 1 if spin == 0 else 2


def complex_of(real):
    return np.complex128 if real is np.float64 else np.complex64


def random_map(where, n_maps, real, transforms=None, pixstride=1):
    shape = (*([] if transforms is None else [transforms]), n_maps, length(where, pixstride))
    return np.random.default_rng(5).standard_normal(shape).astype(real)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("spin, mode", MODES)
@pytest.mark.parametrize("mmax", [None, 9])
def test_synthesis_and_its_adjoint(spin, mode, mmax, real):
    where, n = rings(), components(spin, mode)
    alm = random_alm(LMAX, LMAX if mmax is None else mmax, n[0], max(spin, 1)).astype(complex_of(real))
    out = np.full((n[1], length(where) + 5), 7, real)  # elements of no ring stay
    found = both("synthesis", tolerance(real, LMAX), alm=alm, map=out, lmax=LMAX, mmax=mmax, spin=spin, mode=mode, nthreads=2, **where)
    assert np.all(found[:, -5:] == 7)
    both("adjoint_synthesis", tolerance(real, LMAX), map=random_map(where, n[1], real), lmax=LMAX, mmax=mmax, spin=spin,
         mode=mode, nthreads=2, **where)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("nside", [1, 3, 16])
def test_healpix_rings_go_straight_into_transforms(nside, real):
    info = zonal.ducc0.healpix.Healpix_Base(nside, "RING").sht_info()
    for spin in range(4):
        n = components(spin, "STANDARD")
        alm = random_alm(LMAX, LMAX, n[0], spin).astype(complex_of(real))
        sky = both("synthesis", tolerance(real, LMAX), alm=alm, lmax=LMAX, spin=spin, **info)
        both("adjoint_synthesis", tolerance(real, LMAX), map=sky, lmax=LMAX, spin=spin, **info)


def test_rings_of_healpix_share_the_work_of_north_and_south():
    # A ring and its mirror count as a pair only where cosine and sine are equal to the last bit, which pi - theta does not give.
    info = zonal.ducc0.healpix.Healpix_Base(16, "RING").sht_info()
    grid = zonal.Grid(info["theta"], info["nphi"].astype(int), 1.0, info["phi0"])
    alone = zonal.Grid(info["theta"] + np.where(info["theta"] > 2, 1e-9, 0), info["nphi"].astype(int), 1.0, info["phi0"])
    flops = [zonal.SHT(one, 31).workspace_bytes for one in (grid, alone)]
    assert flops[0] < 0.9 * flops[1]


@pytest.mark.parametrize("real", REALS)
def test_derivatives(real):
    where = rings()
    alm = random_alm(LMAX, LMAX, 1, 1).astype(complex_of(real))
    both("synthesis_deriv1", tolerance(real, LMAX), alm=alm, lmax=LMAX, map=np.zeros((2, length(where)), real), **where)


@pytest.mark.parametrize("spin, mode", [(0, "STANDARD"), (2, "STANDARD"), (2, "GRAD_ONLY"), (1, "DERIV1")])
def test_several_transforms_at_once(spin, mode):
    where, n = rings(), components(spin, mode)
    alm = random_alm(LMAX, LMAX, n[0], max(spin, 1), transforms=3)
    sky = both("synthesis", tolerance(float, LMAX), alm=alm, lmax=LMAX, spin=spin, mode=mode,
               map=np.zeros((3, n[1], length(where))), **where)
    both("adjoint_synthesis", tolerance(float, LMAX), map=sky, lmax=LMAX, spin=spin, mode=mode, **where)


@pytest.mark.parametrize("spin, mode", [(0, "STANDARD"), (2, "STANDARD"), (1, "DERIV1")])
@pytest.mark.parametrize("lstride", [1, 2, -1])
def test_coefficients_at_any_places(spin, mode, lstride):
    where, n = rings(), components(spin, mode)
    mmax = 10
    size = abs(lstride) * (LMAX + 1)
    mstart = (np.random.default_rng(3).permutation(mmax + 1) * size + (size - 1 if lstride < 0 else 2)).astype(np.uint64)
    plain = random_alm(LMAX, mmax, n[0], max(spin, 1))
    alm = np.full((n[0], (mmax + 1) * size + 4), np.nan, complex)  # of which the transform must not read the rest
    m = np.concatenate([np.full(LMAX + 1 - m, m) for m in range(mmax + 1)])
    l = np.concatenate([np.arange(m, LMAX + 1) for m in range(mmax + 1)])
    alm[:, mstart[m].astype(int) + lstride * l] = plain
    given = {"lmax": LMAX, "spin": spin, "mode": mode, "mstart": mstart, "lstride": lstride, **where}
    sky = zonal.ducc0.sht.synthesis(alm=alm, **given)
    agree(sky, zonal.ducc0.sht.synthesis(alm=plain, lmax=LMAX, mmax=mmax, spin=spin, mode=mode, **where), 1e-15)
    both("synthesis", tolerance(float, LMAX), alm=alm, map=np.zeros_like(sky), **given)
    both("adjoint_synthesis", tolerance(float, LMAX), map=sky, alm=np.full_like(alm, 9), **given)
    found = zonal.ducc0.sht.adjoint_synthesis(map=sky, **given)
    assert found.shape == ducc0.sht.adjoint_synthesis(map=sky, **given).shape
    assert np.count_nonzero(found[0]) <= plain.shape[1]  # a new array holds 0 elsewhere


def test_a_stride_of_degrees_needs_mstart():
    # ducc0 puts the orders where they are for lstride = 1, one over the other.
    with pytest.raises(ValueError, match="mstart: must be given for lstride = 2"):
        zonal.ducc0.sht.adjoint_synthesis(map=np.ones((1, length(rings()))), lmax=LMAX, spin=0, lstride=2, **rings())


@pytest.mark.parametrize("pixstride", [2, 3, -1])
@pytest.mark.parametrize("real", REALS)
def test_pixels_at_any_distance(pixstride, real):
    where = rings()
    where["ringstart"] = np.uint64(abs(pixstride)) * (where["ringstart"] + (where["nphi"] - np.uint64(1) if pixstride < 0 else np.uint64(0)))
    size = int(where["ringstart"].max()) + 60 * abs(pixstride)
    out = np.full((2, size), 5, real)
    alm = random_alm(LMAX, LMAX, 2, 2).astype(complex_of(real))
    found = both("synthesis", tolerance(real, LMAX), alm=alm, map=out, lmax=LMAX, spin=2, pixstride=pixstride, **where)
    both("adjoint_synthesis", tolerance(real, LMAX), map=found, lmax=LMAX, spin=2, pixstride=pixstride, **where)


@pytest.mark.parametrize("pixstride", [1, 2])
def test_rings_times_factors(pixstride):
    where = rings()
    where["ringstart"] = np.uint64(pixstride) * where["ringstart"]
    factor = np.random.default_rng(9).uniform(-2, 2, len(where["theta"]))
    given = {"lmax": LMAX, "spin": 2, "ringfactor": factor, "pixstride": pixstride, **where}
    sky = both("synthesis", tolerance(float, LMAX), alm=random_alm(LMAX, LMAX, 2, 2), map=np.zeros((2, length(where, pixstride))), **given)
    both("adjoint_synthesis", tolerance(float, LMAX), map=sky, **given)


def test_rings_that_overlap_are_read_and_not_written():
    where = rings()
    where["ringstart"][:] = 0
    sky = np.random.default_rng(1).standard_normal((1, 60))
    both("adjoint_synthesis", tolerance(float, LMAX), map=sky, lmax=LMAX, spin=0, **where)
    for function, given in (("synthesis", {"alm": random_alm(LMAX, LMAX, 1)}), ("pseudo_analysis", {"map": sky, "maxiter": 3, "epsilon": 0.1})):
        with pytest.raises(ValueError, match="ringstart: puts two pixels at one place"):
            getattr(zonal.ducc0.sht, function)(lmax=LMAX, spin=0, **given, **where)


def test_arrays_may_have_any_strides():
    where = rings()
    alm = np.zeros((zonal.alm_size(LMAX), 2), complex).T
    alm[...] = random_alm(LMAX, LMAX, 2, 2)
    sky = np.zeros((length(where), 2)).T
    assert zonal.ducc0.sht.synthesis(alm=alm, map=sky, lmax=LMAX, spin=2, **where) is sky
    agree(sky, ducc0.sht.synthesis(alm=alm, map=np.zeros_like(sky), lmax=LMAX, spin=2, **where), tolerance(float, LMAX))
    back = np.zeros_like(alm)
    assert zonal.ducc0.sht.adjoint_synthesis(map=sky, alm=back, lmax=LMAX, spin=2, **where) is back
    agree(back, ducc0.sht.adjoint_synthesis(map=sky, lmax=LMAX, spin=2, **where), tolerance(float, LMAX))


def test_theta_interpol_lets_rings_be_resampled():
    lmax, n = 200, 2000  # far more rings than lmax needs, so that it pays
    info = {"theta": (np.arange(n) + 0.5) * np.pi / n, "phi0": np.linspace(0, 9, n), "nphi": np.ones(n, np.uint64),
            "ringstart": np.arange(n, dtype=np.uint64)}
    alm = random_alm(lmax, lmax, 1)
    given = {"lmax": lmax, "spin": 0, **info}
    exact, quick = (zonal.ducc0.sht.synthesis(alm=alm, theta_interpol=value, **given) for value in (False, True))
    agree(exact, ducc0.sht.synthesis(alm=alm, **given), tolerance(float, lmax))
    agree(quick, exact, 3e-13)
    assert not np.array_equal(quick, exact)
    for function, more in (("adjoint_synthesis", {"map": exact}), ("pseudo_analysis", {"map": exact, "maxiter": 2, "epsilon": 1e-9})):
        found = [getattr(zonal.ducc0.sht, function)(theta_interpol=value, **more, **given) for value in (False, True)]
        found = [one[0] if isinstance(one, tuple) else one for one in found]
        agree(found[1], found[0], 3e-12)
        assert not np.array_equal(*found)
    legs = [zonal.ducc0.sht.alm2leg(alm=alm, lmax=lmax, theta=info["theta"], theta_interpol=value) for value in (False, True)]
    agree(legs[1], legs[0], 3e-13)
    assert not np.array_equal(*legs)
    with pytest.raises(TypeError, match="theta_interpol = 3: must be True or False"):
        zonal.ducc0.sht.synthesis(alm=alm, theta_interpol=3, **given)


class TestPseudoAnalysis:
    NSIDE = 8

    def map_and_rings(self, spin, lmax, real=np.float64, noise=0.5):
        info = zonal.ducc0.healpix.Healpix_Base(self.NSIDE, "RING").sht_info()
        sky = ducc0.sht.synthesis(alm=random_alm(lmax, lmax, 1 if spin == 0 else 2, spin), lmax=lmax, spin=spin, **info)
        return (sky + noise * np.random.default_rng(4).standard_normal(sky.shape)).astype(real), info

    @pytest.mark.parametrize("real", REALS)
    @pytest.mark.parametrize("spin", [0, 1, 2, 3])
    @pytest.mark.parametrize("steps", [1, 2, 5])
    def test_each_iteration_is_that_of_ducc0(self, spin, steps, real):
        sky, info = self.map_and_rings(spin, 16, real)
        given = {"map": sky, "lmax": 16, "spin": spin, "maxiter": steps, "epsilon": 1e-12, "nthreads": 2, **info}
        ours, theirs = zonal.ducc0.sht.pseudo_analysis(**given), ducc0.sht.pseudo_analysis(**given)
        agree(ours[0], theirs[0], tolerance(real, 16, 4 * steps))
        assert ours[1:3] == theirs[1:3] == (7, steps)
        within = 1e-5 if real is np.float32 else 1e-9  # of quantities that are differences of larger ones
        np.testing.assert_allclose(ours[3:], theirs[3:], rtol=within, atol=0)

    @pytest.mark.parametrize("noise, epsilon, reason", [(0.0, 1e-4, 1), (0.0, 1e-9, 1), (0.5, 1e-4, 2)])
    def test_it_ends_for_the_same_reason(self, noise, epsilon, reason):
        sky, info = self.map_and_rings(2, 12, noise=noise)
        given = {"map": sky, "lmax": 12, "spin": 2, "maxiter": 200, "epsilon": epsilon, **info}
        ours, theirs = zonal.ducc0.sht.pseudo_analysis(**given), ducc0.sht.pseudo_analysis(**given)
        assert ours[1] == theirs[1] == reason
        assert abs(ours[2] - theirs[2]) <= 1  # rounding decides about the last
        agree(ours[0], theirs[0], max(10 * epsilon if reason == 1 else 0, 1e-11))
        np.testing.assert_allclose(ours[3], theirs[3], rtol=0.05 if reason == 1 else 1e-9)

    def test_several_transforms_give_lists(self):
        skies, info = zip(*(self.map_and_rings(0, 12, noise=noise) for noise in (0.0, 0.5)))
        given = {"map": np.stack(skies), "lmax": 12, "spin": 0, "maxiter": 100, "epsilon": 1e-6, **info[0]}
        ours, theirs = zonal.ducc0.sht.pseudo_analysis(**given), ducc0.sht.pseudo_analysis(**given)
        agree(ours[0], theirs[0], 1e-5)
        assert ours[1] == theirs[1] == [1, 2]
        assert all(type(one) is list and len(one) == 2 for one in ours[1:])

    def test_it_may_begin_at_a_guess(self):
        sky, info = self.map_and_rings(0, 12)
        given = {"map": sky, "lmax": 12, "spin": 0, "epsilon": 1e-12, **info}
        start = random_alm(12, 12, 1)
        ours = zonal.ducc0.sht.pseudo_analysis(alm=start.copy(), alm_contains_initial_guess=True, maxiter=2, **given)
        theirs = ducc0.sht.pseudo_analysis(alm=start.copy(), alm_contains_initial_guess=True, maxiter=2, **given)
        agree(ours[0], theirs[0], tolerance(float, 12, 8))
        best = zonal.ducc0.sht.pseudo_analysis(maxiter=100, **given)[0]
        again = zonal.ducc0.sht.pseudo_analysis(alm=best.copy(), alm_contains_initial_guess=True, maxiter=2, **given)
        agree(again[0], best, 1e-11)

    def test_each_of_several_transforms_begins_at_its_own_guess(self):
        skies, info = zip(*(self.map_and_rings(0, 12, noise=noise) for noise in (0.1, 0.5)))
        given = {"lmax": 12, "spin": 0, "epsilon": 1e-12, "maxiter": 2, "alm_contains_initial_guess": True, **info[0]}
        starts = np.stack([random_alm(12, 12, 1, seed=seed) for seed in (1, 2)])
        together = zonal.ducc0.sht.pseudo_analysis(map=np.stack(skies), alm=starts.copy(), **given)
        for i, sky in enumerate(skies):
            alone = zonal.ducc0.sht.pseudo_analysis(map=sky, alm=starts[i].copy(), **given)
            assert np.array_equal(together[0][i], alone[0])
            assert [column[i] for column in together[1:]] == list(alone[1:])

    def test_nothing_to_do(self):
        sky, info = self.map_and_rings(0, 6)
        given = {"lmax": 6, "spin": 0, "epsilon": 1e-6, **info}
        alm, *report = zonal.ducc0.sht.pseudo_analysis(map=0 * sky, maxiter=5, **given)
        assert not alm.any()
        assert report == [1, 0, 0.0, 0.0]
        alm, *report = zonal.ducc0.sht.pseudo_analysis(map=sky, maxiter=0, **given)
        assert not alm.any()
        assert report == [7, 0, 1.0, 1.0]

    def test_a_map_that_no_function_is_like_ends_it_at_once(self):
        """Values of each sign on one ring have no sum, and all lmax = 0 could say of them is that."""
        given = {"theta": np.array([1.0]), "nphi": np.array([2], np.uint64), "phi0": np.zeros(1),
                 "ringstart": np.zeros(1, np.uint64), "lmax": 0, "spin": 0, "maxiter": 5, "epsilon": 1e-6}
        alm, *report = zonal.ducc0.sht.pseudo_analysis(map=np.array([[3.0, -3.0]]), **given)
        assert not alm.any()
        assert report[:2] == [2, 0]
        assert report[2] == pytest.approx(1, abs=1e-15)  # of |map|, which is not 1
        assert report[3] == 0

    def test_a_factor_multiplies_the_map_alone(self):
        sky, info = self.map_and_rings(0, 12)
        factor = np.linspace(0.5, 2, len(info["theta"]))
        scaled = sky * np.repeat(factor, info["nphi"].astype(int))
        given = {"lmax": 12, "spin": 0, "epsilon": 1e-12, "maxiter": 4, **info}
        agree(zonal.ducc0.sht.pseudo_analysis(map=sky, ringfactor=factor, **given)[0],
              zonal.ducc0.sht.pseudo_analysis(map=scaled, **given)[0], 1e-13)

    def test_pixels_of_no_ring_do_not_count(self):
        sky, info = self.map_and_rings(0, 12)
        gap = {**info, "ringstart": info["ringstart"] + np.uint64(4)}
        padded = np.concatenate([np.full((1, 4), 1e6), sky], 1)
        given = {"lmax": 12, "spin": 0, "epsilon": 1e-12, "maxiter": 4}
        ours, theirs = (zonal.ducc0.sht.pseudo_analysis(map=m, **given, **w) for m, w in ((padded, gap), (sky, info)))
        agree(ours[0], theirs[0], 1e-13)
        np.testing.assert_allclose(ours[1:], theirs[1:], rtol=1e-10)
