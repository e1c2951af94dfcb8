#pragma once

#include <cstdint>
#include <vector>

#include "gwrm/shape.hpp"

namespace zonal::gwrm {

/// The rows that boundary conditions and joints between subdomains put in the places of the highest spatial
/// modes: for every mode of the other axes, sum_l weight_l a_l = g. In two dimensions of space, rows of axis
/// 1 stand for all modes of axis 2, and those of axis 2 for the modes of axis 1 that are left.
class Boundary {
  public:
    Boundary(const Problem& problem, const Shape& shape);

    /// Interpolates the conditions' functions on a time interval.
    void set_time(Interval time);
    /// Sets those rows of result to sum_l weight_l a_l - g. a, result: [field, vector, subdomain, k..]
    void apply(const double* a, std::int64_t n, double* result) const { replace(a, n, true, result); }
    /// Without g.
    void apply_linear(const double* a, std::int64_t n, double* result) const { replace(a, n, false, result); }
    /// Sets those rows to 0.
    void clear(std::int64_t n, double* result) const;

  private:
    struct Entry {
        int subdomain;
        std::vector<double> weights;  ///< [l]
    };
    struct Row {
        int field, axis, subdomain;
        std::int64_t mode;  ///< whose place it takes
        std::vector<Entry> entries;
        int condition = -1;     ///< of the problem, whose g it has; -1: 0
        double scale = 1;       ///< largest weight, by which the weights are divided, and g
        std::vector<double> g;  ///< [k..] with one coefficient along the axis; empty: 0
    };

    void add_field(int field, int axis);
    std::vector<Row> rows_of_ends(int field, int axis, End end) const;
    std::vector<Row> joint(int field, int axis, int left, int right, int order) const;
    std::vector<double> end_weights(const Axis& axis, std::int64_t n, End end, int order) const;
    void replace(const double* a, std::int64_t n, bool with_g, double* result) const;
    template <class Body>
    void for_each_place(const Row& row, const Body& body) const;

    const Problem& problem_;
    Shape shape_;
    std::vector<Row> rows_;
};

}  // namespace zonal::gwrm
