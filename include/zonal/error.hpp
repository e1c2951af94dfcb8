#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace zonal {

/// Base of every exception that Zonal throws.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// An argument's value as text: numbers in the fewest digits that give them back.
class ArgumentValue {
  public:
    ArgumentValue(std::string text) : text_(std::move(text)) {}
    ArgumentValue(std::string_view text) : text_(text) {}
    ArgumentValue(const char* text) : text_(text) {}
    template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>) ArgumentValue(T value)
        : text_(std::to_string(value)) {}
    ArgumentValue(float value);
    ArgumentValue(double value);

    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

/// What is wrong with an argument: "lmax = 9000: must be at most 3*nside-1 = 6143 for analysis". Whoever
/// knows the argument by another name, such as an option's, gives it that, and says the rest as it is.
struct ArgumentFacts {
    std::string argument;              ///< "lmax"; empty where no single one is at fault
    std::optional<std::string> value;  ///< "9000"; none where the requirement says all
    std::string requirement;           ///< the rest of the message, or all of it where there is no argument
    std::string origin{};              ///< what stands before the argument, such as "rank 1: "

    /// The origin, the argument, " = " and its value if there is one, ": " and the requirement.
    std::string message() const;
};

/// Base of the errors that are about an argument.
class ArgumentError : public Error {
  public:
    explicit ArgumentError(ArgumentFacts facts) : Error(facts.message()), facts_(std::move(facts)) {}
    /// A whole message, where no single argument is at fault.
    explicit ArgumentError(std::string message) : ArgumentError(ArgumentFacts{{}, {}, std::move(message)}) {}
    ArgumentError(std::string argument, std::string requirement)
        : ArgumentError(ArgumentFacts{std::move(argument), {}, std::move(requirement)}) {}
    ArgumentError(std::string argument, const ArgumentValue& value, std::string requirement)
        : ArgumentError(ArgumentFacts{std::move(argument), value.text(), std::move(requirement)}) {}

    const ArgumentFacts& facts() const { return facts_; }
    const std::string& argument() const { return facts_.argument; }
    const std::optional<std::string>& value() const { return facts_.value; }
    const std::string& requirement() const { return facts_.requirement; }

  private:
    ArgumentFacts facts_;
};

/// An argument is outside its permitted range. The message names the argument, its value and the range,
/// as in "lmax = 9000: must be at most 3*nside-1 = 6143 for analysis".
class InvalidArgument : public ArgumentError {
  public:
    using ArgumentError::ArgumentError;
};

/// A file cannot be read or written. The message names the file and, where there is one, the HDU.
class IoError : public Error {
  public:
    using Error::Error;
};

/// The process cannot get the memory that the work needs. The message says how much that is and how much
/// there is.
class OutOfMemory : public Error {
  public:
    using Error::Error;
};

/// The device that was asked for does not exist on this machine or was not compiled in.
class BackendUnavailable : public ArgumentError {
  public:
    using ArgumentError::ArgumentError;
};

/// A call to a device failed.
class DeviceError : public Error {
  public:
    using Error::Error;
};

/// A device does not have the memory that was asked for. The message says how much was asked for and is free.
class OutOfDeviceMemory : public DeviceError {
  public:
    using DeviceError::DeviceError;
};

/// Ranks of a distributed transform could not reach each other, or one of them failed. The message says
/// which.
class CommunicationError : public Error {
  public:
    using Error::Error;
};

/// No way keeps the error that was asked for. The message says which error that is, and why where it is
/// known.
class ErrorNotKept : public ArgumentError {
  public:
    using ArgumentError::ArgumentError;
};

/// The caller's progress callback asked for the work to stop. Outputs are then unspecified.
class Cancelled : public Error {
  public:
    using Error::Error;
};

/// Returns what some work throws; null if it throws nothing.
template <class Work>
std::exception_ptr thrown_by(const Work& work) {
    try {
        work();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

}  // namespace zonal
