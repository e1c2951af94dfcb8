#include <numbers>
#include <vector>

#include "backend/cuda_helpers.cuh"
#include "core/cuda.cuh"
#include "radial/kernels/chord_table.hpp"

// Tables of profiles give on the device what they give here.
namespace zonal::test {
namespace {

template <class T>
__global__ void evaluate_table(radial::ChordTableView<T> table, const T* u, T* value, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) value[i] = radial::evaluate(table, u[i]);
}

class CudaChordTable : public OnCuda {};

/// The largest difference between both sides over the peak, at angles up to the antipode and a little beyond.
template <class T>
double difference(const RadialKernel& kernel) {
    const radial::ChordTable table(kernel, 1e-13);
    constexpr int n = 10007;
    std::vector<T> u(n), value(n);
    for (int i = 0; i < n; ++i) {
        // Half of them within the table.
        const double end = i % 2 == 0 ? table.end() : 4 * (1 + 1e-15);
        u[i] = static_cast<T>(end * i / (n - 1.0));
    }
    const core::DeviceArray<T> coefficients(table.coefficients<T>()), there(u);
    core::DeviceArray<T> values(n);
    evaluate_table<T>
        <<<(n + 255) / 256, 256>>>(table.view<T>(coefficients.data()), there.data(), values.data(), n);
    core::check_cuda(cudaGetLastError(), "evaluating a table");
    core::check_cuda(cudaMemcpy(value.data(), values.data(), n * sizeof(T), cudaMemcpyDeviceToHost),
                     "copying values");
    double largest = 0;
    for (int i = 0; i < n; ++i) {
        const T expected = radial::evaluate(table.view<T>(), u[i]);
        EXPECT_EQ(value[i] == 0, expected == 0) << "chord^2 = " << u[i];
        largest = larger(largest, std::abs(static_cast<double>(value[i] - expected)));
    }
    return largest / table.peak();
}

TEST_F(CudaChordTable, HasTheHostsValues) {
    const double arcmin = std::numbers::pi / 10800;
    std::vector<double> window;
    for (int l = 0; l <= 100; ++l) window.push_back(l % 7 + 1);
    for (const auto& kernel : {RadialKernel::gaussian(4.7 * arcmin), RadialKernel::gaussian(1).truncated(2.5),
                               RadialKernel::from_window(window)}) {
        // Fused multiply-adds differ by rounding; of v = u / step^2 - (k^2 + k + 1/2) by its magnitude before
        // the difference, k eps of a piece.
        EXPECT_LE(difference<double>(kernel), 1e-13) << kernel.name();
        EXPECT_LE(difference<float>(kernel), 5e-6) << kernel.name();
    }
}

}  // namespace
}  // namespace zonal::test
