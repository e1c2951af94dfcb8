#include "engine/cost_model_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>

#include "engine/weight_cache.hpp"
#include "shell/error.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::cli {
namespace {

/// Raised with every change of what a file must have: older ones are not read.
constexpr int costs_version = 4;

double cost(const JsonField& field) {
    return field.number(0, HUGE_VAL);
}

template <class Costs>
struct NamedCost {
    const char* name;
    double Costs::*cost;
};
constexpr NamedCost<TransformCost> transform_costs[] = {{"legendre_flop", &TransformCost::legendre_flop},
                                                        {"pixel", &TransformCost::pixel},
                                                        {"call", &TransformCost::call}};
constexpr NamedCost<PixelCost> pixel_costs[] = {{"kernel_value", &PixelCost::kernel_value},
                                                {"row_product", &PixelCost::row_product},
                                                {"mode_product", &PixelCost::mode_product},
                                                {"pixel_product", &PixelCost::pixel_product},
                                                {"uneven_product", &PixelCost::uneven_product},
                                                {"pixel_row", &PixelCost::pixel_row},
                                                {"pixel_weight", &PixelCost::pixel_weight},
                                                {"longest_sum", &PixelCost::longest_sum},
                                                {"fft_pixel", &PixelCost::fft_pixel},
                                                {"ring_value", &PixelCost::ring_value},
                                                {"map", &PixelCost::map},
                                                {"call", &PixelCost::call}};

std::span<const NamedCost<TransformCost>> named(const TransformCost&) {
    return transform_costs;
}
std::span<const NamedCost<PixelCost>> named(const PixelCost&) {
    return pixel_costs;
}

template <class Costs>
Json to_json(const Costs& costs) {
    Json json;
    for (const auto& [name, member] : named(costs)) json[name] = costs.*member;
    json["others"] = {{"pixels", costs.others.n_pixels}, {"seconds", costs.others.seconds}};
    return json;
}

SizeCost size_cost(const JsonField& field) {
    SizeCost cost{field.at("pixels").numbers(), {}};
    double before = 0;
    for (const double pixels : cost.n_pixels)
        if (pixels <= std::exchange(before, pixels)) field.at("pixels").reject("be ascending, above 0");
    cost.seconds = field.at("seconds").numbers(cost.n_pixels.size());
    for (const double seconds : cost.seconds)
        if (seconds < 0) field.at("seconds").reject("be 0 or more");
    return cost;
}

template <class Costs>
void read(const JsonField& field, Costs& costs) {
    for (const auto& [name, member] : named(costs)) costs.*member = cost(field.at(name));
    costs.others = size_cost(field.at("others"));
}

template <class Costs>
bool is_free(const Costs& costs) {
    const auto all = named(costs);
    return std::all_of(all.begin(), all.end(), [&](const auto& one) { return costs.*one.cost == 0; });
}

Json to_json(const ConvolutionCosts& costs) {
    return {{"smoothing", to_json(costs.smoothing)},
            {"iteration", to_json(costs.iteration)},
            {"ring_fft_single", to_json(costs.ring_fft_single)},
            {"ring_fft_double", to_json(costs.ring_fft_double)},
            {"pixel_sum_single", to_json(costs.pixel_sum_single)},
            {"pixel_sum_double", to_json(costs.pixel_sum_double)}};
}

bool is_free(const ConvolutionCosts& costs) {
    return is_free(costs.smoothing) && is_free(costs.iteration) && is_free(costs.ring_fft_single) &&
           is_free(costs.ring_fft_double) && is_free(costs.pixel_sum_single) &&
           is_free(costs.pixel_sum_double);
}

ConvolutionCosts convolution_costs(const JsonField& field) {
    ConvolutionCosts costs;
    read(field.at("smoothing"), costs.smoothing);
    read(field.at("iteration"), costs.iteration);
    read(field.at("ring_fft_single"), costs.ring_fft_single);
    read(field.at("ring_fft_double"), costs.ring_fft_double);
    read(field.at("pixel_sum_single"), costs.pixel_sum_single);
    read(field.at("pixel_sum_double"), costs.pixel_sum_double);
    return costs;
}

DeviceCosts device_costs(const JsonField& field) {
    DeviceCosts costs{device_named(field.at("device")), convolution_costs(field.at("scalar")),
                      convolution_costs(field.at("polarization"))};
    if (is_free(costs.scalar) || is_free(costs.polarization))
        field.at("device").reject("have costs above 0, of scalar and of polarization");
    return costs;
}

CostModel load(const std::string& path) {
    const auto json = read_json(path, "file of costs, which zonal calibrate writes");
    const JsonField file(path, json);
    if (json.is_object() && !json.contains("zonal_costs") && json.contains("devices"))
        throw IoError(
            fmt::format("{}: holds costs of an older form, without those of Q and U; zonal calibrate "
                        "measures them anew",
                        path));
    file.at("zonal_costs").integer(costs_version, costs_version);
    CostModel model;
    model.fingerprint = file.at("machine").text();
    const auto unit = file.at("unit");
    if (unit.text() != "s") unit.reject("be \"s\"");
    for (const auto& field : file.at("devices").elements()) {
        const auto costs = device_costs(field);
        if (has_costs(model, costs.device)) field.at("device").reject("be there once");
        model.devices.push_back(costs);
    }
    if (model.devices.empty()) file.at("devices").reject("have costs of a device");
    return model;
}

bool is_here(Device device) {
    try {
        return resolve_device(device) == device;
    } catch (const BackendUnavailable&) {
        return false;
    }
}

/// Nothing could be planned for them: plans of sums over pixels count their work on the device.
void leave_out_absent_devices(const std::string& path, CostModel& model, Session& session) {
    std::string absent;
    std::erase_if(model.devices, [&](const DeviceCosts& costs) {
        if (is_here(costs.device)) return false;
        absent += (absent.empty() ? "" : ", ") + to_string(costs.device);
        return true;
    });
    if (absent.empty()) return;
    if (model.devices.empty())
        throw IoError(fmt::format("{}: has costs of {} alone, which cannot be used here", path, absent));
    session.note(fmt::format("{}: costs of {} are left out: it cannot be used here", path, absent));
}

CostModel costs_of_this_machine(int threads, Session& session) {
    const auto path = cost_model_path(cache_path(), threads);
    std::error_code none;
    if (!std::filesystem::exists(path, none)) {
        session.note("costs are a default, not this machine's; zonal calibrate measures them");
        return default_cost_model(threads);
    }
    try {
        auto model = load(path);
        if (model.fingerprint == machine_fingerprint(threads)) return model;
    } catch (const IoError&) {  // said below
    }
    session.note(fmt::format(
        "{}: cannot be read, or is of another machine or version; default costs are taken", path));
    return default_cost_model(threads);
}

}  // namespace

Json to_json(const CostModel& model) {
    Json json = {{"zonal_costs", costs_version},
                 {"machine", model.fingerprint},
                 {"unit", "s"},
                 {"devices", Json::array()}};
    for (const auto& costs : model.devices)
        json["devices"].push_back({{"device", to_string(costs.device)},
                                   {"scalar", to_json(costs.scalar)},
                                   {"polarization", to_json(costs.polarization)}});
    return json;
}

std::string cost_model_path(const std::string& folder, int threads) {
    const auto key = std::hash<std::string>{}(machine_fingerprint(threads));
    return fmt::format("{}/costs_{:016x}.json", folder, key);
}

void write_cost_model(const std::string& path, const CostModel& model) {
    io::AtomicFile file(path, true);
    file.write(to_json(model).dump(1) + "\n");
    file.commit();
}

Device device_named(const JsonField& field) {
    const auto name = field.text();
    if (name == "cpu") return Device::cpu();
    constexpr std::string_view cuda = "cuda:";
    int index = -1;
    if (name.starts_with(cuda)) {
        const char *first = name.data() + cuda.size(), *end = name.data() + name.size();
        const auto [last, error] = std::from_chars(first, end, index);
        if (error != std::errc() || last != end) index = -1;
    }
    if (index < 0) field.reject("be cpu or cuda:N");
    return Device::cuda(index);
}

bool has_costs(const CostModel& model, Device device) {
    return std::any_of(model.devices.begin(), model.devices.end(),
                       [&](const auto& costs) { return costs.device == device; });
}

CostModel read_cost_model(const std::string& path, int threads, Session& session) {
    auto model = path.empty() ? costs_of_this_machine(threads, session) : load(path);
    if (!path.empty()) leave_out_absent_devices(path, model, session);
    const auto fastest = resolve_device(Device::automatic());
    if (!has_costs(model, fastest))
        session.note(
            fmt::format("{}: is here, but what it costs was not measured, and is not guessed: no time is "
                        "predicted for it; zonal calibrate measures it",
                        to_string(fastest)));
    return model;
}

}  // namespace zonal::cli
