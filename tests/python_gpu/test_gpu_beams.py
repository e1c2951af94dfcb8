"""Beams that are not round on a GPU, from arrays of the host."""

import numpy as np
import pytest

import zonal

LMAX, KMAX, DETECTORS, N = 24, 4, 3, 2000
ERROR = 1e-9


@pytest.fixture
def sky(rng):
    return random_teb(rng, zonal.alm_size(LMAX))


@pytest.fixture
def beams(rng):
    return np.stack([random_teb(rng, zonal.alm_size(LMAX, KMAX)) for _ in range(DETECTORS)])


@pytest.fixture(params=["one row for all", "psi of each", "pointings of each"])
def where(request, rng):
    """theta, phi, psi and hwp: [pointing] or [detector, pointing]."""
    own_places, own_turns = request.param == "pointings of each", request.param != "one row for all"
    places, turns = [(DETECTORS, N) if own else (N,) for own in (own_places, own_turns)]
    theta = np.arccos(rng.uniform(-1, 1, places))
    theta[..., :2] = 0, np.pi
    return theta, rng.uniform(-9, 9, places), rng.uniform(-90, 90, turns), rng.uniform(-9, 9, N)


def random_teb(rng, n):
    """Random alm of T, E and B, none of E and B below l = 2."""
    alm = rng.standard_normal((3, n)) + 1j * rng.standard_normal((3, n))
    alm[:, :LMAX + 1].imag = 0
    alm[1:, [0, 1, LMAX + 1]] = 0
    return alm


def inner_product(a, b):
    weight = np.where(np.arange(a.shape[-1]) <= LMAX, 1, 2)
    return (weight * (a.conj() * b).real).sum()


def largest_difference(signal):
    """Between CPU and GPU: each errs by ERROR of the largest signal anywhere, which is below twice that of 2,000 pointings."""
    return 2 * ERROR * 2 * np.abs(signal).max()


@pytest.mark.parametrize("plate", [False, True])
def test_signals_and_transposes_are_the_cpus(rng, sky, beams, where, plate):
    cpu, gpu = (zonal.BeamConvolver(sky, beams, error=ERROR, device=device) for device in ("cpu", "cuda"))
    assert (cpu.device, gpu.device, gpu.method) == ("cpu", "cuda:0", "harmonic")
    assert gpu.bound <= ERROR and gpu.n_bytes > 0
    given = where if plate else where[:3]
    wanted, (found, report) = cpu(*given), gpu(*given, return_report=True)
    assert found.shape == wanted.shape == (DETECTORS, N)
    assert np.abs(found - wanted).max() <= largest_difference(wanted)
    assert 0 < report.mean_error < report.bound <= ERROR and report.left_out == 0
    assert np.array_equal(gpu(*given), found)
    tod = rng.standard_normal(found.shape)
    back = gpu.adjoint(tod, *given)
    # transpose_rounding of tests/point_helpers.hpp: values of orders up to 8 round by 300 eps, either way, with signs of their own.
    rounding = (2 * 300 / np.sqrt(found.size) + 2) * np.finfo(float).eps
    assert abs((tod * found).sum() - inner_product(sky, back)) <= rounding * np.linalg.norm(tod) * np.linalg.norm(found)
    other = random_teb(rng, sky.shape[-1])
    signal = zonal.BeamConvolver(other, beams, error=ERROR)(*given)
    assert abs((tod * signal).sum() - inner_product(other, back)) <= np.abs(tod).sum() * largest_difference(signal)


def test_floats_are_the_doubles_rounded(rng, sky, beams, where):
    narrow = sky.astype(np.complex64)
    one, other = (zonal.BeamConvolver(given, beams, device="cuda") for given in (narrow, narrow.astype(np.complex128)))
    found = one(*where)
    assert found.dtype == np.float32 and np.array_equal(found, other(*where).astype(np.float32))
    back = one.adjoint(found, *where)
    assert back.dtype == np.complex64 and np.array_equal(back, other.adjoint(found.astype(np.float64), *where).astype(np.complex64))


def test_parts_of_the_sky_take_less_memory(rng, sky, beams):
    theta, phi, psi = rng.uniform(0.5, 0.6, 500), rng.uniform(0, 6, 500), rng.uniform(0, 6, 500)
    whole, part = (zonal.BeamConvolver(sky, beams, error=ERROR, device="cuda", theta_range=r) for r in (None, (0.5, 0.6)))
    assert part.n_bytes < whole.n_bytes
    signal = whole(theta, phi, psi)
    # The same samples but for rounding, far below the error.
    assert np.abs(part(theta, phi, psi) - signal).max() <= ERROR * np.abs(signal).max()
    with pytest.raises(ValueError, match="theta = .*must lie where the planes were made"):
        part(2.0, 0, 0)


def test_what_does_not_go_is_refused(cupy, sky, beams):
    gpu = zonal.BeamConvolver(sky, beams[0], device="cuda")
    with pytest.raises(ValueError, match=r"theta = 4: must be from 0 to pi \(point 1\)"):
        gpu([0.1, 4], 0, 0)
    with pytest.raises(ValueError, match=r"psi = nan: must be finite \(pointing 1\)"):
        gpu([0.1, 0.2], 0, [0, np.nan])
    with pytest.raises((TypeError, ValueError), match="psi: .*memory"):
        gpu(0.1, 0.2, cupy.put(np.zeros(1)))
    with pytest.raises(zonal.BackendUnavailable, match="device = cuda:0: the method displaced runs on the CPU: must be cpu"):
        zonal.BeamConvolver(sky[0], beams[0, 0], error=0.05, method="displaced", device="cuda")


def test_auto_chooses_as_on_the_cpu(sky):
    beam = zonal.rotate_alm(zonal.elliptical_beam(0.4, 1.2, lmax=LMAX, error=1e-6), (0.3, 0.3, 1), LMAX,
                            zonal.elliptical_beam(0.4, 1.2, lmax=LMAX, error=1e-6, return_report=True)[1].kmax, mmax_out=LMAX)
    assert zonal.BeamConvolver(sky[0], beam, error=0.05, device="cuda").method == "harmonic"
    for n_pointings in (1, 10**9):
        cpu, auto = (zonal.BeamConvolver(sky[0], beam, error=0.05, n_pointings=n_pointings, device=device) for device in ("cpu", "auto"))
        assert (auto.method, auto.device) == (cpu.method, "cpu" if cpu.method == "displaced" else "cuda:0")
    kernels = zonal.BeamConvolver(sky[0], beam, error=0.05, method="displaced", device="auto")
    assert kernels.device == "cpu" and kernels.kernels > 0
