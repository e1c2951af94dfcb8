#include "options/radial_options.hpp"

#include "options/options.hpp"

namespace zonal::cli {

PixelMethod pixel_method(ConvolutionMethod method) {
    return method == ConvolutionMethod::pixel_sum ? PixelMethod::pixel_sum : PixelMethod::ring_fft;
}

CLI::Option* add_method_option(CLI::App& app, std::optional<ConvolutionMethod>& method,
                               const std::string& description) {
    return add_choice<ConvolutionMethod>(app, "--method", method,
                                         {{"harmonic", ConvolutionMethod::harmonic},
                                          {"pixel-sum", ConvolutionMethod::pixel_sum},
                                          {"ring-fft", ConvolutionMethod::ring_fft}},
                                         description);
}

CLI::Option* add_reference_option(CLI::App& app, std::optional<Reference>& reference,
                                  const std::string& description) {
    return add_choice<Reference>(app, "--reference", reference,
                                 {{"discrete", Reference::discrete}, {"continuous", Reference::continuous}},
                                 description);
}

}  // namespace zonal::cli
