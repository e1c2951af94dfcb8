#include "engine/smooth_kernels.hpp"

#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "engine/spectrum_file.hpp"
#include "options/beam_options.hpp"
#include "options/parse.hpp"
#include "shell/error.hpp"
#include "zonal/angle.hpp"
#include "zonal/filters.hpp"
#include "zonal/io/profile.hpp"
#include "zonal/io/psf.hpp"

namespace zonal::cli {
namespace {

/// Runs `make`, whose InvalidArgument is the file's fault.
template <class Make>
auto from_file(const std::string& source, Make&& make) {
    try {
        return make();
    } catch (const InvalidArgument& error) {
        throw IoError(fmt::format("{}: {}", source, error.what()));
    }
}

/// sqrt(C_l) B_l up to --lmax, or what the map resolves.
std::vector<double> window_of_sky(const SmoothOptions& options, const SkyMap& map, Session& session) {
    const auto lmax = options.analysis.lmax.value_or(default_smoothing_lmax(map.grid()));
    const auto& file = options.kernel.sky_spectrum;
    const auto c_l = fit_to_lmax(read_tt("--cl", file, session), lmax, options.extension, "--cl " + file);
    const auto beam = evaluate_window(smoothing_window(options, 0, 0, session), lmax, window_text(options));
    return from_file(file, [&] { return sky_window(c_l, beam.temperature); });
}

/// Kernels as they are given.
std::vector<SmoothingKernel> given_kernels(const SmoothOptions& options, const SkyMap& map,
                                           Session& session) {
    std::vector<SmoothingKernel> kernels;
    const auto add = [&](const RadialKernel& kernel, double energy) {
        kernels.push_back({kernel, 1, kernel.window(0)[0], energy, 0, false});
    };
    const auto& choice = options.kernel;
    if (!choice.sky_spectrum.empty()) {
        add(RadialKernel::from_window(window_of_sky(options, map, session)), 0);
    } else if (options.fwhm) {
        add(RadialKernel::gaussian(options.fwhm->radians), 0);
    } else if (!options.beam.empty()) {
        auto window = read_beam_file(options.beam, session).temperature;
        if (options.analysis.lmax)
            window = fit_length(window, *options.analysis.lmax, options.extension, "--beam " + options.beam);
        add(from_file(options.beam, [&] { return RadialKernel::from_window(window); }), 0);
    } else if (choice.energy.empty()) {
        const auto profile = io::read_profile(choice.profile);
        add(from_file(profile.source,
                      [&] { return RadialKernel::from_profile(profile.theta, profile.value); }),
            0);
    } else {
        const auto psf = io::read_psf(choice.profile);
        std::vector<double> energies;
        if (choice.energy == "bands") {
            for (const auto& band : io::read_energy_bands(options.in))
                energies.push_back(band.geometric_mean());
            if (static_cast<std::int64_t>(energies.size()) != map.rows().extent(0))
                throw UsageError(fmt::format("--energy bands: {} has {} bands and {} columns to smooth",
                                             options.in, energies.size(), map.rows().extent(0)));
        } else {
            energies.push_back(parse_energy("--energy", choice.energy));
        }
        for (const double energy : energies) {
            std::vector<double> values;
            try {
                values = io::psf_at_energy(psf, energy);
            } catch (const InvalidArgument& error) {
                throw UsageError(fmt::format("--energy {}: {}", choice.energy, error.what()));
            }
            add(from_file(psf.source, [&] { return RadialKernel::from_profile(psf.theta, values); }), energy);
        }
    }
    return kernels;
}

/// Cuts the kernel and makes its integral 1 where that is asked for. lost: the cut's error; that of the
/// integral comes to it, as it is the error of a constant map.
void cut_at(double theta_cut, double lost, bool normalize, SmoothingKernel& kernel) {
    // Below that nothing but rounding is left of an integral.
    constexpr double least_integral = 1e-9;
    kernel.cut = theta_cut < kernel.kernel.support();
    const auto cut = kernel.cut ? kernel.kernel.truncated(theta_cut) : kernel.kernel;
    const double integral = cut.window(0)[0];
    const bool has_integral =
        std::abs(integral) > least_integral && std::abs(kernel.integral) > least_integral;
    if (normalize && !has_integral)
        throw UsageError(fmt::format(
            "--normalize window: the kernel's integral is {:.3g}; --normalize none leaves it as it is",
            integral));
    if (normalize) kernel.scale = 1 / integral;
    kernel.truncation_error = lost + (has_integral ? std::abs(integral / kernel.integral - 1) : 0);
    kernel.kernel = cut.scaled(kernel.scale);
}

/// The largest over the spectra of maps that hold anything.
template <class Measure>
double worst(const std::vector<std::vector<double>>& c_l, Measure&& measure) {
    double largest = 0;
    for (const auto& spectrum : c_l) largest = std::max(largest, measure(spectrum));
    return largest;
}

/// Cut where that is asked for by hand or by a plan.
void cut_at_given(double theta_cut, const std::vector<std::vector<double>>& c_l, bool normalize,
                  SmoothingKernel& kernel) {
    const double lost = worst(c_l, [&](const std::vector<double>& spectrum) {
        return truncation_error(kernel.kernel, spectrum, theta_cut);
    });
    cut_at(theta_cut, lost, normalize, kernel);
}

/// A support that keeps the error, that of the integral too.
void cut_for_error(double error, const std::vector<std::vector<double>>& c_l, const Grid& grid,
                   bool normalize, SmoothingKernel& kernel) {
    constexpr int attempts = 12;  // each asks for half the error
    const auto whole = kernel;
    double wanted = error / 2;
    for (int i = 0; i < attempts; ++i, wanted /= 2) {
        kernel = whole;
        const double theta = worst(c_l, [&](const std::vector<double>& spectrum) {
            return support_for_error(kernel.kernel, spectrum, wanted, grid);
        });
        const double lost = worst(c_l, [&](const std::vector<double>& spectrum) {
            return truncation_error(whole.kernel, spectrum, theta);
        });
        cut_at(theta, lost, normalize, kernel);
        if (kernel.truncation_error <= error) return;
    }
    kernel = whole;  // a tail that never ends
    cut_at(kernel.kernel.support(), 0, normalize, kernel);
}

Json kernel_report(const SmoothingKernel& kernel, bool normalized) {
    Json report;
    if (kernel.energy > 0) report["energy_mev"] = kernel.energy;
    report["support_deg"] = radians_to_degrees(kernel.kernel.support());
    report["kernel_integral"] = kernel.integral;
    if (normalized) report["scale"] = kernel.scale;
    report["truncation_error"] = kernel.truncation_error;
    return report;
}

}  // namespace

std::vector<SmoothingKernel> make_kernels(const SmoothOptions& options, const SkyMap& map,
                                          const std::vector<std::vector<double>>& c_l, double error,
                                          Session& session) {
    auto kernels = given_kernels(options, map, session);
    const auto& choice = options.kernel;
    const bool normalize = choice.chosen_normalization() == Normalization::window;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        auto& kernel = kernels[i];
        const auto spectra =
            kernels.size() > 1 && c_l.size() > 1 ? std::vector<std::vector<double>>{c_l[i]} : c_l;
        if (choice.cut) {
            cut_at_given(choice.cut->radians, spectra, normalize, kernel);
        } else if (error > 0 && options.planned && options.planned->is_exact) {
            cut_at_given(options.planned->choice.support, spectra, normalize, kernel);
        } else if (error > 0) {
            cut_for_error(error, spectra, map.grid(), normalize, kernel);
        } else {
            cut_at(std::numbers::pi, 0, normalize, kernel);
        }
    }
    return kernels;
}

PolarizationKernel make_spin_kernel(const SmoothOptions& options, const SmoothingKernel& scalar,
                                    Session& session) {
    const bool normalize = options.kernel.chosen_normalization() == Normalization::window;
    const double scale = normalize ? 1 / scalar.integral : 1;
    if (options.fwhm) return PolarizationKernel::gaussian(options.fwhm->radians);  // whose integral is 1
    const auto beam = read_beam_file(options.beam, session);
    const auto lmax = options.analysis.lmax.value_or(beam.lmax());
    return spin_kernel("--beam " + options.beam, beam, lmax, options.extension, scale);
}

void report_kernels(const SmoothOptions& options, const std::vector<SmoothingKernel>& kernels,
                    Session& session) {
    auto& report = session.report;
    report["method"] = to_string(options.kernel.chosen_method());
    report["reference"] = to_string(options.kernel.chosen_reference());
    report["normalize"] = to_string(options.kernel.chosen_normalization());
    const bool normalized = options.kernel.chosen_normalization() == Normalization::window;
    const bool is_split = options.kernel.method == ConvolutionMethod::split;  // cuts nothing
    if (is_split) report["kernel_integral"] = kernels[0].integral;
    if (is_split && normalized) report["scale"] = kernels[0].scale;
    if (is_split) return;
    if (kernels.size() == 1) report.update(kernel_report(kernels[0], normalized));
    if (kernels.size() > 1) report["kernels"] = Json::array();
    for (const auto& kernel : kernels)
        if (kernels.size() > 1) report["kernels"].push_back(kernel_report(kernel, normalized));
}

}  // namespace zonal::cli
