"""zonal.torch without PyTorch: values of its functions, and what its operators register, on the arrays of torch_stand_in."""

import numpy as np
import pytest

import gradient_cases
import torch_stand_in
import zonal
from gradient_cases import ROUNDING
from torch_stand_in import from_numpy

LMAX = 4
SCALAR = zonal.SHT(zonal.Grid.healpix(2), LMAX)
NARROW = zonal.SHT(zonal.Grid.healpix(2), LMAX, mmax=1)
PAIR = zonal.SHT(zonal.Grid.gauss_legendre(5, 9), LMAX, mmax=3, spin=2)
BEAM = np.exp(-np.arange(LMAX + 1) / 5)
TURN = (0.3, 0.7, -1.1)
# Some 300 products of order 1 of what a transform makes, which is off by eps * lmax: a random walk, with a margin of five.
SUM = 5 * np.sqrt(300) * LMAX * np.finfo(float).eps
# Operators, the transform, what they take, and their arguments behind it.
OPERATORS = [("synthesize", PAIR, "alm", ()), ("synthesize", SCALAR, "alm", ()), ("adjoint", PAIR, "map", ()), ("adjoint", SCALAR, "map", ()),
             ("analyze", SCALAR, "map", (-1,)), ("analyze", PAIR, "map", (1,)), ("analyze_back", SCALAR, "alm", (-1,)),
             ("analyze_back", PAIR, "alm", (1,)), ("weigh", SCALAR, "map", ()), ("rotate_alm", SCALAR, "alm", (*TURN, -1, -1, -1, 1)),
             ("rotate_alm", SCALAR, "alm", (*TURN, LMAX, LMAX, 2, 1)), ("rotate_alm", NARROW, "alm", (*TURN, LMAX, 1, LMAX, 1))]


# Those of values at points and of lensing, which have tests of their own.
OF_POINTS = ["at_points", "from_points", "slopes_at_points", "lens", "lens_back"]


@pytest.fixture
def zt(monkeypatch):
    return torch_stand_in.zonal_torch(monkeypatch)[0]


@pytest.fixture
def operators(monkeypatch):
    return torch_stand_in.zonal_torch(monkeypatch)[1].operators


def array(sht, kind, rng, *axes):
    """alm of m = 0 have imaginary parts, which must have no effect."""
    shape = (*axes, *((2,) if sht.spin else ()), sht.n_alm if kind == "alm" else sht.grid.n_pixels)
    values = rng.standard_normal(shape)
    return from_numpy(values + 1j * rng.standard_normal(shape) if kind == "alm" else values)


def arguments_of(name, sht, rest):
    return rest if name == "rotate_alm" else (sht._number, *rest)


def product(a, b):
    return float((np.conj(a) * b).real.sum())


def test_the_operators_are_those_that_are_tested(operators):
    assert sorted(operators) == sorted({f"zonal::{name}" for name, *_ in OPERATORS} | {f"zonal::{name}" for name in OF_POINTS})
    for name, operator in operators.items():
        if not name.startswith("zonal::lens"):
            assert operator.schema.startswith("(Tensor array, ") and operator.schema.endswith(") -> Tensor")


@pytest.mark.parametrize("name, sht, kind, rest", OPERATORS)
def test_gradients_are_transposes(operators, name, sht, kind, rest, rng):
    """Re <grad, O x> is Re <gradient, x>. The gradient is linear in grad, and its operators have gradients in the same way."""
    operator, rest = operators[f"zonal::{name}"], arguments_of(name, sht, rest)
    given = array(sht, kind, rng)
    made = operator(given, *rest)
    grad = rng.standard_normal(made.shape)
    grad = from_numpy(grad + 1j * rng.standard_normal(made.shape) if made.is_complex() else grad)
    gradient = operator.gradient(grad, given, *rest)
    assert gradient.shape == given.shape and gradient.dtype == given.dtype
    np.testing.assert_allclose(product(gradient, given), product(grad, made), rtol=0, atol=SUM)


@pytest.mark.parametrize("name, sht, kind, rest", OPERATORS)
def test_batches_and_empty_results_have_the_shape_of_the_result(operators, name, sht, kind, rest, rng):
    operator, rest = operators[f"zonal::{name}"], arguments_of(name, sht, rest)
    given = array(sht, kind, rng, 3, 2)
    made = operator(given, *rest)
    for i in range(3):
        np.testing.assert_allclose(made[i, 1], operator(given[i, 1], *rest), **ROUNDING)
    for precision in ("float32", "float64"):
        short = given.to(np.result_type(precision, np.complex64) if kind == "alm" else np.dtype(precision))
        empty, full = operator.fake(short, *rest), operator(short, *rest)
        assert empty.shape == full.shape and empty.dtype == full.dtype
    moved, axis = operator.batched(None, (1, *[None] * len(rest)), given, *rest)
    assert axis == 0
    np.testing.assert_allclose(moved, np.moveaxis(made, 1, 0), **ROUNDING)


def test_an_operator_keeps_its_transform_until_backward(operators, rng):
    sht = zonal.SHT(zonal.Grid.healpix(2), LMAX)
    context = type("Context", (), {})()
    operators["zonal::adjoint"].setup(context, (array(sht, "map", rng), sht._number), None)
    assert context.sht is sht


@pytest.mark.parametrize("sht", [SCALAR, PAIR], ids=["spin 0", "spin 2"])
def test_values_are_those_of_the_plain_functions(zt, sht, rng):
    weights = np.linspace(0.5, 1, sht.grid.n_pixels)
    beam = from_numpy(BEAM)
    made = {name: (function, kind) for name, function, kind in gradient_cases.functions_of(zt, sht, beam, from_numpy(weights), TURN)}
    wanted = {"synthesize": sht.synthesize, "adjoint": sht.adjoint, "analyze": lambda f: sht.analyze(f, iterations=2),
              "analyze with weights": lambda f: sht.analyze(f, iterations=1, pixel_weights=weights),
              "convolve": lambda f: sht.synthesize(zonal.almxfl(sht.analyze(f), BEAM, LMAX, sht.mmax)),
              "smooth": lambda f: sht.synthesize(zonal.almxfl(sht.analyze(f), zonal.gaussian_window("20deg", LMAX, sht.spin), LMAX, sht.mmax)),
              "almxfl": lambda a: zonal.almxfl(a, BEAM, LMAX, sht.mmax),
              "synalm": lambda a: zonal.almxfl(a, np.sqrt(BEAM), LMAX, sht.mmax),
              "rotate_alm": lambda a: zonal.rotate_alm(a, TURN, LMAX, sht.mmax, mmax_out=2)}
    for name, function in wanted.items():
        call, kind = made.pop(name)
        given = array(sht, kind, rng)
        np.testing.assert_allclose(call(given), function(given.numpy()), **ROUNDING, err_msg=name)
    assert list(made) == ["alm2cl"]


def test_spectra_are_those_of_the_plain_function(zt, rng):
    alm, other = (array(SCALAR, "alm", rng) for _ in range(2))
    for one in (alm, other):
        one[: LMAX + 1] = one[: LMAX + 1].real
    np.testing.assert_allclose(zt.alm2cl(alm, other, lmax=LMAX), zonal.alm2cl(alm.numpy(), other.numpy()), **ROUNDING)


def test_the_window_of_a_profile_is_that_of_the_kernel(zt):
    kernel = zonal.Kernel.gaussian("10deg")
    made = zt.profile_window(lambda theta: from_numpy(kernel.profile(theta.numpy())), 40)
    np.testing.assert_allclose(made, kernel.window(40), rtol=0, atol=1e-12)  # what Kernel.window promises


def test_a_mask_hides_what_is_not_finite(zt, rng):
    sky, mask = array(SCALAR, "map", rng), from_numpy((rng.uniform(size=48) > 0.3).astype(float))
    made = zt.analyze(from_numpy(np.where(mask > 0, sky, np.nan)), SCALAR, mask=mask)
    np.testing.assert_allclose(made, SCALAR.analyze((sky * mask).numpy()), **ROUNDING)


def test_arrays_that_do_not_fit_are_refused(zt):
    ones = lambda *shape: from_numpy(np.ones(shape))
    for call, message in [(lambda: zt.synthesize(ones(5), SCALAR), r"alm: has shape \(5,\): must be \[..., 15\]"),
                          (lambda: zt.analyze(ones(5), SCALAR), r"map: has shape \(5,\): must be \[..., 48\]"),
                          (lambda: zt.analyze(ones(48), SCALAR, iterations=-1), "iterations = -1: must be"),
                          (lambda: zt.almxfl(ones(15), ones(3), LMAX), r"window: has shape \(3,\)"),
                          (lambda: zt.alm2cl(ones(15), lmax=LMAX, mmax=LMAX + 1), "mmax = 5: must be from 0 to lmax = 4"),
                          (lambda: zt.gaussian_window(ones(LMAX + 1), LMAX), r"fwhm: has shape \(5,\)")]:
        with pytest.raises(ValueError, match=message):
            call()
    for call, message in [(lambda: zt.adjoint(1j * ones(48), SCALAR), "map: must hold real numbers, not complex"),
                          (lambda: zt.analyze(np.ones(48), SCALAR), "map: must be a torch.Tensor, not ndarray"),
                          (lambda: zt.synthesize(ones(15), SCALAR.grid), "sht: must be a zonal.SHT, not Grid")]:
        with pytest.raises(TypeError, match=message):
            call()


PLACES = np.array([0.3, 1.2, 2.9]), np.array([0.1, -4.0, 7.0])


@pytest.mark.parametrize("spin", [0, 2])
def test_values_at_points_and_their_transposes(zt, operators, spin, rng):
    theta, phi = map(from_numpy, PLACES)
    transform = zonal.PointTransform(*PLACES, LMAX, spin, 1e-12)
    shape = (3, *((2,) if spin else ()))
    alm = from_numpy(rng.standard_normal((*shape, 15)) + 1j * rng.standard_normal((*shape, 15)))
    made = zt.evaluate(alm, theta, phi, LMAX, spin, 1e-12)
    np.testing.assert_allclose(made, transform.synthesize(alm.numpy()), **ROUNDING)
    rest = (theta, phi, LMAX, LMAX, spin, 1e-12, 1)
    weights = from_numpy(rng.standard_normal(made.shape))
    by_alm, by_theta, by_phi, *others = operators["zonal::at_points"].gradients(weights, alm, *rest)
    assert others == [None] * 5
    np.testing.assert_allclose(product(by_alm, alm), product(weights, made), rtol=0, atol=SUM)
    _, south, east = transform.synthesize(alm.numpy(), gradient=True)
    for found, slopes in ((by_theta, south), (by_phi, east)):
        np.testing.assert_allclose(found, (weights.numpy() * slopes).reshape(-1, 3).sum(0), rtol=0, atol=SUM)
    # The adjoint's gradient is the transpose of the adjoint, and what it does at other points the same sums.
    back = operators["zonal::from_points"](weights, *rest, 15)
    given = from_numpy(rng.standard_normal(back.shape) + 1j * rng.standard_normal(back.shape))
    by_values, by_theta, by_phi, *_ = operators["zonal::from_points"].gradients(given, weights, *rest, 15)
    np.testing.assert_allclose(product(by_values, weights), product(given, back), rtol=0, atol=SUM)
    for name, array, extra in (("at_points", alm, ()), ("from_points", weights, (15,)), ("slopes_at_points", alm, ())):
        operator = operators[f"zonal::{name}"]
        full, empty = operator(array, *rest, *extra), operator.fake(array, *rest, *extra)
        assert full.shape == empty.shape and full.dtype == empty.dtype
    with pytest.raises(NotImplementedError, match="gradients by positions have no gradients"):
        operators["zonal::slopes_at_points"].gradients(made, alm, *rest)


@pytest.mark.parametrize("fields", ["T", "TEB"])
def test_lensing_and_its_gradients(monkeypatch, fields, rng):
    zt, torch = torch_stand_in.zonal_torch(monkeypatch)
    operators = torch.operators
    shape = (3, 15) if fields == "TEB" else (15,)
    alm = from_numpy(rng.standard_normal(shape) + 1j * rng.standard_normal(shape))
    potential = from_numpy(0.02 * (rng.standard_normal(15) + 1j * rng.standard_normal(15)))
    lensing = zonal.Lensing(potential.numpy(), 2, LMAX, fields=fields)
    made = zt.lens(alm, potential, 2)
    np.testing.assert_array_equal(made, lensing.lens(alm.numpy()))
    theta, phi = map(from_numpy, PLACES)
    np.testing.assert_array_equal(zt.lens(alm, potential, (theta, phi)), zonal.lens(alm.numpy(), potential.numpy(), PLACES))
    weights, nowhere = from_numpy(rng.standard_normal(made.shape)), from_numpy(np.empty(0))
    number = next(iter(zt.lens.__globals__["_numbers"].values()))
    rest = (nowhere, nowhere, number, LMAX, LMAX, 1e-7, 1)
    by_alm, by_potentials, *others = operators["zonal::lens"].gradients(weights, alm, potential[None], *rest)
    assert others == [None] * 7
    counts = np.where(np.arange(15) <= LMAX, 1, 2)
    np.testing.assert_allclose(by_alm, counts * lensing.adjoint(weights.numpy()), **ROUNDING)
    np.testing.assert_allclose(by_potentials[0], counts * lensing.differentiate(alm.numpy(), weights.numpy()), **ROUNDING)
    empty = operators["zonal::lens"].fake(alm, potential[None], *rest)
    assert empty.shape == made.shape and empty.dtype == made.dtype
    with pytest.raises(NotImplementedError, match="first order alone"):
        operators["zonal::lens_back"].gradients(weights, weights, alm, potential[None], *rest)
