"""zonal.jax: values of the plain functions, derivatives against differences, one call for a batch.

ZONAL_TEST_DEVICE=cuda runs the transforms on a GPU, where JAX has one.
"""

import gc
import os
import subprocess
import sys
import weakref

import healpy
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import gradient_cases
import zonal
import zonal.jax as zj
from gradient_cases import DEVICE, ROUNDING, SAME, arrays

jax.config.update("jax_enable_x64", True)

LMAX = 6
SCALAR = zonal.SHT(zonal.Grid.healpix(4), LMAX, device=DEVICE)
# Fewer orders than degrees, and the exact quadrature of another grid.
PAIR = zonal.SHT(zonal.Grid.gauss_legendre(7, 13), LMAX, mmax=4, spin=2, device=DEVICE)
# Where the weights are not exact, but the analysis is.
EQUIDISTANT = zonal.SHT(zonal.Grid.driscoll_healy(7, 13), LMAX, spin=1, device=DEVICE)
BEAM = np.exp(-np.arange(LMAX + 1) / 5)
# What Kernel.window promises.
WINDOW = {"rtol": 0, "atol": 1e-12}


def gradients_hold(function, *arguments):
    """Against central differences, forward and reverse, of the function and of its derivative.

    The step's errors, of the order of eps^2 and of 1e-16 / eps, are far below the tolerance of 1e-5.
    """
    check_grads(jax.jit(function), arguments, order=2, eps=1e-5)


def functions(sht):
    return gradient_cases.functions_of(zj, sht, BEAM, np.linspace(0.5, 1, sht.grid.n_pixels), (0.3, 0.7, -1.1))


CASES = gradient_cases.cases(functions, (SCALAR, PAIR, EQUIDISTANT))


@pytest.mark.parametrize("sht, function, kind", CASES)
def test_derivatives_hold(sht, function, kind, rng):
    sky, alm = arrays(sht, rng)
    gradients_hold(function, sky if kind == "map" else alm)


@pytest.mark.parametrize("sht, function, kind", CASES)
def test_vmap_is_one_call_with_the_same_results(sht, function, kind, rng):
    one = arrays(sht, rng)[kind == "alm"]
    batch = np.stack([one, 2 * one[..., ::-1], -one])
    np.testing.assert_allclose(jax.vmap(function)(batch), np.stack([function(x) for x in batch]), **ROUNDING)
    np.testing.assert_allclose(jax.vmap(function, -1, -1)(np.moveaxis(batch, 0, -1)),
                               np.moveaxis(function(batch), 0, -1), **ROUNDING)

    def calls(f, x):
        return sorted(str(jax.make_jaxpr(f)(x)).split().count(f"{name}[") for name in ("zonal_synthesize", "zonal_adjoint"))

    assert calls(jax.vmap(function), batch) == calls(function, one)


@pytest.mark.parametrize("sht", [SCALAR, PAIR])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_are_those_of_the_plain_functions(sht, dtype, rng):
    sky, alm = arrays(sht, rng, dtype)
    for made, wanted in [(zj.synthesize(alm, sht), sht.synthesize(alm)), (zj.adjoint(sky, sht), sht.adjoint(sky)),
                         (zj.analyze(sky, sht), sht.analyze(sky)),
                         (jax.jit(lambda f: zj.analyze(f, sht, iterations=1))(sky), sht.analyze(sky, iterations=1))]:
        assert made.dtype == wanted.dtype
        np.testing.assert_allclose(made, wanted, **SAME)
    if dtype == np.float64:
        weights = np.linspace(0.5, 1, sht.grid.n_pixels)
        np.testing.assert_allclose(zj.analyze(sky, sht, iterations=1, weights=weights),
                                   sht.analyze(sky, iterations=1, pixel_weights=weights), **ROUNDING)
        np.testing.assert_allclose(zj.gaussian_window("20deg", LMAX, sht.spin), zonal.gaussian_window("20deg", LMAX, sht.spin),
                                   rtol=4 * np.finfo(float).eps)  # two products in an exponential


def test_coefficients_are_those_of_the_plain_functions_and_of_healpy(rng):
    alm = np.stack([arrays(SCALAR, rng)[1] for _ in range(2)])
    alm[:, : LMAX + 1] = alm[:, : LMAX + 1].real
    turn = (0.3, 0.7, -1.1)
    np.testing.assert_allclose(zj.rotate_alm(alm, turn), zonal.rotate_alm(alm, turn), **SAME)
    np.testing.assert_allclose(zj.rotate_alm(alm, turn, mmax_out=2), zonal.rotate_alm(alm, turn, mmax_out=2), **SAME)
    np.testing.assert_allclose(zj.almxfl(alm, BEAM), zonal.almxfl(alm, BEAM), **SAME)
    np.testing.assert_allclose(zj.alm2cl(alm)[1], healpy.alm2cl(alm[1]), **ROUNDING)
    np.testing.assert_allclose(zj.alm2cl(alm[0], alm[1]), zonal.alm2cl(alm[0], alm[1]), **ROUNDING)
    np.testing.assert_allclose(zj.synthesize(alm[0], SCALAR), healpy.alm2map(alm[0], 4, lmax=LMAX), **ROUNDING)
    sky = arrays(SCALAR, rng)[0]
    np.testing.assert_allclose(zj.smooth(sky, 0.3, SCALAR), healpy.smoothing(sky, fwhm=0.3, lmax=LMAX), **ROUNDING)


def test_derivatives_hold_for_beams_spectra_masks_and_profiles(rng):
    sky, alm = arrays(SCALAR, rng)
    mask = rng.uniform(size=sky.shape)
    gradients_hold(lambda b: zj.convolve(sky, b, SCALAR), BEAM)
    gradients_hold(lambda fwhm: zj.smooth(sky, fwhm, SCALAR), 0.3)
    gradients_hold(lambda c: zj.synthesize(zj.synalm(c, alm), SCALAR), BEAM)
    gradients_hold(lambda w: zj.analyze(sky, SCALAR, mask=w), mask)
    gradients_hold(lambda w: zj.analyze(sky, SCALAR, weights=w, iterations=1), mask)
    gradients_hold(lambda a, b: zj.alm2cl(a, b), alm, alm[::-1])
    gradients_hold(lambda k: zj.profile_window(lambda theta: jnp.exp(-k * theta**2), LMAX, n_nodes=20), 3.0)


def test_spectra_that_have_no_root_give_nan():
    """Every second degree has a spectrum of 0, whose derivative here is 0."""
    c_l = jnp.array([1.0, 0.0, -1.0, 0.0, np.nan])
    made = zj.synalm(c_l, np.ones(15))[:5]
    gradient = jax.grad(lambda c: zj.synalm(c, np.ones(15)).real[:5].sum())(c_l)
    assert np.isnan(made).tolist() == [False, False, True, False, True]
    assert gradient[0] == 0.5 and (gradient[1::2] == 0).all()


def test_a_mask_hides_what_is_not_finite(rng):
    sky, _ = arrays(SCALAR, rng)
    mask = (rng.uniform(size=sky.shape) > 0.3).astype(float)
    holes = np.where(mask, sky, np.nan)
    gradient = jax.grad(lambda f: (zj.analyze(f, SCALAR, mask=mask).real ** 2).sum())(holes)
    np.testing.assert_allclose(zj.analyze(holes, SCALAR, mask=mask), SCALAR.analyze(sky * mask), **SAME)
    assert np.isfinite(gradient).all() and (np.asarray(gradient)[mask == 0] == 0).all()


def test_the_hessian_of_a_quadratic_is_its_matrix(rng):
    """f -> |S^T f|^2 / 2 over all coefficients of the sky: S D S^T, built from unit maps."""
    sht = zonal.SHT(zonal.Grid.healpix(1), 2, device=DEVICE)
    counts = np.where(np.arange(sht.n_alm) < 3, 1, 2)
    matrix = np.stack([sht.synthesize(sht.adjoint(unit)) for unit in np.eye(12)])

    def quadratic(f):
        alm = zj.adjoint(f, sht)
        return (counts * (alm.real**2 + alm.imag**2)).sum() / 2

    np.testing.assert_allclose(jax.hessian(quadratic)(rng.standard_normal(12)), matrix, **ROUNDING)


def test_the_window_of_a_profile_is_that_of_the_kernel():
    """A Gaussian of 10 degrees has no features below the spacing of 104 nodes."""
    kernel = zonal.Kernel.gaussian("10deg")
    made = zj.profile_window(lambda theta: kernel.profile(np.asarray(theta)), 40)
    np.testing.assert_allclose(made, kernel.window(40), **WINDOW)
    disc = zonal.Kernel.top_hat("30deg")
    height = disc.profile(0.0)
    made = zj.profile_window(lambda theta: jnp.full_like(theta, height), 40, support=np.deg2rad(30))
    np.testing.assert_allclose(made, disc.window(40), **WINDOW)


def test_programs_call_the_library_without_python(rng):
    text = jax.jit(lambda a: zj.synthesize(a, SCALAR)).lower(arrays(SCALAR, rng)[1]).as_text()
    assert "zonal_synthesize" in text and "callback" not in text


def test_a_program_keeps_its_transform(rng):
    sht = zonal.SHT(zonal.Grid.healpix(2), 3, device=DEVICE)
    gone, alm = weakref.ref(sht), rng.standard_normal(sht.n_alm) + 0j
    wanted = sht.synthesize(alm)
    program = jax.jit(lambda a, sht=sht: zj.synthesize(a, sht)).lower(alm).compile()
    del sht
    jax.clear_caches()
    gc.collect()
    np.testing.assert_allclose(program(alm), wanted, **SAME)
    del program
    jax.clear_caches()
    gc.collect()
    assert gone() is None


def test_without_the_handlers_calls_go_through_python(rng, monkeypatch):
    monkeypatch.setattr(zj, "_has_target", lambda *_, **__: False)
    jax.clear_caches()
    for sht in (SCALAR, PAIR):
        sky, alm = arrays(sht, rng)
        for function, kind in [(f, k) for name, f, k in functions(sht) if name in ("synthesize", "adjoint", "analyze", "rotate_alm")]:
            given = sky if kind == "map" else alm
            assert "callback" in jax.jit(function).lower(given).as_text()
            made = np.asarray(jax.jit(function)(given))
            monkeypatch.undo()
            jax.clear_caches()
            np.testing.assert_allclose(made, function(given), **SAME)
            monkeypatch.setattr(zj, "_has_target", lambda *_, **__: False)
            jax.clear_caches()
    jax.clear_caches()


def test_pixels_in_no_ring_are_0(rng):
    sht = zonal.SHT(zonal.Grid.healpix(4).subset([3, 4, 5]), LMAX)
    sky, alm = arrays(sht, rng)
    np.testing.assert_allclose(jax.jit(lambda a: zj.synthesize(a, sht))(alm), sht.synthesize(alm), **SAME)
    gradients_hold(lambda f: zj.analyze(f, sht, iterations=1), sky)


def test_batches_are_shared_between_devices():
    code = """
import jax, numpy as np, zonal, zonal.jax
from jax.sharding import Mesh, PartitionSpec
sht = zonal.SHT(zonal.Grid.healpix(4), 6)
alm = np.stack([zonal.synalm(np.ones(7), seed=i, dtype=np.complex64) for i in range(4)])
maps = PartitionSpec("maps")
call = jax.shard_map(lambda a: zonal.jax.synthesize(a, sht), mesh=Mesh(jax.devices(), "maps"), in_specs=maps,
                     out_specs=maps, check_vma=False)
made = jax.jit(call)(alm)
assert len(made.sharding.device_set) == 2, made.sharding
np.testing.assert_array_equal(made, sht.synthesize(alm))
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={
        **os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"})


def test_arrays_that_do_not_fit_are_refused():
    for call, message in [(lambda: zj.synthesize(np.ones(5), SCALAR), r"alm: has shape \(5,\): must be \[..., 28\]"),
                          (lambda: zj.analyze(np.ones(5), SCALAR), r"map: has shape \(5,\): must be \[..., 192\]"),
                          (lambda: zj.analyze(np.ones(192), SCALAR, iterations=-1), "iterations = -1: must be"),
                          (lambda: zj.almxfl(np.ones(28), np.ones(3)), r"window: has shape \(3,\)"),
                          (lambda: zj.rotate_alm(np.ones(27), "GC"), "27 coefficients"),
                          (lambda: zj.rotate_alm(1.0, "GC"), r"alm: has shape \(\)"),
                          (lambda: zj.alm2cl(np.ones(28), np.ones(1)), "alm2: has 1 coefficients, and alm has 28"),
                          (lambda: zj.smooth(np.ones(192), jnp.full(LMAX + 1, 0.1), SCALAR), r"fwhm: has shape \(7,\)"),
                          (lambda: zj.profile_window(lambda theta: 1.0, LMAX), r"profile: returns shape \(\)"),
                          (lambda: zj.analyze(zonal.Map(np.ones(48)), SCALAR),
                           "map: is a zonal.Map on healpix nside=2, and this works on healpix nside=4")]:
        with pytest.raises(ValueError, match=message):
            call()
    sky, numbers = np.ones(192), 1j * np.ones(192)
    for call, name in [(lambda: zj.adjoint(numbers, SCALAR), "map"), (lambda: zj.analyze(sky, SCALAR, mask=numbers), "mask"),
                       (lambda: zj.analyze(sky, SCALAR, weights=numbers), "weights"),
                       (lambda: zj.convolve(sky, 1j * BEAM, SCALAR), "window")]:
        with pytest.raises(TypeError, match=f"{name}: must hold real numbers, not complex128"):
            call()
    for call, name in [(lambda: zj.analyze(sky, SCALAR.grid), "Grid"), (lambda: zj.synthesize(SCALAR, sky), "ndarray")]:
        with pytest.raises(TypeError, match=f"sht: must be a zonal.SHT, not {name}"):
            call()


def test_quantities_are_refused():
    """JAX's arrays have no units, so that one which was given would be lost. Angles are converted, and a Map keeps its own."""
    units = pytest.importorskip("astropy.units")
    sky, alm, spectrum = np.ones(192) * units.K, np.ones(28) * units.uK, BEAM * units.K**2
    for call, name, unit in [(lambda: zj.analyze(sky, SCALAR), "map", "K"), (lambda: zj.adjoint(sky, SCALAR), "map", "K"),
                             (lambda: zj.analyze(sky.value, SCALAR, mask=sky), "mask", "K"),
                             (lambda: zj.synthesize(alm, SCALAR), "alm", "uK"), (lambda: zj.rotate_alm(alm, "GC"), "alm", "uK"),
                             (lambda: zj.alm2cl(alm.value, alm), "alm2", "uK"),
                             (lambda: zj.synalm(spectrum, alm.value), "c_l", "K2"),
                             (lambda: zj.convolve(sky.value, spectrum, SCALAR), "window", "K2"),
                             (lambda: zj.profile_window(lambda theta: np.asarray(theta) / units.sr, LMAX), "profile", "1 / sr")]:
        with pytest.raises(TypeError, match=f"^{name}: has the unit {unit}, and JAX's arrays have none: give its numbers"):
            call()
    np.testing.assert_array_equal(zj.smooth(sky.value, 10 * units.deg, SCALAR), zj.smooth(sky.value, "10deg", SCALAR))
    np.testing.assert_array_equal(zj.adjoint(zonal.Map(sky), SCALAR), zj.adjoint(sky.value, SCALAR))


def test_maps_in_nested_order_are_brought_into_that_of_rings(rng):
    sky = arrays(SCALAR, rng)[0]
    mask = rng.uniform(size=sky.shape)
    nested = {name: zonal.Map(healpy.reorder(values, r2n=True), nest=True) for name, values in [("map", sky), ("mask", mask)]}
    np.testing.assert_array_equal(zj.analyze(nested["map"], SCALAR, mask=nested["mask"]), zj.analyze(sky, SCALAR, mask=mask))
    np.testing.assert_array_equal(zj.adjoint(nested["map"], SCALAR), zj.adjoint(sky, SCALAR))
