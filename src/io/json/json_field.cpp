#include "io/json/json_field.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

#include "zonal/error.hpp"

namespace zonal::io {
namespace {

/// As the file has it, cut where it is long.
std::string short_text(const Json& json) {
    constexpr std::size_t most = 60;
    const auto text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
    return text.size() <= most ? text : text.substr(0, most) + "...";
}

}  // namespace

Json read_json(const std::string& path, const std::string& kind) {
    std::ifstream file(path);
    if (!file) throw IoError(fmt::format("{}: cannot be opened", path));
    constexpr int most_depth = 16;  // our files have up to five levels
    const auto check_depth = [&](int depth, Json::parse_event_t, const Json&) {
        if (depth <= most_depth) return true;
        throw IoError(fmt::format("{}: is no {}: is nested deeper than {} levels", path, kind, most_depth));
    };
    try {
        return Json::parse(file, check_depth);
    } catch (const Json::parse_error& error) {
        throw IoError(fmt::format("{}: is no {}: no valid JSON at byte {}", path, kind, error.byte));
    } catch (const Json::exception&) {
        throw IoError(fmt::format("{}: is no {}: has numbers beyond the range of a double", path, kind));
    } catch (const std::ios_base::failure&) {
        throw IoError(fmt::format("{}: cannot be read", path));
    }
}

void JsonField::reject(const std::string& must) const {
    if (name_.empty()) throw IoError(fmt::format("{}: {}: must {}", path_, short_text(*json_), must));
    throw IoError(fmt::format("{}: {} = {}: must {}", path_, name_, short_text(*json_), must));
}

JsonField JsonField::at(const std::string& key) const {
    if (!json_->is_object()) reject("be an object with " + key);
    const auto found = json_->find(key);
    const auto name = name_.empty() ? key : name_ + "." + key;
    if (found == json_->end()) throw IoError(fmt::format("{}: {}: is missing", path_, name));
    return {path_, name, *found};
}

std::vector<JsonField> JsonField::elements() const {
    if (!json_->is_array()) reject("be an array");
    std::vector<JsonField> elements;
    for (std::size_t i = 0; i < json_->size(); ++i)
        elements.push_back(JsonField(path_, fmt::format("{}[{}]", name_, i), (*json_)[i]));
    return elements;
}

std::string JsonField::text() const {
    if (!json_->is_string()) reject("be text");
    return json_->get<std::string>();
}

Device JsonField::device() const {
    const auto name = text();
    if (name == "cpu") return Device::cpu();
    constexpr std::string_view cuda = "cuda:";
    int index = -1;
    if (name.starts_with(cuda)) {
        const char *first = name.data() + cuda.size(), *end = name.data() + name.size();
        const auto [last, error] = std::from_chars(first, end, index);
        if (error != std::errc() || last != end) index = -1;
    }
    if (index < 0) reject("be cpu or cuda:N");
    return Device::cuda(index);
}

std::int64_t JsonField::integer(std::int64_t minimum, std::int64_t maximum) const {
    const auto must = minimum == maximum ? fmt::format("be {}", minimum)
                                         : fmt::format("be an integer from {} to {}", minimum, maximum);
    // Integers above int64_t's are unsigned ones, which get<std::int64_t> would wrap.
    const bool is_too_large = json_->is_number_unsigned() && json_->get<std::uint64_t>() > INT64_MAX;
    if (!json_->is_number_integer() || is_too_large) reject(must);
    const auto value = json_->get<std::int64_t>();
    if (value < minimum || value > maximum) reject(must);
    return value;
}

double JsonField::number(double minimum, double maximum) const {
    const bool is_finite = json_->is_number() && std::isfinite(json_->get<double>());
    const double value = is_finite ? json_->get<double>() : std::nan("");
    if (value >= minimum && value <= maximum) return value;
    if (minimum == maximum) reject(fmt::format("be {:.6g}", minimum));
    if (std::isfinite(maximum)) reject(fmt::format("be a number from {:.6g} to {:.6g}", minimum, maximum));
    reject(minimum == 0 ? "be 0 or more" : "be a number");
}

std::vector<double> JsonField::numbers() const {
    std::vector<double> values;
    for (const auto& element : elements()) values.push_back(element.number(-HUGE_VAL, HUGE_VAL));
    return values;
}

std::vector<double> JsonField::numbers(std::size_t wanted) const {
    auto values = numbers();
    if (values.size() != wanted)
        throw IoError(fmt::format("{}: {}: {} values, must be {}", path_, name_, values.size(), wanted));
    return values;
}

}  // namespace zonal::io
