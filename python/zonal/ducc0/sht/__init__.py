"""Spherical harmonic transforms with the names and arguments of ducc0.sht.

Arrays have ducc0's shapes: alm ([transform,] component, x), map ([transform,] component, x) or, of the functions whose names
end in _2d, (component, ring, pixel). There is one component for spin 0, else two: E and B, Q and U. float32 goes with
complex64, float64 with complex128. Errors are ValueError and TypeError, which name the argument, where ducc0 raises
RuntimeError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._names import no_attribute
from . import experimental
from ._general import adjoint_synthesis_general, pseudo_analysis_general, synthesis_general
from ._grids import (
    adjoint_analysis_2d,
    adjoint_synthesis_2d,
    analysis_2d,
    get_gridweights,
    maximum_safe_l,
    synthesis_2d,
    synthesis_2d_deriv1,
)
from ._legs import alm2leg, alm2leg_deriv1, leg2alm, leg2map, map2leg
from ._rings import adjoint_synthesis, pseudo_analysis, synthesis, synthesis_deriv1
from ._rotation import rotate_alm

__all__ = [
    "adjoint_analysis_2d", "adjoint_synthesis", "adjoint_synthesis_2d", "adjoint_synthesis_general", "alm2leg", "alm2leg_deriv1", "analysis_2d", "experimental",
    "get_gridweights", "leg2alm", "leg2map", "map2leg", "maximum_safe_l", "pseudo_analysis", "pseudo_analysis_general", "rotate_alm", "synthesis",
    "synthesis_2d", "synthesis_2d_deriv1", "synthesis_deriv1", "synthesis_general",
]

if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        raise no_attribute("zonal.ducc0.sht", name, __all__, "it is not in Zonal" if name == "sharpjob_d" else "")
