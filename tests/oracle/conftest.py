"""Puts bench/ on the path, whose accuracy.py and exact_modes.py test_sht_single_modes.py takes."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "bench"))
