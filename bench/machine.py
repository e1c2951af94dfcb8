"""What a benchmark record says of the machine, and how it times."""
import argparse
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import time


def describe(*packages):
    model = platform.processor()
    try:
        with open("/proc/cpuinfo") as info:
            model = next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        commit = subprocess.run(["git", "-C", here, "describe", "--always", "--dirty"], capture_output=True,
                                text=True).stdout.strip()
    except OSError:  # a machine without git
        commit = ""
    return {"cpu": model, "cpus": len(os.sched_getaffinity(0)), "system": platform.platform(),
            "commit": commit, "python": platform.python_version(),
            "versions": {name: importlib.metadata.version(name) for name in packages},
            "load_before": os.getloadavg()[0]}


def model_of(device):
    """What Zonal computes on: on "cpu" the instruction set that its kernels are for, else the GPU."""
    import zonal
    return next(one.model for one in zonal.devices() if one.name.startswith(device))


def simd():
    return model_of("cpu")


def parser(documentation):
    """That of a program, with the text that it begins with as its help."""
    return argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)


def parse_options(parser, peer_by_openmp=False):
    """--threads, --runs, --output and what the parser has; and all but the output as a record keeps them. peer_by_openmp:
    healpy takes its threads from the environment."""
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--output")
    options = parser.parse_args()
    if peer_by_openmp and os.environ.get("OMP_NUM_THREADS", "") != str(options.threads):
        parser.error(f"set OMP_NUM_THREADS={options.threads}, which is how healpy takes its threads")
    return options, {name: value for name, value in vars(options).items() if name != "output"}


def paired(ours, theirs, runs, clock=time.perf_counter):
    """Runs the two in turn, A B A B ..., after one uncounted run each. Seconds of each, and the ratio pair by pair.
    clock: time.process_time, of work on one thread, does not count what other processes take."""
    ours(), theirs()
    pairs = []
    for _ in range(runs):
        start = clock()
        ours()
        middle = clock()
        theirs()
        pairs.append((middle - start, clock() - middle))
    return of_pairs(pairs)


def of_pairs(pairs):
    """What a record says of pairs of seconds, ours and a peer's."""
    ratios = [b / a for a, b in pairs]
    return {"seconds": min(a for a, _ in pairs), "peer_seconds": min(b for _, b in pairs), "runs": len(pairs),
            "speed_over_peer_median": statistics.median(ratios), "speed_over_peer_min": min(ratios),
            "speed_over_peer_max": max(ratios)}


def in_turn(ways, runs):
    """Runs each of several functions in turn, A B C A B C ..., after one uncounted run each. {name: [seconds]}."""
    seconds = {name: [] for name in ways}
    for run in range(runs + 1):
        for name, work in ways.items():
            start = time.perf_counter()
            work()
            if run > 0:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def write(record, path):
    text = json.dumps(record, indent=1)
    if path:
        with open(path, "w") as file:
            file.write(text + "\n")
    print(text)
