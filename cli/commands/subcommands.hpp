#pragma once

#include "shell/program.hpp"

namespace zonal::cli {

/// The subcommands of zonal, one file each.
void add_smooth(CLI::App& root, Session& session, Action& action);
void add_synfast(CLI::App& root, Session& session, Action& action);
void add_alm2map(CLI::App& root, Session& session, Action& action);
void add_map2alm(CLI::App& root, Session& session, Action& action);
void add_anafast(CLI::App& root, Session& session, Action& action);
void add_rotate(CLI::App& root, Session& session, Action& action);
void add_udgrade(CLI::App& root, Session& session, Action& action);
void add_convert(CLI::App& root, Session& session, Action& action);
void add_bin(CLI::App& root, Session& session, Action& action);
void add_evaluate(CLI::App& root, Session& session, Action& action);
void add_lens(CLI::App& root, Session& session, Action& action);
void add_scan(CLI::App& root, Session& session, Action& action);
void add_mask(CLI::App& root, Session& session, Action& action);
void add_wavelet(CLI::App& root, Session& session, Action& action);
void add_weights(CLI::App& root, Session& session, Action& action);
void add_compare(CLI::App& root, Session& session, Action& action);
void add_info(CLI::App& root, Session& session, Action& action);
void add_plot(CLI::App& root, Session& session, Action& action);
void add_split(CLI::App& root, Session& session, Action& action);
void add_calibrate(CLI::App& root, Session& session, Action& action);
void add_plan(CLI::App& root, Session& session, Action& action);
void add_solve(CLI::App& root, Session& session, Action& action);

}  // namespace zonal::cli
