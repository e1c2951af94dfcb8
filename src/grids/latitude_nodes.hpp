#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/grid.hpp"

/// Colatitudes and weights of quadrature rules, and grids made of them.
namespace zonal::grids {

/// One node of a rule for integrals over cos theta from -1 to 1.
struct Node {
    double theta;
    double cos_theta;
    double sin_theta;
    double weight;
};

/// The node at a colatitude whose distance from the equator, latitude = pi / 2 - theta, is known to the same
/// relative precision; weight 0. Cosine and sine come to rounding, also where they are small.
Node node_at(long double theta, long double latitude);

/// The node at theta = pi numerator / denominator, 0 <= numerator <= denominator / 2, weight 0.
Node node_at_fraction(std::int64_t numerator, std::int64_t denominator);

/// The ceil(n_rings / 2) nodes of the Gauss-Legendre rule from the northernmost to the equator.
std::vector<Node> gauss_legendre_nodes(std::int64_t n_rings);

/// A grid of n_rings rings of n_phi pixels from the rule's nodes of the northern half (equator included where
/// n_rings is odd): the southern half is its exact mirror image. Throws InvalidArgument unless n_phi >= 1,
/// phi_0 is finite and the number of pixels fits.
Grid grid_of_rings(const std::vector<Node>& northern, std::int64_t n_rings, std::int64_t n_phi, double phi_0,
                   const std::string& rule);

/// The same of all nodes of a rule, from north to south; or with n_phi: [n_rings], pixels of each ring, all
/// positive, whose sum fits, and the name of the grid.
Grid grid_of_nodes(const std::vector<Node>& nodes, std::int64_t n_phi, double phi_0, const std::string& rule);
Grid grid_of_nodes(const std::vector<Node>& nodes, const std::vector<std::int64_t>& n_phi, double phi_0,
                   const std::string& name);

/// The nodes of the northern half, and their mirror images.
std::vector<Node> with_southern(const std::vector<Node>& northern, std::int64_t n_rings);

/// The node's mirror image beyond the equator, of the same weight.
Node mirrored(const Node& node);

/// The most pixels that a grid may have: that leaves a bit of room in 64-bit indices.
constexpr std::int64_t max_n_pixels = std::int64_t{1} << 62;

/// Throws InvalidArgument unless minimum <= n_rings <= 2^30, and OutOfMemory where this machine cannot hold
/// the rings.
void check_n_rings(std::int64_t n_rings, std::int64_t minimum = 1);

}  // namespace zonal::grids
