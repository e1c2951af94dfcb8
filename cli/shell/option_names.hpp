#pragma once

#include <functional>
#include <map>
#include <string>

namespace zonal::cli {

/// The options that the library's arguments come from: {"lmax", "--lmax"}.
using OptionNames = std::map<std::string, std::string>;

/// Does the work; InvalidArgument and ErrorNotKept that it throws come out as UsageError and CannotBeKept
/// that name the option in the argument's place.
void with_option_names(const OptionNames& names, const std::function<void()>& work);

}  // namespace zonal::cli
