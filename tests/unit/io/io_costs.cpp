// Files of costs: what is written is read, and anything else is refused by the name of its field.
#include <gmock/gmock.h>

#include <functional>

#include "io/json/json_field.hpp"
#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/cost_model.hpp"

namespace zonal::io {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Costs of two devices, each number of which is another.
Json different_numbers() {
    auto costs = default_cost_model(1);
    costs.fingerprint = "a machine";
    costs.devices = {costs.devices[0], costs.devices[0]};
    costs.devices[1].device = Device::cuda(11);
    auto json = Json::parse(to_json(costs));
    double next = 0;
    const std::function<void(Json&)> fill = [&](Json& part) {
        if (part.is_number())
            part = next += 0.375;
        else if (part.is_structured() && !(part.is_array() && part.empty()))
            for (auto& each : part) fill(each);
    };
    for (auto& device : json["devices"])
        for (const char* fields : {"scalar", "polarization"})
            for (auto& of : device[fields]) {
                of["others"] = {{"pixels", {next + 1, next + 2}}, {"seconds", {0, 0}}};
                fill(of);
            }
    return json;
}

void expect_numbers(const TransformCost& costs, const Json& json) {
    EXPECT_EQ(costs.legendre_flop, json["legendre_flop"]);
    EXPECT_EQ(costs.pixel, json["pixel"]);
    EXPECT_EQ(costs.call, json["call"]);
    EXPECT_EQ(costs.others.n_pixels, json["others"]["pixels"].get<std::vector<double>>());
    EXPECT_EQ(costs.others.seconds, json["others"]["seconds"].get<std::vector<double>>());
}

void expect_numbers(const PixelCost& costs, const Json& json) {
    EXPECT_EQ(costs.kernel_value, json["kernel_value"]);
    EXPECT_EQ(costs.row_product, json["row_product"]);
    EXPECT_EQ(costs.mode_product, json["mode_product"]);
    EXPECT_EQ(costs.pixel_product, json["pixel_product"]);
    EXPECT_EQ(costs.uneven_product, json["uneven_product"]);
    EXPECT_EQ(costs.pixel_row, json["pixel_row"]);
    EXPECT_EQ(costs.pixel_weight, json["pixel_weight"]);
    EXPECT_EQ(costs.longest_sum, json["longest_sum"]);
    EXPECT_EQ(costs.fft_pixel, json["fft_pixel"]);
    EXPECT_EQ(costs.ring_value, json["ring_value"]);
    EXPECT_EQ(costs.map, json["map"]);
    EXPECT_EQ(costs.call, json["call"]);
    EXPECT_EQ(costs.others.n_pixels, json["others"]["pixels"].get<std::vector<double>>());
}

void expect_numbers(const ConvolutionCosts& costs, const Json& json) {
    expect_numbers(costs.smoothing, json["smoothing"]);
    expect_numbers(costs.iteration, json["iteration"]);
    expect_numbers(costs.ring_fft_single, json["ring_fft_single"]);
    expect_numbers(costs.ring_fft_double, json["ring_fft_double"]);
    expect_numbers(costs.pixel_sum_single, json["pixel_sum_single"]);
    expect_numbers(costs.pixel_sum_double, json["pixel_sum_double"]);
}

class Costs : public testing::Test {
  protected:
    CostModel read(const std::string& text) { return read_cost_model(folder.write("costs.json", text)); }
    std::string error(const std::string& text) {
        return message_of<IoError>([&] { read(text); });
    }
    /// What a file says in which one field is another.
    std::string error_with(const char* path, const Json& value) {
        auto json = different_numbers();
        json[Json::json_pointer(path)] = value;
        return error(json.dump());
    }
    test::TemporaryFolder folder;
};

TEST_F(Costs, AreReadAsTheyAreWritten) {
    const auto json = different_numbers();
    const auto costs = read(json.dump());
    EXPECT_EQ(costs.fingerprint, "a machine");
    ASSERT_EQ(costs.devices.size(), 2u);
    EXPECT_EQ(costs.devices[0].device, Device::cpu());
    EXPECT_EQ(costs.devices[1].device, Device::cuda(11));
    for (std::size_t i = 0; i < 2; ++i) {
        expect_numbers(costs.devices[i].scalar, json["devices"][i]["scalar"]);
        expect_numbers(costs.devices[i].polarization, json["devices"][i]["polarization"]);
    }
    for (int i = 0; i < 2; ++i) write_cost_model(folder.path("again.json"), costs);  // which replaces it
    EXPECT_EQ(Json::parse(test::read_bytes(folder.path("again.json"))), json);
}

TEST_F(Costs, AreRefusedByTheNameOfTheirField) {
    EXPECT_THAT(error_with("/zonal_costs", 3), HasSubstr("zonal_costs = 3: must be 4"));
    EXPECT_THAT(error_with("/zonal_costs", 4.5), HasSubstr("zonal_costs = 4.5: must be 4"));
    EXPECT_THAT(error_with("/zonal_costs", 18446744073709551615U), HasSubstr("must be 4"));
    EXPECT_THAT(error_with("/machine", 1), HasSubstr("machine = 1: must be text"));
    EXPECT_THAT(error_with("/unit", "ms"), HasSubstr("unit = \"ms\": must be \"s\""));
    EXPECT_THAT(error_with("/devices", "cpu"), HasSubstr("devices = \"cpu\": must be an array"));
    EXPECT_THAT(error_with("/devices", Json::array()), HasSubstr("must have costs of a device"));
    EXPECT_THAT(error_with("/devices/1/device", "cpu"),
                HasSubstr("devices[1].device = \"cpu\": must be there once"));
    for (const char* name :
         {"gpu", "cuda", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1", "CPU", "cuda:99999999999"})
        EXPECT_THAT(error_with("/devices/1/device", name), HasSubstr("must be cpu or cuda:N")) << name;
    EXPECT_THAT(error_with("/devices/0/scalar", 1),
                HasSubstr("devices[0].scalar = 1: must be an object with smoothing"));
    for (const Json& bad : {Json(-1e-9), Json("1"), Json()})
        EXPECT_THAT(error_with("/devices/0/scalar/smoothing/pixel", bad),
                    HasSubstr("devices[0].scalar.smoothing.pixel = " + bad.dump() + ": must be 0 or more"));
    const char* const others = "/devices/1/polarization/pixel_sum_double/others";
    EXPECT_THAT(error_with(others, {{"pixels", {2, 2}}, {"seconds", {1, 1}}}),
                HasSubstr("must be ascending, above 0"));
    EXPECT_THAT(error_with(others, {{"pixels", {0, 2}}, {"seconds", {1, 1}}}),
                HasSubstr("must be ascending, above 0"));
    EXPECT_THAT(error_with(others, {{"pixels", {1, 2}}, {"seconds", {1}}}),
                HasSubstr("others.seconds: 1 values, must be 2"));
    EXPECT_THAT(error_with(others, {{"pixels", {1}}, {"seconds", {-1}}}), HasSubstr("must be 0 or more"));
    auto json = different_numbers();
    json["devices"][0]["scalar"]["iteration"].erase("call");
    EXPECT_THAT(error(json.dump()), HasSubstr("devices[0].scalar.iteration.call: is missing"));
    json = different_numbers();
    json.erase("zonal_costs");
    EXPECT_THAT(error(json.dump()), HasSubstr("costs of an older form"));
    EXPECT_THAT(error("{}"), HasSubstr("zonal_costs: is missing"));
    EXPECT_THAT(error("[" + std::string(100, '1') + "]"), HasSubstr("[1"));
}

TEST_F(Costs, OfNothingAreNoCosts) {
    for (const char* fields : {"scalar", "polarization"}) {
        auto json = different_numbers();
        for (auto& of : json["devices"][1][fields])
            for (auto& [key, value] : of.items())
                if (value.is_number()) value = 0;
        EXPECT_THAT(error(json.dump()),
                    HasSubstr("devices[1].device = \"cuda:11\": must have costs above 0"));
        json["devices"][1][fields]["pixel_sum_double"]["map"] = 1;
        EXPECT_EQ(read(json.dump()).devices.size(), 2u);
    }
}

TEST_F(Costs, MustBeJson) {
    const std::string kind = "costs.json: is no file of costs, which zonal calibrate writes: ";
    EXPECT_THAT(error("{\"a\": }"), HasSubstr(kind + "no valid JSON at byte 7"));
    EXPECT_THAT(error(""), HasSubstr(kind + "no valid JSON"));
    EXPECT_THAT(error("[1e999]"), HasSubstr(kind + "has numbers beyond the range of a double"));
    EXPECT_THAT(error(std::string(18, '[') + std::string(18, ']')),
                HasSubstr(kind + "is nested deeper than 16 levels"));
    EXPECT_THAT(error(std::string(16, '[') + std::string(16, ']')), testing::Not(HasSubstr("nested")));
    EXPECT_THAT(message_of<IoError>([&] { read_cost_model(folder.path("none")); }),
                HasSubstr("cannot be opened"));
    EXPECT_THAT(message_of<IoError>([&] { read_cost_model(folder.folder()); }), HasSubstr(folder.folder()));
}

TEST_F(Costs, OfDevicesThatAreNotHereAreLeftOut) {
    auto json = different_numbers();
    const auto path = folder.write("costs.json", json.dump());
    const auto found = find_costs(path, 1);
    ASSERT_EQ(found.costs.devices.size(), 1u);
    EXPECT_EQ(found.costs.devices[0].device, Device::cpu());
    EXPECT_THAT(found.notes,
                testing::Contains(path + ": costs of cuda:11 are left out: it cannot be used here"));
    json["devices"].erase(0);
    EXPECT_THAT(message_of<IoError>([&] { find_costs(folder.write("costs.json", json.dump()), 1); }),
                HasSubstr("has costs of cuda:11 alone, which cannot be used here"));
}

}  // namespace
}  // namespace zonal::io
