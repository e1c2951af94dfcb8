"""Band powers of masked skies beside NaMaster's: how far the two differ, and the CPU seconds of each in turn. JSON on standard output.

    OMP_NUM_THREADS=1 python bench/namaster.py --nside 64 128 --threads 1 --output bench/results/NAME.json

Two surveys of I, Q and U with pixel windows, uneven white noise and beams, of which the second is half as wide again (--beam: FWHM of the first
times nside, degrees); what is the mask of I in one is that of Q and U in the other. NaMaster does as Zonal does: no iterations, masks up to
twice the last degree of the bins, beams times pixel windows, the same noise pseudo-spectra. Zonal does as NaMaster does: no bands of the degrees
0 and 1, no sky beyond the bins. Differences are over the largest value of each spectrum, or of each matrix; those of windows over the largest of
all windows of a spectrum. of_peers_pseudo: bands that Zonal makes of NaMaster's pseudo-spectra. The times are of one survey with one mask, from
maps to all bands and windows, NaMaster's with one workspace for all spectra (is_teb). Its wheel is not on PyPI: it needs GSL, FFTW, CFITSIO and
libchealpix.
"""
import time

import numpy as np
import pymaster as nmt

import machine
import zonal
import zonal.healpy
from zonal import masks, spectra

NAMES = {(0, 0): ("TT",), (0, 2): ("TE", "TB"), (2, 0): ("ET", "BT"), (2, 2): ("EE", "EB", "BE", "BB")}


def survey_mask(nside, seed):
    """The sky on one side of a curved line, without 20 discs, with an edge 5 degrees wide."""
    rng = np.random.default_rng(seed)
    theta, phi = zonal.Grid.healpix(nside).angles()
    mask = (np.cos(theta) + 0.3 * np.cos((seed + 1) * phi) > -0.2).astype(np.float64)
    for _ in range(20):
        middle = zonal.healpy.pix2vec(nside, rng.integers(mask.size))
        mask[zonal.healpy.query_disc(nside, middle, 0.05 * rng.random())] = 0
    return masks.apodize(mask, "5deg", "sine")


class Survey:
    """Maps of one sky, and what both programs need to know of them."""

    def __init__(self, nside, lmax, number, beam, masks_of):
        l = np.arange(3 * nside)
        sky = {"TT": (l + 10.0) ** -2, "EE": 0.1 * (l + 10.0) ** -2, "BB": 0.01 * (l + 10.0) ** -2, "TE": 0.1 * (l + 10.0) ** -2}
        rng, fwhm = np.random.default_rng(number), np.radians(beam / nside * (1 + number / 2))
        maps = zonal.synfast(sky, nside, seed=1, fwhm=fwhm)
        self.masks = np.stack(masks_of)
        self.variance = 1e-4 * rng.uniform(0.5, 1.5, (2, maps.shape[1]))
        self.maps = maps + np.sqrt(self.variance[[0, 1, 1]]) * rng.standard_normal(maps.shape)
        self.beam = zonal.healpy.gauss_beam(fwhm, lmax, pol=True).T[:3]
        self.pixel_window = np.stack(zonal.healpy.pixwin(nside, pol=True, lmax=lmax))

    def field(self):
        """Zonal's."""
        return spectra.Field(self.maps, mask=self.masks, beam=self.beam, pixel_window=True, variance=self.variance)

    def peer_field(self, spin, lmax):
        part = min(spin, 1)
        return nmt.NmtField(self.masks[part], self.maps[:1] if spin == 0 else self.maps[1:], beam=self.beam[part] * self.pixel_window[part],
                            n_iter=0, n_iter_mask=0, lmax=lmax, lmax_mask=2 * lmax)

    def noise(self, spin, lmax):
        """The pseudo-spectra of white noise, [spectrum, l], which NaMaster leaves to its users: sum Omega^2 u^2 sigma^2 / 4 pi."""
        part, area = min(spin, 1), 4 * np.pi / self.maps.shape[1]
        level = area * np.mean(self.masks[part] ** 2 * self.variance[part])
        found = np.zeros((1 if spin == 0 else 4, lmax + 1))
        found[:: 3, spin:] = level
        return found


def apart(found, expected):
    """The largest difference of each row over the row's largest value."""
    rows = (np.reshape(found, (len(found), -1)), np.reshape(expected, (len(found), -1)))
    return float(np.max(np.abs(rows[0] - rows[1]).max(1) / np.abs(rows[1]).max(1)))


def compare_pair(surveys, blocks, i, j, peer_bins, lmax):
    """Differences of all spectra of two surveys."""
    found = []
    for spins, names in NAMES.items():
        if i == j and spins == (2, 0):
            continue
        first, second = surveys[i].peer_field(spins[0], lmax), surveys[j].peer_field(spins[1], lmax)
        first = second if i == j and spins[0] == spins[1] else first
        space = nmt.NmtWorkspace.from_fields(first, second, peer_bins)
        pseudo = nmt.compute_coupled_cell(first, second)
        noise = surveys[i].noise(spins[0], lmax) if i == j and spins[0] == spins[1] else np.zeros_like(pseudo)
        block = next(block for block in blocks if block.pair == (i, j) and block.names == names)
        bands = space.decouple_cell(pseudo, cl_noise=noise)
        differences = {"pseudo": apart(block.pseudo, pseudo), "bands": apart(block.bands, bands),
                       "of_peers_pseudo": apart(np.einsum("sbtl,tl->sb", block.decoupling, pseudo - noise), bands),
                       "windows": apart(block.windows, space.get_bandpower_windows())}
        if noise.any():
            own = np.einsum("sbtl,tl->sb", block.decoupling, block.noise)
            kept = [names.index(name) for name in names if name[0] == name[1]]
            differences["noise"] = apart(own[kept], space.decouple_cell(noise)[kept])
        found.append({"pair": [i, j], "spectra": list(names), **differences})
    return found


def compare_matrices(both, lmax):
    """Differences of the coupling matrices of two masks, by their names."""
    alm = [zonal.SHT(zonal.Grid.healpix(zonal.healpy.get_nside(mask)), 2 * lmax).adjoint(mask * (4 * np.pi / mask.size)) for mask in both]
    m00, m02, plus, minus = spectra.coupling_matrices(zonal.alm2cl(*alm), lmax)
    peer_bins = nmt.NmtBin(bpws=np.arange(lmax + 1) // 8, ells=np.arange(lmax + 1), lmax=lmax)

    def matrices(*spins):
        fields = [nmt.NmtField(mask, None, spin=spin, n_iter_mask=0, lmax=lmax, lmax_mask=2 * lmax) for mask, spin in zip(both, spins)]
        n = len(NAMES[spins])
        return nmt.NmtWorkspace.from_fields(*fields, peer_bins).get_coupling_matrix().reshape(lmax + 1, n, lmax + 1, n)

    with_spin = matrices(2, 2)
    peer = {"00": (m00, matrices(0, 0)[:, 0, :, 0]), "02": (m02, matrices(0, 2)[:, 0, :, 0]), "++": (plus, with_spin[:, 0, :, 0]),
            "--": (minus, with_spin[:, 0, :, 3])}
    return {kind: apart(a[None], b[None]) for kind, (a, b) in peer.items()}


def times(survey, bins, peer_bins, lmax, options):
    def ours():
        field = spectra.Field(survey.maps, mask=survey.masks[0], beam=survey.beam, pixel_window=survey.pixel_window, variance=survey.variance)
        return spectra.estimate(field, bins, lmax_sky=lmax, low_degrees=False, threads=options.threads).windows

    def theirs():
        own = [nmt.NmtField(survey.masks[0], maps, beam=survey.beam[part] * survey.pixel_window[part], n_iter=0, n_iter_mask=0, lmax=lmax,
                            lmax_mask=2 * lmax) for part, maps in enumerate((survey.maps[:1], survey.maps[1:]))]
        space = nmt.NmtWorkspace.from_fields(*own, peer_bins, is_teb=True)
        pseudo = [nmt.compute_coupled_cell(own[a], own[b]) for a, b in ((0, 0), (0, 1), (1, 1))]
        return space.decouple_cell(np.concatenate(pseudo)), space.get_bandpower_windows()

    return machine.paired(ours, theirs, options.runs, time.process_time)


def measure(nside, beam, dl, options):
    lmax, width = 2 * nside - 1, 6
    bins = spectra.Bins.linear(width, lmax=lmax, dl=dl)
    lmax = bins.lmax
    peer_bins = nmt.NmtBin.from_edges(bins.first, bins.last + 1, is_Dell=dl)
    both = [survey_mask(nside, seed) for seed in (1, 2)]
    surveys = [Survey(nside, lmax, 0, beam, both), Survey(nside, lmax, 1, beam, both[::-1])]
    powers = spectra.estimate([survey.field() for survey in surveys], bins, lmax_sky=lmax, low_degrees=False, threads=options.threads)
    found = [part for i, j in ((0, 0), (0, 1), (1, 1)) for part in compare_pair(surveys, powers.blocks, i, j, peer_bins, lmax)]
    largest = {key: max(part.get(key, 0) for part in found) for key in ("pseudo", "noise", "bands", "of_peers_pseudo", "windows")}
    return {"nside": nside, "lmax": lmax, "beam": beam, "least_of_beams": float(surveys[1].beam[0, lmax] ** 2), "dl": dl, "bands": len(bins),
            "condition": powers.condition, "matrices": compare_matrices(both, lmax), "largest": largest, "differences": found,
            "times": times(surveys[0], bins, peer_bins, lmax, options)}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--beam", type=float, nargs="+", default=[64, 128])
    options, settings = machine.parse_options(parser, peer_by_openmp=True)
    results = [measure(nside, beam, dl, options) for nside in options.nside for beam in options.beam for dl in (False, True)]
    machine.write({"what": "band powers of masked skies beside NaMaster", "machine": machine.describe("pymaster", "ducc0", "healpy", "numpy"),
                   "simd_target": machine.simd(), **settings, "results": results}, options.output)


if __name__ == "__main__":
    main()
