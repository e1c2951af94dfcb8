#include "sht/analysis/field_arithmetic.hpp"
#include "sht/stages.hpp"
#include "sht/transform.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {

std::unique_ptr<const Transform> make_cuda_transform(const Grid&, const ShtOptions& options) {
    throw BackendUnavailable("device", to_string(options.device), "this build of Zonal has no CUDA code");
}

std::unique_ptr<const Stages> make_cuda_stages(const AlmLayout&, const ShtOptions& options, const RingPairs&,
                                               const RankRings&, const ExactRings*) {
    throw BackendUnavailable("device", to_string(options.device), "this build of Zonal has no CUDA code");
}

// Nobody has a workspace of that device here.
template <class T>
std::unique_ptr<MapArithmetic<T>> make_cuda_map_arithmetic(const Grid&, const PixelWeights&,
                                                           ShtWorkspace::Storage&) {
    throw BackendUnavailable("this build of Zonal has no CUDA code");
}

template <class T>
std::unique_ptr<AlmArithmetic<T>> make_cuda_alm_arithmetic(const AlmLayout&, ShtWorkspace::Storage&) {
    throw BackendUnavailable("this build of Zonal has no CUDA code");
}

template std::unique_ptr<MapArithmetic<float>> make_cuda_map_arithmetic(const Grid&, const PixelWeights&,
                                                                        ShtWorkspace::Storage&);
template std::unique_ptr<AlmArithmetic<float>> make_cuda_alm_arithmetic(const AlmLayout&,
                                                                        ShtWorkspace::Storage&);
template std::unique_ptr<MapArithmetic<double>> make_cuda_map_arithmetic(const Grid&, const PixelWeights&,
                                                                         ShtWorkspace::Storage&);
template std::unique_ptr<AlmArithmetic<double>> make_cuda_alm_arithmetic(const AlmLayout&,
                                                                         ShtWorkspace::Storage&);

}  // namespace zonal::sht
