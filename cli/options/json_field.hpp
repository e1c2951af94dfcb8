#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shell/session.hpp"

namespace zonal::cli {

/// The JSON in a file. kind: "plan", for messages. Throws IoError, also for what is no JSON.
Json read_json(const std::string& path, const std::string& kind);

/// A value in a JSON file, and where it stands there: what is not as it must be is an IoError such as
/// "plan.json: choice.lmax = 1.5: must be an integer from 0 to 9".
class JsonField {
  public:
    /// The file's whole content, which must outlive this and all that is made of it.
    JsonField(std::string path, const Json& json) : path_(std::move(path)), json_(&json) {}

    JsonField at(const std::string& key) const;
    /// Of an array.
    std::vector<JsonField> elements() const;

    std::string text() const;
    std::int64_t integer(std::int64_t minimum, std::int64_t maximum) const;
    /// Finite, from minimum to maximum.
    double number(double minimum, double maximum) const;
    /// Finite ones. wanted: their number, as a check that it is as it must be.
    std::vector<double> numbers() const;
    std::vector<double> numbers(std::size_t wanted) const;

    /// Throws IoError. must: "be text".
    [[noreturn]] void reject(const std::string& must) const;

  private:
    JsonField(std::string path, std::string name, const Json& json)
        : path_(std::move(path)), name_(std::move(name)), json_(&json) {}
    std::string path_, name_;
    const Json* json_;
};

}  // namespace zonal::cli
