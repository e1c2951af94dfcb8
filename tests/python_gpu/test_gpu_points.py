"""Transforms at points on a GPU, with arrays of the host and of its memory."""

import pickle

import numpy as np
import pytest

import zonal

LMAX = 16


@pytest.mark.parametrize("spin", [0, 2])
def test_values_at_points_are_the_cpus_in_arrays_of_the_same_library(library, rng, spin):
    theta, phi = np.arccos(rng.uniform(-1, 1, 800)), rng.uniform(-9, 9, 800)
    made = lambda theta, phi, **options: zonal.PointTransform(theta, phi, LMAX, spin, 1e-11, **options)
    cpu = made(theta, phi)
    shape = (3, 2, cpu.n_alm) if spin else (3, cpu.n_alm)
    alm = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    values = cpu.synthesize(alm, gradient=True)
    back = cpu.adjoint(values[0])
    # Either errs by its bound of the largest value on the sphere, which is a few times that of the points.
    near = lambda found, expected, bound: np.abs(found - expected).max() <= 4 * bound * np.abs(expected).max()
    for gpu in (made(theta, phi, device="cuda"), made(library.put(theta), library.put(phi), device="cuda")):
        bound = cpu.bound + gpu.bound
        found = gpu.synthesize(library.put(alm), gradient=True)
        assert all(isinstance(part, library.kind) for part in found)
        assert near(library.get(found[0]), values[0], bound)
        assert all(near(library.get(part), wanted, 13 * bound) for part, wanted in zip(found[1:], values[1:]))
        assert near(library.get(gpu.adjoint(library.put(values[0]))), back, bound * np.sqrt(LMAX))
        assert np.array_equal(gpu.synthesize(alm), library.get(found[0])) and gpu.device == "cuda:0"
        again, report = pickle.loads(pickle.dumps(gpu)).synthesize(library.put(alm), return_report=True)
        assert np.array_equal(library.get(again), library.get(found[0])) and report.mean_error < report.bound == gpu.bound
        assert near(gpu.analyze(values[0]), cpu.analyze(values[0]), 1e-5)


def test_results_go_where_out_says_in_the_memory_of_a_gpu(cupy, rng):
    theta, phi = np.arccos(rng.uniform(-1, 1, 50)), rng.uniform(-9, 9, 50)
    gpu = zonal.PointTransform(theta, phi, LMAX, device="cuda")
    alm = cupy.put(rng.standard_normal(gpu.n_alm) + 0j)
    outs = [cupy.put(np.zeros(50)) for _ in range(3)]
    found = gpu.synthesize(alm, gradient=True, out=outs)
    assert all(one is other for one, other in zip(found, outs))
    assert all(np.array_equal(cupy.get(one), cupy.get(other)) for one, other in zip(found, gpu.synthesize(alm, gradient=True)))
    room = cupy.put(np.zeros(gpu.n_alm, complex))
    assert gpu.adjoint(found[0], out=room) is room and np.array_equal(cupy.get(room), cupy.get(gpu.adjoint(found[0])))


def test_a_function_keeps_its_samples_on_the_gpu(rng):
    theta, phi = np.arccos(rng.uniform(-1, 1, (20, 30))), rng.uniform(-9, 9, 30)
    alm = rng.standard_normal((2, zonal.alm_size(LMAX))) + 1j * rng.standard_normal((2, zonal.alm_size(LMAX)))
    cpu, gpu = (zonal.SphereFunction(alm, spin=2, error=1e-11, device=device) for device in ("cpu", "cuda"))
    assert gpu.device == "cuda:0" and gpu.n_bytes > 0
    for found, expected, factor in zip(gpu(theta, phi, gradient=True), cpu(theta, phi, gradient=True), (1, 13, 13)):
        assert found.shape == (2, 20, 30)
        assert np.abs(found - expected).max() <= 4 * factor * (cpu.bound + gpu.bound) * np.abs(expected).max()


def test_angles_of_points_that_do_not_fit_are_refused(cupy):
    angles = np.linspace(0.1, 1, 10)
    with pytest.raises(TypeError, match="theta: holds float32: must hold float64"):
        zonal.PointTransform(cupy.put(angles.astype(np.float32)), angles, 8, device="cuda")
    with pytest.raises(ValueError, match=r"theta: has shape \(2, 5\)"):
        zonal.PointTransform(cupy.put(angles.reshape(2, 5)), angles, 8, device="cuda")
    with pytest.raises(ValueError, match="works on cpu"):
        zonal.PointTransform(cupy.put(angles), angles, 8)
    with pytest.raises(ValueError, match=r"theta = 4: must be from 0 to pi \(point 3\)"):
        zonal.PointTransform(cupy.put(np.array([1.0, 2, 3, 4])), cupy.put(np.zeros(4)), 8, device="cuda")
