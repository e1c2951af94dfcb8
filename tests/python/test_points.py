"""Transforms at any points: values of rings and of healpy, transposes, errors kept, least squares, and what is refused."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import ducc0
import numpy as np
import pytest

import zonal

LMAX = 20


def points(rng, n=300):
    """Uniform on the sphere, and the poles."""
    theta = np.concatenate([np.arccos(rng.uniform(-1, 1, n)), [0, np.pi]])
    return theta, rng.uniform(-20, 20, theta.size)


def alm_of(rng, spin=0, lmax=LMAX, mmax=None, front=()):
    n = zonal.alm_size(lmax, mmax)
    shape = (*front, *((2,) if spin else ()), n)
    alm = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    l = np.concatenate([np.arange(m, lmax + 1) for m in range((lmax if mmax is None else mmax) + 1)])
    alm[..., : lmax + 1] = alm[..., : lmax + 1].real
    return alm * (l >= spin)


def direct(alm, theta, phi, spin=0, lmax=LMAX, mmax=None):
    """Each point is a ring of one pixel."""
    return zonal.SHT(zonal.Grid(theta, np.ones(theta.size, int), 1.0, phi), lmax, mmax, spin).synthesize(alm)


def counts(alm, lmax=LMAX):
    return np.where(np.arange(alm.shape[-1]) > lmax, 2, 1)


@pytest.mark.parametrize("spin", [0, 1, 2, 3])
@pytest.mark.parametrize("error", [1e-3, 1e-7, 1e-12])
def test_values_are_those_of_rings_of_one_pixel(rng, spin, error):
    theta, phi = points(rng)
    alm = alm_of(rng, spin)
    wanted = direct(alm, theta, phi, spin)
    transform = zonal.PointTransform(theta, phi, LMAX, spin, error)
    made, report = transform.synthesize(alm, return_report=True)
    assert abs(made - wanted).max() < error * abs(wanted).max()
    assert report.mean_error < report.bound == transform.bound <= error
    assert np.array_equal(zonal.SphereFunction(alm, spin=spin, error=error)(theta, phi).shape, wanted.shape)
    assert abs(zonal.SphereFunction(alm, spin=spin, error=error)(theta, phi) - wanted).max() < error * abs(wanted).max()


def test_batches_floats_and_orders_are_what_their_parts_are(rng):
    theta, phi = points(rng)
    transform = zonal.PointTransform(theta, phi, LMAX, spin=1, error=1e-9, mmax=5)
    assert (transform.n_points, transform.n_alm, transform.mmax, transform.lmax, transform.spin) == (302, zonal.alm_size(LMAX, 5), 5, LMAX, 1)
    alm = alm_of(rng, 1, mmax=5, front=(5,))
    made = transform.synthesize(alm)
    assert abs(made[3] - direct(alm[3], theta, phi, 1, mmax=5)).max() < 1e-9 * abs(made).max()
    np.testing.assert_allclose(made, [transform.synthesize(one) for one in alm], rtol=0, atol=1e-13)
    narrow = transform.synthesize(alm.astype(np.complex64))
    assert narrow.dtype == np.float32
    assert abs(narrow - made).max() < 1e-6 * abs(made).max()
    back = transform.adjoint(narrow)
    assert back.dtype == np.complex64 and back.shape == alm.shape
    f = zonal.SphereFunction(alm, LMAX, 1, 1e-9, mmax=5)
    np.testing.assert_allclose(f(theta, phi), made, rtol=0, atol=1e-8)
    assert zonal.SphereFunction(alm.astype(np.complex64), LMAX, 1, mmax=5)(theta, phi).dtype == np.float32


@pytest.mark.parametrize("spin", [0, 2])
def test_adjoint_is_the_transpose(rng, spin):
    theta, phi = points(rng)
    transform = zonal.PointTransform(theta, phi, LMAX, spin, 1e-5)
    alm, values = alm_of(rng, spin), rng.standard_normal((*(2,) * (spin > 0), theta.size))
    forth = (transform.synthesize(alm) * values).sum()
    back = (counts(alm) * (transform.adjoint(values).conj() * alm).real).sum()
    assert abs(forth - back) < 1e-13 * np.linalg.norm(values) * np.linalg.norm(transform.synthesize(alm))


def test_the_peer_gives_the_same(rng):
    theta, phi = points(rng)
    alm = alm_of(rng, 2)
    peer = ducc0.sht.synthesis_general(alm=alm, spin=2, lmax=LMAX, loc=np.stack([theta, phi % (2 * np.pi)], 1), epsilon=1e-11)
    made = zonal.PointTransform(theta, phi, LMAX, 2, 1e-11).synthesize(alm)
    assert abs(made - peer).max() < 3e-11 * abs(peer).max()


@pytest.mark.parametrize("spin", [0, 2])
def test_gradients_are_differences(rng, spin):
    theta, phi = rng.uniform(0.1, 3, 50), rng.uniform(0, 6, 50)
    alm, step = alm_of(rng, spin), 1e-5
    f = zonal.SphereFunction(alm, spin=spin, error=1e-11)
    values, by_theta, by_phi = f(theta, phi, gradient=True)
    np.testing.assert_allclose(values, f(theta, phi), rtol=0, atol=1e-13)
    made = zonal.PointTransform(theta, phi, LMAX, spin, 1e-11).synthesize(alm, gradient=True)
    # Of differences: step^2 lmax^3 / 6 and the error over the step.
    for slope, other, ahead, behind in ((by_theta, made[1], f(theta + step, phi), f(theta - step, phi)),
                                        (by_phi, made[2], f(theta, phi + step), f(theta, phi - step))):
        assert abs(slope - (ahead - behind) / (2 * step)).max() < 1e-5 * abs(slope).max()
        assert abs(slope - other).max() <= f.derivative_bound * LMAX * abs(values).max()


def test_functions_take_points_of_any_shape(rng):
    f = zonal.SphereFunction(alm_of(rng, 2, front=(3,)), spin=2, error=1e-6)
    theta, phi = np.linspace(0.1, 3, 4), np.linspace(0, 6, 5)
    made = f(theta[:, None], phi)
    assert made.shape == (3, 2, 4, 5)
    np.testing.assert_allclose(made[..., 1, 2], f(theta[1], phi[2]), rtol=0, atol=1e-12)
    assert f([], []).shape == (3, 2, 0)
    assert (f.lmax, f.spin) == (LMAX, 2)
    assert f.n_bytes >= 8 * 6 * f.n_samples**2 / 2


def test_many_points_get_more_samples(rng):
    alm = alm_of(rng, lmax=200)
    few, many = (zonal.SphereFunction(alm, error=1e-8, n_points=n) for n in (10, 10**8))
    assert few.n_samples < many.n_samples and few.width > many.width
    assert max(few.bound, many.bound) <= 1e-8


def test_errors_decide_how_much_is_done():
    theta = [1.0]
    rough, fine = (zonal.PointTransform(theta, theta, 100, error=e) for e in (1e-2, 1e-12))
    assert rough.width < fine.width and rough.n_samples <= fine.n_samples
    assert rough.bound <= 1e-2 and fine.bound <= 1e-12
    assert fine.derivative_bound == pytest.approx(13 * fine.bound)


def test_least_squares_find_the_alm(rng):
    lmax = 10
    theta, phi = points(rng, 600)
    alm = alm_of(rng, lmax=lmax)
    transform = zonal.PointTransform(theta, phi, lmax, error=1e-12)
    values = transform.synthesize(alm)
    found, report = transform.analyze(values, tolerance=1e-10, return_report=True)
    assert abs(found - alm).max() < 1e-8 and report.residual <= 1e-10 and report.reached_tolerance and not report.note
    rough, other = transform.analyze(values, tolerance=1e-2, return_report=True)
    assert other.iterations < report.iterations and 1e-10 < other.residual <= 1e-2
    # A value without weight does not count.
    weights = np.ones(theta.size)
    weights[7], values[7] = 0, 1e3
    assert abs(transform.analyze(values, weights, 1e-10) - alm).max() < 1e-8
    assert abs(transform.analyze(values, tolerance=1e-10) - alm).max() > 1
    done = []
    transform.analyze(values, progress=done.append)
    assert done and done == sorted(done)
    with pytest.warns(zonal.ZonalWarning, match="after 2 iterations"):
        transform.analyze(values, max_iterations=2)
    few = zonal.PointTransform(theta[:200], phi[:200], lmax, error=1e-12)
    with pytest.warns(zonal.ZonalWarning, match="200 points are fewer than two for each of the 121 unknowns"):
        few.analyze(few.synthesize(alm))


def test_least_squares_take_values_of_any_size_and_none_of_weight_0(rng):
    theta, phi = points(rng, 400)
    alm, transform = alm_of(rng, lmax=5), zonal.PointTransform(theta, phi, 5)
    values = transform.synthesize(alm)
    found = transform.analyze(values)
    for power in (-600, 600):  # whose squares are no doubles
        assert np.array_equal(transform.analyze(values * 2.0**power), found * 2.0**power)
    weights = np.ones(values.size)
    weights[3] = 0
    expected = transform.analyze(values, weights)
    values[3] = np.nan
    assert np.array_equal(transform.analyze(values, weights), expected)
    few = (np.arange(values.size) < 50).astype(float)
    assert "50 points of a positive weight are fewer than two" in transform.analyze(np.nan_to_num(values), few, return_report=True)[1].note


def test_a_copy_is_of_the_points_that_were_given(rng):
    theta, phi = points(rng, 30)
    alm, transform = alm_of(rng), zonal.PointTransform(theta, phi, LMAX)
    theta[:] = 1
    assert np.array_equal(pickle.loads(pickle.dumps(transform)).synthesize(alm), transform.synthesize(alm))


def test_threads_change_no_bit_and_may_share(rng):
    theta, phi = points(rng, 20000)
    alm = alm_of(rng, lmax=60)
    one, two = (zonal.PointTransform(theta, phi, 60, threads=n) for n in (1, 2))
    assert (one.threads, two.threads) == (1, 2)
    values = one.synthesize(alm)
    assert np.array_equal(values, two.synthesize(alm))
    assert np.array_equal(one.adjoint(values), two.adjoint(values))
    assert np.array_equal(zonal.SphereFunction(alm, threads=1)(theta, phi), zonal.SphereFunction(alm, threads=2)(theta, phi))
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(values, made) for made in pool.map(two.synthesize, [alm] * 8))
    again = pickle.loads(pickle.dumps(two))
    assert np.array_equal(values, again.synthesize(alm)) and again.threads == 2 and repr(again) == repr(two)
    assert repr(two) == "<zonal.PointTransform: n_points=20002, lmax=60, spin=0, error=1e-10>"
    assert repr(zonal.SphereFunction(alm)) == "<zonal.SphereFunction: lmax=60, spin=0, error=1e-10>"


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("spin", [0, 2])
def test_results_go_where_out_says(rng, spin, dtype):
    theta, phi = points(rng, 40)
    one = alm_of(rng, spin=spin).astype(dtype)
    batch = np.stack([one, 2 * one])
    transform = zonal.PointTransform(theta, phi, LMAX, spin)
    for alm in (one, batch):
        values, *slopes = transform.synthesize(alm, gradient=True)
        parts = np.empty((*values.shape[:-1], 3, values.shape[-1]), values.dtype)  # side by side
        outs = [parts[..., k, :] for k in range(3)]
        found = transform.synthesize(alm, gradient=True, out=outs)
        assert all(one is other for one, other in zip(found, outs))
        assert all(np.array_equal(*pair) for pair in zip(found, [values, *slopes]))
        space = np.empty_like(values)
        made, report = transform.synthesize(alm, out=space, return_report=True)
        assert made is space and np.array_equal(space, values) and report.bound > 0
        room = np.empty((2, *alm.shape), dtype)[0]
        assert transform.adjoint(values, out=room) is room and np.array_equal(room, transform.adjoint(values))


def test_an_out_that_does_not_fit_is_refused(rng):
    transform = zonal.PointTransform([1.0, 2.0], [0.0, 0.0], 3)
    alm, two = np.zeros(10, complex), np.zeros(2)
    with pytest.raises(ValueError, match="out: has 2 arrays: must have 3 with gradient=True"):
        transform.synthesize(alm, gradient=True, out=[two, two])
    with pytest.raises(ValueError, match="out: its arrays must not share memory"):
        transform.synthesize(alm, gradient=True, out=[two, np.zeros(2), two])
    with pytest.raises(TypeError, match="out = 3: must be a sequence"):
        transform.synthesize(alm, gradient=True, out=3)
    with pytest.raises(ValueError, match=r"out: must have shape \(2,\) and type float64"):
        transform.synthesize(alm, out=np.zeros(3))
    with pytest.raises(ValueError, match=r"out: must have shape \(10,\) and type complex128"):
        transform.adjoint(two, out=two)


def test_quantities_stay_quantities(rng):
    units = pytest.importorskip("astropy.units")
    alm = alm_of(rng)
    transform = zonal.PointTransform([30, 90] * units.deg, [0, 5], LMAX)
    made = transform.synthesize(alm * units.K)
    assert made.unit == units.K
    assert np.array_equal(made.value, zonal.PointTransform(np.radians([30.0, 90.0]), [0, 5], LMAX).synthesize(alm))
    assert transform.adjoint(made).unit == units.K
    assert zonal.SphereFunction(alm * units.K)(1.0, 2.0).unit == units.K


@pytest.mark.parametrize("call, message", [
    (lambda: zonal.PointTransform([1, 4], [0, 0], 3), r"theta = 4: must be from 0 to pi \(point 1\)"),
    (lambda: zonal.PointTransform([1, np.nan], [0, 0], 3), r"theta = nan: must be from 0 to pi \(point 1\)"),
    (lambda: zonal.PointTransform([1, 1], [0, np.inf], 3), r"phi = inf: .* \(point 1\)"),
    (lambda: zonal.PointTransform([1, 1], [0], 3), "theta and phi: lengths 2 and 1 differ"),
    (lambda: zonal.PointTransform([[1]], [0], 3), r"theta: has shape \(1, 1\): must be \[n_points\]"),
    (lambda: zonal.PointTransform([1], [0], -1), "lmax = -1"),
    (lambda: zonal.PointTransform([1], [0], 3, spin=4), "spin = 4: must be from 0 to lmax = 3"),
    (lambda: zonal.PointTransform([1], [0], 3, error=1e-16), "error = 1e-16: must be from 2e-14 to 0.1"),
    (lambda: zonal.PointTransform([1], [0], 3, mmax=4), "mmax = 4: must be from 0 to lmax = 3"),
    (lambda: zonal.PointTransform([1], [0], 3).synthesize(np.zeros(9)), r"alm: has shape \(9,\): must be \[10\]"),
    (lambda: zonal.PointTransform([1], [0], 3).adjoint(np.zeros(2)), r"values: has shape \(2,\): must be \[1\]"),
    (lambda: zonal.PointTransform([1], [0], 3).analyze(np.zeros(1), tolerance=1e-10), "tolerance = 1e-10: must be at least 10 times"),
    (lambda: zonal.PointTransform([1], [0], 3).analyze(np.zeros(1), weights=[-1]), r"weights\[0\] = -1: must be 0 or positive"),
    (lambda: zonal.PointTransform([1], [0], 3).analyze(np.zeros(1), max_iterations=0), "max_iterations = 0: must be at least 1"),
    (lambda: zonal.PointTransform([1], [0], 3).analyze([np.nan]), r"values\[0\] = nan: must be a finite number"),
    (lambda: zonal.PointTransform([1], [0], 3, 2).analyze([[[0], [0]], [[0], [np.inf]]]), r"values\[1, 1, 0\] = inf"),
    (lambda: zonal.PointTransform([1], [0], 3).analyze(np.zeros(1), weights=[0]), "weights: are all 0: must be positive"),
    (lambda: zonal.SphereFunction(np.zeros(8)), "alm"),
    (lambda: zonal.SphereFunction(np.zeros(10))(4.0, 0.0), "theta = 4"),
    (lambda: zonal.SphereFunction(np.zeros(10), n_points=-1), "n_points = -1"),
    (lambda: zonal.SphereFunction(np.zeros(10), n_points=2**63), "n_points = 9223372036854775808: must be an integer below 2\\^63 in size"),
])
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
