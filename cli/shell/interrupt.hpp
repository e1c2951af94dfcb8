#pragma once

namespace zonal::cli {

/// From now on SIGINT, SIGTERM and SIGHUP only leave a mark that interrupted() tells; a signal that was
/// ignored stays so. A file that grows beyond the system's limit (SIGXFSZ) becomes a failed write instead of
/// death, so that the temporary file is removed.
void catch_signals();

/// A signal has asked the program to stop.
bool is_interrupted();

/// Throws Cancelled once a signal has asked the program to stop.
void stop_if_interrupted();

}  // namespace zonal::cli
