#include "shell/session.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

#include "options/parse.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "shell/version.hpp"
#include "zonal/io/atomic_file.hpp"
#include "zonal/sht.hpp"

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

std::string spaced(std::string key) {
    std::replace(key.begin(), key.end(), '_', ' ');
    return key;
}

std::string scalar(const Json& value) {
    if (value.is_string()) return printable(value.get<std::string>());
    if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    return value.is_null() ? "-" : value.dump();
}

/// A value without structures inside its elements, on one line: "3, 4" or "used 0.7, mean 0.6".
std::string flat(const Json& value) {
    if (value.is_primitive()) return scalar(value);
    std::string list;
    for (const auto& [key, element] : value.items()) {
        if (!list.empty()) list += ", ";
        list += value.is_object() ? fmt::format("{} {}", spaced(key), scalar(element)) : scalar(element);
    }
    return list;
}

bool is_flat(const Json& value) {
    return value.is_primitive() || std::all_of(value.begin(), value.end(),
                                               [](const Json& element) { return element.is_primitive(); });
}

/// How many elements of a list are shown to people, such as columns: thousands of planes are a cube's.
std::size_t shown_of(std::size_t size) {
    constexpr std::size_t most = 40, first = 10;
    return size <= most ? size : first;
}

std::string lines(const Json& object, std::size_t indent) {
    std::size_t width = 0;
    for (const auto& [key, value] : object.items()) width = std::max(width, key.size());
    const std::string margin(indent, ' ');
    std::string text;
    for (const auto& [key, value] : object.items()) {
        if (is_flat(value)) {
            text += fmt::format("{}{:<{}}  {}\n", margin, spaced(key), width, flat(value));
            continue;
        }
        text += fmt::format("{}{}\n", margin, spaced(key));
        if (value.is_object()) text += lines(value, indent + 2);
        const auto shown = value.is_array() ? shown_of(value.size()) : 0;
        for (std::size_t i = 0; i < shown; ++i)
            text += is_flat(value[i]) ? fmt::format("{}  {}\n", margin, flat(value[i]))
                                      : lines(value[i], indent + 2);
        if (value.is_array() && shown < value.size())
            text += fmt::format("{}  and {} more, up to {}; --json shows all\n", margin, value.size() - shown,
                                is_flat(value.back()) ? flat(value.back()) : "another of their kind");
    }
    return text;
}

void add_once(std::vector<std::string>& lines, const std::string& line) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
}

}  // namespace

std::string readable(const Json& report) {
    return lines(report, 0);
}

void end_all_ranks(int exit_code) {
    io::AtomicFile::remove_unfinished();
    Communicator::abort_launched(exit_code);
    std::_Exit(exit_code);
}

const std::string& Session::input(const std::string& path) const {
    if (!has_several_ranks()) return path;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    const auto first = ranks.gather(speaks() ? bytes.str() : "")[0];
    together("the file " + path, [&] {
        // What cannot be opened, here or on rank 0, is what its reader says.
        if (file.is_open() && !first.empty() && bytes.str() != first)
            throw IoError(
                fmt::format("{}: has other bytes than on rank 0: all ranks must read the same file", path));
    });
    return path;
}

void Session::note(const std::string& text) {
    add_once(notes_, printable(text));
}

void Session::warn(const std::string& text) {
    add_once(warnings_, printable(text));
    note(text);
}

void Session::note(const std::vector<std::string>& texts) {
    for (const auto& text : texts) note(text);
}

void Session::require_memory(double bytes, const std::string& what) {
    // Scratch and freed memory would be counted here, and taken again by what follows or not.
    clear_workspaces();
    return_freed_memory();
    predicted_memory_ = std::max(predicted_memory_, resident_memory().now + bytes);
    zonal::require_memory(bytes, what);
}

Progress Session::progress(const std::string& stage) {
    const bool draw = speaks() && !json && !quiet && isatty(STDERR_FILENO) != 0;
    return [this, stage, draw, drawn = -1](double done) mutable {
        if (is_interrupted()) return false;
        const int percent = static_cast<int>(100 * std::clamp(done, 0.0, 1.0));
        if (draw && percent != drawn) {
            const int filled = bar_width * percent / 100;
            const auto bar = fmt::format("\r{} [{:<{}}] {:3d} %\033[K", stage, std::string(filled, '#'),
                                         bar_width, percent);
            std::fputs(bar.c_str(), stderr);
            std::fflush(stderr);
            drawn = percent;
            bar_drawn_ = true;
        }
        return true;
    };
}

void Session::clear_bar() {
    if (bar_drawn_) std::fputs("\r\033[K", stderr);
    bar_drawn_ = false;
}

void Session::finish(const std::string& negative_verdict) {
    if (!speaks()) return;
    clear_bar();
    const auto line = printable(negative_verdict);
    if (json && !line.empty()) report.update({{"error", line}, {"exit_code", int{failure}}});
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    // A benchmark has seconds of its own.
    report[report.contains("seconds") ? "total_seconds" : "seconds"] = elapsed.count();
    if (predicted_memory_ > 0)
        report["memory_bytes"] = {{"predicted", std::llround(predicted_memory_)},
                                  {"most", std::llround(std::max(resident_memory().most, most_memory_))}};
    if (json) {
        Json object = {{"command", command}, {"version", version()}};
        object.update(report);
        object["notes"] = notes_;
        print(dump(object));
    } else {
        for (const auto& text : quiet ? warnings_ : notes_)
            std::fputs(fmt::format("{} {}: note: {}\n", program, command, text).c_str(), stderr);
        if (!quiet && !verbose && !summary.empty()) {
            summary.back() += fmt::format("; {:.2g} s in all", elapsed.count());
            for (const auto& text : summary) print(printable(text) + "\n");
        } else if (!quiet) {
            print(readable(report));
        }
    }
    if (!line.empty()) std::fputs(fmt::format("{} {}: {}\n", program, command, line).c_str(), stderr);
}

void Session::fail(const std::string& message, int exit_code) {
    // Where another rank ends the job, this is a consequence: mpirun sends signals to all ranks.
    const bool is_first_failure = ranks.rank_that_ends() < 0;
    if (speaks() && is_first_failure) print_failure(message, exit_code);
}

void Session::fail_at_once(const std::string& message, int exit_code) {
    if (has_several_ranks()) fail_job(message, exit_code);
    print_failure(message, exit_code);
    io::AtomicFile::remove_unfinished();
    std::_Exit(exit_code);  // nothing is unwound under the threads that work on
}

void Session::fail_job(const std::string& message, int exit_code) {
    // If several ranks announce an end at the same time, the first of them speaks.
    constexpr std::chrono::milliseconds on_the_way(20), for_speaking(500);
    bool is_first_failure = ranks.rank_that_ends() < 0;
    if (is_first_failure) {
        ranks.announce_end();
        std::this_thread::sleep_for(on_the_way);
        const int other = ranks.rank_that_ends();
        is_first_failure = other < 0 || other > ranks.rank();
    }
    if (is_first_failure)
        print_failure(speaks() ? message : fmt::format("rank {}: {}", ranks.rank(), message), exit_code);
    else
        std::this_thread::sleep_for(for_speaking);
    end_all_ranks(exit_code);
}

void Session::print_failure(const std::string& message, int exit_code) {
    clear_bar();
    const auto line = printable(message);
    const auto name = command.empty() ? program : program + " " + command;
    std::fputs(fmt::format("{}: {}\n", name, line).c_str(), stderr);
    if (!json) return;
    const Json object = {
        {"command", command}, {"version", version()}, {"error", line}, {"exit_code", exit_code}};
    std::fputs(dump(object).c_str(), stdout);
    std::fflush(stdout);
}

}  // namespace zonal::cli
