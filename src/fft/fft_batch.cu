#include "fft/fft_batch.cuh"

namespace zonal::fft::cuda {
namespace {

template <class C>
void clear(C* bins, std::int64_t count, cudaStream_t stream) {
    if (count > 0)
        core::check_cuda(cudaMemsetAsync(bins, 0, static_cast<std::size_t>(count) * sizeof(C), stream),
                         "a run of rings");
}

}  // namespace

FftBatch::FftBatch(std::int64_t length, std::int64_t n_rows, cufftType type, std::int64_t input_row,
                   std::int64_t output_row)
    : to_clear_(length == 1 ? n_rows * output_row : 0) {
    core::check_cufft(cufftCreate(&plan_), "making a plan");
    core::check_cufft(cufftSetAutoAllocation(plan_, 0), "making a plan");
    long long n = length, no_gaps = length;
    core::check_cufft(cufftMakePlanMany64(plan_, 1, &n, &no_gaps, 1, input_row, &no_gaps, 1, output_row, type,
                                          n_rows, &work_bytes_),
                      "making a plan");
}

FftBatch::~FftBatch() {
    if (plan_ != no_plan) cufftDestroy(plan_);
}

cufftHandle FftBatch::prepared(void* work, cudaStream_t stream) const {
    core::check_cufft(cufftSetStream(plan_, stream), "setting the stream");
    core::check_cufft(cufftSetWorkArea(plan_, work), "setting the work area");
    return plan_;
}

void FftBatch::transform(float2* rows, int direction, void* work, cudaStream_t stream) const {
    core::check_cufft(cufftExecC2C(prepared(work, stream), rows, rows, direction), "a transform");
}

void FftBatch::transform(double2* rows, int direction, void* work, cudaStream_t stream) const {
    core::check_cufft(cufftExecZ2Z(prepared(work, stream), rows, rows, direction), "a transform");
}

void FftBatch::to_bins(float* values, float2* bins, void* work, cudaStream_t stream) const {
    clear(bins, to_clear_, stream);
    core::check_cufft(cufftExecR2C(prepared(work, stream), values, bins), "a run of rings");
}

void FftBatch::to_bins(double* values, double2* bins, void* work, cudaStream_t stream) const {
    clear(bins, to_clear_, stream);
    core::check_cufft(cufftExecD2Z(prepared(work, stream), values, bins), "a run of rings");
}

void FftBatch::to_values(float2* bins, float* values, void* work, cudaStream_t stream) const {
    core::check_cufft(cufftExecC2R(prepared(work, stream), bins, values), "a run of rings");
}

void FftBatch::to_values(double2* bins, double* values, void* work, cudaStream_t stream) const {
    core::check_cufft(cufftExecZ2D(prepared(work, stream), bins, values), "a run of rings");
}

}  // namespace zonal::fft::cuda
