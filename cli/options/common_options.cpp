#include "options/common_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "options/options.hpp"
#include "options/parse.hpp"
#include "shell/error.hpp"
#include "shell/version.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::cli {
namespace {

/// Extensions of files that a FITS file would be mistaken for, or not be found as.
constexpr std::array<std::string_view, 34> foreign_extensions = {
    ".png",  ".jpg", ".jpeg", ".gif", ".bmp",  ".tif", ".tiff", ".webp", ".svg", ".pdf", ".ps",  ".eps",
    ".txt",  ".dat", ".csv",  ".tsv", ".json", ".xml", ".html", ".md",   ".npy", ".npz", ".pkl", ".h5",
    ".hdf5", ".hdf", ".nc",   ".zip", ".tar",  ".bz2", ".xz",   ".zst",  ".fz",  ".log"};

/// ".fits", in small letters.
std::string extension_of(const std::filesystem::path& path) {
    auto text = path.extension().string();
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// ".fits" of map.fits.gz, too.
std::string extension_before_gz(const std::filesystem::path& path) {
    const auto extension = extension_of(path);
    return extension == ".gz" ? extension_of(path.stem()) : extension;
}

template <std::size_t N>
bool is_one_of(const std::string& extension, const std::array<std::string_view, N>& extensions) {
    return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

/// What is wrong with the name of an output of this format; empty where nothing is.
std::string wrong_name(const std::string& path, OutputFormat format) {
    constexpr std::array<std::string_view, 3> fits = {".fits", ".fit", ".fts"};
    const auto extension = extension_before_gz(path);
    constexpr std::array<std::string_view, 3> pictures = {".png", ".pdf", ".svg"};
    if (format == OutputFormat::picture)
        return is_one_of(extension_of(path), pictures)
                   ? ""
                   : "pictures are PNG, PDF or SVG files: the name must end in .png, .pdf or .svg";
    if (format == OutputFormat::json)
        return extension_of(path) == ".json" ? "" : "plans are JSON files: the name must end in .json";
    if (format == OutputFormat::fits && is_one_of(extension, foreign_extensions))
        return "the output is a FITS file: its name must end in .fits, .fit, .fts or .fits.gz, not in " +
               extension;
    if (format == OutputFormat::csv_or_fits && !is_csv_name(path) && !is_one_of(extension, fits))
        return "the output is a CSV or FITS file: its name must end in .csv, .fits, .fit, .fts or .fits.gz";
    return "";
}

}  // namespace

bool is_csv_name(const std::string& path) {
    return extension_of(path) == ".csv";
}

CLI::App& add_subcommand(CLI::App& root, Session& session, const std::string& name,
                         const std::string& description, const std::string& example) {
    auto& app = *root.add_subcommand(name, description);
    app.footer("Example:\n  " + example);
    app.set_help_flag("-h,--help", "print this help and exit")->group("General");
    app.add_flag("--json", session.json, "print the report as one JSON object on standard output")
        ->group("General");
    app.add_flag("--verbose", session.verbose, "print the whole report, not its summary")->group("General");
    app.add_flag("--quiet", session.quiet,
                 "print only errors, and warnings about results that miss what was asked for")
        ->group("General");
    return app;
}

void add_run_options(CLI::App& app, RunOptions& options) {
    add_threads_option(app, options.threads);
    add_device_option(app, options.device);
}

void add_timeout_option(CLI::App& app, std::optional<double>& timeout) {
    add_number(
        app, "--timeout", timeout, {0.1, 1e6},
        "end the job when a rank has not answered the others for this many seconds; a rank that computes "
        "does not answer, so give more than one may take longer than another")
        ->default_str("none")
        ->group("Several ranks (mpirun)");
}

void set_timeout(const std::optional<double>& timeout, Session& session) {
    if (!timeout) return;
    if (!session.has_several_ranks())
        throw UsageError("--timeout: only over several ranks, which mpirun starts");
    // The end comes at once: what would be unwound is memory that MPI still reads.
    session.ranks.set_timeout(
        *timeout, [&session](const std::string& silence) { session.fail_at_once(silence, failure); });
}

void add_threads_option(CLI::App& app, std::int64_t& threads) {
    OptionGroup(app, "General")
        .integer("--threads", threads, {0, 4096},
                 "threads to compute with; 0: all CPUs of the process, which the ranks of a job divide "
                 "among themselves",
                 "0");
}

void add_device_option(CLI::App& app, Device& device) {
    OptionGroup(app, "General")
        .choice<Device>("--device", device,
                        {{"auto", Device::automatic()}, {"cpu", Device::cpu()}, {"cuda", Device::cuda()}},
                        "where to compute; cuda is an error if there is no GPU", "auto");
}

namespace {

/// Finds a device. Where it is not to be had, the message names the option, as it was given: which GPU it
/// stands for is the program's choice.
template <class Find>
Device found_device(const Find& find) {
    try {
        return find();
    } catch (const BackendUnavailable& error) {
        if (error.argument() != "device") throw;
        auto facts = error.facts();
        facts.argument = "--device";
        facts.value = "cuda";
        throw BackendUnavailable(facts);
    }
}

}  // namespace

Device device_of_option(Device device) {
    return found_device([device] { return resolve_device(device); });
}

void require_one_process(const Session& session) {
    if (session.has_several_ranks())
        throw UsageError(
            fmt::format("works in one process, not in the {} of this job: start it without mpirun",
                        session.ranks.size()));
}

void require_one_process(const Session& session, bool given, const std::string& names,
                         const std::string& reason) {
    if (session.has_several_ranks() && given)
        throw UsageError(fmt::format("{}: not over several ranks: {}", names, reason));
}

void add_job_options(CLI::App& app, RunOptions& options, WithExplain with_explain) {
    const OptionGroup group(app, "Several ranks (mpirun)");
    group.text(
        "--shares", options.shares, "auto|X,X,...",
        "how much of the work each rank gets, relative to the others; auto: in proportion to the speed "
        "of its transforms by the costs that zonal calibrate has measured on its machine",
        "by its threads; a GPU counts as 64");
    if (with_explain == WithExplain::yes)
        group.flag("--explain", options.explain,
                   "report what each rank gets: pixels, coefficients, floating point operations, bytes that "
                   "it sends, and predicted seconds of a synthesis");
}

/// Finds the ranks' devices, threads and, but for --shares auto, speeds.
void RunOptions::resolve_job(Session& session) {
    const auto& ranks = session.ranks;
    rank_device = found_device([&] { return ranks.own_device(device.kind()); });
    device = Device::cpu();
    if (threads == 0) threads = std::max(1, static_cast<int>(available_cpus() * ranks.share_of_cpus()));
    if (shares == "auto") return;  // which takes the size of a transform
    if (shares.empty()) {
        const bool on_gpu = rank_device.kind() == Device::Kind::cuda;
        for (const auto& text : ranks.gather(on_gpu ? "" : std::to_string(threads)))
            speeds.push_back(text.empty() ? 0 : std::stod(text));
        // The plan knows what GPUs are beside CPUs.
        if (std::find(speeds.begin(), speeds.end(), 0) != speeds.end()) speeds.clear();
        return;
    }
    const auto wrong = [&] {
        return UsageError(
            fmt::format("--shares = {}: must be auto, or {} numbers from 1e-6 to 1e6, one for each rank",
                        printable(shares), ranks.size()));
    };
    for (std::size_t begin = 0; begin <= shares.size();) {
        const auto end = std::min(shares.find(',', begin), shares.size());
        try {
            speeds.push_back(parse_number("--shares", shares.substr(begin, end - begin), 1e-6, 1e6));
        } catch (const UsageError&) {
            throw wrong();  // which says that auto is permitted, too
        }
        begin = end + 1;
    }
    if (std::ssize(speeds) != ranks.size()) throw wrong();
}

void RunOptions::require_no_shares(const std::string& path) const {
    if (explain || !shares.empty())
        throw UsageError(fmt::format("--shares, --explain: {} holds alm, which are not transformed", path));
}

void RunOptions::resolve(Session& session) {
    any_device = device.kind() == Device::Kind::automatic;
    const bool has_several_ranks = session.has_several_ranks();
    if (has_several_ranks) resolve_job(session);
    if (!has_several_ranks && (explain || !shares.empty()))
        throw UsageError("--shares, --explain: only over several ranks, which mpirun starts");
    device = device_of_option(device);
    session.report["device"] = to_string(has_several_ranks ? rank_device : device);
    session.report["threads"] = threads == 0 ? available_cpus() : threads;
}

void add_output_options(CLI::App& app, OutputOptions& options) {
    app.add_flag("--overwrite", options.overwrite, "replace an existing output file")->group("General");
}

void OutputOptions::require_writable(const std::string& path, OutputFormat format) const {
    if (path == "-")
        throw UsageError(
            "-: results are files and do not go to standard output: give a name (./- for this one)");
    if (const auto wrong = wrong_name(path, format); !wrong.empty())
        throw UsageError(fmt::format("{}: {}", path, wrong));
    std::error_code error;
    if (!overwrite && std::filesystem::is_regular_file(path, error))
        throw IoError(fmt::format("{}: exists already; --overwrite replaces it", path));
    const io::AtomicFile probe(path, overwrite);
}

CLI::Option* add_precision(CLI::App& app, std::optional<io::Precision>& precision,
                           const std::string& default_text) {
    return OptionGroup(app, "Output")
        .choice("--precision", precision, precisions, "numbers in the output file", default_text);
}

void require_parts(const std::string& path, const Session& session) {
    require_one_process(session, path.ends_with(".gz"), path,
                        "a gzip file is one stream, which ranks cannot write in parts");
}

void FileOptions::name_output(Session& session) const {
    if (!is_one_stream) require_parts(out, session);
    output.require_writable(out);
    session.report["input"] = in;
    session.report["output"] = out;
}

void FileOptions::begin(Session& session) {
    name_output(session);
    run.resolve(session);
}

void add_files(CLI::App& app, FileOptions& files, const std::string& in, const std::string& out) {
    add_argument(app, "IN", files.in, in);
    add_argument(app, "OUT", files.out, out);
}

void add_file_options(CLI::App& app, FileOptions& files, const std::string& default_precision) {
    add_precision(app, files.precision, default_precision);
    add_output_options(app, files.output);
    add_run_options(app, files.run);
}

std::vector<io::HeaderCard> provenance(const Session& session) {
    return {{"VERSION", version(), "of zonal"}, {"HISTORY", header_text(session.command_line), ""}};
}

bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code error;  // paths that cannot be followed are refused where they are written
    const auto canonical = [&error](const std::string& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
    };
    return canonical(a) == canonical(b);
}

void require_different_files(const std::vector<std::pair<const char*, std::string>>& outputs) {
    for (auto one = outputs.begin(); one != outputs.end(); ++one)
        for (auto other = outputs.begin(); other != one; ++other)
            if (!one->second.empty() && !other->second.empty() && is_same_file(one->second, other->second))
                throw UsageError(
                    fmt::format("{} = {}: {} is the same file", one->first, one->second, other->first));
}

}  // namespace zonal::cli
