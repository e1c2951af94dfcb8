"""Projections of the sphere onto the plane, and back."""

import numpy as np
import pytest

from zonal.plot import projections
from zonal.plot.view import directions

ALL = [projections.Mollweide(), projections.Mollweide(False), projections.Hammer(), projections.Aitoff(),
       projections.Cartesian(), projections.Cartesian(lon=(100, 300)), projections.Gnomonic(half_width=1.0),
       projections.EqualArea(), projections.Equidistant(), projections.EqualArea(max_angle=1.0),
       projections.Orthographic(), projections.Orthographic(both_sides=True),
       projections.Orthographic(False, both_sides=True)]
every_projection = pytest.mark.parametrize("projection", ALL, ids=lambda p: f"{p.name}{p.extent}{p.east_left}")


@pytest.fixture
def vectors(rng):
    """Unit vectors all over the sphere, and near its poles, its middle and the far side."""
    v = rng.standard_normal((3, 5000))
    near = np.concatenate([[axis + 10.0**-k * rng.standard_normal(3) for k in (1, 3, 6, 9)]
                           for axis in ([0, 0, 1], [0, 0, -1], [1, 0, 0], [-1, 0, 0])])
    v = np.concatenate([v, near.T, np.eye(3), -np.eye(3)], axis=1)
    return v / np.linalg.norm(v, axis=0)


@every_projection
def test_projections_invert(projection, vectors):
    x, y = projection.forward(vectors)
    shown = np.isfinite(x)
    assert shown.mean() > 0.1 and np.array_equal(shown, np.isfinite(y))
    back = projection.inverse(x, y)[:, shown]
    # Half of the digits remain at the rim (arcsin r), at Mollweide's poles (u - sin u = b), and opposite to the middle.
    away = (np.abs(vectors[0]) > 1e-3) & (np.hypot(*vectors[:2]) > 1e-3) & (np.hypot(*vectors[1:]) + vectors[0] > -0.99)
    away = away[shown]
    assert np.abs(back - vectors[:, shown]).max() < 1e-7
    np.testing.assert_allclose(back[:, away], vectors[:, shown][:, away], rtol=0, atol=1e-12)


@every_projection
def test_points_on_paper_come_back(projection, rng):
    x0, x1, y0, y1 = projection.extent
    x, y = rng.uniform(1.1 * x0, 1.1 * x1, 5000), rng.uniform(1.1 * y0, 1.1 * y1, 5000)
    v = projection.inverse(x, y)
    shown = np.isfinite(v[0])
    assert 0.3 < shown.mean() and (projection.name in ("Cartesian", "Gnomonic") or shown.mean() < 0.9)
    np.testing.assert_allclose(np.linalg.norm(v[:, shown], axis=0), 1, rtol=1e-14)
    back = np.array(projection.forward(v[:, shown]))
    inside = (np.abs(back[0]) < 0.99 * max(-x0, x1)) & (x[shown] > x0) & (x[shown] < x1)
    # Some eight roundings, which at 0.99 of the way to the rim count 1 / sqrt(1 - 0.99^2) = 7 times.
    rounding = 7 * 8 * np.finfo(float).eps * (x1 - x0)
    np.testing.assert_allclose(back[:, inside], np.array([x, y])[:, shown][:, inside], rtol=0, atol=rounding)


@pytest.mark.parametrize("projection", [projections.Mollweide(), projections.Hammer(), projections.EqualArea()])
def test_areas_are_kept(projection):
    middle, step = np.array(np.meshgrid(np.linspace(-2, 2, 41), np.linspace(-1.2, 1.2, 31))).reshape(2, -1), 1e-5
    corners = [projection.forward(directions(middle[0] + a, middle[1] + b)) for a, b in ((step, 0), (-step, 0),
                                                                                        (0, step), (0, -step))]
    (xa, ya), (xb, yb), (xc, yc), (xd, yd) = corners
    area = np.abs((xa - xb) * (yc - yd) - (xc - xd) * (ya - yb)) / np.cos(middle[1])
    # Differences of 2e-5 have an error of 1e-10 times the third derivative, which is below 20 here, and 1e-11 by rounding.
    np.testing.assert_allclose(area / area[0], 1, rtol=0, atol=20 * 1e-10)
