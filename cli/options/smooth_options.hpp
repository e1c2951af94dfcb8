#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options/analysis_options.hpp"
#include "options/common_options.hpp"
#include "options/kernel_options.hpp"
#include "options/map_input.hpp"
#include "options/mask_options.hpp"
#include "options/parse.hpp"
#include "zonal/planning/pixel_quadrature.hpp"
#include "zonal/planning/planner.hpp"
#include "zonal/window.hpp"

namespace zonal::cli {

/// What zonal plan found for the fields of a map that go one way: of spin 0, or Q and U.
struct PlannedSmoothing {
    ConvolutionChoice choice;
    /// Of the map, by which errors are weighed (see input_spectra); of Q and U those of E and B.
    std::vector<std::vector<double>> spectra;
    std::optional<PolarizationKernel> polarization;  ///< of Q and U: what is planned for, not cut
    std::optional<PixelQuadrature> quadrature;       ///< of the kernel; HEALPix
    /// Whether it was made for just this kernel and spectrum, so that its cut and accuracy hold: else there
    /// are several, and each kernel is cut by itself.
    bool is_exact = true;
};

struct SmoothOptions {
    std::string in, out;
    MapInput input;
    std::optional<Angle> fwhm, fwhm_in;
    std::string beam, beam_in;
    std::string pixel_window_in, pixel_window_out;
    double floor = 0;
    Extension extension = Extension::none;
    KernelOptions kernel;
    std::optional<std::int64_t> nside_out;
    AnalysisChoice analysis;
    MaskOptions mask;
    std::optional<io::Precision> precision;
    RunOptions run;
    OutputOptions output;

    std::optional<PlannedSmoothing> planned;  ///< set where --method is auto or split

    /// Of sums over pixels: as planned, else as --precision says.
    bool single_sums() const {
        return planned ? planned->choice.precision == zonal::Precision::single_
                       : precision == io::Precision::float32 && !kernel.is_planned();
    }
};

void declare_options(CLI::App& app, SmoothOptions& options);

/// Throws UsageError for what contradicts itself.
void check(const SmoothOptions& options);

/// nside_in, nside_out: for which the pixel windows must be; 0: any.
SmoothingWindow smoothing_window(const SmoothOptions& options, std::int64_t nside_in, std::int64_t nside_out,
                                 Session& session);

/// "--fwhm 10deg, --beam b.txt": the options that make the window, for messages.
std::string window_text(const SmoothOptions& options);

/// Throws UsageError where lmax (--lmax) is too low for the map's Q and U.
void require_spin_lmax(std::int64_t lmax, const SkyMap& map);

/// What iterates: 0 for the discrete reference, else as --iter and --tolerance say.
int iteration_count(const SmoothOptions& options);

/// FWHM and so on, and what the map was smoothed with.
std::vector<io::HeaderCard> parameter_cards(const SmoothOptions& options, const Session& session);
/// How Q and U were smoothed where I went another way: METHODQU and so on.
std::vector<io::HeaderCard> spin_cards(const SmoothOptions& options, const Json& report);

}  // namespace zonal::cli
