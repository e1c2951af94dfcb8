#include <algorithm>

#include "sht/analysis/field_arithmetic.hpp"
#include "sht/analysis/field_sums.cuh"
#include "sht/cuda_storage.cuh"

namespace zonal::sht {
namespace {

using namespace cuda;

constexpr int threads = 128;

/// AlmLayout on the device; one block per order.
struct DeviceLayout {
    std::int64_t lmax;
    __device__ std::int64_t offset(std::int64_t m) const { return m * (2 * lmax + 1 - m) / 2; }
};

/// visit(l, index of the coefficient) for all degrees of the block's order
template <class Visit>
__global__ void order_kernel(DeviceLayout layout, Visit visit) {
    const std::int64_t m = blockIdx.x, offset = layout.offset(m);
    for (std::int64_t l = m + threadIdx.x; l <= layout.lmax; l += blockDim.x) visit(l, offset + l);
}

/// partial[m] = sum_l (2 - delta_m0) |a_lm|^2; of m = 0 only the real parts count.
template <class T>
__global__ void square_kernel(DeviceLayout layout, const T* alm, double* partial) {
    const std::int64_t m = blockIdx.x, offset = layout.offset(m);
    double sum = 0;
    for (std::int64_t l = m + threadIdx.x; l <= layout.lmax; l += blockDim.x) {
        const double re = alm[2 * (offset + l)], im = m == 0 ? 0 : alm[2 * (offset + l) + 1];
        sum += re * re + im * im;
    }
    sum = block_sum<threads>(sum);
    if (threadIdx.x == 0) partial[m] = (m == 0 ? 1 : 2) * sum;
}

/// power[l] = sum_m (2 - delta_m0) |a_lm|^2; of m = 0 only the real parts count. One block per degree.
template <class T>
__global__ void power_kernel(DeviceLayout layout, std::int64_t mmax, const T* alm, double* power) {
    const std::int64_t l = blockIdx.x, last = l < mmax ? l : mmax;
    double sum = 0;
    for (std::int64_t m = threadIdx.x; m <= last; m += blockDim.x) {
        const std::int64_t k = layout.offset(m) + l;
        const double re = alm[2 * k], im = m == 0 ? 0 : alm[2 * k + 1];
        sum += (m == 0 ? 1 : 2) * (re * re + im * im);
    }
    sum = block_sum<threads>(sum);
    if (threadIdx.x == 0) power[l] = sum;
}

template <class T>
struct ScaleAndAdd {
    const T* x;
    T factor;
    T* y;
    __device__ void operator()(std::int64_t, std::int64_t k) const {
        for (const std::int64_t i : {2 * k, 2 * k + 1}) y[i] = x[i] + factor * y[i];
    }
};

template <class T>
struct AddScaledAlm {
    T factor;
    const T* x;
    T* y;
    __device__ void operator()(std::int64_t, std::int64_t k) const {
        for (const std::int64_t i : {2 * k, 2 * k + 1}) y[i] += factor * x[i];
    }
};

template <class T>
struct TimesWindow {
    const double* window;  ///< [lmax + 1]
    T* alm;
    __device__ void operator()(std::int64_t l, std::int64_t k) const {
        for (const std::int64_t i : {2 * k, 2 * k + 1}) alm[i] = static_cast<T>(alm[i] * window[l]);
    }
};

template <class T>
class CudaAlmArithmetic final : public AlmArithmetic<T> {
  public:
    using typename AlmArithmetic<T>::Alm;
    using typename AlmArithmetic<T>::ConstAlm;

    CudaAlmArithmetic(const AlmLayout& layout, CudaStorage& storage) : layout_(layout), storage_(storage) {}

    void set_zero(Alm alm) override {
        const core::CurrentDevice current(storage_.device);
        for_each_field(alm, [&](std::int64_t b, std::int64_t c) {
            core::check_cuda(
                cudaMemsetAsync(&alm(b, c, 0), 0, alm.extent(2) * sizeof(std::complex<T>), storage_.stream()),
                "clearing coefficients");
        });
    }
    void scale_and_add(ConstAlm x, const std::vector<double>& factors, Alm y) override {
        for_each_field(x, [&](std::int64_t b, std::int64_t c) {
            visit(ScaleAndAdd<T>{parts(x, b, c), static_cast<T>(factors[b]), parts(y, b, c)});
        });
    }
    void add_scaled(const std::vector<double>& factors, ConstAlm x, Alm y) override {
        for_each_field(x, [&](std::int64_t b, std::int64_t c) {
            visit(AddScaledAlm<T>{static_cast<T>(factors[b]), parts(x, b, c), parts(y, b, c)});
        });
    }
    std::vector<double> squares(ConstAlm alm) override {
        const core::CurrentDevice current(storage_.device);
        PartialSums partial(layout_.mmax() + 1, alm.extent(0) * alm.extent(1));
        for_each_field(alm, [&](std::int64_t b, std::int64_t c) {
            square_kernel<<<blocks(), threads, 0, storage_.stream()>>>(
                DeviceLayout{layout_.lmax()}, parts(alm, b, c), partial.row(b * alm.extent(1) + c));
            core::check_launch("the norm of coefficients");
        });
        return partial.sums(alm.extent(0), storage_.stream());
    }
    std::vector<std::vector<double>> powers(ConstAlm alm) override {
        const core::CurrentDevice current(storage_.device);
        const core::DeviceArray<double> there(layout_.lmax() + 1);
        std::vector<std::vector<double>> powers;
        for_each_field(alm, [&](std::int64_t b, std::int64_t c) {
            power_kernel<<<static_cast<unsigned>(there.size()), threads, 0, storage_.stream()>>>(
                DeviceLayout{layout_.lmax()}, layout_.mmax(), parts(alm, b, c), there.data());
            core::check_launch("the power of coefficients");
            auto& power = powers.emplace_back(static_cast<std::size_t>(there.size()));
            core::check_cuda(cudaMemcpyAsync(power.data(), there.data(), there.bytes(),
                                             cudaMemcpyDeviceToHost, storage_.stream()),
                             "reading sums");
            core::check_cuda(cudaStreamSynchronize(storage_.stream()), "reading sums");
        });
        return powers;
    }
    void multiply(const Beam& beam, Alm alm) override {
        const core::CurrentDevice current(storage_.device);
        for (std::int64_t c = 0; c < alm.extent(1); ++c) {
            check_window(window_of(beam, alm.extent(1), c), layout_.lmax());
            const core::DeviceArray<double> there(window_of(beam, alm.extent(1), c));
            for (std::int64_t b = 0; b < alm.extent(0); ++b)
                visit(TimesWindow<T>{there.data(), parts(alm, b, c)});
            core::check_cuda(cudaStreamSynchronize(storage_.stream()), "multiplying by a window");
        }
    }

  private:
    static const T* parts(ConstAlm alm, std::int64_t b, std::int64_t c) {
        return reinterpret_cast<const T*>(&alm(b, c, 0));
    }
    static T* parts(Alm alm, std::int64_t b, std::int64_t c) { return reinterpret_cast<T*>(&alm(b, c, 0)); }
    template <class Visit>
    void visit(const Visit& visit) {
        const core::CurrentDevice current(storage_.device);
        order_kernel<<<blocks(), threads, 0, storage_.stream()>>>(DeviceLayout{layout_.lmax()}, visit);
        core::check_launch("arithmetic on coefficients");
    }
    template <class Visit>
    static void for_each_field(ConstAlm alm, const Visit& visit) {
        for (std::int64_t b = 0; b < alm.extent(0); ++b)
            for (std::int64_t c = 0; c < alm.extent(1); ++c) visit(b, c);
    }
    unsigned blocks() const { return static_cast<unsigned>(layout_.mmax() + 1); }

    const AlmLayout layout_;
    CudaStorage& storage_;
};

}  // namespace

template <class T>
std::unique_ptr<AlmArithmetic<T>> make_cuda_alm_arithmetic(const AlmLayout& layout,
                                                           ShtWorkspace::Storage& storage) {
    return std::make_unique<CudaAlmArithmetic<T>>(layout, dynamic_cast<CudaStorage&>(storage));
}

template std::unique_ptr<AlmArithmetic<float>> make_cuda_alm_arithmetic(const AlmLayout&,
                                                                        ShtWorkspace::Storage&);
template std::unique_ptr<AlmArithmetic<double>> make_cuda_alm_arithmetic(const AlmLayout&,
                                                                         ShtWorkspace::Storage&);

}  // namespace zonal::sht
