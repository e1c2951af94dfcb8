#include "zonal/sky/udgrade.hpp"
#include "commands/recipe.hpp"

namespace zonal::cli {
namespace {

struct UdgradeCommand {
    FileOptions files;
    std::int64_t nside = 0;
    UdgradeOptions how;
    MapInput input;
};

void declare(CLI::App& app, UdgradeCommand& options) {
    add_files(app, options.files, "HEALPix map, FITS", "map to write");
    const OptionGroup group(app, "Pixels");
    group.integer("--nside", options.nside, {1, healpix::max_nside}, "nside of the output, a power of 2")
        ->required();
    group.choice<Combine>(
        "--combine", options.how.combine, {{"mean", Combine::mean}, {"sum", Combine::sum}},
        "mean of the good pixels, or their sum (for counts; to a finer grid: equal shares); "
        "hits are always summed",
        "mean");
    group.flag("--pessimistic", options.how.pessimistic,
               "a pixel is UNSEEN when any pixel in it is, not only when all are");
    add_map_input(app, options.input);
    add_precision(app, options.files.precision, "as the input");
    add_output_options(app, options.files.output);
}

void run(UdgradeCommand& options, Session& session) {
    if (!healpix::is_valid_nside(options.nside, healpix::Order::nest))
        throw UsageError(fmt::format("--nside = {}: must be a power of 2 from 1 to 2^29", options.nside));
    options.files.name_output(session);
    const std::string combine = options.how.combine == Combine::mean ? "mean" : "sum";
    const std::vector<HeaderCard> cards{{"COMBINE", combine, "of pixels"}};
    const auto report = [&session](const MapFile& header, const Pixelization& pixels_in) {
        stop_if_interrupted();
        if (header.polarized())
            session.note("Q and U are combined as they stand: no parallel transport between pixels");
        session.report["nside_in"] = std::get<HealpixPixels>(pixels_in).nside;
    };
    if (session.has_several_ranks()) {
        auto map = read_map_share(options.files.in, options.input, session);
        const auto pixels_in = map.file.pixelization;
        auto out = udgrade(session.ranks, std::move(map), options.nside, options.how);
        report(out.file, pixels_in);
        return write_map_share(options.files, out, cards, session);
    }
    const auto map = read_sky_map(options.files.in, options.input, session, Columns::all, Extent::own_pixels);
    require_udgradable(map.header());
    session.require_memory(bytes_of_udgrade(map, options.nside), fmt::format("--nside {}", options.nside));
    auto out = udgrade(map, options.nside, options.how);
    report(out.header(), map.header().pixelization);
    write_map(options.files, out, cards, session);
}

}  // namespace

void add_udgrade(CLI::App& root, Session& session, Action& action) {
    add_command<UdgradeCommand>(
        root, session, action, "udgrade",
        "Changes the nside of a map by averaging or repeating pixels. UNSEEN pixels do not "
        "count. Q and U are averaged as they stand, without parallel transport between pixels; "
        "zonal smooth --nside-out has no such error.",
        "zonal udgrade map.fits coarse.fits --nside 32", declare, run, WorkIn::jobs_too);
}

}  // namespace zonal::cli
