"""Convolution with beams that are not round beside ducc0.totalconvolve, in one process, run in turn. JSON on standard output.

    python bench/beams.py --lmax 512 --kmax 2 8 --error 1e-5 --cpu-time --output bench/results/NAME.json

The sky and the beam are random T, E, B, the pointings uniform on the sphere, in no order. Making the samples of the sky ("planes") and the
signal at the pointings ("pointings") are measured apart, and the transpose as a whole, which for ducc0 has two steps. Each is asked for the
same error, which ducc0's epsilon promises in its own way; what each reached is there too, beside an error of 1e-12, over the largest signal.
ducc0 should be built for the machine: pip install --no-binary ducc0 ducc0. Its getSlm takes all cores whatever it is told: set DUCC0_NUM_THREADS to
the number of threads. --cpu-time: of all threads together. --device cuda: Zonal computes on a GPU from arrays of the host, and ducc0 on the
threads beside it.
"""

import time

import ducc0
import numpy as np

import machine
import skies
import zonal


def beam_of(lmax, kmax):
    rng = np.random.default_rng(3)
    order = np.concatenate([np.full(lmax + 1 - k, k) for k in range(kmax + 1)])
    degree = np.concatenate([np.arange(k, lmax + 1) for k in range(kmax + 1)])
    alm = rng.standard_normal((3, order.size)) + 1j * rng.standard_normal((3, order.size))
    alm[:, order == 0] = alm[:, order == 0].real
    alm[1:, degree < 2] = 0
    return alm


def measure(lmax, kmax, error, threads, options):
    clock = time.process_time if options.cpu_time else time.perf_counter
    rng = np.random.default_rng(1)
    n = options.n_pointings
    theta, phi, psi = np.arccos(rng.uniform(-1, 1, n)), *rng.uniform(0, 2 * np.pi, (2, n))
    pointings = np.stack([theta, phi, psi], 1)
    sky = np.concatenate([skies.white_alm(lmax, 0).reshape(1, -1), skies.white_alm(lmax, 2)])
    beam = beam_of(lmax, kmax)
    common = dict(lmax=lmax, kmax=kmax, epsilon=error, npoints=n, nthreads=threads)

    def make(wanted=error):
        return zonal.BeamConvolver(sky, beam, error=wanted, n_pointings=n, threads=threads, device=options.device)

    def peer():
        return ducc0.totalconvolve.Interpolator(sky=sky, beam=beam, separate=False, **common)

    def peer_adjoint(tod):
        one = ducc0.totalconvolve.Interpolator(ncomp=1, **common)
        one.deinterpol(pointings, tod)
        return one.getSlm(beam)

    ours, theirs = make(), peer()
    signal, peer_signal = ours(theta, phi, psi), theirs.interpol(pointings)
    truth = make(1e-12)(theta, phi, psi)
    return {"lmax": lmax, "kmax": kmax, "error": error, "threads": threads, "n_pointings": n, "n_samples": ours.n_samples, "width": ours.width,
            "planes": machine.paired(make, peer, options.runs, clock),
            "pointings": machine.paired(lambda: ours(theta, phi, psi), lambda: theirs.interpol(pointings), options.runs, clock),
            "adjoint": machine.paired(lambda: ours.adjoint(signal, theta, phi, psi), lambda: peer_adjoint(peer_signal), options.runs, clock),
            "error_reached": {name: float(abs(one - truth).max() / abs(truth).max())
                              for name, one in (("zonal", signal), ("ducc0", peer_signal[0]))}}


def main():
    parser = machine.parser(__doc__)
    parser.add_argument("--lmax", type=int, nargs="+", default=[512])
    parser.add_argument("--kmax", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--error", type=float, nargs="+", default=[1e-5])
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--n-pointings", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cpu-time", action="store_true")
    parser.add_argument("--device", default="cpu", help="where Zonal computes")
    parser.add_argument("--output")
    options = parser.parse_args()
    record = {"what": "convolution with beams beside ducc0.totalconvolve", "machine": machine.describe("ducc0", "numpy"),
              "simd_target": machine.simd(), "clock": "CPU time" if options.cpu_time else "wall time",
              "device": machine.model_of(options.device),
              "results": [measure(lmax, kmax, error, threads, options) for lmax in options.lmax for kmax in options.kmax
                          for error in options.error for threads in options.threads]}
    machine.write(record, options.output)


if __name__ == "__main__":
    main()
