"""How transforms, sums over pixels and the tool's jobs scale from one GPU to all GPUs of a host, beside what a model predicts of shares
that one GPU computes alone. JSON on standard output, and a picture.

    python bench/gpu_scaling.py --ranks 2 4 8 --picture gpu_scaling.svg --output NAME.json

What the programs of build-cuda measure is with all data on the GPUs (ranks_cuda) or in the memory of the host (rank_sums_cuda); the tool
goes from file to file, in the current folder. With --device cpu, all is done by the CPU's ranks, in order to try this program.

The model is that of scaling.py: a rank's exchange takes its bytes over --bandwidth.
"""
import math
import os
import pathlib

import numpy as np

import machine
import pictures
import programs
from scaling import seconds_with_exchange

WAYS = "synthesis", "adjoint"


class Gpus:
    """Transforms by ranks_cuda, on GPUs alone."""

    def __init__(self, folder, runs):
        self.folder, self.runs = folder, runs

    def results(self, program, *arguments):
        return programs.printed(self.folder / program, *arguments)["results"]

    def together(self, nside, spin, ranks):
        """Seconds of one GPU and of the ranks, and the bytes that the busiest sends in a synthesis."""
        row = self.results("ranks_cuda", "--ranks", ranks, "--runs", self.runs, f"{nside}:{2 * nside}:{spin}")[0]
        return {way: (row[way]["one_seconds"], row[way]["ranks_seconds"]) for way in WAYS}, row["bytes_sent"]

    def alone(self, nside, spin, ranks):
        """Seconds of the Legendre and the ring stage of each share."""
        row = self.results("ranks_cuda", "--solo", ranks, "--runs", self.runs, f"{nside}:{2 * nside}:{spin}")[0]
        return [{way: (share[way]["legendre"], share[way]["rings"]) for way in WAYS} for share in row["shares"][1:]]

    def sums(self, method, nside, fwhm, cut, ranks):
        row = self.results("rank_sums_cuda", "--ranks", ranks, "--runs", self.runs, f"{method}:{nside}:{fwhm}:{cut}")[0]
        return {"one_seconds": row["sums"]["one_seconds"], "ranks_seconds": row["sums"]["ranks_seconds"]}


class Cpus:
    """The same by zonal-bench distributed, of ranks that share the CPUs. It has no sums over pixels."""

    def __init__(self, folder, runs):
        self.program, self.runs = folder / "zonal-bench", runs

    def report(self, nside, spin, ranks, *options):
        return programs.report(self.program, "distributed", "--nside", nside, "--spin", spin, "--ranks", ranks, "--repeat", self.runs, *options)

    def together(self, nside, spin, ranks):
        report = self.report(nside, spin, ranks)
        seconds = {way: (report["one_process"][way]["seconds"], max(rank[way]["seconds"] for rank in report["ranks"])) for way in WAYS}
        return seconds, max(rank["bytes_sent"] for rank in report["ranks"])

    def alone(self, nside, spin, ranks):
        return [{way: (rank[way]["legendre"], rank[way]["rings"]) for way in WAYS} for rank in self.report(nside, spin, ranks, "--solo")["ranks"]]

    def sums(self, *_):
        return None


def strong(host, nside, spin, ranks, bandwidth):
    """A transform of one size by more ranks."""
    seconds, bytes_sent = host.together(nside, spin, ranks)
    shares, exchange = host.alone(nside, spin, ranks), bytes_sent / bandwidth
    row = {"nside": nside, "lmax": 2 * nside, "spin": spin, "ranks": ranks, "bytes_sent": bytes_sent}
    for way, (one, many) in seconds.items():
        slowest = max((share[way] for share in shares), key=sum)
        model = max(seconds_with_exchange(*share[way], exchange) for share in shares)
        row[way] = {"one_seconds": one, "ranks_seconds": many, "efficiency": one / (ranks * many), "model_seconds": model,
                    "model_over_measured": model / many, "legendre_seconds": slowest[0], "ring_seconds": slowest[1],
                    "exchange_seconds_of_model": exchange}
    return row


def weak(host, nside, spin, ranks):
    """A map of as many pixels for each rank. The work is that of the orders, rings and degrees, nside^3."""
    large = round(nside * math.sqrt(ranks))
    seconds, _ = host.together(large, spin, ranks)
    return {"nside": large, "lmax": 2 * large, "spin": spin, "ranks": ranks} | {way: {"ranks_seconds": many} for way, (_, many) in seconds.items()}


def from_file_to_file(tool, device, nside, fwhm, ranks):
    """synfast, smooth and anafast of white noise. spectrum_chi_squared: of C_l of l up to nside, per degree of freedom, which is 1 up to
    sqrt(2 / nside) and the quadrature's error of nside^-1."""
    import zonal

    def seconds(*arguments):
        flags = "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", ranks
        return programs.report("mpirun", *flags, tool, *arguments, "--device", device, "--overwrite")["seconds"]

    lmax = 2 * nside
    with open("white.txt", "w") as file:
        file.write("# l TT\n" + "".join(f"{degree} 1\n" for degree in range(lmax + 1)))
    row = {"nside": nside, "lmax": lmax, "ranks": ranks}
    row["synfast_seconds"] = seconds("synfast", "white.txt", "sky.fits", "--nside", nside, "--lmax", lmax, "--seed", 1, "--precision", "float")
    row["anafast_seconds"] = seconds("anafast", "sky.fits", "spectrum.fits", "--lmax", lmax, "--iter", 0)
    row["smooth_seconds"] = seconds("smooth", "sky.fits", "smooth.fits", "--fwhm", f"{fwhm}arcmin", "--method", "ring-fft", "--error", 1e-3)
    row["map_bytes"] = os.path.getsize("sky.fits")
    c_l = next(iter(zonal.io.read_cl("spectrum.fits").values()))[:nside + 1]
    degrees = np.arange(c_l.size)
    row["spectrum_chi_squared"] = float(((degrees + 0.5) * (c_l - 1) ** 2)[2:].mean())
    for name in ("white.txt", "sky.fits", "smooth.fits", "spectrum.fits"):
        os.remove(name)
    return row


def draw(rows, path):
    sizes = sorted({(row["nside"], row["spin"]) for row in rows})
    panels = []
    for way in WAYS:
        curves = {}
        for nside, spin in sizes:
            mine = [row for row in rows if (row["nside"], row["spin"]) == (nside, spin)]
            one = mine[0][way]["one_seconds"]
            measured = [(1, one)] + [(row["ranks"], row[way]["ranks_seconds"]) for row in mine]
            curves[f"nside {nside}, spin {spin}"] = measured, [(n, one / n) for n, _ in measured]
        panels.append((way, "GPUs", "seconds", curves))
    pictures.write(path, panels)


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2])
    parser.add_argument("--nside", type=int, nargs="+", default=[2048, 4096, 8192])
    parser.add_argument("--weak-nside", type=int, default=2048, help="of one rank")
    parser.add_argument("--file-nside", type=int, default=16384)
    parser.add_argument("--sums-nside", type=int, default=8192)
    parser.add_argument("--fwhm", type=float, nargs="+", default=[4.7, 1.2], help="of kernels of sums, arcmin; files take the first")
    parser.add_argument("--spin", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--bandwidth", type=float, default=3.5e11, help="bytes/s that a rank gets through NVLink")
    parser.add_argument("--programs", type=pathlib.Path, default=programs.ROOT / "build-cuda/bin")
    parser.add_argument("--picture", help="where to draw the seconds")
    options, kept = machine.parse_options(parser)
    host = (Gpus if options.device == "cuda" else Cpus)(options.programs, options.runs)
    record = {"what": "transforms, sums over pixels and jobs of the tool over the GPUs of a host", "machine": machine.describe()}
    record["options"] = {name: value for name, value in kept.items() if name not in ("picture", "programs")}
    record["strong"] = [strong(host, nside, spin, ranks, options.bandwidth)
                        for nside in options.nside for spin in options.spin for ranks in options.ranks]
    record["weak"] = [weak(host, options.weak_nside, spin, ranks) for spin in options.spin for ranks in options.ranks]
    sums = [(fwhm, ranks, host.sums("ring-fft", options.sums_nside, fwhm, 3 * fwhm, ranks)) for fwhm in options.fwhm for ranks in options.ranks]
    record["sums"] = [{"fwhm_arcmin": fwhm, "ranks": ranks} | row for fwhm, ranks, row in sums if row]
    tool = options.programs / "zonal"
    record["files"] = from_file_to_file(tool, options.device, options.file_nside, options.fwhm[0], max(options.ranks))
    if options.picture:
        draw(record["strong"], options.picture)
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
