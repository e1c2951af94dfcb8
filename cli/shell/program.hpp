#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "shell/session.hpp"

namespace zonal::cli {

/// What to do once the whole command line has been read and found right.
using Action = std::function<void(Session&)>;

/// Declares one subcommand in `root`, which sets `action` when it is chosen.
using AddSubcommand = void (*)(CLI::App& root, Session& session, Action& action);

/// A program whose first argument names what to do.
struct Program {
    std::string name;         ///< "zonal"
    std::string description;  ///< in the first line of the help
    std::string remark;       ///< a sentence about the subcommands, at the end of the help
    std::vector<AddSubcommand> subcommands;
};

/// Does what the command line asks for, and prints the report or why there is none. Returns the exit status.
int run_program(const Program& program, int argc, char** argv);

}  // namespace zonal::cli
