"""Trains a small convolutional network on the sphere with zonal.torch: it reads the tilt n of C_l ~ (l + 1)^n off single maps.

    python spherical_cnn.py --nside 64

A layer convolves its channels with radial filters, whose windows are learned, and so its output turns with its input. The
last one averages over the sphere: what the network says of a map does not depend on how the map is turned.
"""

import argparse
import time

import numpy as np
import torch

import zonal
import zonal.torch


class RadialConvolution(torch.nn.Module):
    """Maps [..., in, pixel] to [..., out, pixel] by a window for each pair of channels, smooth in l: a few numbers each."""

    def __init__(self, channels_in, channels_out, sht, n_numbers=6):
        super().__init__()
        self.sht = sht
        self.weight = torch.nn.Parameter(torch.randn(channels_out, channels_in, n_numbers) * channels_in**-0.5)
        self.bias = torch.nn.Parameter(torch.zeros(channels_out, 1))
        # Hats over log(l + 1), which sum to 1.
        place = torch.log(torch.arange(sht.lmax + 1) + 1.0) / np.log(sht.lmax + 1) * (n_numbers - 1)
        self.register_buffer("hats", torch.clamp(1 - abs(place - torch.arange(n_numbers)[:, None]), min=0))

    def forward(self, maps):
        windows = self.weight @ self.hats
        alm = zonal.torch.analyze(maps, self.sht, iterations=0)
        filtered = zonal.torch.almxfl(alm[..., None, :, :], windows, self.sht.lmax, self.sht.mmax).sum(-2)
        return zonal.torch.synthesize(filtered, self.sht) + self.bias


class TiltNetwork(torch.nn.Module):
    def __init__(self, sht, channels=6):
        super().__init__()
        self.first = RadialConvolution(1, channels, sht)
        self.second = RadialConvolution(channels, channels, sht)
        self.last = torch.nn.Linear(channels, 1)

    def forward(self, maps):
        layer = torch.nn.functional.softplus(self.first(maps[..., None, :]))
        layer = self.second(layer)
        return self.last(torch.log1p((layer**2).mean(-1)))[..., 0]


def simulate(n_maps, nside, lmax, seed):
    """Returns maps [map, pixel] of variance 1 and their tilts, between -2 and 0."""
    tilts = np.random.default_rng(seed).uniform(-2, 0, n_maps)
    maps = np.stack([zonal.synfast((np.arange(lmax + 1) + 1.0) ** n, nside, lmax, seed=seed + i) for i, n in enumerate(tilts)])
    maps /= maps.std(axis=1, keepdims=True)
    return torch.from_numpy(maps.astype(np.float32)), torch.from_numpy(tilts.astype(np.float32))


def train(network, maps, tilts, steps, batch=16, rate=0.03, compiled=False):
    """Returns the mean squared errors of the steps."""
    call = torch.compile(network, fullgraph=True) if compiled else network
    optimizer = torch.optim.Adam(network.parameters(), rate)
    losses = []
    for step in range(steps):
        chosen = torch.arange(step * batch, (step + 1) * batch, device=maps.device) % len(maps)
        loss = ((call(maps[chosen]) - tilts[chosen]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nside", type=int, default=16)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--device", default=None, help="of zonal.SHT and torch, such as cuda")
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(1)
    lmax = 2 * options.nside
    device = {} if options.device is None else {"device": options.device}
    sht = zonal.SHT(zonal.Grid.healpix(options.nside), lmax, **device)
    network = TiltNetwork(sht).to(options.device)
    maps, tilts = (part.to(options.device) for part in simulate(256, options.nside, lmax, seed=1))
    start = time.perf_counter()
    losses = train(network, maps, tilts, options.steps, compiled=options.compile)
    print(f"{(time.perf_counter() - start) / options.steps * 1e3:.1f} ms a step")
    unseen, true = (part.to(options.device) for part in simulate(64, options.nside, lmax, seed=10_000))
    with torch.no_grad():
        error = ((network(unseen) - true) ** 2).mean().sqrt().item()
    print(f"loss {np.mean(losses[:10]):.3f} -> {np.mean(losses[-10:]):.4f}; error of the tilt of unseen maps: {error:.3f}")


if __name__ == "__main__":
    main()
