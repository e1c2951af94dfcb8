"""Compares the error estimates of `zonal solve` with true errors over many settings.

gwrm_estimates.py [--problem NAME...] [--output FILE.json]: for each problem the tool runs with
many numbers of modes, tolerances, end times and both treatments of the highest mode. The references are mpmath's Taylor
integrator in 22 digits (Lorenz, Brusselator) and the Cole-Hopf solution of Burgers' equation, a series of Bessel functions.
An estimate is sound where it is at least 1/1.5 of the true error: of every field at t1, or, with space, of the largest error
at 33 points. The exit status is 1 where one is not.
"""
import itertools
import json
import pathlib
import statistics
import sys

from mpmath import besseli, cos, exp, mp, mpf, odefun, pi, sin

import machine
import programs

LEAST_RATIO = 1 / 1.5
HIGHEST_MODES = ("projection", "tau")
POINTS = [i / 32 for i in range(33)]
mp.dps = 22


def integrate(rate, start, ends):
    solution = odefun(lambda t, u: rate(*u), 0, [mpf(value) for value in start], tol=mpf(10) ** -21)
    return {end: [float(value) for value in solution(mpf(end))] for end in sorted(ends)}


def lorenz(x, y, z):
    return [10 * (y - x), x * (28 - z) - y, x * y - mpf(8) / 3 * z]


def brusselator(x, y):
    return [1 + x * x * y - 4 * x, 3 * x - x * x * y]


def burgers(nu, t):
    """From u = sin(pi x), by u = -2 nu phi_x / phi with phi_t = nu phi_xx (Cole 1951)."""
    z, terms = 1 / (2 * pi * mpf(nu)), []
    while not terms or abs(terms[-1]) > mpf(10) ** -22 * besseli(0, z):
        n = len(terms) + 1
        terms.append(2 * besseli(n, z) * exp(-n * n * pi * pi * mpf(nu) * t))

    def value(x):
        phi = besseli(0, z) + sum(a * cos(n * pi * x) for n, a in enumerate(terms, 1))
        return float(2 * mpf(nu) * pi * sum(n * a * sin(n * pi * x) for n, a in enumerate(terms, 1)) / phi)
    return [value(mpf(x)) for x in POINTS]


def without_space(problem, rate, start, ends, modes, tolerances, lengths):
    """Settings with automatic lengths of intervals at all tolerances, and with fixed ones."""
    exact = integrate(rate, start, ends)
    automatic = itertools.product(ends, modes, [0], tolerances)
    fixed = itertools.product(ends, modes, lengths, [1e-12])
    for (end, mode, length, tolerance), highest in itertools.product([*automatic, *fixed], HIGHEST_MODES):
        yield [problem, "--set", f"t1={end}", "--modes", str(mode), "--interval", str(length), "--tolerance", str(tolerance),
               "--highest-mode", highest], exact[end]


def with_space(cases, lengths, tolerances):
    points = ",".join(map(str, POINTS))
    for nu, end, modes in cases:
        exact = burgers(nu, end)
        for mode, length, tolerance, highest in itertools.product(modes, lengths, tolerances, HIGHEST_MODES):
            yield ["burgers", "--set", f"nu={nu}", "--set", f"t1={end}", "--modes", mode, "--interval", str(length),
                   "--tolerance", str(tolerance), "--highest-mode", highest, "--at", points], exact


TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
PROBLEMS = {
    "lorenz63": lambda: without_space("lorenz63", lorenz, (1, 1, 1), (5, 10), (8, 11, 14, 16, 18, 20, 24, 28), TOLERANCES,
                                      (0.1, 0.05)),
    "brusselator": lambda: without_space("brusselator", brusselator, (1.5, 3), (7, 20), (8, 11, 14, 16, 18, 20, 24, 28),
                                         TOLERANCES, (0.25, 0.1)),
    "burgers": lambda: with_space([(0.1, 1, ("6,12", "8,16", "10,20", "14,24", "18,28")),
                                   (0.03, 0.5, ("8,28", "12,40"))],
                                  (0, 0.25), (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)),
}


def run(arguments, exact):
    """Without --interval where the length is 0."""
    at = arguments.index("--interval")
    if arguments[at + 1] == "0":
        arguments = arguments[:at] + arguments[at + 2:]
    shown = " ".join(arguments).split(" --at")[0]
    try:
        report = programs.report(programs.ZONAL, "solve", *arguments, "--device", "cpu", "--quiet")
    except SystemExit as failure:
        return {"arguments": shown, "failed": str(failure)}
    errors = [abs(value - true) for value, true in zip(report["values"], exact, strict=True)]
    if "--at" in arguments:
        errors = [max(errors)]
    estimates = [float("inf") if estimate is None else estimate for estimate in report["errors"][:len(errors)]]
    ratios = [estimate / error for estimate, error in zip(estimates, errors) if error > 0]
    return {"arguments": shown, "intervals": report["intervals"], "errors": errors, "estimates": estimates,
            "least_ratio": min(ratios, default=float("inf"))}


def summarise(runs):
    solved = [run for run in runs if "failed" not in run]
    ratios = [run["least_ratio"] for run in solved]
    whole = [max(run["estimates"]) / max(run["errors"]) for run in solved if max(run["errors"]) > 0]
    return {"settings": len(solved), "not_solved": len(runs) - len(solved),
            "below": sum(not ratio >= LEAST_RATIO for ratio in ratios), "least_ratio": min(ratios),
            "largest_over_largest": {"least": min(whole), "median": statistics.median(whole), "most": max(whole)}}


def rounded(record):
    if isinstance(record, dict):
        return {key: rounded(value) for key, value in record.items()}
    if isinstance(record, list):
        return [rounded(value) for value in record]
    return float(f"{record:.3g}") if isinstance(record, float) else record


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--problem", action="append", choices=PROBLEMS)
    parser.add_argument("--output")
    options = parser.parse_args()
    record = {"machine": machine.describe("mpmath"), "command": " ".join(["python", "bench/gwrm_estimates.py", *sys.argv[1:]]),
              "problems": {}}
    for name in options.problem or PROBLEMS:
        runs = [run(arguments, exact) for arguments, exact in PROBLEMS[name]()]
        record["problems"][name] = rounded(summarise(runs) | {"runs": runs})
        print(name, json.dumps(rounded(summarise(runs))))
        for found in runs:
            if "failed" in found or not found["least_ratio"] >= LEAST_RATIO:
                print("  ", json.dumps(rounded(found)))
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(record, separators=(",", ":")).replace('{"arguments', '\n{"arguments') + "\n")
    return any(problem["below"] for problem in record["problems"].values())


if __name__ == "__main__":
    sys.exit(main())
