#pragma once

#include <cstdint>

#include "gwrm/array_math.hpp"

/// Rows of boundary conditions and joints, for the CPU and CUDA.
namespace zonal::gwrm {

/// One of them: for every mode of the other axes, sum_l weight_l a_l = g, over the modes of one subdomain or
/// of two.
struct BoundaryRow {
    std::int64_t field = 0, axis = 1, subdomain = 0;
    std::int64_t mode = 0;     ///< whose place it takes
    std::int64_t n_modes = 0;  ///< along the axis
    std::int64_t n_other = 0;  ///< modes of the other axis of space or parameters that it stands for
    std::int64_t n_entries = 1;
    std::int64_t sources[2] = {0, 0};  ///< subdomains, [entry]
    std::int64_t weights = 0;          ///< position of [entry, l]
    std::int64_t g = -1;               ///< position of [k, mode of the other axis]; -1: 0
};

/// Puts the rows in the places of results: a reduction whose segments are [row, vector, k, other]. a, result:
/// [field, vector, subdomain, k, l, m]
struct BoundaryRows {
    using Operation = Sum;
    enum class Kind { whole, linear, zero };  ///< with g, without, or 0
    std::int64_t n_segments = 0, n_vectors = 1, most_other = 1;
    std::int64_t extents[3] = {1, 1, 1}, per_field = 0;
    Kind kind = Kind::whole;
    const BoundaryRow* rows = nullptr;
    const double *weights = nullptr, *g = nullptr, *a = nullptr;
    double* result = nullptr;

    struct Segment {
        std::int64_t length = 0, stride = 1, n_modes = 0;
        const double *weights = nullptr, *first = nullptr, *second = nullptr;
        double g = 0;
        double* target = nullptr;
        ZONAL_HOST_DEVICE double value(std::int64_t i) const {
            return weights[i] * (i < n_modes ? first[i * stride] : second[(i - n_modes) * stride]);
        }
        ZONAL_HOST_DEVICE void store(double sum) const {
            if (target != nullptr) *target = sum - g;
        }
    };

    ZONAL_HOST_DEVICE Segment segment(const BoundaryRow& row, std::int64_t vector, std::int64_t k,
                                      std::int64_t other) const {
        const std::int64_t block = extents[0] * extents[1] * extents[2];
        const std::int64_t first = (row.field * n_vectors + vector) * per_field;
        const std::int64_t offset =
            first + k * extents[1] * extents[2] + other * (row.axis == 1 ? 1 : extents[2]);
        Segment found;
        found.stride = row.axis == 1 ? extents[2] : 1;
        found.target = result + offset + row.subdomain * block + row.mode * found.stride;
        if (kind == Kind::zero) return found;
        found.n_modes = row.n_modes;
        found.length = row.n_entries * row.n_modes;
        found.weights = weights + row.weights;
        found.first = a + offset + row.sources[0] * block;
        found.second = a + offset + row.sources[1] * block;
        if (kind == Kind::whole && row.g >= 0)
            found.g = g[row.g + k * (row.axis == 1 ? extents[2] : extents[1]) + other];
        return found;
    }
    /// Empty where a row has fewer places than another.
    ZONAL_HOST_DEVICE Segment segment(std::int64_t s) const {
        const std::int64_t other = s % most_other, k = s / most_other % extents[0];
        const std::int64_t rest = s / (most_other * extents[0]);
        const BoundaryRow& row = rows[rest / n_vectors];
        return other < row.n_other ? segment(row, rest % n_vectors, k, other) : Segment{};
    }
    ZONAL_HOST_DEVICE void store(std::int64_t s, double sum) const { segment(s).store(sum); }
};

}  // namespace zonal::gwrm
