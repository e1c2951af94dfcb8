#pragma once

/// What most subcommands are made of: their files, options, errors and the session.
#include <fmt/core.h>

#include "commands/subcommands.hpp"
#include "engine/alm_file.hpp"
#include "options/analysis_options.hpp"
#include "options/common_options.hpp"
#include "options/map_input.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
