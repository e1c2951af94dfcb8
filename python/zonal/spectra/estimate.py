"""Band powers of masked skies, from maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._arrays import sequence, shown, spectrum
from .._checked import checked
from .._devices import DeviceLike, resolve_device
from .._maps import require_same_coordinates
from .._notes import warn
from .._threads import resolve
from .bins import Bins
from .blocks import Block
from .covariance import CovarianceReport, warn_of_loss
from .fields import Field
from .result import BandPowers


@checked
def estimate(fields: Field | Sequence[Field], bins: Bins, *, theory: ArrayLike | Mapping[str, ArrayLike] | None = None,
             lmax_sky: int | None = None, low_degrees: bool | None = None, exact_lmax: int = 32, threads: int | None = None,
             device: DeviceLike = "cpu") -> BandPowers:
    """Returns the band powers of masked maps: all spectra of one `Field`, or all of several with themselves and each other.

    Pseudo-spectra C~ of the maps times their masks have the mean M C + N~; what M does, with beams and pixel windows, is divided out
    in bands, and the noise that fields have is taken off: K^-1 B (C~ - N~), K = B M U (Hivon et al. 2002, doi:10.1086/338126; Alonso
    et al. 2019, doi:10.1093/mnras/stz093). M is made once for each pair of masks that differ. Maps and masks are analysed by plain
    sums over pixels, so that bands have the mean F C (`BandPowers.theory`) exactly, for any mask of any values, for a sky that ends at
    lmax_sky and is sampled at the pixels' centres.

    theory: the spectra of the sky that all fields see, TT or a mapping of TT, EE, BB, TE, TB and EB up to lmax_sky; those that are missing are
    0. With them the result has error bars and a covariance: those of a Gaussian sky, and of the noise that fields name, each its own. They
    are exact for degrees up to exact_lmax (-1: nowhere), and the improved narrow-kernel approximation above: see
    `zonal.spectra.covariance`. All fields must then be on one grid.
    lmax_sky: what the windows F know of the sky; power beyond it is not accounted for. By default a quarter above the bins' lmax.
    low_degrees: whether the degrees 0 and 1 of TT, where they are below the bins, have bands of their own, which are not returned, so
    that a monopole or dipole does not reach the others; by default where that leaves the condition of K below 1000. Else remove the mean
    under the mask, by `zonal.remove_dipole`.
    device: of the transforms and of M; error bars are computed on the CPU.

    A condition of K above 1000 gives a ZonalWarning. Raises ValueError where it is above 1e8, and names a width of the bands that the
    mask allows.

    >>> sky = zonal.synfast(np.ones(49), 16, seed=1)
    >>> field = zonal.spectra.Field(sky, mask=np.arange(sky.size) < 2000)
    >>> powers = zonal.spectra.estimate(field, zonal.spectra.Bins.linear(8, lmax=40))
    >>> powers["TT"].shape
    (4,)
    """
    given = [fields] if isinstance(fields, Field) else sequence("fields", fields)
    if not given or not all(isinstance(field, Field) for field in given):
        raise TypeError(f"fields = {shown(fields)}: must be a zonal.spectra.Field, or a sequence of them")
    if not isinstance(bins, Bins):
        raise TypeError(f"bins = {shown(bins)}: must be zonal.spectra.Bins, such as Bins.linear(30, lmax=1500)")
    for i, field in enumerate(given):
        require_same_coordinates(f"fields[{i}]", field.coordinates, given[0].coordinates, "those of fields[0]")
    most = _core.lmax_sky_of(bins._bins, lmax_sky)
    sky = None if theory is None else _levels(theory, most)
    blocks, mask_spectra, numbers, notes, covariance, report = _core.estimate_bands(
        [field._given(most) for field in given], bins._bins, most, low_degrees, sky, exact_lmax, resolve(threads),
        resolve_device(device))
    warn(notes)
    warn_of_loss(CovarianceReport(*report), "give a larger lmax_sky, or exact_lmax = -1")
    mask_of = {(i, part.letter): number for i, field in enumerate(given) for part, number in zip(field._parts, numbers[i])}
    return BandPowers(bins, most, [Block(*block) for block in blocks], [field.unit for field in given], mask_spectra, mask_of,
                      None if sky is None else covariance)


def _levels(theory: ArrayLike | Mapping[str, ArrayLike], lmax: int) -> NDArray[np.float64]:
    """The spectra of the sky, [3, 3, lmax + 1] for T, E and B."""
    found = np.zeros((3, 3, lmax + 1))
    for name, values in (theory if isinstance(theory, Mapping) else {"TT": theory}).items():
        if name not in ("TT", "EE", "BB", "TE", "TB", "EB"):
            raise ValueError(f"theory: has {shown(name)}: must have names of TT, EE, BB, TE, TB, EB")
        given = spectrum(f"theory[{name!r}]", values)
        if len(given) <= lmax:
            raise ValueError(f"theory[{name!r}]: ends at l = {len(given) - 1}: must reach lmax_sky = {lmax}")
        x, y = ("TEB".index(letter) for letter in name)
        found[x, y] = found[y, x] = given[:lmax + 1]
    return found
