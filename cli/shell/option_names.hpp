#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace zonal::cli {

/// How the library's messages begin with an argument, and how with the option that it comes from: {"lmax = ",
/// "--lmax = "}.
using OptionNames = std::vector<std::pair<std::string, std::string>>;

/// Does the work; InvalidArgument and ErrorNotKept that it throws come out as UsageError and CannotBeKept
/// whose messages name options.
void with_option_names(const OptionNames& names, const std::function<void()>& work);

}  // namespace zonal::cli
