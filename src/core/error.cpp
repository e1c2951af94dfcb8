#include "zonal/error.hpp"

#include <fmt/core.h>

namespace zonal {

ArgumentValue::ArgumentValue(float value) : text_(fmt::format("{}", value)) {}
ArgumentValue::ArgumentValue(double value) : text_(fmt::format("{}", value)) {}

std::string ArgumentFacts::message() const {
    if (argument.empty()) return origin + requirement;
    return origin + argument + (value ? " = " + *value : "") + ": " + requirement;
}

}  // namespace zonal
