#pragma once

#include <cstdint>
#include <vector>

#include "gwrm/backend.hpp"

namespace zonal::gwrm {

/// The rows that boundary conditions and joints between subdomains put in the places of the highest spatial
/// modes: for every mode of the other axes, sum_l weight_l a_l = g. In two dimensions of space, rows of axis
/// 1 stand for all modes of axis 2, and those of axis 2 for the modes of axis 1 that are left.
class Boundary {
  public:
    Boundary(const Problem& problem, const Shape& shape, Backend& backend);

    /// Interpolates the conditions' functions on a time interval.
    void set_time(Interval time);
    /// Those rows of result become sum_l weight_l a_l - g, or without g, or 0. a, result: [field, vector,
    /// subdomain, k..], not the same array
    void replace(BoundaryRows::Kind kind, const double* a, std::int64_t n, double* result);

  private:
    struct Entry {
        int subdomain;
        std::vector<double> weights;  ///< [l]
    };
    struct Row {
        int field, axis, subdomain;
        std::int64_t mode;  ///< whose place it takes
        std::vector<Entry> entries;
        int condition = -1;  ///< of the problem, whose g it has; -1: 0
        double scale = 1;    ///< largest weight, by which the weights are divided, and g
    };

    void add_field(int field, int axis);
    std::vector<Row> rows_of_ends(int field, int axis, End end) const;
    std::vector<Row> joint(int field, int axis, int left, int right, int order) const;
    std::vector<double> end_weights(const Axis& axis, std::int64_t n, End end, int order) const;
    std::int64_t n_other(const Row& row) const;
    std::vector<double> values_of_g(const Row& row, Interval time) const;
    void upload_rows();

    const Problem& problem_;
    Shape shape_;
    Backend& backend_;
    std::vector<Row> rows_;
    std::int64_t most_other_ = 1;
    std::vector<std::int64_t> places_of_g_;  ///< [row], in g_; -1: 0
    BackendArray<BoundaryRow> table_;
    Vector weights_, g_;
};

}  // namespace zonal::gwrm
