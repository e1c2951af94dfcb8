#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "zonal/chebyshev.hpp"
#include "zonal/device.hpp"

namespace zonal {

/// How products are computed.
enum class ChebyshevMethod {
    automatic,  ///< the faster one that keeps the accuracy; decided once, in the plan
    /// The sum over pairs of coefficients, c_k = 1/2 sum_i a_|i| b_|k-i|: in every coefficient
    /// |error| <= n eps (|a| * |b|), n the number of a factor's coefficients.
    direct,
    /// Values on enough Gauss points to be exact (a DCT-III), multiplied, and back (a DCT-II): errors of some
    /// eps of the largest coefficients.
    transform
};

/// What the errors are measured by.
enum class ChebyshevAccuracy {
    normwise,      ///< the largest error over the largest of |a| * |b|
    componentwise  ///< in each coefficient over that of |a| * |b|: automatic then takes direct
};

/// The share weight * prod_f fields[f] that one product has in one of the outputs.
struct ChebyshevTerm {
    int output = 0;
    double weight = 1;
    /// Indices of fields, 1 to 8 of them; a field may be there several times.
    std::vector<int> factors;
};

/// What a product plan is made for.
struct ChebyshevProductOptions {
    ChebyshevMethod method = ChebyshevMethod::automatic;
    ChebyshevAccuracy accuracy = ChebyshevAccuracy::normwise;
    /// All coefficients of a product of p factors, p (n - 1) + 1 per axis, p the most factors of a term,
    /// rather than the first n. Truncated products are exact, too: what is left out leaves no trace in what
    /// is kept.
    bool full = false;
    /// Series that most calls will have at once, which automatic goes by; calls may have any number.
    std::int64_t n_batch = 1;
    int threads = 0;  ///< 0: available_cpus()
    Device device = Device::automatic();
};

namespace chebyshev {

template <class T>
class ProductPlan;  // dimension and convention at run time

/// Shapes and terms of a plan.
struct ProductShape {
    int dimensions = 1;
    ChebyshevConvention convention = ChebyshevConvention::primed;
    std::array<std::int64_t, 3> extents{1, 1, 1};
    int n_fields = 2;
    int n_outputs = 1;
    std::vector<ChebyshevTerm> terms{{0, 1.0, {0, 1}}};
};

}  // namespace chebyshev

/// Scratch memory of product plans, one call at a time. Grows when a call needs more.
class ChebyshevWorkspace {
  public:
    ChebyshevWorkspace();
    ~ChebyshevWorkspace();
    ChebyshevWorkspace(ChebyshevWorkspace&&) noexcept;
    ChebyshevWorkspace& operator=(ChebyshevWorkspace&&) noexcept;

    /// CUDA: from now on the work of calls is put on the caller's stream, a cudaStream_t of the plan's device
    /// (null: the default stream). Where all arrays lie on the device, a call returns without waiting, may be
    /// captured in a graph, and errors of its work show at the caller's next synchronisation. By default the
    /// workspace has a stream of its own, the arrays must be ready when the call is made, and it returns when
    /// all is done. Plans of the CPU take no notice.
    void use_stream(void* cuda_stream);

    struct Storage;
    Storage& storage() { return *storage_; }

  private:
    std::unique_ptr<Storage> storage_;
};

namespace chebyshev {

/// What ChebyshevProductPlan is made of.
template <class T>
class ProductPlanHandle {
  public:
    ProductPlanHandle(const ProductShape& shape, const ChebyshevProductOptions& options);
    ~ProductPlanHandle();
    ProductPlanHandle(ProductPlanHandle&&) noexcept;
    ProductPlanHandle& operator=(ProductPlanHandle&&) noexcept;

    const ProductShape& shape() const;
    const ChebyshevProductOptions& options() const;
    std::array<std::int64_t, 3> extents_out() const;
    void prepare(ChebyshevWorkspace& workspace, std::int64_t n_batch) const;
    void execute(std::span<const SeriesArray<const T>> fields, std::span<const SeriesArray<T>> sums,
                 ChebyshevWorkspace& workspace) const;

  private:
    std::unique_ptr<const ProductPlan<T>> plan_;
};

}  // namespace chebyshev

/// Products and sums of products of Chebyshev series of one shape,
///   sums[o] = sum over the terms of output o of weight * prod_f fields[f],
/// every field transformed once and every output transformed back once. Immutable: any number of threads may
/// use one plan at the same time, each with its workspace. Results do not depend on the number of threads.
template <class T, int D, ChebyshevConvention C = ChebyshevConvention::primed>
class ChebyshevProductPlan {
  public:
    using Extents = std::array<std::int64_t, D>;

    /// Products of two series. extents: numbers of coefficients per axis, of each factor; >= 1.
    /// Throws InvalidArgument and BackendUnavailable.
    explicit ChebyshevProductPlan(const Extents& extents, const ChebyshevProductOptions& options = {})
        : ChebyshevProductPlan(extents, 2, 1, {{0, 1.0, {0, 1}}}, options) {}
    /// Sums of products of n_fields series, to n_outputs series. Outputs without a term become 0.
    ChebyshevProductPlan(const Extents& extents, int n_fields, int n_outputs,
                         std::vector<ChebyshevTerm> terms, const ChebyshevProductOptions& options = {})
        : handle_(shape_of(extents, n_fields, n_outputs, std::move(terms)), options) {}

    /// Extents of a factor.
    Extents extents() const { return first_axes(handle_.shape().extents); }
    /// Extents of an output: extents(), or more in full products.
    Extents extents_out() const { return first_axes(handle_.extents_out()); }
    int n_fields() const { return handle_.shape().n_fields; }
    int n_outputs() const { return handle_.shape().n_outputs; }
    /// With method, threads and device resolved.
    const ChebyshevProductOptions& options() const { return handle_.options(); }
    /// With the scratch memory for calls of so many series at once, which then need no more.
    ChebyshevWorkspace make_workspace(std::int64_t n_batch = 1) const {
        ChebyshevWorkspace workspace;
        handle_.prepare(workspace, n_batch);
        return workspace;
    }

    /// product = a b, for plans of products of two. a, b: [batch, extents()], product: [batch,
    /// extents_out()], which may be a or b. Throws InvalidArgument.
    void multiply(ChebyshevView<const T, D, C> a, ChebyshevView<const T, D, C> b,
                  ChebyshevView<T, D, C> product, ChebyshevWorkspace& workspace) const {
        const std::array fields{chebyshev::series_array(a), chebyshev::series_array(b)};
        const std::array sums{chebyshev::series_array(product)};
        handle_.execute(fields, sums, workspace);
    }
    void multiply(ChebyshevView<const T, D, C> a, ChebyshevView<const T, D, C> b,
                  ChebyshevView<T, D, C> product) const {
        ChebyshevWorkspace workspace;
        multiply(a, b, product, workspace);
    }

    /// fields: n_fields() views [batch, extents()], sums: n_outputs() views [batch, extents_out()], which
    /// may be fields but not one another. Throws InvalidArgument.
    void sum(std::span<const ChebyshevView<const T, D, C>> fields,
             std::span<const ChebyshevView<T, D, C>> sums, ChebyshevWorkspace& workspace) const {
        std::vector<chebyshev::SeriesArray<const T>> in;
        std::vector<chebyshev::SeriesArray<T>> out;
        in.reserve(fields.size());
        out.reserve(sums.size());
        for (const auto& field : fields) in.push_back(chebyshev::series_array(field));
        for (const auto& output : sums) out.push_back(chebyshev::series_array(output));
        handle_.execute(in, out, workspace);
    }
    void sum(std::span<const ChebyshevView<const T, D, C>> fields,
             std::span<const ChebyshevView<T, D, C>> sums) const {
        ChebyshevWorkspace workspace;
        sum(fields, sums, workspace);
    }

  private:
    static chebyshev::ProductShape shape_of(const Extents& extents, int n_fields, int n_outputs,
                                            std::vector<ChebyshevTerm> terms) {
        chebyshev::ProductShape shape{D, C, {1, 1, 1}, n_fields, n_outputs, std::move(terms)};
        for (int axis = 0; axis < D; ++axis) shape.extents[axis] = extents[axis];
        return shape;
    }
    static Extents first_axes(const std::array<std::int64_t, 3>& all) {
        Extents extents{};
        for (int axis = 0; axis < D; ++axis) extents[axis] = all[axis];
        return extents;
    }

    chebyshev::ProductPlanHandle<T> handle_;
};

}  // namespace zonal
