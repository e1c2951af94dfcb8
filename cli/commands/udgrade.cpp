#include <fmt/core.h>

#include <memory>

#include "commands/subcommands.hpp"
#include "options/common_options.hpp"
#include "options/map_input.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"

namespace zonal::cli {
namespace {

enum class Combine { mean, sum };

struct UdgradeOptions {
    std::string in, out;
    std::int64_t nside = 0;
    Combine combine = Combine::mean;
    bool pessimistic = false;
    MapInput input;
    std::optional<io::Precision> precision;
    OutputOptions output;
};

void declare_options(CLI::App& app, UdgradeOptions& options) {
    add_argument(app, "IN", options.in, "HEALPix map, FITS");
    add_argument(app, "OUT", options.out, "map to write");
    add_integer(app, "--nside", options.nside, {1, healpix::max_nside}, "nside of the output, a power of 2")
        ->required()
        ->group("Pixels");
    add_choice<Combine>(app, "--combine", options.combine, {{"mean", Combine::mean}, {"sum", Combine::sum}},
                        "mean of the good pixels, or their sum (for counts; to a finer grid: equal shares)")
        ->default_str("mean")
        ->group("Pixels");
    app.add_flag("--pessimistic", options.pessimistic,
                 "a pixel is UNSEEN when any pixel in it is, not only when all are")
        ->group("Pixels");
    add_map_input(app, options.input);
    add_precision(app, options.precision, "as the input");
    add_output_options(app, options.output);
}

/// coarse, fine: [pixel], nest order. A coarse pixel holds fine.size() / coarse.size() fine ones, side by
/// side.
void degrade(View<const double, 1> fine, View<double, 1> coarse, Combine combine, bool pessimistic) {
    const auto children = fine.size() / coarse.size();
    for (std::int64_t pixel = 0; pixel < coarse.size(); ++pixel) {
        double sum = 0;
        std::int64_t good = 0;
        for (auto child = pixel * children; child < (pixel + 1) * children; ++child) {
            if (is_unseen_value(fine[child])) continue;
            sum += fine[child];
            ++good;
        }
        const bool unseen = good == 0 || (pessimistic && good < children);
        const double divisor = combine == Combine::mean ? static_cast<double>(good) : 1;
        coarse[pixel] = unseen ? unseen_value : sum / divisor;
    }
}

void upgrade(View<const double, 1> coarse, View<double, 1> fine, Combine combine) {
    const auto children = fine.size() / coarse.size();
    const double divisor = combine == Combine::mean ? 1 : static_cast<double>(children);
    for (std::int64_t child = 0; child < fine.size(); ++child) {
        const double value = coarse[child / children];
        fine[child] = is_unseen_value(value) ? unseen_value : value / divisor;
    }
}

void convert_row(View<const double, 1> in, View<double, 1> out, const UdgradeOptions& options) {
    std::vector<double> nest_in(static_cast<std::size_t>(in.size())),
        nest_out(static_cast<std::size_t>(out.size()));
    const View<double, 1> from(nest_in.data(), {in.size()}), to(nest_out.data(), {out.size()});
    healpix::ring_to_nest<double>(in, from);
    if (out.size() <= in.size())
        degrade(from, to, options.combine, options.pessimistic);
    else
        upgrade(from, to, options.combine);
    healpix::nest_to_ring<double>(to, out);
}

/// nside of a map that can be reordered.
const HealpixPixels& healpix_pixels(const SkyMap& map) {
    const auto* pixels = std::get_if<HealpixPixels>(&map.header().pixelization);
    if (pixels == nullptr || !healpix::is_valid_nside(pixels->nside, healpix::Order::nest))
        throw IoError(fmt::format("{}: {}: udgrade needs a HEALPix map whose nside is a power of 2",
                                  map.header().source, to_string(map.header().pixelization)));
    return *pixels;
}

void run(const UdgradeOptions& options, Session& session) {
    if (!healpix::is_valid_nside(options.nside, healpix::Order::nest))
        throw UsageError(fmt::format("--nside = {}: must be a power of 2 from 1 to 2^29", options.nside));
    options.output.require_writable(options.out);
    auto map = read_sky_map(options.in, options.input, session);
    SkyMap out(map, HealpixPixels{options.nside, healpix_pixels(map).ordering});
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row) {
        convert_row(map.rows()[row], out.rows()[row], options);
        stop_if_interrupted();
    }
    auto& header = out.header();
    if (header.polarized())
        session.note("Q and U are combined as they stand: no parallel transport between pixels");
    for (auto& column : header.columns) column.precision = options.precision.value_or(column.precision);
    set_cards(header.cards, provenance(session));
    set_card(header.cards,
             {"COMBINE", std::string(options.combine == Combine::mean ? "mean" : "sum"), "of pixels"});
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
    const auto options = std::make_shared<UdgradeOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
