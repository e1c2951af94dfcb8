#include "cost_model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "error.hpp"
#include "weight_cache.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::cli {
namespace {

Json to_json(const TransformCost& cost) {
    return {{"legendre_flop", cost.legendre_flop}, {"pixel", cost.pixel}, {"call", cost.call}};
}

TransformCost transform_cost(const Json& json) {
    return {json.at("legendre_flop"), json.at("pixel"), json.at("call")};
}

struct NamedCost {
    const char* name;
    double PixelCost::*cost;
};
constexpr NamedCost pixel_costs[] = {{"kernel_value", &PixelCost::kernel_value},
                                     {"row_product", &PixelCost::row_product},
                                     {"mode_product", &PixelCost::mode_product},
                                     {"pixel_product", &PixelCost::pixel_product},
                                     {"uneven_product", &PixelCost::uneven_product},
                                     {"pixel_row", &PixelCost::pixel_row},
                                     {"pixel_weight", &PixelCost::pixel_weight},
                                     {"longest_sum", &PixelCost::longest_sum},
                                     {"fft_pixel", &PixelCost::fft_pixel},
                                     {"ring_value", &PixelCost::ring_value},
                                     {"pixel", &PixelCost::pixel},
                                     {"map", &PixelCost::map},
                                     {"call", &PixelCost::call}};

Json to_json(const PixelCost& cost) {
    Json json;
    for (const auto& [name, member] : pixel_costs) json[name] = cost.*member;
    return json;
}

PixelCost pixel_cost(const Json& json) {
    PixelCost cost;
    for (const auto& [name, member] : pixel_costs) cost.*member = json.at(name);
    return cost;
}

CostModel from_json(const Json& json) {
    CostModel model;
    model.fingerprint = json.at("machine");
    for (const auto& device : json.at("devices")) {
        DeviceCosts costs;
        costs.device = device_named(device.at("device"));
        costs.smoothing = transform_cost(device.at("smoothing"));
        costs.iteration = transform_cost(device.at("iteration"));
        costs.ring_fft_single = pixel_cost(device.at("ring_fft_single"));
        costs.ring_fft_double = pixel_cost(device.at("ring_fft_double"));
        costs.pixel_sum_single = pixel_cost(device.at("pixel_sum_single"));
        costs.pixel_sum_double = pixel_cost(device.at("pixel_sum_double"));
        model.devices.push_back(costs);
    }
    return model;
}

CostModel load(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw IoError(fmt::format("{}: cannot be opened", path));
    try {
        auto model = from_json(Json::parse(file));
        if (!model.devices.empty()) return model;
    } catch (const std::exception&) {  // whatever JSON finds wrong, or a number
    }
    throw IoError(fmt::format("{}: is no file of costs; zonal calibrate writes them", path));
}

CostModel costs_of_this_machine(int threads, Session& session) {
    const auto path = cost_model_path(threads);
    if (!std::filesystem::exists(path)) {
        session.note("costs are a default, not this machine's; zonal calibrate measures them");
        return default_cost_model(threads);
    }
    try {
        auto model = load(path);
        if (model.fingerprint == machine_fingerprint(threads)) return model;
    } catch (const IoError&) {  // said below
    }
    session.note(fmt::format("{}: cannot be read, or is of another machine; default costs are taken", path));
    return default_cost_model(threads);
}

}  // namespace

Json to_json(const CostModel& model) {
    Json json = {{"machine", model.fingerprint}, {"unit", "s"}, {"devices", Json::array()}};
    for (const auto& costs : model.devices)
        json["devices"].push_back({{"device", to_string(costs.device)},
                                   {"smoothing", to_json(costs.smoothing)},
                                   {"iteration", to_json(costs.iteration)},
                                   {"ring_fft_single", to_json(costs.ring_fft_single)},
                                   {"ring_fft_double", to_json(costs.ring_fft_double)},
                                   {"pixel_sum_single", to_json(costs.pixel_sum_single)},
                                   {"pixel_sum_double", to_json(costs.pixel_sum_double)}});
    return json;
}

std::string cost_model_path(int threads) {
    const auto key = std::hash<std::string>{}(machine_fingerprint(threads));
    return fmt::format("{}/costs_{:016x}.json", cache_folder(), key);
}

void write_cost_model(const std::string& path, const CostModel& model) {
    io::AtomicFile file(path, true);
    file.write(to_json(model).dump(1) + "\n");
    file.commit();
}

Device device_named(const std::string& name) {
    constexpr std::string_view cuda = "cuda:";
    if (name.starts_with(cuda)) return Device::cuda(std::stoi(name.substr(cuda.size())));
    if (name != "cpu") throw InvalidArgument(fmt::format("device = {}: must be cpu or cuda:N", name));
    return Device::cpu();
}

bool has_costs(const CostModel& model, Device device) {
    return std::any_of(model.devices.begin(), model.devices.end(),
                       [&](const auto& costs) { return costs.device == device; });
}

CostModel read_cost_model(const std::string& path, int threads, Session& session) {
    auto model = path.empty() ? costs_of_this_machine(threads, session) : load(path);
    const auto fastest = resolve_device(Device::automatic());
    if (!has_costs(model, fastest))
        session.note(
            fmt::format("{}: is here, but what it costs was not measured, and is not guessed: no time is "
                        "predicted for it; zonal calibrate measures it",
                        to_string(fastest)));
    return model;
}

}  // namespace zonal::cli
