#include <Eigen/Core>
#include <algorithm>
#include <cstring>
#include <vector>

#include "gwrm/backend.hpp"
#include "gwrm/linear/inverses.hpp"

namespace zonal::gwrm {
namespace {

using Vectors = Eigen::Map<const Eigen::MatrixXd>;
using Column = Eigen::Map<const Eigen::VectorXd>;

template <class Each>
void run_task(const Each& task) {
    for (std::int64_t outer = 0; outer < task.n_outer; ++outer)
        for (std::int64_t inner = 0; inner < task.n_inner; ++inner) task(outer, inner);
}

void run_task(const AddArrays& task) {
    for (int k = 0; k < task.n_arrays; ++k) {
        const auto array = task.arrays[k];
        for (std::int64_t i = 0; i < task.n_inner; ++i) array.add(i);
    }
}

void run_task(const Combine& task) {
    Eigen::Map<Eigen::VectorXd> w(task.w, task.n_inner);
    const Vectors vectors(task.vectors, task.n_inner, task.n_vectors);
    w += task.weight * (vectors * Column(task.coefficients, task.n_vectors));
}

template <class Operation, class Segment>
double number_of(const Segment& segment) {
    double number = 0;
    for (std::int64_t i = 0; i < segment.length; ++i) number = Operation::combine(number, segment.value(i));
    return number;
}

template <class Each>
void run_reduction(const Each& reduction) {
    for (std::int64_t s = 0; s < reduction.n_segments; ++s)
        reduction.store(s, number_of<typename Each::Operation>(reduction.segment(s)));
}

void run_reduction(const Dot& reduction) {
    const Vectors vectors(reduction.vectors, reduction.n, reduction.n_segments);
    Eigen::Map<Eigen::VectorXd> results(reduction.results, reduction.n_segments);
    results.noalias() = vectors.transpose() * Column(reduction.w, reduction.n);
}

/// Without the divisions that finding a segment by its number takes.
void run_reduction(const BoundaryRows& reduction) {
    const auto n_rows =
        reduction.n_segments / (reduction.n_vectors * reduction.extents[0] * reduction.most_other);
    for (const auto* row = reduction.rows; row != reduction.rows + n_rows; ++row)
        for (std::int64_t vector = 0; vector < reduction.n_vectors; ++vector)
            for (std::int64_t k = 0; k < reduction.extents[0]; ++k)
                for (std::int64_t other = 0; other < row->n_other; ++other) {
                    const auto segment = reduction.segment(*row, vector, k, other);
                    segment.store(number_of<Sum>(segment));
                }
}

class CpuBackend final : public Backend {
  public:
    explicit CpuBackend(int threads) : Backend(Device::cpu(), threads) {}

    void run(const Task& task) override {
        std::visit([](const auto& each) { run_task(each); }, task);
    }
    void reduce(const Reduction& reduction) override {
        std::visit([](const auto& each) { run_reduction(each); }, reduction);
    }
    std::unique_ptr<Inverse> dense_inverse(const VectorPlaces& place, const double* columns) override {
        return make_dense_inverse(place, columns);
    }
    std::unique_ptr<Inverse> frozen_inverse(const Shape& shape, const TimeBasis& basis, double half_width,
                                            const double* constant, const double* integrated) override {
        return make_frozen_inverse(shape, basis, half_width, constant, integrated);
    }

  private:
    void upload_bytes_now(const void* host, std::int64_t bytes, void* to) override {
        std::memcpy(to, host, static_cast<std::size_t>(bytes));
    }
    void download_now(const double* from, std::int64_t n, double* host) override {
        std::copy_n(from, n, host);
    }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(int threads) {
    return std::make_unique<CpuBackend>(threads);
}

}  // namespace zonal::gwrm
