#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/options.hpp"
#include "shell/session.hpp"
#include "zonal/beams/elliptical.hpp"
#include "zonal/io/header.hpp"

namespace zonal::cli {

/// --beam-alm and --kmax: a beam that need not be round.
struct BeamAlmOptions {
    std::string file;
    std::optional<std::int64_t> kmax;

    bool given() const { return !file.empty() || kmax; }
};
void add_beam_alm_options(const OptionGroup& group, BeamAlmOptions& options);

/// The beam of the file up to lmax with all of its orders; T alone, or T, E, B. Throws IoError, and
/// UsageError for a beam that ends below lmax and a --kmax above what the file has.
BeamAlm read_beam_alm(const BeamAlmOptions& options, std::int64_t lmax, Session& session);

/// Leaves T of a beam.
void keep_temperature(BeamAlm& beam);

}  // namespace zonal::cli
