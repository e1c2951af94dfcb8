#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "zonal/device.hpp"

namespace zonal::io {

using Json = nlohmann::ordered_json;

/// Reads the JSON in a file. kind: "plan", for messages. Throws IoError for what is not JSON or is nested
/// deeper than any file of ours: whoever walks through a value calls itself for each level.
Json read_json(const std::string& path, const std::string& kind);

/// A value in a JSON file that knows where it stands there, so that an IoError says what is wrong and where:
/// "plan.json: choice.lmax = 1.5: must be an integer from 0 to 9".
class JsonField {
  public:
    /// The file's whole content, which must outlive this and all that is made of it.
    JsonField(std::string path, const Json& json) : path_(std::move(path)), json_(&json) {}

    JsonField at(const std::string& key) const;
    /// The elements of an array.
    std::vector<JsonField> elements() const;

    std::string text() const;
    /// "cpu" or "cuda:0".
    Device device() const;
    std::int64_t integer(std::int64_t minimum, std::int64_t maximum) const;
    /// Finite, from minimum to maximum.
    double number(double minimum, double maximum) const;
    /// Finite numbers. wanted: how many there must be.
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

}  // namespace zonal::io
