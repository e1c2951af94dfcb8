#include "commands/anafast_bands.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/io/band_powers.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/mask.hpp"
#include "zonal/sky/map_analysis.hpp"
#include "zonal/spectra/band_covariance.hpp"
#include "zonal/spectra/simulated_spectra.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::cli {
namespace {

/// A map with all that a field of the estimate refers to. It stays where it is.
struct ObservedMap {
    explicit ObservedMap(SkyMap given) : map(std::move(given)) {}
    SkyMap map;
    Array<double, 1> mask{};
    Array<double, 1> mask_polarization{};  ///< of Q and U; empty: the same
    Array<double, 2> variance{};
    std::vector<std::vector<std::vector<double>>> noise{};
    std::optional<Beam> transfer{};

    const std::string& unit() const { return map.column(0).unit; }
    View<const double, 1> mask_of(bool is_polarization) const {
        return is_polarization && mask_polarization.size() > 0 ? mask_polarization.view() : mask.view();
    }
    MaskedField field() const;
};

MaskedField ObservedMap::field() const {
    MaskedField field{map.grid()};
    const auto add = [&](std::int64_t first_row, std::int64_t n_rows) {
        MaskedMaps part{.maps = map.rows().slice(first_row, n_rows), .mask = mask_of(n_rows == 2)};
        if (transfer) part.transfer = n_rows == 1 ? transfer->temperature : transfer->gradient;
        const auto number = std::ssize(field.parts);
        if (variance.size() > 0) part.variance = variance.view()[number];
        part.noise = noise[static_cast<std::size_t>(number)];
        field.parts.push_back(std::move(part));
    };
    const auto n_rows = map.rows().extent(0);
    if (n_rows != 2) add(0, 1);
    if (n_rows != 1) add(n_rows - 2, 2);
    return field;
}

/// Does the work of one call.
class BandFinder {
  public:
    BandFinder(const MaskedAnalysis& analysis, const DecoupleOptions& options, const FileOptions& files,
               Session& session)
        : analysis_(analysis),
          options_(options),
          files_(files),
          session_(session),
          file_{bins_of(options, analysis.choice.lmax)},
          lmax_sky_(lmax_sky_for(options, file_.bins)) {}

    void observe(const std::string& path) {
        ObservedMap& sky = *maps_.emplace_back(
            std::make_unique<ObservedMap>(read_one_sky(path, analysis_, files_.run, session_)));
        const auto seen_by = options_.of_map(maps_.size() - 1);
        require_same_coordinates();
        require_masks_apply(sky.map);
        read_masks(sky, seen_by);
        remove_monopole(sky);
        sky.transfer = transfer_of(options_, seen_by, sky.map.nside(), lmax_sky_, threads(), session_);
        sky.variance = variance_of(options_, seen_by.variance, sky.map, session_);
        sky.noise = noise_of(options_, seen_by.noise, sky.map, lmax_sky_, session_);
        report_sky_fractions(path, sky);
    }

    void find() {
        for (const auto& sky : maps_) {
            fields_.push_back(sky->field());
            file_.units.push_back(sky->unit());
        }
        const EstimateOptions how{lmax_sky_, options_.low_degrees, threads(), files_.run.device};
        session_.require_memory(bytes_of_estimate(fields_, file_.bins, how), "the band powers");
        file_.estimate = estimated(how);
        std::vector<std::string> notes;
        for (const auto& block : file_.estimate.blocks)
            if (const auto& note = block.decoupling->note;
                std::find(notes.begin(), notes.end(), note) == notes.end())
                notes.push_back(note);
        for (const auto& note : notes)
            if (!note.empty()) session_.note(note);
        stop_if_interrupted();
        if (!options_.theory.empty()) find_errors();
    }

    void write() {
        set_cards(file_.cards, provenance(session_));
        set_cards(file_.cards, beam_cards(options_.first.beam));
        if (options_.pixel_window) set_card(file_.cards, {"PIXWIN", std::string("computed"), "HEALPix"});
        if (!analysis_.mask.file.empty())
            set_card(file_.cards, {"MASKFILE", header_text(analysis_.mask.file), "mask"});
        if (!options_.second.mask.empty())
            set_card(file_.cards, {"MASKFIL2", header_text(options_.second.mask), "mask of the second map"});
        if (!options_.first.mask_polarization.empty())
            set_card(file_.cards,
                     {"MASKPOL", header_text(options_.first.mask_polarization), "mask of Q and U"});
        if (!options_.theory.empty())
            set_card(file_.cards, {"THEORY", header_text(options_.theory), "of the error bars"});
        stop_if_interrupted();
        io::write_band_powers(files_.out, file_, files_.output.write_options());
        report();
    }

  private:
    int threads() const { return files_.run.thread_count(); }

    void require_same_coordinates() const {
        const auto &first = maps_.front()->map.header(), &last = maps_.back()->map.header();
        require_same_system(first.source, first.coordinates, last.source, last.coordinates);
    }

    /// Throws UsageError for masks of the map observed last that would mask nothing.
    void require_masks_apply(const SkyMap& map) const {
        const auto& given = options_.given_of(maps_.size() - 1);
        if (given.mask_polarization.empty()) return;
        const auto* suffix = maps_.size() == 1 ? "" : "2";
        const auto& source = map.header().source;
        if (!map.polarized())
            throw UsageError(fmt::format("--mask-polarization{}: {} has no Q and U to mask: leave it out",
                                         suffix, source));
        const auto& all = maps_.size() == 1 ? analysis_.mask.file : given.mask;
        if (map.intensity_row() < 0 && !all.empty())
            throw UsageError(
                fmt::format("--mask{0}, --mask-polarization{0}: {1} has Q and U alone, and so one "
                            "mask: give one of the two",
                            suffix, source));
    }

    /// That of Q and U, if it is another, and that of I or of all.
    void read_masks(ObservedMap& sky, const ObservationOptions& seen_by) {
        if (sky.map.polarized() && !seen_by.mask_polarization.empty()) {
            session_.report["mask_polarization"] = seen_by.mask_polarization;
            sky.mask_polarization = read_mask_file(seen_by.mask_polarization,
                                                   options_.mask_polarization_field, sky.map, session_);
        }
        auto mask = analysis_.mask;
        if (!seen_by.mask.empty()) mask.file = seen_by.mask;
        const bool is_second = maps_.size() > 1 && !options_.second.mask.empty();
        const auto of_first = is_second ? session_.report["mask"] : nullptr;
        sky.mask = read_mask(mask, sky.map, session_);
        if (is_second) session_.report["mask2"] = std::exchange(session_.report["mask"], of_first);
        session_.report.erase("mask_mode");  // which takes no part
        if (sky.mask.size() == 0) {
            sky.mask = Array<double, 1>({sky.map.rows().extent(1)});
            std::fill(sky.mask.begin(), sky.mask.end(), 1.0);
        }
    }

    /// Reports what share of the sky the mask leaves; where Q and U have another than I, what each leaves.
    void report_sky_fractions(const std::string& path, const ObservedMap& sky) {
        const auto add = [&](const std::string& name, const View<const double, 1>& mask) {
            const auto seen = sky_fraction(sky.map.grid(), mask, threads());
            session_.report["f_sky"].push_back({{"name", name},
                                                {"used", seen.used},
                                                {"mean", seen.mean},
                                                {"mean_square", seen.mean_square}});
        };
        const bool has_two = sky.mask_polarization.size() > 0;
        if (!has_two || sky.map.intensity_row() >= 0) add(has_two ? path + ": I" : path, sky.mask.view());
        if (has_two) add(path + ": Q and U", sky.mask_polarization.view());
    }

    void remove_monopole(ObservedMap& sky) {
        if (!analysis_.remove_monopole && !analysis_.remove_dipole) return;
        const auto row = sky.map.intensity_row();
        if (row < 0)
            throw UsageError(fmt::format("--remove-{}: {} has no intensity column",
                                         analysis_.remove_dipole ? "dipole" : "monopole",
                                         sky.map.header().source));
        const auto terms = analysis_.remove_dipole ? FitTerms::monopole_and_dipole : FitTerms::monopole;
        const auto intensity = sky.map.rows()[row];
        const auto fit = with_error<IoError>(
            [&] {
                return fit_monopole_dipole<double>(sky.map.grid(), intensity, std::as_const(sky.mask).view(),
                                                   terms);
            },
            sky.map.header().source + ": ");
        subtract_monopole_dipole<double>(sky.map.grid(), fit, intensity);
        session_.report["removed_monopole"].push_back(fit.monopole);
        if (analysis_.remove_dipole) session_.report["removed_dipole_xyz"].push_back(fit.dipole);
    }

    /// What is wrong with the bands is wrong use; all else is wrong with the maps.
    BandEstimate estimated(const EstimateOptions& how) const {
        try {
            return estimate_bands(fields_, file_.bins, how);
        } catch (const InvalidArgument& error) {
            if (error.argument() == "bins")
                throw UsageError(fmt::format("--decouple: {}", error.facts().message()));
            const bool wants_mask = analysis_.mask.file.empty() && error.argument().starts_with("maps");
            const auto* after = wants_mask ? "; --mask FILE names one" : "";
            throw IoError(fmt::format("{}: {}{}", sources(), error.facts().message(), after));
        }
    }

    std::string sources() const {
        std::string text;
        for (const auto& sky : maps_) text += (text.empty() ? "" : ", ") + sky->map.header().source;
        return text;
    }

    void find_errors() {
        const auto& first = *maps_.front();
        theory_ = theory_of(options_, first.map, product_unit(first.unit(), maps_.back()->unit()), lmax_sky_,
                            session_);
        std::int64_t n_values = 0;
        for (const auto& block : file_.estimate.blocks) n_values += block.bands.size();
        const CovarianceOptions how{std::min(options_.exact_lmax.value_or(32), file_.bins.lmax()), -1,
                                    threads()};
        session_.require_memory(bytes_of_band_covariance(fields_, file_.estimate, how), "the covariance");
        Array<double, 2> covariance({n_values, n_values});
        const auto result = with_error<UsageError>(
            [&] {
                return band_covariance(fields_, file_.estimate, std::as_const(theory_).view(),
                                       covariance.view(), how);
            },
            fmt::format("--theory {}: ", options_.theory));
        session_.report["exact_lmax"] = result.exact_lmax;
        const auto note = result.note_of_loss("give a larger --lmax-sky, or --exact-lmax -1");
        if (!note.empty()) session_.note(note);
        file_.covariance = distinct_covariance(file_.estimate, std::as_const(covariance).view());
    }

    /// Bands less theory, of all spectra that repeat no other one.
    std::vector<double> residuals() const {
        std::vector<double> found;
        for (const auto& block : file_.estimate.blocks) {
            Array<double, 2> c_l({std::ssize(block.names), lmax_sky_ + 1});
            for (std::int64_t s = 0; s < c_l.extent(0); ++s) {
                const auto& name = block.names[static_cast<std::size_t>(s)];
                const auto index = [](char letter) { return letter == 'T' ? 0 : letter == 'E' ? 1 : 2; };
                std::copy_n(&theory_(index(name[0]), index(name[1]), 0), c_l.extent(1), &c_l(s, 0));
            }
            const auto expected = band_theory(*block.decoupling, std::as_const(c_l).view());
            for (std::int64_t s = 0; s < c_l.extent(0); ++s)
                for (std::int64_t b = 0; b < expected.extent(1); ++b)
                    if (!is_repeated(block, block.names[static_cast<std::size_t>(s)]))
                        found.push_back(block.bands(s, b) - expected(s, b));
        }
        return found;
    }

    /// chi^2 of bands with these numbers, first to first + n.
    void report_chi_squared(const std::vector<double>& residual, std::int64_t first, std::int64_t n,
                            const std::string& what, Json& report) {
        Array<double, 2> covariance({n, n});
        for (std::int64_t v = 0; v < n; ++v)
            std::copy_n(&file_.covariance(first + v, first), n, &covariance(v, 0));
        try {
            const auto found = chi_squared({residual.data() + first, {n}}, std::as_const(covariance).view());
            report["chi_squared"] = found.value;
            report["p"] = found.p;
        } catch (const InvalidArgument& error) {
            session_.note(fmt::format("no chi^2 of {}: {}", what, error.what()));
        }
    }

    void report() {
        auto& report = session_.report;
        report["bands"] = file_.bins.size();
        report["bands_of"] = file_.bins.of() == BandsOf::d_l ? "D_l" : "C_l";
        report["lmin"] = file_.bins.lmin();
        report["lmax"] = file_.bins.lmax();
        report["lmax_sky"] = lmax_sky_;
        const auto residual = file_.covariance.size() > 0 ? residuals() : std::vector<double>();
        std::int64_t first = 0;
        for (const auto& block : file_.estimate.blocks)
            for (const auto& name : block.names) {
                if (is_repeated(block, name)) continue;
                Json json = {{"name", name}};
                if (maps_.size() > 1) json["maps"] = {block.first, block.second};
                json["condition"] = block.decoupling->condition;
                json["low_degrees"] = block.decoupling->low_degrees;
                if (!residual.empty()) report_chi_squared(residual, first, file_.bins.size(), name, json);
                first += file_.bins.size();
                report["spectra"].push_back(std::move(json));
            }
        if (!residual.empty()) report_chi_squared(residual, 0, std::ssize(residual), "all bands", report);
    }

    const MaskedAnalysis& analysis_;
    const DecoupleOptions& options_;
    const FileOptions& files_;
    Session& session_;
    io::BandPowersFile file_;
    const std::int64_t lmax_sky_;
    std::vector<std::unique_ptr<ObservedMap>> maps_;
    std::vector<MaskedField> fields_;
    Array<double, 3> theory_;
};

}  // namespace

void require_same_system(const std::string& one, io::CoordinateSystem its, const std::string& other,
                         io::CoordinateSystem others) {
    if (are_known_to_differ(its, others))
        throw IoError(fmt::format("{} is in {} coordinates, {} in {}; zonal rotate turns maps", one,
                                  to_string(its), other, to_string(others)));
}

void find_bands(const std::vector<std::string>& inputs, const MaskedAnalysis& analysis,
                const DecoupleOptions& options, const FileOptions& files, Session& session) {
    BandFinder finder(analysis, options, files, session);
    for (const auto& path : inputs) {
        if (io::inspect(path).kind == io::FileKind::alm)
            throw UsageError(
                fmt::format("--decouple: {} holds alm: must be a map, whose mask is divided out", path));
        finder.observe(path);
    }
    finder.find();
    finder.write();
}

}  // namespace zonal::cli
