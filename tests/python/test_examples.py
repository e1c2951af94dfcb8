"""The programs of examples/python, at small size."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import zonal


def example(name):
    path = Path(__file__).parents[2] / "examples" / "python" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def doubles():
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def test_the_wiener_filter_is_that_of_healpy(doubles):
    """Both stop at a residual of 1e-10; the matrix has eigenvalues from 1 to 1 + S/N, below 1e3 here."""
    program = example("wiener_filter")
    c_l, data, weight = program.simulate(8, 16, sigma=0.3)
    sht = zonal.SHT(zonal.Grid.healpix(8), 16)
    alm = doubles.jit(lambda d, w: program.wiener_filter(c_l, d, w, sht, tolerance=1e-10))(data, weight)
    peer = program.wiener_filter_with_healpy(c_l, data, weight, 8, tolerance=1e-10)
    assert np.linalg.norm(alm - peer) <= 1e-7 * np.linalg.norm(peer)
    drawn = program.sample(c_l, data, weight, sht, doubles.random.key(1))
    # A sky that the data allow has the variance that the filter takes away.
    assert np.linalg.norm(drawn) > np.linalg.norm(peer)


def test_component_separation_finds_the_indices(doubles):
    """Errors of 4 sigma are of the order of 1e-4; the parameters stop moving."""
    program = example("component_separation")
    maps, fwhm = program.simulate(16, 32)
    sht = zonal.SHT(zonal.Grid.healpix(16), 32)
    parameters, errors, skies = doubles.jit(lambda d: program.separate(d, fwhm, 0.02, sht))(maps)
    assert np.all(abs(parameters[:2] - program.TRUE_INDICES) < 4 * errors[:2]) and np.all(errors[:2] < 0.05)
    more = doubles.jit(lambda d: program.separate(d, fwhm, 0.02, sht, steps=9))(maps)[0]
    np.testing.assert_allclose(more, parameters, rtol=0, atol=1e-9)
    assert skies.shape == (3, 3072) and np.isfinite(skies).all()


def test_the_spherical_network_learns_and_does_not_see_how_a_map_is_turned():
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    program = example("spherical_cnn")
    sht = zonal.SHT(zonal.Grid.healpix(8), 16)
    network = program.TiltNetwork(sht)
    maps, tilts = program.simulate(32, 8, 16, seed=1)
    losses = program.train(network, maps, tilts, steps=40)
    assert np.mean(losses[-5:]) < 0.3 * np.mean(losses[:5])
    turned = np.stack([zonal.rotate_map(m, (0.4, 1.1, 2.0), lmax=16) for m in maps.numpy()])
    with torch.no_grad():
        assert (network(maps) - network(torch.from_numpy(turned))).abs().max() < 0.1 * tilts.std()
