#include "grids/latitude_nodes.hpp"

#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "zonal/error.hpp"
#include "zonal/memory.hpp"

namespace zonal::grids {
namespace {

constexpr std::int64_t max_n_rings = std::int64_t{1} << 30;

}  // namespace

Node node_at(long double theta, long double latitude) {
    const bool near_pole = theta < latitude;
    return {static_cast<double>(theta), static_cast<double>(near_pole ? std::cos(theta) : std::sin(latitude)),
            static_cast<double>(near_pole ? std::sin(theta) : std::cos(latitude)), 0};
}

Node node_at_fraction(std::int64_t numerator, std::int64_t denominator) {
    auto angle = [](std::int64_t part, std::int64_t whole) {
        return std::numbers::pi_v<long double> * static_cast<long double>(part) /
               static_cast<long double>(whole);
    };
    return node_at(angle(numerator, denominator), angle(denominator - 2 * numerator, 2 * denominator));
}

std::vector<Node> with_southern(const std::vector<Node>& northern, std::int64_t n_rings) {
    std::vector<Node> nodes(northern);
    nodes.reserve(static_cast<std::size_t>(n_rings));
    for (auto i = static_cast<std::int64_t>(northern.size()); i < n_rings; ++i)
        nodes.push_back(mirrored(northern[static_cast<std::size_t>(n_rings - 1 - i)]));
    return nodes;
}

Node mirrored(const Node& node) {
    return {std::numbers::pi - node.theta, -node.cos_theta, node.sin_theta, node.weight};
}

Grid grid_of_rings(const std::vector<Node>& northern, std::int64_t n_rings, std::int64_t n_phi, double phi_0,
                   const std::string& rule) {
    return grid_of_nodes(with_southern(northern, n_rings), n_phi, phi_0, rule);
}

Grid grid_of_nodes(const std::vector<Node>& nodes, std::int64_t n_phi, double phi_0,
                   const std::string& rule) {
    const auto n_rings = static_cast<std::int64_t>(nodes.size());
    if (n_phi < 1 || n_phi > max_n_pixels / n_rings)
        throw InvalidArgument(
            "n_phi", n_phi,
            fmt::format("must be from 1 to {} for {} rings", max_n_pixels / n_rings, n_rings));
    return grid_of_nodes(nodes, std::vector<std::int64_t>(nodes.size(), n_phi), phi_0,
                         fmt::format("{} {}x{}", rule, n_rings, n_phi));
}

Grid grid_of_nodes(const std::vector<Node>& nodes, const std::vector<std::int64_t>& n_phi, double phi_0,
                   const std::string& name) {
    std::vector<Ring> rings;
    rings.reserve(nodes.size());
    std::int64_t first_pixel = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const double pixel_width = 2 * std::numbers::pi / static_cast<double>(n_phi[i]);
        rings.push_back({nodes[i].theta, nodes[i].cos_theta, nodes[i].sin_theta, phi_0,
                         nodes[i].weight * pixel_width, n_phi[i], first_pixel});
        first_pixel += n_phi[i];
    }
    return Grid(std::move(rings), first_pixel, name);
}

void check_n_rings(std::int64_t n_rings, std::int64_t minimum) {
    if (n_rings < minimum || n_rings > max_n_rings)
        throw InvalidArgument("n_rings", n_rings, fmt::format("must be from {} to 2^30", minimum));
    constexpr std::int64_t few = 1 << 20;  // which any machine holds
    if (n_rings > few)
        require_memory(static_cast<double>(n_rings) * (sizeof(Node) + sizeof(Ring)),
                       fmt::format("n_rings = {}: the grid", n_rings));
}

}  // namespace zonal::grids
