"""How results under healpy's names are compared with healpy's."""

import numpy as np


def agree(found, expected, atol=1e-14):
    """Types, shapes and dtypes agree, integers to the last bit and the rest within atol (and 1e-14 of each)."""
    assert type(found) is type(expected)
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            agree(one, other, atol)
        return
    assert np.shape(found) == np.shape(expected)
    assert np.asarray(found).dtype.char == np.asarray(expected).dtype.char
    if np.asarray(expected).dtype.kind in "iub":
        np.testing.assert_array_equal(found, expected)
    else:
        # Both round, in as many operations as the caller's atol is for.
        np.testing.assert_allclose(np.ma.getdata(found), np.ma.getdata(expected), rtol=1e-14, atol=atol)
    if np.ma.isMaskedArray(expected):
        np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
        assert found.fill_value == expected.fill_value


def agree_within(found, expected, tolerance):
    """Types, shapes and dtypes agree, and differences are at most tolerance times the largest good value."""
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for one, other in zip(found, expected):
            agree_within(one, other, tolerance)
        return
    assert type(found) is type(expected)
    assert np.shape(found) == np.shape(expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    ours, theirs = np.ma.getdata(found), np.ma.getdata(expected)
    good = np.abs(theirs) < 1e30
    np.testing.assert_array_equal(np.abs(ours) < 1e30, good)
    np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
    np.testing.assert_allclose(ours[good], theirs[good], rtol=0, atol=tolerance * np.abs(theirs[good]).max())
