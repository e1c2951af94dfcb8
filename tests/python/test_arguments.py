"""Arguments of wrong types are refused by their names, by every public function."""
import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import zonal
from public_calls import public_calls

CALLS = public_calls()
WRONG = ["five", None, [1, 2], 1j, True, np.nan, object(), -2**70, {}]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """A text is a path to some functions, which then write there."""
    monkeypatch.chdir(tmp_path)


SCALAR = re.compile(r"(int|Large|float|bool|str)( \| None)?")


def is_looked_at(call, parameter):
    """All that Zonal's own functions take; of those that imitate others or draw, numbers, truth values and strings."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return False
    if not call.name.startswith(("zonal.healpy.", "zonal.plot.", "zonal.Map.", "zonal.io.Map.")):
        return call.name != "zonal.angle"  # which is told the name of its argument
    annotation = parameter.annotation
    wanted = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    if parameter.name == "fmt":
        return False  # is matplotlib's
    return SCALAR.fullmatch(wanted) is not None or parameter.name in ("nside", "npix", "ipix")


def known_by(message, name):
    return re.search(rf"\b{re.escape(name)}\b", message) is not None


@pytest.mark.parametrize("call", CALLS, ids=repr)
def test_calls_with_right_arguments_work(call):
    if call.name in ("zonal.cmake_dir", "zonal.get_include") and not (Path(zonal.__file__).parent / "lib").exists():
        pytest.skip("has no libraries, as it is used from its source")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
    plt.close("all")


@pytest.mark.parametrize("call", CALLS, ids=repr)
def test_wrong_types_are_refused_by_name_or_mean_something(call):
    wrong = []
    for parameter in call.parameters:
        if not is_looked_at(call, parameter):
            continue
        for value in WRONG:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    call(**{parameter.name: value})
                except (OSError, zonal.BackendUnavailable):
                    pass  # names the file or the device
                except Exception as error:
                    if not isinstance(error, (TypeError, ValueError, RuntimeError)) or not known_by(str(error), parameter.name):
                        wrong.append(f"{parameter.name} = {value!r}: {type(error).__name__}: {error}")
            plt.close("all")
    assert wrong == []
