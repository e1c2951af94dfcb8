"""zonal smooth --error under attack (bench/certificate_attacks.py): random maps, kernels, masks, bounds and methods, each compared
with an independent reference."""

import pytest

import certificate_attacks
from conftest import ZONAL

CHUNKS, SEEDS = 10, 30
LARGEST_NSIDE = 64


def is_right(case):
    """Exit status 0 says that --error was kept and that the certificate is true; others say why in one line."""
    if case["exit"] == 0:
        return case["kept"] and case["certified"]
    message = case["message"].splitlines()
    return case["exit"] in (1, 2) and len(message) == 1 and message[0].startswith("zonal smooth: ")


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_what_ends_with_0_has_kept_the_error_and_most_do(monkeypatch, chunk):
    monkeypatch.setattr(certificate_attacks, "ZONAL", ZONAL)
    cases = [certificate_attacks.attack_once(seed, LARGEST_NSIDE) for seed in range(chunk * SEEDS, (chunk + 1) * SEEDS)]
    assert [case for case in cases if not is_right(case)] == []
    exits = [case["exit"] for case in cases]
    assert 2 * exits.count(0) >= len(exits), exits
