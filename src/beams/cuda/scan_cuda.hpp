#pragma once

#include <cstdint>
#include <optional>

#include "beams/effective_beams.hpp"
#include "zonal/device.hpp"
#include "zonal/view.hpp"

/// What signals of beams need in a GPU's memory besides the samples. Each call returns when all is done.
/// Without CUDA code all of it throws BackendUnavailable.
namespace zonal::beams::cuda {

/// Fields whose values are made at once.
inline constexpr std::int64_t most_fields = 16;

/// A Term whose field is one of a few, and whose detector one of a set.
struct SetTerm {
    std::int64_t k;
    int field, detector;
    Modulation modulation;
    int psi, hwp;  ///< rows of the angles
};

/// Terms of fields that follow one another, by ascending k.
struct SetTerms {
    const double *psi, *hwp;  ///< [row][pointing]; hwp: null where there is no plate
    std::int64_t n_pointings;
    int n_terms;
    SetTerm terms[most_fields];
};

/// signals: [detector of the set][pointing] += the terms of values, [field][pointing].
void add_terms(Device device, const SetTerms& terms, const double* values, double* signals);
/// The transpose: values = what their terms count of the signals.
void set_values(Device device, const SetTerms& terms, const double* signals, double* values);

/// An angle, and where among others it is.
struct NumberedAngle {
    std::int64_t number;
    double angle;
};
/// The first of these angles, in the device's memory, that is not finite, if there is one. name: for errors.
std::optional<NumberedAngle> first_not_finite(const char* name, Device device, View<const double, 1> angles);

}  // namespace zonal::beams::cuda
