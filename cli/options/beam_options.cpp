#include "options/beam_options.hpp"

#include <fmt/core.h>

#include "options/common_options.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "zonal/angle.hpp"
#include "zonal/io/beam.hpp"

namespace zonal::cli {

void add_extend_option(CLI::App& app, Extension& extension, const std::string& group,
                       const std::string& what) {
    OptionGroup(app, group)
        .choice<Extension>("--extend", extension,
                           {{"zero", Extension::zero}, {"powerlaw", Extension::powerlaw}},
                           what +
                               " above the last l of the file: 0, or a power law fitted to the last 400 "
                               "values",
                           "an error");
}

void add_beam_options(CLI::App& app, BeamOptions& options, const std::string& heading,
                      const std::string& whose) {
    const OptionGroup group(app, heading);
    group.angle("--fwhm", options.fwhm, "Gaussian beam of this full width at half maximum");
    group.text("--beam", options.beam, "FILE",
               "beam b_l, FITS or text; one column serves T, E and B as it stands");
    group.text("--pixwin", options.pixel_window, "FILE",
               "HEALPix pixel window of " + whose + " nside, T and P apart");
}

std::string BeamOptions::text() const {
    std::string text;
    const auto add = [&text, this](const std::string& name, const std::string& value) {
        if (!value.empty()) text += (text.empty() ? "" : ", ") + name + suffix + " " + value;
    };
    add("--fwhm", fwhm ? fwhm->text : "");
    add("--beam", beam);
    add("--pixwin", pixel_window);
    return text;
}

SmoothingWindow smoothing_window(const BeamOptions& options, std::int64_t nside, Session& session) {
    SmoothingWindow window;
    if (options.fwhm) window.fwhm = options.fwhm->radians;
    if (!options.beam.empty()) window.beam = read_beam_file(options.beam, session);
    if (!options.pixel_window.empty() && nside == 0)
        throw UsageError("--pixwin: CAR images have no HEALPix pixel window");
    if (!options.pixel_window.empty())
        window.pixel_window_out = read_pixel_window_file(options.pixel_window, nside, session);
    window.extension = options.extension;
    return window;
}

Beam read_beam_file(const std::string& path, Session& session) {
    auto file = io::read_beam(session.input(path));
    session.note(file.notes);
    return file;
}

Beam read_pixel_window_file(const std::string& path, std::int64_t nside, Session& session) {
    auto file = io::read_pixel_window(session.input(path), nside);
    session.note(file.notes);
    return file;
}

Beam evaluate_window(const SmoothingWindow& window, std::int64_t lmax, const std::string& options) {
    return with_error<UsageError>([&] { return evaluate(window, lmax); }, options + ": ");
}

std::optional<Beam> beam_to(const BeamOptions& options, std::int64_t nside, std::int64_t lmax,
                            Session& session) {
    if (!options.given()) return std::nullopt;
    return evaluate_window(smoothing_window(options, nside, session), lmax, options.text());
}

PolarizationKernel spin_kernel(const std::string& option, Beam beam, std::int64_t lmax, Extension extension,
                               double scale) {
    const auto kernel = [&] {
        beam = fit_length(beam, lmax, extension, option);
        for (auto* window : {&beam.gradient, &beam.curl})
            for (double& value : *window) value *= scale;
        return PolarizationKernel(beam.gradient, beam.curl);
    };
    return with_error<UsageError>(kernel, option + ": ");
}

std::vector<io::HeaderCard> beam_cards(const BeamOptions& options) {
    std::vector<io::HeaderCard> cards;
    if (options.fwhm)
        cards.push_back({"FWHM", radians_to_degrees(options.fwhm->radians), "[deg] Gaussian beam"});
    if (!options.beam.empty()) cards.push_back({"BEAM", header_text(options.beam), "file of the beam"});
    if (!options.pixel_window.empty())
        cards.push_back({"PIXWIN", header_text(options.pixel_window), "file of the pixel window"});
    return cards;
}

}  // namespace zonal::cli
