"""What the tests of the transforms against other packages share."""
import numpy as np

import zonal

EPS = np.finfo(float).eps


def random_alm(lmax, mmax, spin, seed):
    """White noise, [components, n_alm], nothing below l = spin, real for m = 0."""
    rng = np.random.default_rng(seed)
    shape = (1 if spin == 0 else 2, zonal.alm_size(lmax, mmax))
    alm = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    alm[:, :lmax + 1] = np.sqrt(2) * alm[:, :lmax + 1].real
    for m in range(min(spin, mmax + 1)):
        first = m * (2 * lmax + 1 - m) // 2
        alm[:, first + m:first + spin] = 0
    return alm


def peer_rounding(lmax, theta):
    """Largest relative error of a peer on rings at theta, for fields of equal rms everywhere.

    The peers run the recurrence of two degrees in cos^2 theta at every latitude. cos^2 theta is rounded by eps / 4,
    which moves theta by eps / (4 sin 2 theta) and the phase l theta with it, and the start value sin^m theta by up to
    m eps; each of l / 2 steps errs by eps / 2. All grow by 1 / sin 2 theta, at most by lmax (docs/how-it-works/methods.md, "Near
    the poles"), so that the peers' first rings are off by 1e-11 to 1e-10 at lmax 1024. Zonal's own error is below
    this everywhere (test_sht_single_modes.py). A factor 4 for the largest of many values."""
    growth = np.minimum(1 / np.maximum(abs(np.sin(2 * theta)), 1e-300), lmax + 1)
    return 4 * EPS * (4 * np.sqrt(lmax + 1) + lmax + 2) * growth


def assert_rings_agree(ours, theirs, ring_of_pixel, theta, lmax):
    """ours, theirs: [components, n_pixels]."""
    rms = np.sqrt((theirs ** 2).mean())
    error = np.zeros(theta.size)
    np.maximum.at(error, ring_of_pixel, abs(ours - theirs).max(axis=0))
    ratio = error / rms / peer_rounding(lmax, theta)
    worst = ratio.argmax()
    assert ratio[worst] <= 1, f"ring {worst}, theta {theta[worst]}: {error[worst] / rms} of rms"


def assert_alm_agree(ours, theirs, n_phi, theta, lmax):
    """Adjoints of white noise, [components, n_alm]: the rings' errors add in proportion to their pixels."""
    rms = np.sqrt((abs(theirs) ** 2).mean())
    bound = np.sqrt((n_phi * peer_rounding(lmax, theta) ** 2).sum() / n_phi.sum())
    assert abs(ours - theirs).max() / rms <= bound
