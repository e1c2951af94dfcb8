#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "gwrm/array_math.hpp"
#include "gwrm/shape.hpp"
#include "zonal/buffer.hpp"
#include "zonal/chebyshev/calculus.hpp"
#include "zonal/chebyshev/product.hpp"

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

struct TimeBasis;

using Task = std::variant<Fill, Copy, Divide, AddArrays, SubtractFrom, SubtractFromFirstMode, TimeSum, Resize,
                          SetOnes, Combine>;
using Reduction = std::variant<Dot, Magnitudes, Largest, BoundaryRows>;

/// The inverse of a matrix, or what is as good. Arrays where the backend has them.
class Inverse {
  public:
    virtual ~Inverse() = default;
    /// Whether a pivot is so small that the factors mean nothing.
    virtual bool is_singular() const = 0;
    virtual void solve(const double* b, double* x) = 0;
};

/// Where the coefficients of a problem are, and what is done to them there, in the order of the calls. All
/// pointers but those said to be the host's are to its memory.
class Backend {
  public:
    Backend(Device device, int threads) : device_(device), threads_(threads) {}
    virtual ~Backend() = default;

    Device device() const { return device_; }
    int threads() const { return threads_; }
    MemorySpace space() const {
        return device_.kind() == Device::Kind::cpu ? MemorySpace::host : MemorySpace::cuda;
    }

    /// A cudaStream_t, on which all work is put; null on the CPU.
    virtual void* stream() const { return nullptr; }

    virtual void run(const Task& task) = 0;
    virtual void reduce(const Reduction& reduction) = 0;
    /// Inverts the matrix of n columns. columns: [field, vector, unknown of the field]
    virtual std::unique_ptr<Inverse> dense_inverse(const VectorPlaces& place, const double* columns) = 0;
    /// Inverts x -> B x - M x (half_width Int)^T. constant, integrated: the columns of B and M.
    virtual std::unique_ptr<Inverse> frozen_inverse(const Shape& shape, const TimeBasis& basis,
                                                    double half_width, const double* constant,
                                                    const double* integrated) = 0;

    /// As in zonal/chebyshev_calculus.hpp.
    void differentiate(const chebyshev::SeriesArray<const double>& f, int axis, double scale,
                       const chebyshev::SeriesArray<double>& derivative) const;
    void integrate(const chebyshev::SeriesArray<const double>& f, int axis, double scale, HighestMode mode,
                   const chebyshev::SeriesArray<double>& integral) const;

    /// Copies from and to the host, after which all is there.
    template <class T>
    void upload(const T* host, std::int64_t n, T* to) {
        if (n > 0) upload_bytes(host, n * static_cast<std::int64_t>(sizeof(T)), to);
    }
    void download(const double* from, std::int64_t n, double* host);
    /// Numbers copied to the host so far, and bytes from it.
    std::int64_t downloaded() const { return downloaded_; }
    std::int64_t uploaded_bytes() const { return uploaded_bytes_; }

    void fill(double* to, std::int64_t n, double value = 0);
    void copy(const double* from, std::int64_t n, double* to);
    /// Adds arrays of n elements each.
    void add(std::int64_t n, std::span<const WeightedArray> arrays);
    /// The n_segments numbers that a reduction makes, on the host.
    template <class Operation>
    std::vector<double> numbers_of(Operation reduction) {
        reduction.results = results(reduction.n_segments);
        reduce(reduction);
        std::vector<double> numbers(static_cast<std::size_t>(reduction.n_segments));
        download(reduction.results, reduction.n_segments, numbers.data());
        return numbers;
    }

  private:
    virtual void upload_bytes_now(const void* host, std::int64_t bytes, void* to) = 0;
    virtual void download_now(const double* from, std::int64_t n, double* host) = 0;
    void upload_bytes(const void* host, std::int64_t bytes, void* to);
    double* results(std::int64_t n);

    Device device_;
    int threads_;
    Buffer results_;
    std::int64_t downloaded_ = 0, uploaded_bytes_ = 0;
};

/// An array in a backend's memory, which it owns; not initialised.
template <class T>
class BackendArray {
  public:
    BackendArray() = default;
    BackendArray(const Backend& backend, std::int64_t size)
        : memory_(backend.device(), size * static_cast<std::int64_t>(sizeof(T))), size_(size) {}

    T* data() { return static_cast<T*>(memory_.data()); }
    const T* data() const { return static_cast<const T*>(memory_.data()); }
    std::int64_t size() const { return size_; }
    /// Makes it as long; what was there is lost.
    void resize(const Backend& backend, std::int64_t size) {
        if (size > size_) *this = BackendArray(backend, size);
    }

  private:
    Buffer memory_;
    std::int64_t size_ = 0;
};
using Vector = BackendArray<double>;

/// Where to solve for this number of unknowns: the device that is asked for, or by automatic choice the
/// faster one. Throws BackendUnavailable.
Device device_for(Device requested, std::int64_t unknowns);

/// device: resolved. threads: of products on the CPU.
std::unique_ptr<Backend> make_backend(Device device, int threads);
std::unique_ptr<Backend> make_cpu_backend(int threads);
std::unique_ptr<Backend> make_cuda_backend(Device device, int threads);

}  // namespace zonal::gwrm
