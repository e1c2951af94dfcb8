#include "zonal/io/cost_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>

#include "io/json/json_field.hpp"
#include "zonal/error.hpp"
#include "zonal/io/atomic_file.hpp"
#include "zonal/io/cache.hpp"

namespace zonal::io {
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
Json json_of(const Costs& costs) {
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

Json json_of(const ConvolutionCosts& costs) {
    return {{"smoothing", json_of(costs.smoothing)},
            {"iteration", json_of(costs.iteration)},
            {"ring_fft_single", json_of(costs.ring_fft_single)},
            {"ring_fft_double", json_of(costs.ring_fft_double)},
            {"pixel_sum_single", json_of(costs.pixel_sum_single)},
            {"pixel_sum_double", json_of(costs.pixel_sum_double)}};
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
    DeviceCosts costs{field.at("device").device(), convolution_costs(field.at("scalar")),
                      convolution_costs(field.at("polarization"))};
    if (is_free(costs.scalar) || is_free(costs.polarization))
        field.at("device").reject("have costs above 0, of scalar and of polarization");
    return costs;
}

bool is_here(Device device) {
    try {
        return resolve_device(device) == device;
    } catch (const BackendUnavailable&) {
        return false;
    }
}

/// Leaves out devices for which nothing could be planned: sums over pixels count their work on the device.
void leave_out_absent_devices(const std::string& path, FoundCosts& found) {
    std::string absent;
    std::erase_if(found.costs.devices, [&](const DeviceCosts& costs) {
        if (is_here(costs.device)) return false;
        absent += (absent.empty() ? "" : ", ") + to_string(costs.device);
        return true;
    });
    if (absent.empty()) return;
    if (found.costs.devices.empty())
        throw IoError(fmt::format("{}: has costs of {} alone, which cannot be used here", path, absent));
    found.notes.push_back(fmt::format("{}: costs of {} are left out: it cannot be used here", path, absent));
}

FoundCosts costs_of_this_machine(int threads) {
    const auto path = cost_cache_path(cache_folder(), threads);
    std::error_code none;
    if (!std::filesystem::exists(path, none))
        return {default_cost_model(threads),
                {"costs are the default, not this machine's; zonal calibrate measures them"}};
    try {
        auto costs = read_cost_model(path);
        if (costs.fingerprint == machine_fingerprint(threads)) return {std::move(costs), {}};
    } catch (const IoError&) {  // said below
    }
    return {default_cost_model(threads),
            {fmt::format("{}: cannot be read, or is of another machine or version; default costs are taken",
                         path)}};
}

}  // namespace

CostModel read_cost_model(const std::string& path) {
    const auto json = read_json(path, "file of costs, which zonal calibrate writes");
    const JsonField file(path, json);
    if (json.is_object() && !json.contains("zonal_costs") && json.contains("devices"))
        throw IoError(fmt::format(
            "{}: holds costs of an older form, without those of Q and U; zonal calibrate measures them again",
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

void write_cost_model(const std::string& path, const CostModel& costs) {
    AtomicFile file(path, true);
    file.write(to_json(costs) + "\n");
    file.commit();
}

std::string to_json(const CostModel& costs) {
    Json json = {{"zonal_costs", costs_version},
                 {"machine", costs.fingerprint},
                 {"unit", "s"},
                 {"devices", Json::array()}};
    for (const auto& device : costs.devices)
        json["devices"].push_back({{"device", to_string(device.device)},
                                   {"scalar", json_of(device.scalar)},
                                   {"polarization", json_of(device.polarization)}});
    return json.dump(1);
}

std::string cost_cache_path(const std::string& folder, int threads) {
    const auto key = std::hash<std::string>{}(machine_fingerprint(threads));
    return fmt::format("{}/costs_{:016x}.json", folder, key);
}

FoundCosts find_costs(const std::string& path, int threads) {
    FoundCosts found = path.empty() ? costs_of_this_machine(threads) : FoundCosts{read_cost_model(path), {}};
    if (!path.empty()) leave_out_absent_devices(path, found);
    const auto fastest = resolve_device(Device::automatic());
    if (!has_costs(found.costs, fastest))
        found.notes.push_back(fmt::format(
            "{}: its costs were not measured, so no time is predicted for it; zonal calibrate measures them",
            to_string(fastest)));
    return found;
}

std::vector<double> measured_speeds(const Communicator& ranks, const Grid& grid, std::int64_t lmax,
                                    int threads, Device device) {
    double seconds = 0;
    ranks.together(fmt::format("speeds up to lmax = {}", lmax), [&] {
        const auto found = find_costs("", threads).costs;
        const auto known =
            std::find_if(found.devices.begin(), found.devices.end(),
                         [&](const DeviceCosts& costs) { return costs.device.kind() == device.kind(); });
        if (found.fingerprint != machine_fingerprint(threads) || known == found.devices.end())
            throw InvalidArgument(fmt::format(
                "threads = {}, device = {}: speeds follow from costs, and these were not measured "
                "on this machine: run zonal calibrate --threads {} there",
                threads, to_string(device), threads));
        seconds = predicted_seconds(known->scalar.smoothing, transform_work(grid, lmax, known->device));
    });
    std::vector<double> speeds;
    speeds.reserve(static_cast<std::size_t>(ranks.size()));
    for (const auto& text : ranks.gather(fmt::format("{}", seconds))) speeds.push_back(1 / std::stod(text));
    return speeds;
}

}  // namespace zonal::io
