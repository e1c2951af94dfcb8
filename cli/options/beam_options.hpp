#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/parse.hpp"
#include "shell/session.hpp"
#include "zonal/io/header.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/sky/smoothing.hpp"
#include "zonal/window.hpp"

namespace zonal::cli {

/// --fwhm, --beam, --pixwin, --extend: windows that simulated or synthesised alm are multiplied by.
struct BeamOptions {
    std::optional<Angle> fwhm;
    std::string beam;
    std::string pixel_window;
    Extension extension = Extension::none;
    std::string suffix{};  ///< of the options' names, "2" where they are those of a second map

    bool given() const { return fwhm || !beam.empty() || !pixel_window.empty(); }
    /// "--fwhm 10deg, --beam b.txt", for messages
    std::string text() const;
};
/// heading: in the help. whose: "the output's", whose nside the pixel window has.
void add_beam_options(CLI::App& app, BeamOptions& options, const std::string& heading,
                      const std::string& whose = "the output's");
void add_extend_option(CLI::App& app, Extension& extension, const std::string& group,
                       const std::string& what);

/// nside: of the map that the pixel window is for; 0: CAR, which has none (UsageError).
SmoothingWindow smoothing_window(const BeamOptions& options, std::int64_t nside, Session& session);

/// b_l from a file; the notes of reading go to the session.
Beam read_beam_file(const std::string& path, Session& session);
Beam read_pixel_window_file(const std::string& path, std::int64_t nside, Session& session);

/// evaluate(window, lmax), whose errors become UsageErrors that name these options.
Beam evaluate_window(const SmoothingWindow& window, std::int64_t lmax, const std::string& options);

/// The windows up to lmax of a map of this nside (0: CAR), if any are given.
std::optional<Beam> beam_to(const BeamOptions& options, std::int64_t nside, std::int64_t lmax,
                            Session& session);

/// What convolves Q and U with the E and B of a beam up to lmax, both times `scale`. option: "--beam b.fits",
/// for messages. Throws UsageError.
PolarizationKernel spin_kernel(const std::string& option, Beam beam, std::int64_t lmax, Extension extension,
                               double scale);

/// FWHM (degrees), BEAM, PIXWIN cards.
std::vector<io::HeaderCard> beam_cards(const BeamOptions& options);

}  // namespace zonal::cli
