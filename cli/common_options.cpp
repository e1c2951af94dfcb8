#include "common_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "options.hpp"
#include "version.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::cli {

CLI::App& add_subcommand(CLI::App& root, Session& session, const std::string& name,
                         const std::string& description, const std::string& example) {
    auto& app = *root.add_subcommand(name, description);
    app.footer("Example:\n  " + example);
    app.set_help_flag("-h,--help", "print this help and exit")->group("General");
    app.add_flag("--json", session.json, "print the report as one JSON object on standard output")
        ->group("General");
    app.add_flag("--quiet", session.quiet, "print nothing but errors")->group("General");
    return app;
}

void add_run_options(CLI::App& app, RunOptions& options) {
    add_integer(app, "--threads", options.threads, {0, 4096},
                "threads to compute with; 0: all CPUs of the process")
        ->default_str("0")
        ->group("General");
    add_choice<Device>(app, "--device", options.device,
                       {{"auto", Device::automatic()}, {"cpu", Device::cpu()}, {"cuda", Device::cuda()}},
                       "where to compute; cuda is an error where there is none")
        ->default_str("auto")
        ->group("General");
}

void RunOptions::resolve(Session& session) {
    device = resolve_device(device);
    session.report["device"] = to_string(device);
    session.report["threads"] = threads == 0 ? available_cpus() : threads;
}

void add_output_options(CLI::App& app, OutputOptions& options) {
    app.add_flag("--overwrite", options.overwrite, "replace an existing output file")->group("General");
}

void OutputOptions::require_writable(const std::string& path) const {
    const io::AtomicFile probe(path, overwrite);
}

CLI::Option* add_precision(CLI::App& app, std::optional<io::Precision>& precision,
                           const std::string& default_text) {
    return add_choice<io::Precision>(app, "--precision", precision,
                                     {{"float", io::Precision::float32}, {"double", io::Precision::float64}},
                                     "numbers in the output file")
        ->default_str(default_text)
        ->group("Output");
}

std::vector<io::HeaderCard> provenance(const Session& session) {
    return {{"VERSION", version(), "of zonal"}, {"HISTORY", header_text(session.command_line), ""}};
}

std::string header_text(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text;
}

void set_card(std::vector<io::HeaderCard>& cards, io::HeaderCard card) {
    const auto same = [&](const io::HeaderCard& other) { return other.key == card.key; };
    if (card.key != "HISTORY" && card.key != "COMMENT") std::erase_if(cards, same);
    cards.push_back(std::move(card));
}

void set_cards(std::vector<io::HeaderCard>& cards, const std::vector<io::HeaderCard>& added) {
    for (const auto& card : added) set_card(cards, card);
}

}  // namespace zonal::cli
