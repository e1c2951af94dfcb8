#include "engine/chosen_convolution.hpp"

#include <type_traits>

namespace zonal::cli {

PixelConvolutionOptions pixel_options_of(const ConvolutionChoice& choice, int threads) {
    PixelConvolutionOptions options;
    options.method =
        choice.method == zonal::ConvolutionMethod::pixel_sum ? PixelMethod::pixel_sum : PixelMethod::ring_fft;
    options.precision = choice.precision;
    options.accuracy = choice.accuracy;
    options.threads = threads;
    options.device = choice.device;
    return options;
}

SplitConvolutionOptions split_options_of(const ConvolutionChoice& choice, int threads) {
    SplitConvolutionOptions options;
    options.precision = choice.precision;
    options.accuracy = choice.accuracy;
    options.threads = threads;
    options.pixel_device = choice.device;
    options.harmonic_device = choice.harmonic_device;
    return options;
}

ChosenConvolution::ChosenConvolution(const ConvolutionRequest& request, const ConvolutionChoice& choice) {
    if (choice.method == zonal::ConvolutionMethod::harmonic)
        plan_harmonic(request, choice);
    else if (choice.method == zonal::ConvolutionMethod::split)
        plan_split(request, choice);
    else
        plan_pixels(request, choice);
}

void ChosenConvolution::plan_pixels(const ConvolutionRequest& request, const ConvolutionChoice& choice) {
    const auto options = pixel_options_of(choice, request.threads);
    const auto make = [&](const auto& kernel, auto& plan) {
        using Plan = typename std::decay_t<decltype(plan)>::element_type;
        plan = std::make_unique<Plan>(request.grid, kernel.truncated(choice.support), request.grid, options);
        workspace_ = std::make_unique<PixelConvolutionWorkspace>(plan->make_workspace(request.n_maps));
    };
    if (request.polarization)
        make(*request.polarization, polarization_);
    else
        make(request.kernel, pixels_);
}

void ChosenConvolution::plan_split(const ConvolutionRequest& request, const ConvolutionChoice& choice) {
    const auto make = [&](auto& plan) {
        using Plan = typename std::decay_t<decltype(plan)>::element_type;
        plan = std::make_unique<Plan>(request.grid, *choice.split, split_options_of(choice, request.threads));
    };
    if (request.polarization)
        make(polarization_split_);
    else
        make(split_);
}

void ChosenConvolution::plan_harmonic(const ConvolutionRequest& request, const ConvolutionChoice& choice) {
    SmoothingOptions options;
    options.lmax = request.lmax;
    options.iterations = choice.iterations;
    options.threads = request.threads;
    options.device = choice.device;
    const auto make = [&](Fields fields, const Beam& beam) {
        harmonic_ = std::make_unique<SmoothingPlan>(request.grid, fields, beam, request.grid, options);
    };
    rows_at_once_ = request.polarization ? 2 : request.n_maps;
    if (!request.polarization)
        return make(Fields::scalars, uniform_beam(request.kernel.window(request.lmax)));
    const auto [gradient, curl] = request.polarization->windows(request.lmax);
    make(Fields::qu, {gradient, gradient, curl});
}

template <class T>
void ChosenConvolution::operator()(View<const T, 2> maps, View<T, 2> convolved) {
    if (pixels_) return pixels_->convolve<T>(maps, convolved, *workspace_);
    if (split_) {
        split_->convolve<T>(maps, convolved);
        return;
    }
    const auto n_pixels = maps.extent(1);
    const View<double, 3>::Extents pairs{maps.extent(0) / 2, 2, n_pixels};
    if (polarization_)
        return polarization_->convolve<T>({maps.data(), pairs}, {convolved.data(), pairs}, *workspace_);
    if (polarization_split_) {
        polarization_split_->convolve<T>({maps.data(), pairs}, {convolved.data(), pairs});
        return;
    }
    for (std::int64_t row = 0; row < maps.extent(0); row += rows_at_once_)
        harmonic_->smooth<T>({maps[row].data(), {rows_at_once_, n_pixels}}, {},
                             {convolved[row].data(), {rows_at_once_, n_pixels}});
}

template void ChosenConvolution::operator()(View<const float, 2>, View<float, 2>);
template void ChosenConvolution::operator()(View<const double, 2>, View<double, 2>);

}  // namespace zonal::cli
