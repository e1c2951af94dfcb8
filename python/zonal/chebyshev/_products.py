"""Sums of products of series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .._checked import checked
from ._coefficients import Product, sums_of
from ._series import Series

Term: TypeAlias = "Sequence[Series | float]"


@checked
def sum_of_products(*terms: Term, full: bool = True) -> Series:
    """Returns a sum of products. Each term, such as (-0.5, u, v), is one product; numbers in it are weights.

    terms: 1 to 8 series each, all on one domain. Each series is transformed once, however often it occurs, and the sum
    is transformed back once, so this is faster than one product after the other. full: returns all coefficients of the
    products; otherwise only the first ones, as many as the longest factor has along each axis. These do not change.

    >>> u, v = Series([1, 2]), Series([0, 1])
    >>> sum_of_products((u, v), (-0.5, v, v)) == u * v - 0.5 * v**2
    True
    """
    return sums_of_products(terms, full=full)[0]


@checked
def sums_of_products(*sums: Sequence[Term], full: bool = True) -> list[Series]:
    """Returns several sums at once, which share the transforms of their factors; see `sum_of_products`.

    >>> u, v = Series([1, 2]), Series([0, 1])
    >>> sums_of_products([(u, v), (2, v, v)], [(u, u)])[1] == u * u
    True
    """
    fields: list[Series] = []
    places: dict[int, int] = {}
    terms: list[Product] = []
    for output, sum_ in enumerate(sums):
        for term in sum_:
            weight, factors = 1.0, []
            for factor in term:
                if not isinstance(factor, Series):
                    weight *= factor
                    continue
                if places.setdefault(id(factor), len(fields)) == len(fields):
                    fields.append(factor)
                factors.append(places[id(factor)])
            terms.append((output, float(weight), tuple(factors)))
    if not fields:
        raise ValueError("terms: hold no series")
    for other in fields:
        fields[0]._require_same_domain(other)
    results = sums_of([f._coefficients for f in fields], len(sums), tuple(terms), full)
    return [Series._of(result, fields[0]._box) for result in results]
