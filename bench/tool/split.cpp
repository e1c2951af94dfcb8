#include <fmt/core.h>

#include <memory>
#include <utility>

#include "commands/split.hpp"
#include "options/common_options.hpp"
#include "options/options.hpp"
#include "options/split_options.hpp"
#include "shell/error.hpp"
#include "tool/split_table.hpp"
#include "tool/split_verify.hpp"
#include "tool/subcommands.hpp"

namespace zonal::cli {
namespace {

struct SplitBenchOptions {
    SplitOptions split;
    bool reproduce_table1 = false;
    VerifyOptions verify;
};

void declare(CLI::App& app, SplitBenchOptions& options) {
    declare_options(app, options.split);
    const OptionGroup group(app, "Verification");
    group.integer("--nside", options.verify.nside, {1, 1 << 13}, "HEALPix grid of the noise");
    group.integer("--seed", options.verify.seed, {0, std::int64_t{1} << 62}, "of the noise", "1");
    group.choice<bool>("--precision", options.verify.single, {{"float", true}, {"double", false}},
                       "of the sum over pixels", "double");
    group.text("--verify-plot", options.verify.plot, "FILE",
               "draw the convolved noise, what the split leaves of it, spectra and errors");
    auto* table =
        group.flag("--reproduce-table1", options.reproduce_table1,
                   "instead, make Table 1 of the paper again: --kernel cl-beam for beams of 7 to 15 "
                   "arcmin, with its --theta-cut, beside the paper's");
    for (const auto* name : {"--fwhm", "--theta-cut", "--l-cut", "--output", "--plot", "--nside", "--seed",
                             "--precision", "--verify-plot"})
        table->excludes(app.get_option(name));
}

void verify(const SplitBenchOptions& options, Session& session) {
    const auto nside = options.verify.nside;
    const auto& picture = options.verify.plot;
    const auto& split = options.split;
    if (nside == 0) throw UsageError("--nside N is required, or --reproduce-table1");
    if (split.lmax >= 3 * nside)
        throw UsageError(
            fmt::format("--lmax = {}: must be at most 3*nside-1 = {}", split.lmax, 3 * nside - 1));
    require_different_files({{"--output", split.out}, {"--plot", split.plot}, {"--verify-plot", picture}});
    if (!picture.empty()) split.output.require_writable(picture, OutputFormat::picture);
    run_split(split, session, [&](const auto& kernel, const auto& splitter, std::int64_t l_cut) {
        auto found = verify_split(options.verify, split, kernel, splitter, l_cut, session);
        if (!picture.empty()) draw_split(picture, found.maps, found.graphs, split.output, session);
        return found.graphs;
    });
    if (!picture.empty()) session.report["verify_plot"] = picture;
}

void run(SplitBenchOptions& options, Session& session) {
    if (!options.reproduce_table1) return verify(options, session);
    if (options.split.kernel != "cl-beam" || options.split.spectrum_file.empty())
        throw UsageError("--reproduce-table1: needs --kernel cl-beam --cl FILE");
    reproduce_table1(options.split, session);
}

}  // namespace

void add_bench_split(CLI::App& root, Session& session, Action& action) {
    add_command<SplitBenchOptions>(
        root, session, action, "split",
        "Does what zonal split does, convolves white noise with the kernel, whole and split at several "
        "l_cut, and reports estimated beside actual errors of map and spectrum.",
        "zonal-bench split --fwhm 4.5deg --lmax 128 --theta-cut 18deg --error 1e-3 --nside 64", declare, run);
}

}  // namespace zonal::cli
