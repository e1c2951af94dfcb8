"""The transform of a job, and all that its ranks do with it."""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._angles import AngleLike
from .._arrays import boolean, complex_input, integer, output, real, real_input, sequence, text, type_of
from .._arrays import path as path_of
from .._checked import Seed, arguments_as, seed_of, takes_options_of
from .._maps import pixels_of, weights_of
from .._progress import Progress
from .._smoothing import SMOOTHING_NAMES, smoothing_options, smoothing_window, warnings_of
from ..grid import Grid
from ..io import Path, described
from ..kernel import Kernel, required_kernel
from ..sht import AnalysisOptions, alm_size, analysis_options, shape_of_result, without_unseen
from ..skies import Spectra, multiply_alm, named_spectra, sky_spectra
from ._job import job_of
from ._parts import Parts, complex_type, hash_of, plain, real_type, unseen_as_zero

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._options import RankSmoothingOptions


class SHT:
    """A transform of fixed grid, lmax, mmax and spin, over the ranks of a communicator.

    comm: an mpi4py.MPI.Intracomm, which is duplicated. grid: a Grid, or the nside of HEALPix. lmax, mmax, spin:
    as in `zonal.SHT`. threads: of this rank; by default what `zonal.threads(n)` or the environment says, or else the CPUs of
    the node divided by those of its ranks that may use them. At most one rank for 16 rings.

    speeds: [n_ranks], how fast the ranks are relative to one another: their shares of the work follow it; by default all
    are alike. "auto": each rank predicts what a transform takes it, by the costs that `zonal calibrate --threads N` has
    measured on its machine for its number of threads, and speeds are the inverses. It is an error where they were not measured.

    device: what this rank works on: "cpu"; "cuda", a GPU of its own if its machine has as many as ranks, else
    one that it shares; or "auto", which is "cuda" on ranks that see a GPU and "cpu" on others. Maps and alm are NumPy arrays in
    either case. With a GPU in the job, results are those of one process to rounding, and of sums over pixels to their
    accuracy. `device` and `exchange` say what came of it.

    A rank has two runs of rings, a northern and a southern one, as a map [n_pixels], and some orders m, as alm [n_alm]:
    see local_pixels and local_alm_indices. Calls take and return these parts, float32 or float64 (complex64 or
    complex128), no Quantity and no `zonal.Map`; no rank needs the whole. Maps and alm are those of `zonal.SHT`, bit for
    bit, for any number of ranks.

    All ranks make the same calls in the same order. What is wrong on one rank is raised on all of them, with its
    number; Ctrl-C on one rank, while it computes or waits for data, raises KeyboardInterrupt there and Cancelled on the
    others. A failure of MPI is a CommunicationError.

    Raises ValueError and TypeError as `zonal.SHT` does, and for arguments in which the ranks differ.
    """

    def __init__(self, comm: MPI.Intracomm, grid: Grid | int, lmax: int, mmax: int | None = None, spin: int = 0, *,
                 speeds: ArrayLike | Literal["auto"] | None = None, threads: int | None = None,
                 device: Literal["auto", "cpu", "cuda"] = "cpu") -> None:
        self._job = job_of(comm)
        with self._job.together("a transform"):
            with arguments_as({"nside": "grid"}):
                self._grid = grid if isinstance(grid, Grid) else Grid.healpix(integer("grid", grid))
            self._lmax, self._spin = integer("lmax", lmax), integer("spin", spin)
            self._mmax = self._lmax if mmax is None else integer("mmax", mmax)
            alm_size(self._lmax, self._mmax)  # refuses what is out of range
            if self._spin < 0:
                raise ValueError(f"spin = {spin}: must be 0 or more")
            if (is_measured := isinstance(speeds, str)) and speeds != "auto":
                raise ValueError(f"speeds = {speeds!r}: must be 'auto' or [n_ranks] numbers")
            self._speeds = [] if speeds is None or is_measured else [real("speeds", speed) for speed in sequence("speeds", speeds)]
            self._threads = self._job.threads(threads)
            if device not in ("auto", "cpu", "cuda"):
                raise ValueError(f"device = {device!r}: must be 'auto', 'cpu' or 'cuda'")
        self._device = self._job.ranks.own_device(device)
        if is_measured:
            self._speeds = self._job.ranks.measured_speeds(self._grid._grid, self._lmax, self._threads, self._device)
        self._transforms: dict[int, _core.DistributedTransform] = {}
        self._divided_sky: _core.DividedSky | None = None
        transform = self._transform(self._spin)
        self._pixel_ranges: list[tuple[int, int]] = transform.pixel_ranges()
        self._orders: NDArray[np.int64] = transform.orders()
        self._shares: list[_core.RankShare] = transform.shares

    @property
    def rank(self) -> int:
        """The number of this rank."""
        return self._job.rank

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return self._job.size

    @property
    def grid(self) -> Grid:
        """The grid of the whole map."""
        return self._grid

    @property
    def lmax(self) -> int:
        return self._lmax

    @property
    def mmax(self) -> int:
        return self._mmax

    @property
    def spin(self) -> int:
        return self._spin

    @property
    def threads(self) -> int:
        """Threads that a call uses on this rank."""
        return self._threads

    @property
    def device(self) -> str:
        """What this rank works on: "cpu", "cuda:0", ..."""
        return self._device

    @property
    def exchange(self) -> str:
        """How the ranks send each other coefficients: "NCCL", or "host memory" and why it is not NCCL."""
        return self._transform(self._spin).exchange

    @property
    def n_pixels(self) -> int:
        """Pixels of this rank: the length of the last axis of its maps."""
        return self._shares[self._job.rank].n_pixels

    @property
    def n_alm(self) -> int:
        """Coefficients of this rank: the length of the last axis of its alm."""
        return self._shares[self._job.rank].n_coefficients

    @property
    def pixel_ranges(self) -> list[tuple[int, int]]:
        """This rank's pixels as runs [first, end) of the whole map in ring order, one after the other; at most two."""
        return list(self._pixel_ranges)

    @property
    def local_pixels(self) -> NDArray[np.int64]:
        """[n_pixels], the number in the whole map of each pixel of this rank."""
        return np.concatenate([np.arange(first, end) for first, end in self._pixel_ranges])

    @property
    def local_m(self) -> NDArray[np.int64]:
        """The orders m of this rank, ascending. Their coefficients follow one another, each from l = m to lmax."""
        return self._orders.copy()

    @property
    def local_alm_indices(self) -> NDArray[np.int64]:
        """[n_alm], where each coefficient of this rank stands in the whole alm (see `zonal.alm_index`)."""
        return _indices(self._lmax, self._orders)

    @property
    def speeds(self) -> list[float]:
        """[n_ranks], how fast each rank counts, relative to the others."""
        return self._transform(self._spin).speeds

    @property
    def shares(self) -> list[_core.RankShare]:
        """The share of every rank: n_pixels, n_coefficients, legendre_flops, ring_flops and bytes_sent."""
        return list(self._shares)

    def synthesize(self, alm: ArrayLike, out: NDArray[Any] | None = None, *,
                   progress: Progress = False) -> NDArray[Any]:
        """Returns this rank's part of the map of these coefficients, as `zonal.SHT.synthesize`.

        alm: [n_alm] for spin 0, else [2, n_alm], with one more axis in front for a batch. out: where to write the map.
        """
        with self._job.together("synthesize", progress):
            alm = complex_input("alm", plain("alm", alm))
            shape = shape_of_result("alm", alm, self._spin, self.n_alm, self.n_pixels)
            out = output(out, shape, real_type(alm), alm)
        self._synthesize(self._spin, alm, out, progress)
        return out

    def adjoint(self, map: ArrayLike, out: NDArray[Any] | None = None, *, progress: Progress = False) -> NDArray[Any]:
        """Returns this rank's part of alm = S^T map, without weights, as `zonal.SHT.adjoint`.

        map: [n_pixels] for spin 0, else [2, n_pixels], with one more axis in front for a batch. out: where to write the alm.
        """
        with self._job.together("adjoint", progress):
            map = without_unseen(real_input("map", plain("map", map)))
            shape = shape_of_result("map", map, self._spin, self.n_pixels, self.n_alm)
            out = output(out, shape, complex_type(map), map)
        with self._job.reporting(progress, "adjoint") as report:
            self._transform(self._spin).local.adjoint(map, out, report)
        return out

    def analyze(self, map: ArrayLike, out: NDArray[Any] | None = None, *, iterations: int | None = None,
                tolerance: float | None = None, max_iterations: int | None = None,
                ring_weights: ArrayLike | None = None, pixel_weights: ArrayLike | None = None,
                progress: Progress = False, return_report: bool = False) -> Any:
        """Returns this rank's part of the alm of a map, as `zonal.SHT.analyze`.

        map: [n_pixels] for spin 0, else [2, n_pixels], with one more axis in front for a batch. out: where to write the alm.
        iterations, tolerance, max_iterations, return_report: as there; the report is that of the whole map.
        ring_weights: [grid.n_rings], of all rings. pixel_weights: [n_pixels], of this rank's pixels.
        """
        with self._job.together("analyze", progress):
            map = real_input("map", plain("map", map))
            shape = shape_of_result("map", map, self._spin, self.n_pixels, self.n_alm)
            out = output(out, shape, complex_type(map), map)
            options = self._analysis_options(iterations, tolerance, max_iterations, ring_weights, pixel_weights)
            return_report = boolean("return_report", return_report)
        report = self._analyze(self._spin, map, out, options, progress)
        if return_report:
            return out, report
        self._job.warn([report.note])
        return out

    def alm2map(self, alm: ArrayLike, *, progress: Progress = False) -> NDArray[Any]:
        """Returns this rank's part of I, [n_pixels], of Q, U, [2, n_pixels], or of I, Q, U, [3, n_pixels].

        alm: its part of T, [n_alm], of E, B, [2, n_alm], or of T, E, B, [3, n_alm]. It does not depend on `spin`.
        """
        with self._job.together("alm2map", progress) as about:
            alm = complex_input("alm", plain("alm", alm))
            maps = np.empty(self._shape_of_fields("alm", alm, self.n_alm, self.n_pixels), real_type(alm))
            about.append(f"{alm.shape[:-1]} {alm.dtype}")
        for spin, rows in _fields(alm):
            self._synthesize(spin, alm[rows], maps[rows], progress)
        return maps

    def map2alm(self, maps: ArrayLike, *, iterations: int | None = None, tolerance: float | None = None,
                max_iterations: int | None = None, ring_weights: ArrayLike | None = None,
                pixel_weights: ArrayLike | None = None, progress: Progress = False) -> NDArray[Any]:
        """Returns this rank's part of the alm T, [n_alm], E, B, [2, n_alm], or T, E, B, [3, n_alm].

        maps: its part of I, [n_pixels], of Q, U, [2, n_pixels], or of I, Q, U, [3, n_pixels]. UNSEEN pixels
        count as masked. The options are those of `analyze`. It does not depend on `spin`.
        """
        return self._map2alm("maps", maps, progress, iterations, tolerance, max_iterations, ring_weights, pixel_weights)

    def alm2cl(self, alm: ArrayLike, alm2: ArrayLike | None = None) -> Any:
        """Returns C_l of the whole alm, on all ranks, as `zonal.alm2cl`: [lmax + 1], or a dict for E, B and T, E, B.

        alm, alm2: this rank's part, [n_alm], [2, n_alm] or [3, n_alm]. The sum over ranks differs from that of one process by
        its rounding, and is the same on all ranks.
        """
        with self._job.together("alm2cl") as about:
            first = complex_input("alm", plain("alm", alm))
            second = None if alm2 is None else complex_input("alm2", plain("alm2", alm2))
            self._shape_of_fields("alm", first, self.n_alm, 0)
            if second is not None:
                both = np.result_type(first, second)
                first, second = first.astype(both, copy=False), second.astype(both, copy=False)
                if second.shape != first.shape:
                    raise ValueError(f"alm2: has shape {second.shape}: must be that of alm, {first.shape}")
            about.append(f"{first.shape[:-1]} {second is None}")
        spectra = self._transform(self._spin).spectra(np.atleast_2d(first), None if second is None else np.atleast_2d(second))
        return spectra["TT"] if first.ndim == 1 else spectra

    def cross_spectra(self, alms: ArrayLike) -> NDArray[np.float64]:
        """Returns C_l of all pairs of whole alm, on all ranks, [n_maps, n_maps, lmax + 1], with one sum over the ranks.

        alms: this rank's part of each map's, [n_maps, n_alm]. Element [i, j] is that of `alm2cl(alms[i], alms[j])`.
        """
        with self._job.together("cross_spectra") as about:
            alms = complex_input("alms", plain("alms", alms))
            if alms.ndim != 2 or alms.shape[1] != self.n_alm:
                raise ValueError(f"alms: has shape {alms.shape}: must be [n_maps, {self.n_alm}]")
            about.append(f"{len(alms)} maps of {alms.dtype}")
        pairs = self._transform(self._spin).cross_spectra(alms)
        found = np.empty((len(alms), len(alms), self._lmax + 1))
        upper = np.triu_indices(len(alms))
        found[upper], found[upper[::-1]] = pairs, pairs
        return found

    def anafast(self, maps: ArrayLike, maps2: ArrayLike | None = None, *, iterations: int | None = None,
                tolerance: float | None = None, max_iterations: int | None = None, ring_weights: ArrayLike | None = None,
                pixel_weights: ArrayLike | None = None, progress: Progress = False) -> Any:
        """Returns the spectra of the whole maps, on all ranks: those of `alm2cl` of the alm of `map2alm`, whose options it takes."""
        options = progress, iterations, tolerance, max_iterations, ring_weights, pixel_weights
        with self._job.together("anafast") as about:
            about.append("one map" if maps2 is None else "two maps")
        first = self._map2alm("maps", maps, *options)
        return self.alm2cl(first, None if maps2 is None else self._map2alm("maps2", maps2, *options))

    def synalm(self, c_l: Spectra, *, seed: Seed, dtype: Any = np.complex128) -> NDArray[Any]:
        """Draws this rank's part of Gaussian alm, [n_alm], or [3, n_alm] if there is an EE: the bits of `zonal.synalm`.

        c_l: see there; they must reach lmax. dtype: complex128 or complex64.
        """
        with self._job.together("synalm") as about:
            named = named_spectra(plain("c_l", c_l))
            seed = seed_of(seed)
            alm = np.empty((3 if "EE" in named else 1, self.n_alm), type_of("dtype", dtype, np.complex128, np.complex64))
            spectra = b"".join(name.encode() + values.tobytes() for name, values in sorted(named.items()))
            about.append(f"seed = {seed} and spectra of hash {hash_of(spectra)}")
            with arguments_as({"spectra": "c_l"}):
                self._transform(self._spin).realize(sky_spectra(named), seed, alm)
        return alm if len(alm) == 3 else alm[0]

    def synfast(self, c_l: Spectra, *, seed: Seed, fwhm: AngleLike | None = None, window: ArrayLike | None = None,
                dtype: Any = np.float64, return_alm: bool = False, progress: Progress = False) -> Any:
        """Simulates a Gaussian sky and returns this rank's part, [n_pixels], or of I, Q, U, [3, n_pixels], if there is an EE.

        It has the bits of `zonal.synfast` of this grid, lmax, mmax and seed. The arguments are those of that and of `synalm`.
        """
        with self._job.together("synfast", progress):
            is_double = type_of("dtype", dtype, np.float64, np.float32) == np.float64
            return_alm = boolean("return_alm", return_alm)
        alm = self.synalm(c_l, seed=seed, dtype=np.complex128 if is_double else np.complex64)
        with self._job.together("a window"):
            multiply_alm(alm, self._lmax, fwhm, window, self._transform(self._spin).apply_beam)
        sky = self.alm2map(alm, progress=progress)
        return (sky, alm) if return_alm else sky

    @takes_options_of(smoothing_options, without=("threads", "ring_weights"))
    def smooth(self, maps: ArrayLike, fwhm: AngleLike | None = None, *, beam: ArrayLike | None = None,
               fwhm_in: AngleLike | None = None, beam_in: ArrayLike | None = None, floor: float = 0.0,
               mask: ArrayLike | None = None, progress: Progress = False, return_report: bool = False, **options: Unpack[RankSmoothingOptions]) -> Any:
        """Returns this rank's part of smoothed maps.

        maps: its part of I, [n_pixels], of Q, U, [2, n_pixels], or of I, Q, U, [3, n_pixels]. UNSEEN pixels count as masked.
        fwhm, beam, fwhm_in, beam_in, floor: as in `zonal.smooth`; a beam reaches lmax. mask: this rank's part, [n_pixels].
        The other options are those of `zonal.convolve`, for the whole map; "harmonic" without an error ends at the
        transform's lmax unless lmax is given. return_report: True returns the maps and a list of reports (SmoothedPart) of
        the whole map. It does not depend on `spin`.
        """
        with self._job.together("smooth", progress) as about:
            rows, fields = self._rows(maps)
            window = smoothing_window(fwhm, beam, fwhm_in, beam_in, real("floor", floor))
            values = _core.evaluate_window(window, self._lmax)
            parts = b"".join(part.tobytes() for part in (values.temperature(), values.gradient(), values.curl()))
            how = smoothing_options(**options, threads=self._threads)
            is_plain = how.error is None and (how.method == _core.ConvolutionMethod.harmonic or how.iterations is not None
                                              or how.tolerance > 0)
            if is_plain and how.lmax < 0:
                how.lmax = self._lmax
            seen = self._mask(mask)
            about.append(f"{np.shape(maps)[:-1]} {rows.dtype}, {sorted(options.items())}, {'no' if seen is None else 'a'} mask, "
                         f"by a window of hash {hash_of(parts)}")
            return_report = boolean("return_report", return_report)
        return self._convolve(maps, rows, fields, window, [], how, seen, progress, return_report)

    @takes_options_of(smoothing_options, without=("threads", "ring_weights"))
    def convolve(self, maps: ArrayLike, kernel: Kernel, *, mask: ArrayLike | None = None, progress: Progress = False,
                 return_report: bool = False, **options: Unpack[RankSmoothingOptions]) -> Any:
        """Returns this rank's part of maps of spin 0 that are convolved with a radial kernel, as `zonal.convolve`.

        maps, mask: its part, [n_pixels]. The arguments are those of `zonal.convolve`; the error is that of the whole map.
        """
        with self._job.together("convolve", progress) as about:
            rows, fields = self._rows(maps)
            if len(rows) != 1:
                raise ValueError(f"maps: has shape {np.shape(maps)}: must be [{rows.shape[1]}]")
            required_kernel(kernel)
            how = smoothing_options(**options, threads=self._threads)
            seen = self._mask(mask)
            about.append(f"{rows.dtype}, {sorted(options.items())}, {'no' if seen is None else 'a'} mask, "
                         f"by a kernel of hash {hash_of(pickle.dumps(kernel))}")
            return_report = boolean("return_report", return_report)
        return self._convolve(maps, rows, fields, _core.SmoothingWindow(), [kernel._kernel], how, seen, progress, return_report)

    def read_map(self, path: Path, fields: Sequence[str | int] = (), *, hdu: str | int | None = None, auxiliary: bool = False,
                 pol: bool | None = None, nest_if_absent: bool | None = None, nan_is_unseen: bool = False) -> NDArray[np.float64]:
        """Reads this rank's part of a HEALPix map, [n_pixels], or [row, n_pixels] of several columns: no rank reads the whole.

        The arguments are those of `zonal.io.read_map`; fields=[0], say, reads the first column. A map in nest order is
        brought into ring order by way of the other ranks. Raises OSError for partial skies, images and gzipped files, which
        cannot be read in parts, and for another nside than the grid's.
        """
        with self._job.together("read_map") as about:
            names = [str(name) for name in sequence("fields", fields)]
            options = ("" if hdu is None else str(hdu), names, boolean("auxiliary", auxiliary),
                       None if pol is None else boolean("pol", pol),
                       None if nest_if_absent is None else boolean("nest_if_absent", nest_if_absent),
                       boolean("nan_is_unseen", nan_is_unseen))
            about.append(f"{path_of('path', path)}: {options}")
            self._require_healpix()
        found = self._sky().read_map(os.fspath(path), *options)
        self._job.warn(found["notes"])
        values: NDArray[np.float64] = found["values"].reshape(len(found["names"]), -1)
        return values[0] if len(values) == 1 else values

    def write_map(self, path: Path, maps: ArrayLike, *, pol: bool = False, names: Sequence[str] = (), units: Sequence[str] = (),
                  coordinates: str = "unknown", nest: bool = False, single: bool | None = None, overwrite: bool = False) -> None:
        """Writes the ranks' parts of HEALPix maps, [n_pixels] or [row, n_pixels], into one file.

        The file is that of `zonal.io.write_map`, whose arguments these are. All ranks must see the same folder. The file
        appears when all of it is written, and not at all where a rank fails.
        """
        with self._job.together("write_map") as about:
            rows, n_pixels = np.atleast_2d(real_input("maps", plain("maps", maps))), self.n_pixels
            if rows.ndim != 2 or rows.shape[1] != n_pixels:
                raise ValueError(f"maps: has shape {np.shape(maps)}: must be [{n_pixels}] or [row, {n_pixels}]")
            self._require_healpix()
            single = rows.dtype == np.float32 if single is None else boolean("single", single)
            header = described(len(rows), boolean("pol", pol), names, units, text("coordinates", coordinates), boolean("nest", nest), single)
            overwrite = boolean("overwrite", overwrite)
            about.append(f"{path_of('path', path)}: {len(rows)} rows, {pol}, {names}, {units}, {coordinates}, {nest}, {single}, {overwrite}")
        self._sky().write_map(os.fspath(path), np.ascontiguousarray(rows, np.float64), pixels_of(self._grid), header, overwrite)

    def read_alm(self, path: Path) -> NDArray[np.complex128]:
        """Reads this rank's part of alm, [n_alm], or [component, n_alm] for T, E, B.

        What the file has beyond lmax and mmax is left out. Raises OSError where it has fewer, and for gzipped files.
        """
        with self._job.together("read_alm") as about:
            about.append(path_of("path", path))
        alm = np.stack(self._sky().read_alm(os.fspath(path)))
        return alm[0] if len(alm) == 1 else alm

    def write_alm(self, path: Path, alm: ArrayLike, *, unit: str = "", overwrite: bool = False) -> None:
        """Writes the ranks' parts of alm, [n_alm] or [component, n_alm], into one file, as `write_map` does.

        complex64 is written in single precision.
        """
        with self._job.together("write_alm") as about:
            rows, n_alm = np.atleast_2d(complex_input("alm", plain("alm", alm))), self.n_alm
            if rows.ndim != 2 or rows.shape[1] != n_alm or len(rows) not in (1, 3):
                raise ValueError(f"alm: has shape {np.shape(alm)}: must be [{n_alm}] or [3, {n_alm}]")
            overwrite = boolean("overwrite", overwrite)
            about.append(f"{path_of('path', path)}: {len(rows)} rows of {rows.dtype}, {text('unit', unit)}, {overwrite}")
        self._sky().write_alm(os.fspath(path), np.ascontiguousarray(rows, np.complex128), rows.dtype == np.complex64, unit, overwrite)

    def scatter_map(self, map: ArrayLike | None, root: int = 0) -> NDArray[Any]:
        """Returns this rank's part, [..., n_pixels], of what rank `root` has, [..., grid.n_pixels] in ring order.

        map: float32 or float64, and None on other ranks.
        """
        return self._pixels().scatter(map, root)

    def gather_map(self, map: ArrayLike, root: int = 0) -> NDArray[Any] | None:
        """Returns the whole map in ring order, [..., grid.n_pixels], on rank `root`, and None on others.

        map: this rank's part, [..., n_pixels]. Pixels in no ring of the grid are 0.
        """
        return self._pixels().gather(map, root)

    def scatter_alm(self, alm: ArrayLike | None, root: int = 0) -> NDArray[Any]:
        """Returns this rank's part, [..., n_alm], of the alm that rank `root` has, [..., alm_size(lmax, mmax)].

        alm: complex64 or complex128, and None on other ranks.
        """
        return self._coefficients().scatter(alm, root)

    def gather_alm(self, alm: ArrayLike, root: int = 0) -> NDArray[Any] | None:
        """Returns the whole alm, [..., alm_size(lmax, mmax)], on rank `root`, and None on others. alm: this rank's part."""
        return self._coefficients().gather(alm, root)

    def _transform(self, spin: int) -> _core.DistributedTransform:
        """Collective where it is the first one of this spin. All have the same pixels and orders."""
        if spin not in self._transforms:
            self._transforms[spin] = _core.DistributedTransform(self._job.ranks, self._grid._grid, self._lmax, self._mmax, spin,
                                                                self._threads, self._speeds, self._device)
        return self._transforms[spin]

    def _synthesize(self, spin: int, alm: NDArray[Any], out: NDArray[Any], progress: Progress) -> None:
        with self._job.reporting(progress, "synthesis") as report:
            self._transform(spin).local.synthesize(alm, out, report)

    def _analyze(self, spin: int, map: NDArray[Any], out: NDArray[Any], options: AnalysisOptions, progress: Progress) -> _core.AnalysisReport:
        with self._job.reporting(progress, "analysis") as report:
            return self._transform(spin).local.analyze(map, out, *options, report)

    def _map2alm(self, name: str, maps: ArrayLike, progress: Progress, *options: Any) -> NDArray[Any]:
        with self._job.together("map2alm", progress) as about:
            maps = unseen_as_zero(real_input(name, plain(name, maps)))
            alm = np.empty(self._shape_of_fields(name, maps, self.n_pixels, self.n_alm), complex_type(maps))
            how = self._analysis_options(*options)
            about.append(f"{maps.shape[:-1]} {maps.dtype}")
        self._job.warn([self._analyze(spin, maps[rows], alm[rows], how, progress).note for spin, rows in _fields(maps)])
        return alm

    def _analysis_options(self, iterations: int | None, tolerance: float | None, max_iterations: int | None,
                          ring_weights: ArrayLike | None, pixel_weights: ArrayLike | None) -> AnalysisOptions:
        options = analysis_options(self._grid, None if iterations is None else integer("iterations", iterations),
                                   None if tolerance is None else real("tolerance", tolerance),
                                   None if max_iterations is None else integer("max_iterations", max_iterations),
                                   ring_weights, pixel_weights)
        if ring_weights is None:
            return options
        weights, first = np.asarray(options[3]), self._grid.first_pixels
        if len(weights) != self._grid.n_rings:
            raise ValueError(f"ring_weights: has {len(weights)} values: must have one for each of the {self._grid.n_rings} rings")
        here = np.any([(start <= first) & (first < end) for start, end in self._pixel_ranges], axis=0)
        return (*options[:3], weights[here].tolist(), options[4])

    def _shape_of_fields(self, name: str, array: NDArray[Any], length: int, length_out: int) -> tuple[int, ...]:
        if array.shape not in ((length,), (2, length), (3, length)):
            raise ValueError(f"{name}: has shape {array.shape}: must be [{length}], [2, {length}] or [3, {length}]")
        return (*array.shape[:-1], length_out)

    def _pixels(self) -> Parts:
        return Parts(self._job, "map", real_input, self._grid.n_pixels, self._pixel_ranges)

    def _coefficients(self) -> Parts:
        first = self._orders * (2 * self._lmax + 1 - self._orders) // 2 + self._orders
        runs = np.stack([first, first + self._lmax + 1 - self._orders], axis=1)
        return Parts(self._job, "alm", complex_input, alm_size(self._lmax, self._mmax), runs)

    def _rows(self, maps: ArrayLike) -> tuple[NDArray[Any], str]:
        array = real_input("maps", plain("maps", maps))
        self._shape_of_fields("maps", array, self.n_pixels, 0)
        return np.ascontiguousarray(np.atleast_2d(array)), "scalars" if array.ndim == 1 else "qu" if len(array) == 2 else "iqu"

    def _convolve(self, maps: ArrayLike, rows: NDArray[Any], fields: str, window: _core.SmoothingWindow,
                  kernels: list[_core.RadialKernel], how: _core.MapSmoothingOptions, mask: NDArray[np.float64] | None,
                  progress: Progress, return_report: bool) -> Any:
        out = np.empty_like(rows)
        with self._job.reporting(progress, "smoothing") as report, arguments_as(SMOOTHING_NAMES):
            parts = self._sky().smooth(rows, pixels_of(self._grid), fields, window, kernels, how, mask, out, report)
        found = out[0] if np.ndim(maps) == 1 else out
        if return_report:
            return found, parts
        self._job.warn(warnings_of(parts))
        return found

    def _mask(self, mask: ArrayLike | None) -> NDArray[np.float64] | None:
        return None if mask is None else weights_of("mask", plain("mask", mask), self.n_pixels)

    def _require_healpix(self) -> None:
        if self._grid.nside is None:
            raise ValueError(f"grid = {self._grid.name}: only HEALPix maps are read and written in parts")

    def _sky(self) -> _core.DividedSky:
        """Collective where it is the first call."""
        if self._divided_sky is None:
            self._divided_sky = _core.DividedSky(self._job.ranks, self._grid._grid, self._lmax, self._mmax, self._threads, self._speeds,
                                                  self._device)
        return self._divided_sky

    def __repr__(self) -> str:
        return (f"<zonal.mpi.SHT of {self._grid.name}: rank {self._job.rank} of {self._job.size}, lmax={self._lmax}, mmax={self._mmax}, "
                f"spin={self._spin}, threads={self._threads}>")


def _fields(array: NDArray[Any]) -> list[tuple[int, Any]]:
    """The spins of the fields of [n], [2, n] or [3, n], and their rows."""
    return [(0, ...)] if array.ndim == 1 else [(2, slice(0, 2))] if len(array) == 2 else [(0, 0), (2, slice(1, 3))]


def _indices(lmax: int, orders: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.arange(0), *(m * (2 * lmax + 1 - m) // 2 + np.arange(m, lmax + 1) for m in orders)])
