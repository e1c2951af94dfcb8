#include "chosen_convolution.hpp"

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
        split_ = std::make_unique<SplitConvolutionPlan>(request.grid, *choice.split,
                                                        split_options_of(choice, request.threads));
    else
        plan_pixels(request, choice);
}

void ChosenConvolution::plan_pixels(const ConvolutionRequest& request, const ConvolutionChoice& choice) {
    pixels_ = std::make_unique<PixelConvolutionPlan>(request.grid, request.kernel.truncated(choice.support),
                                                     request.grid, pixel_options_of(choice, request.threads));
    workspace_ = std::make_unique<PixelConvolutionWorkspace>(pixels_->make_workspace(request.n_maps));
}

void ChosenConvolution::plan_harmonic(const ConvolutionRequest& request, const ConvolutionChoice& choice) {
    SmoothingOptions options;
    options.lmax = request.lmax;
    options.iterations = choice.iterations;
    options.threads = request.threads;
    options.device = choice.device;
    harmonic_ = std::make_unique<SmoothingPlan>(request.grid, Fields::scalars,
                                                uniform_beam(request.kernel.window(request.lmax)),
                                                request.grid, options);
}

template <class T>
void ChosenConvolution::operator()(View<const T, 2> maps, View<T, 2> convolved) {
    if (pixels_)
        pixels_->convolve<T>(maps, convolved, *workspace_);
    else if (split_)
        split_->convolve<T>(maps, convolved);
    else
        harmonic_->smooth<T>(maps, {}, convolved);
}

template void ChosenConvolution::operator()(View<const float, 2>, View<float, 2>);
template void ChosenConvolution::operator()(View<const double, 2>, View<double, 2>);

}  // namespace zonal::cli
