#pragma once

#include <string>

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

/// Does the work. What the library rejects becomes an error of this kind, with what tells the user where it
/// comes from around the message.
template <class Kind, class Work>
auto with_error(const Work& work, const std::string& before, const std::string& after = "") {
    try {
        return work();
    } catch (const InvalidArgument& error) {
        auto facts = error.facts();
        facts.origin += before;
        facts.requirement += after;
        throw Kind(facts.message());
    }
}

}  // namespace zonal::cli
