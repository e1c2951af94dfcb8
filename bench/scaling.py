"""How transforms scale with the number of ranks, on one machine: shares of jobs of up to 128 ranks, each measured alone with
all threads, and what the exchange would add by a model. JSON on standard output, and a picture.

    python bench/scaling.py --nside 2048 --ranks 2 8 32 128 --threads 2 --runs 3 --picture scaling.svg --output NAME.json

The exchange of a rank takes its bytes / bandwidth, and overlaps with the Legendre stage but for one of c chunks: with t_L
and t_X for the two, (t_L + t_X) / c + (1 - 1 / c) max(t_L, t_X), and the rings' stage besides.
"""

import machine
import pictures
import programs

BANDWIDTHS = {"10 Gb/s": 1.17e9, "400 Gb/s": 48e9}  # bytes/s that one rank gets out of the network
CHUNKS = 4


def seconds_with_exchange(legendre, rest, exchange):
    """By the model. rest: what does not overlap."""
    return (legendre + exchange) / CHUNKS + (1 - 1 / CHUNKS) * max(legendre, exchange) + rest


def measure(nside, ranks, threads, runs):
    report = programs.report(programs.ZONAL_BENCH, "distributed", "--nside", nside, "--lmax", 2 * nside, "--ranks", ranks,
                             "--threads", threads, "--repeat", runs, "--solo")
    row = {"ranks": ranks, "lmax": report["lmax"]}
    for stage in ("synthesis", "adjoint"):
        alone = report["one_process"][stage]["seconds"]
        slowest = max(report["ranks"], key=lambda rank: rank[stage]["seconds"])
        mine = slowest[stage]
        row[stage] = {"one_process_seconds": alone, "share_seconds": mine["seconds"], "legendre_seconds": mine["legendre"],
                      "ring_seconds": mine["rings"], "bytes_sent": slowest["bytes_sent"], "efficiency": alone / (ranks * mine["seconds"])}
        for name, bandwidth in BANDWIDTHS.items():
            row[stage][f"seconds_with_{name}"] = seconds_with_exchange(mine["legendre"], mine["seconds"] - mine["legendre"],
                                                                       slowest["bytes_sent"] / bandwidth)
    return row


def draw(rows, nside, path):
    panels = []
    for stage in ("synthesis", "adjoint"):
        alone = min(row[stage]["one_process_seconds"] for row in rows)
        ideal = [(row["ranks"], alone / row["ranks"]) for row in rows]
        curves = {"largest share": ([(row["ranks"], row[stage]["share_seconds"]) for row in rows], ideal)}
        for name in BANDWIDTHS:
            curves[f"with {name} a rank, by the model"] = ([(row["ranks"], row[stage][f"seconds_with_{name}"]) for row in rows], ideal)
        panels.append((f"{stage}, nside {nside}, lmax {2 * nside}", "ranks", "seconds", curves))
    pictures.write(path, panels)


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--nside", type=int, default=2048)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 8, 32, 128])
    parser.add_argument("--picture", help="where to draw the seconds")
    options, kept = machine.parse_options(parser)
    rows = [measure(options.nside, ranks, options.threads, options.runs) for ranks in options.ranks]
    if options.picture:
        draw(rows, options.nside, options.picture)
    kept.pop("picture")
    machine.write({"what": "shares of distributed transforms, each alone", "machine": machine.describe(), "options": kept,
                   "bandwidths_of_model": BANDWIDTHS, "chunks_of_model": CHUNKS, "results": rows}, options.output)


if __name__ == "__main__":
    main()
