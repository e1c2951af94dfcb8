#include "engine/picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "shell/child.hpp"
#include "shell/error.hpp"
#include "shell/version.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::cli {
namespace {

constexpr int package_is_missing = 77;

/// Imports the package, and nothing from the folder where the user happens to be.
constexpr auto program = R"(import sys
sys.path[:1] = [folder for folder in sys.path[:1] if folder]
try:
    from zonal.plot import _tool
except ModuleNotFoundError:
    sys.exit(77)
_tool.main()
)";

/// Interpreters that may have the package, the likeliest first.
std::vector<std::string> interpreters() {
    if (const char* named = std::getenv("ZONAL_PYTHON"); named != nullptr && *named != '\0') return {named};
    std::vector<std::string> found;
    std::error_code error;
    const auto tool = std::filesystem::read_symlink("/proc/self/exe", error);
    if (const auto beside = tool.parent_path() / "python3"; !error && std::filesystem::exists(beside, error))
        found.push_back(beside.string());
    found.emplace_back("python3");
    return found;
}

/// What the package has answered.
ChildResult ask_package(const PictureRequest& request) {
    auto json = request.json;
    json["version"] = version();
    const auto line = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    std::vector<std::string_view> input = {line};
    for (const auto& map : request.maps)
        input.emplace_back(reinterpret_cast<const char*>(map.data()), map.size_bytes());
    std::string tried;
    for (const auto& python : interpreters()) {
        auto result = run_child({python, "-c", program}, input);
        if (result.started && result.exit_code != package_is_missing) return result;
        tried += fmt::format("{}{} {}", tried.empty() ? "" : " and ", python,
                             result.started ? "lacks it" : "is not there");
    }
    throw Error(
        fmt::format("pictures are drawn by the Python package zonal, and {}: pip install "
                    "'zonal[plot]', or set ZONAL_PYTHON to a Python that has it",
                    tried));
}

std::string last_line(const std::string& text) {
    const auto trimmed = text.substr(0, text.find_last_not_of("\n ") + 1);
    return trimmed.substr(trimmed.rfind('\n') + 1);  // npos + 1 is 0
}

[[noreturn]] void fail(const Json& answer) {
    const auto message = answer.value("error", "");
    if (answer.value("exit_code", int{failure}) == wrong_use) throw UsageError(message);
    throw Error(message);
}

}  // namespace

Json draw_picture(const std::string& path, const PictureRequest& request, const OutputOptions& output,
                  Session& session) {
    auto asked = request;
    asked.json["format"] = std::filesystem::path(path).extension().string().substr(1);
    asked.json["out"] = path;
    const auto result = ask_package(asked);
    const auto end = std::min(result.output.find('\n'), result.output.size());
    const auto answer = Json::parse(result.output.begin(),
                                    result.output.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!answer.is_object() || end == result.output.size())
        throw Error(fmt::format("{}: Python has failed (exit status {}): {}", path, result.exit_code,
                                last_line(result.errors)));
    if (answer.contains("error")) fail(answer);
    for (const auto& note : answer["notes"]) session.note(note.get<std::string>());
    session.note_memory(answer["memory"][0].get<double>(), answer["memory"][1].get<double>());
    io::AtomicFile file(path, output.overwrite);
    file.write(result.output.data() + end + 1, result.output.size() - end - 1);
    file.commit();
    return answer["report"];
}

Json to_json(const std::vector<Graph>& graphs) {
    constexpr std::array styles = {"line", "dashes", "points"};
    auto all = Json::array();
    for (const auto& graph : graphs) {
        auto curves = Json::array();
        for (const auto& curve : graph.curves)
            curves.push_back({{"name", curve.name},
                              {"x", curve.x},
                              {"y", curve.y},
                              {"style", styles.at(static_cast<std::size_t>(curve.style))},
                              {"color", curve.color}});
        Json json = {{"title", graph.title},
                     {"x_name", graph.x_name},
                     {"y_name", graph.y_name},
                     {"log_y", graph.log_y},
                     {"curves", curves}};
        if (!graph.y_range.empty()) json["y_range"] = graph.y_range;
        if (graph.level) json["level"] = *graph.level;
        all.push_back(std::move(json));
    }
    return all;
}

void draw_graphs(const std::string& path, const std::vector<Graph>& graphs, const OutputOptions& output,
                 Session& session) {
    draw_picture(path, {{{"draw", "graphs"}, {"graphs", to_json(graphs)}}}, output, session);
}

}  // namespace zonal::cli
