"""Tests of the package on a GPU: without one they are skipped, or fail where ZONAL_REQUIRE_GPU is set."""

import os

import numpy as np
import pytest

import zonal
from libraries import ALL

USABLE = [device for device in zonal.devices() if device.name != "cpu" and device.usable]


def pytest_collection_modifyitems(items):
    if not USABLE and not os.environ.get("ZONAL_REQUIRE_GPU"):
        for item in items:
            item.add_marker(pytest.mark.skip(reason="no GPU can be used"))


@pytest.fixture
def rng():
    return np.random.default_rng(20261125)


@pytest.fixture(params=list(ALL))
def library(request):
    return ALL[request.param]()


@pytest.fixture
def cupy():
    return ALL["cupy"]()


@pytest.fixture
def torch():
    return ALL["torch"]()
