"""zonal.ducc0's totalconvolve is that of ducc0."""

import ducc0
import numpy as np
import pytest

import zonal
import zonal.ducc0
from ducc0_peer import agree

OURS, THEIRS = zonal.ducc0.totalconvolve, ducc0.totalconvolve
LMAX, KMAX, EPSILON = 20, 3, 1e-10
# Each of the two errs by epsilon of the largest signal over all pointings, ducc0 in the mean.
WITHIN = 20 * EPSILON
N = 300
RNG = np.random.default_rng(5)
PTG = np.stack([np.arccos(RNG.uniform(-1, 1, N)), RNG.uniform(0, 2 * np.pi, N), RNG.uniform(-6, 6, N)], 1)
ANGLES = [np.ascontiguousarray(angle) for angle in PTG.T]
GIVEN = {"lmax": LMAX, "kmax": KMAX, "epsilon": EPSILON, "npoints": N, "nthreads": 1}


def alm_of(mmax, components=3):
    order = np.concatenate([np.full(LMAX + 1 - m, m) for m in range(mmax + 1)])
    degree = np.concatenate([np.arange(m, LMAX + 1) for m in range(mmax + 1)])
    alm = RNG.standard_normal((components, len(order))) + 1j * RNG.standard_normal((components, len(order)))
    alm[:, order == 0] = alm[:, order == 0].real
    alm[1:, degree < 2] = 0
    return alm


SKY, BEAM = alm_of(LMAX), alm_of(KMAX)


def real(alm):
    """ducc0's coefficients of order 0 may have imaginary parts, which count for nothing."""
    made = alm.copy()
    made[..., :LMAX + 1].imag = 0
    return made


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("components", [1, 3])
def test_signals(components, separate):
    given = {"sky": SKY[:components], "beam": BEAM[:components], "separate": separate, **GIVEN}
    agree(OURS.Interpolator(**given).interpol(PTG), THEIRS.Interpolator(**given).interpol(PTG), WITHIN)


@pytest.mark.parametrize("ncomp, nbeam", [(1, 1), (1, 3), (3, 3)])
def test_skies_of_signals(ncomp, nbeam):
    made = [module.Interpolator(ncomp=ncomp, **GIVEN) for module in (OURS, THEIRS)]
    for part in (PTG[:100], PTG[100:]):
        data = RNG.standard_normal((ncomp, len(part)))
        for each in made:
            each.deinterpol(part, data)
    agree(*(real(each.getSlm(BEAM[:nbeam])) for each in made), WITHIN)


def test_single_precision():
    given = {"sky": SKY.astype(np.complex64), "beam": BEAM.astype(np.complex64), "separate": False, **GIVEN, "epsilon": 1e-4}
    expected = THEIRS.Interpolator(SKY, BEAM, False, **GIVEN).interpol(PTG)
    agree(OURS.Interpolator_f(**given).interpol(PTG.astype(np.float32)), expected.astype(np.float32), 2e-4)
    data, sky = RNG.standard_normal((1, N)).astype(np.float32), []
    for module in (OURS, THEIRS):
        adjoint = module.Interpolator_f(ncomp=1, **GIVEN | {"epsilon": 1e-4})
        adjoint.deinterpol(PTG, data)
        sky.append(real(adjoint.getSlm(BEAM.astype(np.complex64))))
    agree(*sky, 1e-3)


def test_arguments_may_stand_in_order():
    given = (LMAX, KMAX, N, 1.2, 2.5, EPSILON, 1)
    expected = THEIRS.Interpolator(SKY, BEAM, False, *given).interpol(PTG)
    agree(OURS.Interpolator(SKY, BEAM, False, *given).interpol(PTG), expected, WITHIN)
    agree(OURS.Interpolator(SKY, BEAM, False, LMAX, KMAX, epsilon=EPSILON, ofactor=1.5).interpol(PTG), expected, WITHIN)
    adjoint = OURS.Interpolator(LMAX, KMAX, 1, *given[2:])
    assert adjoint.getSlm(BEAM).shape == SKY.shape


def cube_of(plan, dtype=np.float64, components=1):
    """Planes of one component after the other, as ducc0 takes them, added up."""
    cube = np.zeros((plan.Npsi(), plan.Ntheta(), plan.Nphi()), dtype)
    kind = np.complex128 if dtype is np.float64 else np.complex64
    for sky, beam in zip(SKY[:components].astype(kind), BEAM[:components].astype(kind), strict=True):
        for k in range(KMAX + 1):
            planes = np.empty((1 if k == 0 else 2, *cube.shape[1:]), dtype)
            plan.getPlane(sky, beam, k, planes)
            cube[max(2 * k - 1, 0):2 * k + 1] += planes
    plan.prepPsi(cube)
    return cube


@pytest.mark.parametrize("components", [1, 3])
def test_signals_by_steps(components):
    signals = []
    for module in (OURS, THEIRS):
        plan, signal = module.ConvolverPlan(**GIVEN), np.zeros(N)
        plan.interpol(cube_of(plan, components=components), 0, 0, *ANGLES, signal)
        signals.append(signal)
    agree(*signals, WITHIN)


def test_planes_of_all_components_at_once():
    plan = OURS.ConvolverPlan(**GIVEN)
    cube = np.empty((plan.Npsi(), plan.Ntheta(), plan.Nphi()))
    for k in range(KMAX + 1):
        plan.getPlane(SKY, BEAM, k, cube[max(2 * k - 1, 0):2 * k + 1])
    agree(cube, cube_of(plan, components=3), 1e-13)


def test_skies_by_steps():
    skies, signal = [], RNG.standard_normal(N)
    for module in (OURS, THEIRS):
        plan = module.ConvolverPlan(**GIVEN)
        cube = np.zeros((plan.Npsi(), plan.Ntheta(), plan.Nphi()))
        for part in (slice(0, 100), slice(100, N)):
            plan.deinterpol(cube, 0, 0, *(angle[part] for angle in ANGLES), signal[part])
        plan.deprepPsi(cube)
        sky = np.zeros_like(SKY[0])
        for k in range(KMAX + 1):
            plan.updateSlm(sky, BEAM[0], k, cube[max(2 * k - 1, 0):2 * k + 1])
        skies.append(real(sky))
    agree(*skies, WITHIN)


@pytest.mark.parametrize("borders", [(0.0, np.pi, 0.0, 2 * np.pi), (0.3, 0.5, 1.0, 2.0), (0.0, 0.2, 0.0, 1.0), (2.8, np.pi, 5.0, 2 * np.pi),
                                     (1.5, 1.5, 0.0, 0.0)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_patch_has_all_that_its_pointings_need(borders, dtype):
    """And its transpose adds the same to a patch as to the cube; corners included."""
    plan = (OURS.ConvolverPlan if dtype is np.float64 else OURS.ConvolverPlan_f)(**GIVEN)
    cube, (a, b, c, d) = cube_of(plan, dtype), plan.getPatchInfo(*borders)
    theta, phi = (np.concatenate([[low, low, high, high], RNG.uniform(low, high, 50)]) for low, high in (borders[:2], borders[2:]))
    phi[1:3] = phi[2], phi[0]
    psi, part, whole = RNG.uniform(0, 6, 54), np.zeros(54, dtype), np.zeros(54, dtype)
    plan.interpol(cube[:, a:b, c:d], a, c, theta, phi, psi, part)
    plan.interpol(cube, 0, 0, theta, phi, psi, whole)
    np.testing.assert_array_equal(part, whole)
    back, there = np.zeros_like(cube), np.zeros_like(cube)
    plan.deinterpol(back, 0, 0, theta, phi, psi, whole)
    plan.deinterpol(there[:, a:b, c:d], a, c, theta, phi, psi, whole)
    np.testing.assert_array_equal(there, back)


def test_steps_and_their_transposes_are_adjoint():
    plan, data = OURS.ConvolverPlan(**GIVEN), RNG.standard_normal(N)
    cube, signal = cube_of(plan), np.zeros(N)
    plan.interpol(cube, 0, 0, *ANGLES, signal)
    back = np.zeros_like(cube)
    plan.deinterpol(back, 0, 0, *ANGLES, data)
    sky = np.zeros_like(SKY[:1])
    for k in range(KMAX + 1):
        plan.updateSlm(sky, BEAM[:1], k, back[max(2 * k - 1, 0):2 * k + 1])
    products = np.where(np.arange(sky.shape[1]) <= LMAX, 1, 2) * (sky[0].conj() * SKY[0]).real
    # Sums of N and of n_alm products of rounded numbers.
    assert abs(data @ signal - products.sum()) <= 1e-13 * np.abs(products).sum()


PLAN = OURS.ConvolverPlan(lmax=4, kmax=1, epsilon=1e-3)
ROOM = np.zeros((PLAN.Npsi(), PLAN.Ntheta(), PLAN.Nphi()))
SIGNAL = OURS.Interpolator(sky=np.zeros((1, 15), complex), beam=np.zeros((1, 9), complex), separate=False, lmax=4, kmax=1, epsilon=1e-3)
ADJOINT = OURS.Interpolator(lmax=4, kmax=1, ncomp=1, epsilon=1e-3)
SEEN = {"sky": np.zeros((1, 15), complex), "beam": np.zeros((1, 9), complex), "separate": False, "lmax": 4, "kmax": 1, "epsilon": 1e-3}
ONE = np.ones(1)


@pytest.mark.parametrize("call, error, text", [
    (lambda: OURS.ConvolverPlan(4, 1), TypeError, "epsilon: must be given"),
    (lambda: OURS.ConvolverPlan(4, 5, epsilon=1e-3), ValueError, "kmax = 5: must be from 0 to lmax = 4"),
    (lambda: OURS.ConvolverPlan(-1, 0, epsilon=1e-3), ValueError, "lmax = -1: must be 0 or more"),
    (lambda: OURS.ConvolverPlan(4, 1, -2, epsilon=1e-3), ValueError, "npoints = -2: must be 0 or more"),
    (lambda: OURS.ConvolverPlan(4, 1, epsilon=1), ValueError, "epsilon = 1: must be from 1e-13 to 0.1"),
    (lambda: OURS.ConvolverPlan(4, 1, epsilon=1e-3, sigma=1.0), ValueError, "sigma = 1.0: must be above 1"),
    (lambda: OURS.ConvolverPlan(4, 1, epsilon=1e-3, sigma_min=3.0), ValueError, "sigma_min = 3.0: must be above 1 and below sigma_max = 2.6"),
    (lambda: PLAN.getPatchInfo(1, 4, 0, 1), ValueError, "theta = 1 to 4: must ascend within 0 to pi"),
    (lambda: PLAN.getPatchInfo(0, 1, -1, 1), ValueError, "phi = -1 to 1: must ascend within 0 to 2 pi"),
    (lambda: PLAN.getPlane(SEEN["sky"], SEEN["beam"], 2, ROOM[1:]), ValueError, "mbeam = 2: must be from 0 to the kmax of the cube, 1"),
    (lambda: PLAN.getPlane(SEEN["sky"][0, :3], SEEN["beam"], 1, ROOM[1:]), ValueError, r"slm: has shape \(3,\): must be \(\[ncomp,\] 15\)"),
    (lambda: PLAN.getPlane(SEEN["sky"], SEEN["beam"], 1, ROOM), ValueError, r"planes: has shape .* for mbeam = 1"),
    (lambda: PLAN.getPlane(SEEN["sky"], SEEN["beam"], 1, ROOM.astype("f4")), TypeError, "planes = an array of float32: must be .* float64"),
    (lambda: PLAN.prepPsi(ROOM[1:]), ValueError, r"subcube: has shape .*: must be \(3, :, :\)"),
    (lambda: PLAN.interpol(ROOM[:, 3:], 4, 0, ONE, ONE, ONE, np.zeros(1)), ValueError, "itheta0 = 4: must be from 0 to 3"),
    (lambda: PLAN.interpol(ROOM[:, 9:], 9, 0, 0 * ONE, ONE, ONE, np.zeros(1)), ValueError, "pointing 0"),
    (lambda: PLAN.interpol(ROOM, 0, 0, 4 * ONE, ONE, ONE, np.zeros(1)), ValueError, "theta = 4: must be from 0 to pi"),
    (lambda: PLAN.interpol(ROOM, 0, 0, ONE, ONE, np.ones(2), np.zeros(1)), ValueError, "psi: has shape"),
    (lambda: PLAN.interpol(ROOM, 0, 0, ONE, ONE, ONE, np.zeros(2)), ValueError, "signal: has shape"),
    (lambda: OURS.Interpolator(**SEEN | {"beam": np.zeros((3, 9), complex)}), ValueError, "sky: and beam have 1 and 3 components"),
    (lambda: OURS.Interpolator(**SEEN | {"sky": np.zeros((1, 14), complex)}), ValueError, "sky: has shape"),
    (lambda: OURS.Interpolator(lmax=4, kmax=1, ncomp=2, epsilon=1e-3), ValueError, "ncomp = 2: must be 1 or 3"),
    (lambda: OURS.Interpolator_f(**SEEN), TypeError, "sky = an array of complex128: must be a NumPy array of complex64"),
    (lambda: SIGNAL.interpol(np.zeros((2, 2))), ValueError, r"ptg: has shape \(2, 2\)"),
    (lambda: SIGNAL.deinterpol(np.zeros((2, 3)), np.zeros((1, 2))), ValueError, "deinterpol: was made with a sky"),
    (lambda: ADJOINT.interpol(np.zeros((2, 3))), ValueError, "interpol: was made without a sky"),
    (lambda: ADJOINT.deinterpol(np.zeros((2, 3)), np.zeros((1, 3))), ValueError, "data: has shape"),
    (lambda: SIGNAL.getSlm(SEEN["beam"]), ValueError, "getSlm: was made with a sky"),
    (lambda: OURS.Convolver, AttributeError, "Convolver"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
