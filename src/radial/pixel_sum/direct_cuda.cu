#include "radial/pixel_sum/pixel_sum_cuda.cuh"

namespace zonal::radial::cuda {
namespace {

template <class T, int components, class Map>
__global__ void __launch_bounds__(direct_threads)
    add_direct(DirectView<T, components> direct, const CudaTask* tasks, Fields<const Map> in,
               Fields<Map> out) {
    const CudaTask task = tasks[blockIdx.x];
    const DirectRing& ring = direct.rings[task.index];
    const std::int64_t k = task.first + threadIdx.x;
    if (k < ring.side[0].n_pixels / ring.n_turns) sum_pixel(direct, ring, k, in, out);
}

const SumKernel::Part& part_of(const SumKernel& kernel, int part) {
    return part == 0 ? kernel.plus() : kernel.minus();
}

}  // namespace

template <class T, int components>
DirectStage<T, components>::DirectStage(const SumKernel& kernel, const DirectTables& tables)
    : rings_(tables.rings), pairs_(tables.pairs), tasks_(tables.tasks) {
    for (int part = 0; part < components; ++part) {
        const auto& table = part_of(kernel, part).table;
        if (!table) continue;
        coefficients_[part] = core::DeviceArray<T>(table->template coefficients<T>());
        tables_.part[part] = table->view(static_cast<const T*>(coefficients_[part].data()));
    }
}

template <class T, int components>
DirectStage<T, components>::DirectStage(const PixelSumSchedule& schedule, const DirectPairs& pairs)
    : DirectStage(schedule.kernel(), make_direct_tables(schedule, pairs, components == 2)) {}

template <class T, int components>
template <class Map>
void DirectStage<T, components>::run(const Fields<const Map>& in, const Fields<Map>& out,
                                     cudaStream_t stream) const {
    if (tasks_.size() == 0) return;
    const DirectView<T, components> view{rings_.data(), pairs_.data(), tables_};
    add_direct<T, components, Map>
        <<<static_cast<unsigned>(tasks_.size()), direct_threads, 0, stream>>>(view, tasks_.data(), in, out);
    core::check_launch("add_direct");
}

template class DirectStage<float, 1>;
template class DirectStage<double, 1>;
template class DirectStage<float, 2>;
template class DirectStage<double, 2>;
template void DirectStage<float, 1>::run(const Fields<const float>&, const Fields<float>&,
                                         cudaStream_t) const;
template void DirectStage<float, 1>::run(const Fields<const double>&, const Fields<double>&,
                                         cudaStream_t) const;
template void DirectStage<double, 1>::run(const Fields<const float>&, const Fields<float>&,
                                          cudaStream_t) const;
template void DirectStage<double, 1>::run(const Fields<const double>&, const Fields<double>&,
                                          cudaStream_t) const;
template void DirectStage<float, 2>::run(const Fields<const float>&, const Fields<float>&,
                                         cudaStream_t) const;
template void DirectStage<float, 2>::run(const Fields<const double>&, const Fields<double>&,
                                         cudaStream_t) const;
template void DirectStage<double, 2>::run(const Fields<const float>&, const Fields<float>&,
                                          cudaStream_t) const;
template void DirectStage<double, 2>::run(const Fields<const double>&, const Fields<double>&,
                                          cudaStream_t) const;

}  // namespace zonal::radial::cuda
