#pragma once

#include <string>
#include <string_view>

#include "zonal/error.hpp"

namespace zonal::cli {

enum ExitCode { success = 0, failure = 1, wrong_use = 2, interrupted = 130 };

/// The command line asks for something that cannot be. The message names the option, its value and what is
/// permitted: "--fwhm = 10: an angle needs a unit, such as 10deg, 5arcmin, 30arcsec or 0.1rad".
class UsageError : public Error {
  public:
    using Error::Error;
};

/// The work is done and its report is to be printed, but the answer is no: exit status 1.
class NegativeVerdict : public Error {
  public:
    using Error::Error;
};

/// Nothing that could be done keeps what was asked for, such as --error: exit status 1, as nothing is wrong
/// with the command line itself. The message names what cannot be kept.
class CannotBeKept : public Error {
  public:
    using Error::Error;
};

/// Where the message itself begins, behind the "rank 1: " of what one rank of a job has thrown
/// (Communicator::agree).
inline std::size_t end_of_rank(const std::string& message) {
    constexpr std::string_view rank = "rank ";
    if (!message.starts_with(rank)) return 0;
    const auto end = message.find_first_not_of("0123456789", rank.size());
    return end != rank.size() && message.compare(end, 2, ": ") == 0 ? end + 2 : 0;
}

/// Does the work. What the library rejects becomes an error of this kind, with what tells the user where it
/// comes from around the message.
template <class Kind, class Work>
auto with_error(const Work& work, const std::string& before, const std::string& after = "") {
    try {
        return work();
    } catch (const InvalidArgument& error) {
        std::string message = error.what();
        message.insert(end_of_rank(message), before);
        throw Kind(message + after);
    }
}

}  // namespace zonal::cli
