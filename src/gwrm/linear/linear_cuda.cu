#include "gwrm/linear/inverses.hpp"

#include "gwrm/linear/elimination_cuda.cuh"
#include "gwrm/time_basis.hpp"

namespace zonal::gwrm::cuda {
namespace {

constexpr int element_threads = 128;

unsigned n_blocks(std::int64_t count) {
    return static_cast<unsigned>((count + element_threads - 1) / element_threads);
}

/// A of its columns.
struct DenseElements {
    VectorPlaces place;
    const double* columns;
    __device__ double operator()(std::int64_t, std::int64_t i, std::int64_t vector) const {
        return columns[place(vector, i)];
    }
};

/// B - lambda_j M.
struct FrozenElements {
    VectorPlaces place;
    const double *constant, *integrated;
    const Complex* lambda;
    __device__ Complex operator()(std::int64_t j, std::int64_t i, std::int64_t vector) const {
        const std::int64_t at = place(vector, i);
        return Complex{constant[at], 0} - integrated[at] * lambda[j];
    }
};

/// Matrices of the elements and orders 0 .. n - 1. Blocks x of columns, y of rows, z of matrices.
template <class T, class Elements>
__global__ void __launch_bounds__(element_threads)
    set_matrices(const EliminationSet<T> set, const Elements elements) {
    const std::int64_t vector = static_cast<std::int64_t>(blockIdx.x) * element_threads + threadIdx.x;
    const std::int64_t i = blockIdx.y;
    const Elimination<T> matrix = set[blockIdx.z];
    if (vector >= matrix.n) return;
    matrix.matrix[i * matrix.n + vector] = elements(blockIdx.z, i, vector);
    if (vector == 0) matrix.order[i] = i;
}

template <class T, class Elements>
void fill(const EliminationSet<T>& set, std::int64_t n_matrices, const Elements& elements,
          cudaStream_t stream) {
    const dim3 grid(n_blocks(set.n), static_cast<unsigned>(set.n), static_cast<unsigned>(n_matrices));
    set_matrices<<<grid, element_threads, 0, stream>>>(set, elements);
    core::check_launch("matrices");
}

__global__ void __launch_bounds__(element_threads)
    copy_elements(const DenseElements elements, std::int64_t n, double* matrix) {
    const std::int64_t vector = static_cast<std::int64_t>(blockIdx.x) * element_threads + threadIdx.x;
    if (vector < n) matrix[blockIdx.y * n + vector] = elements(0, blockIdx.y, vector);
}

class DenseInverse final : public Inverse {
  public:
    DenseInverse(Backend& backend, const VectorPlaces& place, const double* columns)
        : device_(backend.device().index()), inverse_(backend, 1, place.n) {
        fill(inverse_.set(), 1, DenseElements{place, columns}, stream_of(backend));
        inverse_.invert();
    }

    bool is_singular() const override { return inverse_.is_singular(); }
    void solve(const double* b, double* x) override {
        const core::CurrentDevice current(device_);
        inverse_.apply(0, 1, b, x);
    }

  private:
    int device_;
    Inverses<double> inverse_;
};

/// The matrices of TimeBasis on the device.
struct BasisView {
    std::int64_t n_modes, n_systems;
    const Complex *to, *from, *triangle;
};

/// y[j, s] = sum_k b[s, k] to[k, j]. Blocks y for j.
__global__ void __launch_bounds__(element_threads)
    to_basis(const BasisView basis, const TimeSeries series, std::int64_t n, const double* b, Complex* y) {
    const std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * element_threads + threadIdx.x;
    const std::int64_t j = blockIdx.y;
    if (s >= n) return;
    Complex sum;
    for (std::int64_t k = 0; k < basis.n_modes; ++k)
        sum = sum + b[series(s, k)] * basis.to[j * basis.n_modes + k];
    y[j * n + s] = sum;
}

/// x[s, k] = Re sum_j y[j, s] from[j, k]. Blocks y for k.
__global__ void __launch_bounds__(element_threads)
    from_basis(const BasisView basis, const TimeSeries series, std::int64_t n, const Complex* y, double* x) {
    const std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * element_threads + threadIdx.x;
    const std::int64_t k = blockIdx.y;
    if (s >= n) return;
    double sum = 0;
    for (std::int64_t j = 0; j < basis.n_systems; ++j)
        sum += (y[j * n + s] * basis.from[k * basis.n_systems + j]).re;
    x[series(s, k)] = sum;
}

/// sum[s] = half_width sum_{j > k} y[j, s] T[k, j]
__global__ void __launch_bounds__(element_threads)
    add_columns_behind(const BasisView basis, std::int64_t k, double half_width, std::int64_t n,
                       const Complex* y, Complex* result) {
    const std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * element_threads + threadIdx.x;
    if (s >= n) return;
    Complex sum;
    for (std::int64_t j = k + 1; j < basis.n_systems; ++j)
        sum = sum + y[j * n + s] * basis.triangle[j * basis.n_systems + k];
    result[s] = half_width * sum;
}

BackendArray<Complex> copy_of(const TimeBasis::Numbers& numbers, Backend& backend) {
    std::vector<Complex> copy;
    for (const auto& number : numbers) copy.push_back({number.real(), number.imag()});
    BackendArray<Complex> result(backend, std::ssize(copy));
    backend.upload(copy.data(), result.size(), result.data());
    return result;
}

class FrozenInverse final : public Inverse {
  public:
    FrozenInverse(Backend& backend, const Shape& shape, const TimeBasis& basis, double half_width,
                  const double* constant, const double* integrated)
        : device_(backend.device().index()),
          stream_(stream_of(backend)),
          n_(shape.spatial()),
          series_{shape.spatial_block(), shape.block()},
          half_width_(half_width),
          is_diagonal_(basis.is_diagonal),
          to_(copy_of(basis.to, backend)),
          from_(copy_of(basis.from, backend)),
          triangle_(copy_of(basis.triangle, backend)),
          basis_{basis.n_modes, basis.n_systems, to_.data(), from_.data(), triangle_.data()},
          right_(backend, basis.n_systems * n_),
          solution_(backend, basis.n_systems * n_),
          inverses_(backend, basis.n_systems, n_) {
        const VectorPlaces place{n_, n_ / shape.n_fields};
        if (!is_diagonal_) keep_integrated({place, integrated}, backend);
        TimeBasis::Numbers eigenvalues;
        for (std::int64_t j = 0; j < basis.n_systems; ++j)
            eigenvalues.push_back(half_width * basis.eigenvalue(j));
        const auto lambda = copy_of(eigenvalues, backend);
        fill(inverses_.set(), basis.n_systems, FrozenElements{place, constant, integrated, lambda.data()},
             stream_);
        inverses_.invert();
    }

    bool is_singular() const override { return inverses_.is_singular(); }

    void solve(const double* b, double* x) override {
        const core::CurrentDevice current(device_);
        const dim3 to_grid(n_blocks(n_), static_cast<unsigned>(basis_.n_systems));
        to_basis<<<to_grid, element_threads, 0, stream_>>>(basis_, series_, n_, b, right_.data());
        core::check_launch("to the basis of time");
        if (is_diagonal_)
            inverses_.apply(0, basis_.n_systems, right_.data(), solution_.data());
        else
            substitute();
        const dim3 from_grid(n_blocks(n_), static_cast<unsigned>(basis_.n_modes));
        from_basis<<<from_grid, element_threads, 0, stream_>>>(basis_, series_, n_, solution_.data(), x);
        core::check_launch("from the basis of time");
    }

  private:
    void keep_integrated(const DenseElements& elements, Backend& backend) {
        integrated_ = Vector(backend, n_ * n_);
        sum_ = BackendArray<Complex>(backend, n_);
        const dim3 grid(n_blocks(n_), static_cast<unsigned>(n_));
        copy_elements<<<grid, element_threads, 0, stream_>>>(elements, n_, integrated_.data());
        core::check_launch("matrices");
    }

    /// Columns of a triangular basis, from the last to the first.
    void substitute() {
        const auto rows = static_cast<unsigned>((n_ + product_warps - 1) / product_warps);
        for (auto k = basis_.n_systems - 1; k >= 0; --k) {
            Complex* const right = right_.data() + k * n_;
            if (k < basis_.n_systems - 1) {
                add_columns_behind<<<n_blocks(n_), element_threads, 0, stream_>>>(
                    basis_, k, half_width_, n_, solution_.data(), sum_.data());
                multiply<<<rows, product_threads, 0, stream_>>>(integrated_.data(), nullptr, n_, sum_.data(),
                                                                right, true);
                core::check_launch("columns behind");
            }
            inverses_.apply(k, 1, right, solution_.data() + k * n_);
        }
    }

    int device_;
    cudaStream_t stream_;
    std::int64_t n_;
    TimeSeries series_;
    double half_width_;
    bool is_diagonal_;
    BackendArray<Complex> to_, from_, triangle_;
    BasisView basis_;
    BackendArray<Complex> right_, solution_, sum_;  ///< [system, spatial]; [spatial]
    Vector integrated_;                             ///< M, row-major; empty where the basis is diagonal
    Inverses<Complex> inverses_;
};

}  // namespace

std::unique_ptr<Inverse> make_dense_inverse(Backend& backend, const VectorPlaces& place,
                                            const double* columns) {
    return std::make_unique<DenseInverse>(backend, place, columns);
}

std::unique_ptr<Inverse> make_frozen_inverse(Backend& backend, const Shape& shape, const TimeBasis& basis,
                                             double half_width, const double* constant,
                                             const double* integrated) {
    return std::make_unique<FrozenInverse>(backend, shape, basis, half_width, constant, integrated);
}

}  // namespace zonal::gwrm::cuda
