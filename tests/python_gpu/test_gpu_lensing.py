"""Lensing on a GPU, with arrays of the host and of its memory."""

import pickle

import numpy as np
import pytest

import zonal

LMAX, ERROR = 24, 1e-10
FIELDS = {"T": 1, "EB": 2, "TEB": 3}


def random_alm(rng, *front):
    alm = rng.standard_normal((*front, zonal.alm_size(LMAX))) + 1j * rng.standard_normal((*front, zonal.alm_size(LMAX)))
    alm[..., :LMAX + 1].imag = 0
    return alm


def near(found, expected, error):
    """Either errs by `error` of the largest value on the sphere, which is a few times that of the points."""
    return np.abs(found - expected).max() <= 8 * error * np.abs(expected).max()


@pytest.fixture
def potentials(rng):
    return 3e-3 * np.stack([zonal.synalm(np.ones(13), seed=seed) for seed in (1, 2)])


@pytest.fixture(params=["points", "healpix", "part of healpix"])
def where(request, rng):
    if request.param == "points":
        return np.arccos(rng.uniform(-1, 1, 700)), rng.uniform(0, 6, 700)
    whole = zonal.Grid.healpix(8)
    return whole if request.param == "healpix" else whole.subset([3, 5, 20])


@pytest.mark.parametrize("fields", FIELDS)
def test_skies_transposes_and_derivatives_are_the_cpus(library, rng, potentials, where, fields):
    phi, curl = potentials
    sky = random_alm(rng, 2, FIELDS[fields]) if fields != "T" else random_alm(rng, 2)
    cpu, gpu = (zonal.Lensing(phi, where, LMAX, fields=fields, curl=curl, error=ERROR, device=device) for device in ("cpu", "cuda"))
    assert gpu.device == "cuda:0" and gpu.bound <= ERROR
    assert np.allclose([gpu.largest, gpu.rms], [cpu.largest, cpu.rms], rtol=1e-9)
    wanted = cpu.lens(sky)
    there, report = gpu.lens(library.put(sky), return_report=True)
    assert isinstance(there, library.kind) and near(library.get(there), wanted, ERROR)
    assert report.mean_error < report.bound == gpu.bound
    assert np.array_equal(gpu.lens(sky), library.get(there))
    factors = rng.standard_normal(wanted.shape)
    back = gpu.adjoint(library.put(factors))
    assert isinstance(back, library.kind) and near(library.get(back), cpu.adjoint(factors), LMAX * ERROR)
    assert np.array_equal(gpu.adjoint(factors), library.get(back))
    slopes = gpu.differentiate(library.put(sky), library.put(factors))
    assert near(slopes, cpu.differentiate(sky, factors), LMAX**2 * ERROR)
    assert np.array_equal(gpu.differentiate(sky, factors), slopes)
    again = pickle.loads(pickle.dumps(gpu))
    assert np.array_equal(library.get(again.lens(library.put(sky))), library.get(there))


def test_lens_takes_everything_from_the_gpu(library, rng, potentials):
    phi, curl = potentials
    theta, lon = np.arccos(rng.uniform(-1, 1, 300)), rng.uniform(0, 6, 300)
    sky = random_alm(rng, 3)
    wanted = zonal.lens(sky, phi, (theta, lon), curl=curl, error=ERROR)
    put = library.put
    found = zonal.lens(put(sky), put(phi), (put(theta), put(lon)), curl=put(curl), error=ERROR)
    assert isinstance(found, library.kind) and near(library.get(found), wanted, ERROR)
    lensing = zonal.Lensing(phi, (put(theta), put(lon)), LMAX, error=ERROR, device="cuda")
    again = pickle.loads(pickle.dumps(lensing))
    assert np.array_equal(library.get(again.lens(put(sky[0]))), library.get(lensing.lens(put(sky[0]))))
    narrow = zonal.lens(put(sky.astype(np.complex64)), phi, 8, error=1e-6)
    assert library.get(narrow).dtype == np.float32
    assert near(library.get(narrow), zonal.lens(sky, phi, 8, error=1e-6), 1e-6)
    one = zonal.lens(put(sky[:1, None]), phi, 8)
    assert library.get(one).shape == (1, 1, 768)


def test_what_does_not_fit_is_refused(cupy, rng, potentials):
    lensing = zonal.Lensing(potentials[0], 8, LMAX, device="cuda")
    alm = cupy.put(random_alm(rng))
    with pytest.raises(ValueError, match="values: has shape"):
        lensing.differentiate(alm, cupy.put(np.zeros(700)))
    with pytest.raises(TypeError, match="values: must be an array of CuPy in the memory of cuda:0, as alm is"):
        lensing.differentiate(alm, np.zeros(768))
    with pytest.raises(TypeError, match="values: holds float32: must hold float64, as alm does"):
        lensing.differentiate(alm, cupy.put(np.zeros(768, np.float32)))
    with pytest.raises(ValueError, match="works on cpu"):
        zonal.Lensing(potentials[0], 8, LMAX).lens(alm)
    with pytest.raises(ValueError, match=r"deflection = .* must be a number of radians up to 3 \(point"):
        zonal.Lensing(1e3 * potentials[0], 8, LMAX, device="cuda")
    with pytest.raises(ValueError, match=r"theta = 4: must be from 0 to pi \(point 1\)"):
        zonal.Lensing(potentials[0], (cupy.put(np.array([1.0, 4])), cupy.put(np.zeros(2))), LMAX, device="cuda")


def test_tensors_on_a_gpu_have_the_gradients_of_the_host(rng, potentials):
    torch = pytest.importorskip("torch")
    lens, evaluate = pytest.importorskip("zonal.torch").lens, pytest.importorskip("zonal.torch").evaluate
    theta, lon = np.arccos(rng.uniform(-1, 1, 300)), rng.uniform(0, 6, 300)
    sky, factors = random_alm(rng, 3), rng.standard_normal((3, 300))

    def gradients(device):
        alm, phi, theta_there, lon_there = (torch.from_numpy(one).to(device).requires_grad_() for one in (sky, potentials[0], theta, lon))
        places = theta_there.detach(), lon_there.detach()
        lensed = lens(alm, phi, places, error=ERROR)
        plain = evaluate(alm[0], theta_there, lon_there, error=ERROR)
        assert lensed.device.type == plain.device.type == torch.device(device).type
        ((lensed * torch.from_numpy(factors).to(device)).sum() + (plain**2).sum()).backward()
        return [one.detach().cpu().numpy() for one in (lensed, plain, alm.grad, phi.grad, theta_there.grad, lon_there.grad)]

    for found, wanted in zip(gradients("cuda"), gradients("cpu")):
        assert near(found, wanted, LMAX**2 * ERROR)
