#pragma once

#include <nanobind/typing.h>

#include <vector>

#include "arrays.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::python {

/// Spectra by their names.
using Spectra = nb::typed<nb::dict, nb::str, nb::ndarray<nb::numpy, double, nb::ndim<1>>>;

inline Spectra to_dict(const std::vector<Spectrum>& spectra) {
    Spectra named;
    for (const auto& spectrum : spectra) named[spectrum.name.c_str()] = to_numpy(spectrum.values);
    return named;
}

}  // namespace zonal::python
