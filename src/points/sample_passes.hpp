#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "points/sphere_samples.hpp"

/// The passes between alm and samples, on all threads: over orders, from alm to F_m in rows, and over rows,
/// from these to samples.
namespace zonal::points {

/// Orders whose F_m lie in rows: all of a plan's, or a rank's.
struct RowOrders {
    const SampleTables& tables;           ///< the plan's, with its factors by slot
    std::span<const std::int64_t> slots;  ///< orders: even and odd ones in turn, -1 where there is none
    const AlmLayout& layout;              ///< of alm
};

/// All orders of a plan, each in its own place.
std::vector<std::int64_t> all_orders(const SampleTables& tables);

/// Rows of several fields, one field after the other.
struct FieldRows {
    double* data;
    std::int64_t stride;  ///< doubles from row to row
    SampleRows rows;
    SampleView field(std::int64_t f) const {
        return {data + f * (rows.end - rows.first) * stride, stride, rows};
    }
};

using ThreadScratch = std::vector<std::unique_ptr<SampleScratch>>;

/// F_m of the orders' alm, [map, component, layout.size()], in all rows that are there: slot k at the numbers
/// 2 k and 2 k + 1 of a row. weights: null, or what to find errors with, [field][slot].
template <class T>
void alm_to_rows(const SphereSamples::Implementation& plan, const RowOrders& orders,
                 View<const std::complex<T>, 3> alm, const FieldRows& out, ThreadScratch& scratch,
                 const ErrorWeights* weights = nullptr, OrderErrors* errors = nullptr);
/// The transpose.
template <class T>
void rows_to_alm(const SphereSamples::Implementation& plan, const RowOrders& orders, const FieldRows& in,
                 ThreadScratch& scratch, View<std::complex<T>, 3> alm);

/// Samples of the rows in which all orders' F_m lie, and their copies.
void rows_to_samples(SampleArray::Storage& samples);
/// The transpose.
void samples_to_rows(SampleArray::Storage& samples);

}  // namespace zonal::points
