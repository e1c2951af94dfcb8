#include <fmt/core.h>

#include <memory>

#include "commands/subcommands.hpp"
#include "options/common_options.hpp"
#include "options/map_input.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/healpix.hpp"
#include "zonal/sky/udgrade.hpp"

namespace zonal::cli {
namespace {

struct UdgradeCommand {
    std::string in, out;
    std::int64_t nside = 0;
    UdgradeOptions how;
    MapInput input;
    std::optional<io::Precision> precision;
    OutputOptions output;
};

void declare_options(CLI::App& app, UdgradeCommand& options) {
    add_argument(app, "IN", options.in, "HEALPix map, FITS");
    add_argument(app, "OUT", options.out, "map to write");
    add_integer(app, "--nside", options.nside, {1, healpix::max_nside}, "nside of the output, a power of 2")
        ->required()
        ->group("Pixels");
    add_choice<Combine>(app, "--combine", options.how.combine,
                        {{"mean", Combine::mean}, {"sum", Combine::sum}},
                        "mean of the good pixels, or their sum (for counts; to a finer grid: equal shares); "
                        "hits are always summed")
        ->default_str("mean")
        ->group("Pixels");
    app.add_flag("--pessimistic", options.how.pessimistic,
                 "a pixel is UNSEEN when any pixel in it is, not only when all are")
        ->group("Pixels");
    add_map_input(app, options.input);
    add_precision(app, options.precision, "as the input");
    add_output_options(app, options.output);
}

void run(const UdgradeCommand& options, Session& session) {
    if (!healpix::is_valid_nside(options.nside, healpix::Order::nest))
        throw UsageError(fmt::format("--nside = {}: must be a power of 2 from 1 to 2^29", options.nside));
    options.output.require_writable(options.out);
    const auto map = read_sky_map(options.in, options.input, session, Columns::all);
    auto out = udgrade(map, options.nside, options.how);
    stop_if_interrupted();
    auto& header = out.header();
    if (header.polarized())
        session.note("Q and U are combined as they stand: no parallel transport between pixels");
    for (auto& column : header.columns) column.precision = options.precision.value_or(column.precision);
    set_cards(header.cards, provenance(session));
    set_card(header.cards,
             {"COMBINE", std::string(options.how.combine == Combine::mean ? "mean" : "sum"), "of pixels"});
    io::write_sky_map(options.out, out, options.output.write_options());
    session.report["input"] = options.in;
    session.report["output"] = options.out;
    session.report["nside_in"] = map.nside();
    session.report["map"] = describe(header);
}

}  // namespace

void add_udgrade(CLI::App& root, Session& session, Action& action) {
    auto& app = add_subcommand(
        root, session, "udgrade",
        "Changes the nside of a map by averaging or repeating pixels. UNSEEN pixels do not "
        "count. Q and U are averaged as they stand, without parallel transport between pixels; "
        "zonal smooth --nside-out has no such error.",
        "zonal udgrade map.fits coarse.fits --nside 32");
    const auto options = std::make_shared<UdgradeCommand>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
