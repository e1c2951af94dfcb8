#include "session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "error.hpp"
#include "interrupt.hpp"
#include "parse.hpp"
#include "version.hpp"

namespace zonal::cli {
namespace {

constexpr int bar_width = 40;

std::string dump(const Json& json) {
    // Headers of foreign files may hold bytes that are not UTF-8.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void print(const std::string& text) {
    errno = 0;
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        throw IoError(fmt::format("standard output: {}", std::generic_category().message(errno)));
}

std::string readable_value(const Json& value) {
    if (value.is_string()) return printable(value.get<std::string>());
    if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_null()) return "-";
    std::string list;
    for (const auto& [key, element] : value.items()) {
        if (!list.empty()) list += ", ";
        list +=
            value.is_object() ? fmt::format("{} {}", key, readable_value(element)) : readable_value(element);
    }
    return value.is_structured() ? list : value.dump();
}

}  // namespace

std::string readable(const Json& report) {
    std::size_t width = 0;
    for (const auto& [key, value] : report.items()) width = std::max(width, key.size());
    std::string text;
    for (const auto& [key, value] : report.items()) {
        std::string name = key;
        std::replace(name.begin(), name.end(), '_', ' ');
        const bool lines = value.is_array() && !value.empty() && value[0].is_object();
        if (!lines) text += fmt::format("{:<{}}  {}\n", name, width, readable_value(value));
        for (std::size_t i = 0; lines && i < value.size(); ++i)
            text += fmt::format("{:<{}}  {}\n", i == 0 ? name : "", width, readable_value(value[i]));
    }
    return text;
}

void Session::note(const std::string& text) {
    const auto line = printable(text);
    if (std::find(notes_.begin(), notes_.end(), line) == notes_.end()) notes_.push_back(line);
}

void Session::note(const std::vector<std::string>& texts) {
    for (const auto& text : texts) note(text);
}

Progress Session::progress(const std::string& stage) {
    const bool draw = !json && !quiet && isatty(STDERR_FILENO) != 0;
    return [this, stage, draw, drawn = -1](double done) mutable {
        const int percent = static_cast<int>(100 * std::clamp(done, 0.0, 1.0));
        if (draw && percent != drawn) {
            const int filled = bar_width * percent / 100;
            const auto bar =
                fmt::format("\r{} [{:<{}}] {:3d} %", stage, std::string(filled, '#'), bar_width, percent);
            std::fputs(bar.c_str(), stderr);
            std::fflush(stderr);
            drawn = percent;
            bar_drawn_ = true;
        }
        return !is_interrupted();
    };
}

void Session::clear_bar() {
    if (bar_drawn_) std::fputs("\r\033[K", stderr);
    bar_drawn_ = false;
}

void Session::finish() {
    clear_bar();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    report["seconds"] = elapsed.count();
    if (json) {
        Json object = {{"command", command}, {"version", version()}};
        object.update(report);
        object["notes"] = notes_;
        print(dump(object));
        return;
    }
    if (quiet) return;
    for (const auto& text : notes_)
        std::fputs(fmt::format("zonal {}: note: {}\n", command, text).c_str(), stderr);
    print(readable(report));
}

void Session::fail(const std::string& message, int exit_code) {
    clear_bar();
    const auto line = printable(message);
    const auto name = command.empty() ? std::string("zonal") : "zonal " + command;
    std::fputs(fmt::format("{}: {}\n", name, line).c_str(), stderr);
    if (!json) return;
    const Json object = {
        {"command", command}, {"version", version()}, {"error", line}, {"exit_code", exit_code}};
    std::fputs(dump(object).c_str(), stdout);
    std::fflush(stdout);
}

}  // namespace zonal::cli
