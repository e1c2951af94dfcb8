#include "engine/spectrum_file.hpp"

#include <fmt/core.h>

#include "shell/error.hpp"
#include "zonal/io/spectrum.hpp"

namespace zonal::cli {

std::vector<double> read_tt(const std::string& option, const std::string& path, Session& session) {
    const auto file = io::read_spectrum(session.input(path));
    session.note(file.notes);
    const auto* spectrum = file.find("TT");
    if (spectrum == nullptr) throw UsageError(fmt::format("{} {}: has no spectrum TT", option, path));
    return spectrum->values;
}

std::vector<std::vector<double>> read_ee_and_bb(const std::string& option, const std::string& path,
                                                Session& session) {
    const auto file = io::read_spectrum(session.input(path));
    session.note(file.notes);
    const auto *ee = file.find("EE"), *bb = file.find("BB");
    if (ee == nullptr)
        throw UsageError(
            fmt::format("{} {}: has no spectrum EE, by which errors of Q and U are weighed", option, path));
    return {ee->values, bb != nullptr ? bb->values : std::vector<double>(ee->values.size())};
}

std::vector<double> fit_to_lmax(const std::vector<double>& values, std::int64_t lmax, Extension extension,
                                const std::string& option) {
    return with_error<UsageError>([&] { return fit_length(values, lmax, extension, option); }, "",
                                  "; --extend says what to do");
}

}  // namespace zonal::cli
