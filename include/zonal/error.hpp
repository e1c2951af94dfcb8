#pragma once

#include <stdexcept>
#include <string>

namespace zonal {

/// Base of every exception that Zonal throws.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// An argument is outside its permitted range. The message names the argument, its value and the range,
/// as in "lmax = 9000: must be at most 3*nside-1 = 6143 for analysis".
class InvalidArgument : public Error {
  public:
    using Error::Error;
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
class BackendUnavailable : public Error {
  public:
    using Error::Error;
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
class ErrorNotKept : public Error {
  public:
    using Error::Error;
};

/// The caller's progress callback asked for the work to stop. Outputs are then unspecified.
class Cancelled : public Error {
  public:
    using Error::Error;
};

}  // namespace zonal
