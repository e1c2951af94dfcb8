#include <numbers>

#include "commands/recipe.hpp"
#include "zonal/masks/apodization.hpp"
#include "zonal/masks/distance.hpp"
#include "zonal/masks/holes.hpp"
#include "zonal/masks/moments.hpp"

namespace zonal::cli {
namespace {

struct MaskCommand {
    FileOptions files;
    std::optional<Apodization> kind;
    std::optional<ApodizationDistance> like;
    std::optional<Angle> scale;
    std::optional<std::int64_t> min_pixels;
    std::string distances;
    MapInput input;
};

void declare(CLI::App& app, MaskCommand& options) {
    add_files(app, options.files, "mask on HEALPix, FITS: 0 or UNSEEN where masked", "mask to write");
    const OptionGroup group(app, "Mask");
    group.integer("--fill-holes", options.min_pixels, {1, 12 * healpix::max_nside * healpix::max_nside},
                  "fill holes of fewer pixels with the mean of the pixels around them, before all else");
    group.choice<Apodization>(
        "--apodise", options.kind,
        {{"cosine", Apodization::cosine}, {"sine", Apodization::sine}, {"smooth", Apodization::smooth}},
        "bring the mask to 0 within --scale of masked pixels: (1 - cos(pi x)) / 2, x - sin(2 pi x) / (2 pi), "
        "or a Gaussian mean of what is 2.5 scales away");
    group.angle("--scale", options.scale, "of --apodise: where x is 1, or the Gaussian's sigma");
    group.choice<ApodizationDistance>(
        "--apodise-like", options.like,
        {{"namaster", ApodizationDistance::chord}, {"grain", ApodizationDistance::angle}},
        "x is sin(d/2) / sin(scale/2), or d / scale, at a distance d", "namaster");
    group.text("--distance", options.distances, "FILE",
               "write the distance of each pixel to the nearest masked one, in radians, too");
    add_map_input(app, options.input);
    add_precision(app, options.files.precision, "as the input");
    add_output_options(app, options.files.output);
    add_threads_option(app, options.files.run.threads);
}

void check(const MaskCommand& options) {
    if (options.kind && !options.scale) throw UsageError("--apodise: needs --scale");
    if (options.scale && !options.kind) throw UsageError("--scale: needs --apodise");
    if (options.like && (!options.kind || options.kind == Apodization::smooth))
        throw UsageError("--apodise-like: needs --apodise cosine or sine");
    if (!options.kind && !options.min_pixels && options.distances.empty())
        throw UsageError("nothing to do: give --apodise, --fill-holes or --distance");
    require_different_files({{"OUT", options.files.out}, {"--distance", options.distances}});
}

SkyMap read(MaskCommand& options, Session& session) {
    auto map = read_sky_map(options.files.in, options.input, session);
    if (map.rows().extent(0) != 1)
        throw UsageError(fmt::format("{}: has {} columns: --field chooses the mask", options.files.in,
                                     map.rows().extent(0)));
    if (map.nside() == 0)
        throw IoError(fmt::format("{}: is not on HEALPix, of which the neighbours of pixels are known",
                                  options.files.in));
    return map;
}

/// The same pixels, order and coordinates, in radians.
void write_distances(const MaskCommand& options, const SkyMap& mask, Session& session) {
    SkyMap map(mask, mask.header().pixelization);
    const auto masked = masked_pixels<double>(mask.rows()[0], options.files.run.thread_count());
    distances_to_masked({masked.data(), {std::ssize(masked)}}, map.rows()[0], std::numbers::pi,
                        options.files.run.thread_count());
    auto& column = map.header().columns.front();
    column.name = "DISTANCE";
    column.unit = "rad";
    FileOptions files = options.files;
    files.out = options.distances;
    write_map(files, map, {}, session);
}

/// What the largest step takes beside the mask itself.
double bytes_beside(const MaskCommand& options, const SkyMap& map) {
    const auto pixels = static_cast<double>(map.rows().extent(1));
    const double distances = bytes_of_distances(map.nside()) + 8 * pixels;
    const double filling = options.min_pixels ? 2 * pixels : 0;               // flags
    if (options.kind == Apodization::smooth) return distances + 32 * pixels;  // and two maps smoothed
    return options.kind || !options.distances.empty() ? distances : filling;
}

void run(MaskCommand& options, Session& session) {
    check(options);
    options.files.name_output(session);
    if (!options.distances.empty()) options.files.output.require_writable(options.distances);
    auto map = read(options, session);
    const int threads = options.files.run.thread_count();
    const auto row = map.rows()[0];
    session.require_memory(bytes_beside(options, map), fmt::format("a mask of nside {}", map.nside()));
    std::vector<HeaderCard> cards;
    if (options.min_pixels) {
        const auto filled = fill_holes(row, {*options.min_pixels, 0}, threads);
        session.report["filled"] = {{"holes", filled.holes}, {"pixels", filled.pixels}};
        cards.push_back({"HOLES", *options.min_pixels, "holes of fewer pixels were filled"});
    }
    stop_if_interrupted();
    if (!options.distances.empty()) write_distances(options, map, session);
    if (options.kind) {
        Array<double, 1> apodized({row.size()});
        const ApodizationOptions how{*options.kind, options.like.value_or(ApodizationDistance::chord),
                                     options.scale->radians, threads};
        apodize(row, apodized.view(), how);
        for (std::int64_t p = 0; p < row.size(); ++p) row[p] = apodized(p);
        cards.push_back({"APODISED", options.scale->text, "scale of the edge"});
    }
    session.report["moments"] = mask_moments(map.grid(), row, {}, threads);
    write_map(options.files, map, cards, session);
}

}  // namespace

void add_mask(CLI::App& root, Session& session, Action& action) {
    add_command<MaskCommand>(
        root, session, action, "mask",
        "Fills small holes of a mask, brings it smoothly to 0 at its edges, and finds distances to masked "
        "pixels. Distances are those between the centres of pixels. The report has the means of the mask's "
        "powers 1 to 4 over the sky.",
        "zonal mask mask.fits apodised.fits --apodise cosine --scale 2deg --fill-holes 20 --distance d.fits",
        declare, run);
}

}  // namespace zonal::cli
