"""Units as they are typeset: uK_CMB, MJy/sr, 10**-8 W m^-2."""

from __future__ import annotations

import re

_MICRO = r"(?<![\w])(?:micro-?|mu|u)(?=(?:K|Jy|G|V|W|Hz|m|s|rad|arcsec)(?![A-Za-z]))"
_EXPONENT = (r"(?:\*\*|\^)(?:\{(-?\d+)\}|\((-?\d+)\)|(-?\d+))|(?<=[A-Za-z])(-\d+)"
             r"|(?:(?<=K)|(?<=Jy)|(?<=sr))([2-9])(?!\w)")
_INDEX = r"_([A-Za-z]+)"


def typeset(unit: str) -> str:
    """Returns a unit as matplotlib's text: µ for micro, with raised exponents and lowered indices."""
    text = re.sub(r",(?=\S)", ", ", re.sub(_MICRO, "µ", unit.strip())).replace("$", r"\$")
    text = re.sub(_INDEX, lambda found: rf"$_{{\mathrm{{{found[1]}}}}}$", text)
    text = re.sub(_EXPONENT, lambda found: f"$^{{{next(filter(None, found.groups()))}}}$", text)
    return text.replace("$$", "")


__all__ = ["typeset"]
