#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "grids/kept_grids.hpp"
#include "grids/latitude_nodes.hpp"

namespace zonal {
namespace grids {
namespace {

/// sin(pi k / half_turn) for k = 0, ..., 2 half_turn - 1.
class SineTable {
  public:
    explicit SineTable(std::int64_t half_turn) : values_(static_cast<std::size_t>(2 * half_turn)) {
        for (std::int64_t k = 0; k <= half_turn; ++k) {
            const double sine = node_at_fraction(std::min(k, half_turn - k), half_turn).sin_theta;
            values_[static_cast<std::size_t>(k)] = sine;
            if (k > 0 && k < half_turn) values_[static_cast<std::size_t>(k + half_turn)] = -sine;
        }
    }

    /// sum_{k=1}^{terms} sin((2k-1) theta) / (2k-1) for theta = pi numerator / half_turn, the small terms
    /// first.
    double odd_series(std::int64_t numerator, std::int64_t terms) const {
        const auto turn = static_cast<std::int64_t>(values_.size());
        // (2k-1) numerator modulo a turn: integers lose nothing.
        std::int64_t angle = (2 * terms - 1) * numerator % turn;
        const std::int64_t step = 2 * numerator % turn;
        double sum = 0;
        for (std::int64_t odd = 2 * terms - 1; odd > 0;) {
            // Sums of sums: the rounding errors grow as the root of 100 and not of 10,000 terms.
            double part = 0;
            for (int j = 0; j < 100 && odd > 0; ++j, odd -= 2) {
                part += values_[static_cast<std::size_t>(angle)] / static_cast<double>(odd);
                angle -= step;
                if (angle < 0) angle += turn;
            }
            sum += part;
        }
        return sum;
    }

  private:
    std::vector<double> values_;
};

double alternating(std::int64_t i) {
    return i % 2 == 0 ? 1 : -1;
}

// The weights of the three rules are known as cosine sums, such as Fejer's first
//   w_i = 2/n (1 - 2 sum_{k=1}^{floor(n/2)} cos(2 k theta_i) / (4 k^2 - 1))
// (Waldvogel 2006), which cancel near the poles where weights are small. Summed by parts, with
// 2/(4k^2-1) = 1/(2k-1) - 1/(2k+1), they become the sine sum of odd_series and one more term, and nothing
// cancels.

// theta_i = (i + 1/2) pi / n
std::vector<Node> fejer1_nodes(std::int64_t n) {
    const SineTable table(2 * n);
    std::vector<Node> nodes;
    for (std::int64_t i = 0; i < (n + 1) / 2; ++i) {
        Node node = node_at_fraction(2 * i + 1, 2 * n);
        double sum = 2 * table.odd_series(2 * i + 1, n / 2);
        if (n % 2 != 0) sum += alternating(i) / static_cast<double>(n);
        node.weight = 2 * node.sin_theta * sum / static_cast<double>(n);
        nodes.push_back(node);
    }
    return nodes;
}

// theta_i = (i + 1) pi / (n + 1)
std::vector<Node> fejer2_nodes(std::int64_t n) {
    const SineTable table(n + 1);
    std::vector<Node> nodes;
    for (std::int64_t i = 1; i <= (n + 1) / 2; ++i) {
        Node node = node_at_fraction(i, n + 1);
        node.weight = 4 * node.sin_theta * table.odd_series(i, (n + 1) / 2) / static_cast<double>(n + 1);
        nodes.push_back(node);
    }
    return nodes;
}

// theta_i = i pi / (n - 1), with N = n - 1
std::vector<Node> clenshaw_curtis_nodes(std::int64_t n) {
    const SineTable table(n - 1);
    const auto intervals = static_cast<double>(n - 1);
    std::vector<Node> nodes;
    for (std::int64_t i = 0; i < (n + 1) / 2; ++i) {
        Node node = node_at_fraction(i, n - 1);
        double sum = 2 * node.sin_theta * table.odd_series(i, (n - 1) / 2);
        if ((n - 1) % 2 == 0)
            sum += alternating(i) * intervals / (intervals * intervals - 1);
        else
            sum += alternating(i) * node.cos_theta / intervals;
        node.weight = (i == 0 ? 1 : 2) * sum / intervals;
        nodes.push_back(node);
    }
    return nodes;
}

// theta_i = i pi / n. The rule of n + 1 points with both poles, in which the value at the south pole is that
// of the polynomial through the others, sum_{j=0}^{n} (-1)^j F_j = F_0 / 2 + F_n / 2. For even n nothing
// stays at the north pole (Driscoll & Healy 1994).
std::vector<Node> driscoll_healy_nodes(std::int64_t n) {
    std::vector<Node> nodes = clenshaw_curtis_nodes(n + 1);
    for (std::int64_t i = n / 2 + 1; i <= n; ++i)
        nodes.push_back(mirrored(nodes[static_cast<std::size_t>(n - i)]));
    const double pole = nodes.back().weight;
    nodes.pop_back();
    for (std::int64_t i = 0; i < n; ++i)
        nodes[static_cast<std::size_t>(i)].weight += alternating(n + 1 + i) * (i == 0 ? 1 : 2) * pole;
    if (n % 2 == 0) nodes.front().weight = 0;
    return nodes;
}

// theta_i = (2 i + 1) pi / (2 n - 1): cosine series of the whole meridian circle, whose 2 n - 1 points are
// these and their mirror images.
std::vector<Node> mcewen_wiaux_nodes(std::int64_t n) {
    const SineTable table(2 * n - 1);
    const std::int64_t terms = (n - 1) / 2, half_turn = 2 * n - 1;
    std::vector<Node> nodes;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t numerator = 2 * i + 1;
        Node node = 2 * numerator > half_turn ? mirrored(node_at_fraction(half_turn - numerator, half_turn))
                                              : node_at_fraction(numerator, half_turn);
        // cos(2 terms theta), its angle reduced in integers
        const std::int64_t turns = 2 * terms * numerator % (2 * half_turn);
        const std::int64_t part = std::min(turns, 2 * half_turn - turns);
        const double cosine = 2 * part > half_turn ? -node_at_fraction(half_turn - part, half_turn).cos_theta
                                                   : node_at_fraction(part, half_turn).cos_theta;
        node.weight = (i == n - 1 ? 1 : 2) * 2 / static_cast<double>(half_turn) *
                      (2 * node.sin_theta * table.odd_series(numerator, terms) +
                       cosine / static_cast<double>(2 * terms + 1));
        nodes.push_back(node);
    }
    return nodes;
}

}  // namespace
}  // namespace grids

namespace {

/// Rules of n points that are symmetric about the equator integrate odd degrees beyond n - 1 as well.
std::int64_t degree_of_rule(std::int64_t n_rings) {
    return n_rings % 2 == 1 ? n_rings : n_rings - 1;
}

}  // namespace

Grid Grid::fejer1(std::int64_t n_rings, std::int64_t n_phi, double phi_0) {
    grids::check_n_rings(n_rings);
    return exact_to(degree_of_rule(n_rings),
                    grids::grid_of_rings(grids::kept_nodes({grids::fejer1_nodes, n_rings}), n_rings, n_phi,
                                         phi_0, "fejer1"),
                    EquidistantRings{1, 2 * n_rings});
}

Grid Grid::fejer2(std::int64_t n_rings, std::int64_t n_phi, double phi_0) {
    grids::check_n_rings(n_rings);
    return exact_to(degree_of_rule(n_rings),
                    grids::grid_of_rings(grids::kept_nodes({grids::fejer2_nodes, n_rings}), n_rings, n_phi,
                                         phi_0, "fejer2"),
                    EquidistantRings{2, 2 * n_rings + 2});
}

Grid Grid::clenshaw_curtis(std::int64_t n_rings, std::int64_t n_phi, double phi_0) {
    grids::check_n_rings(n_rings, 2);
    return exact_to(degree_of_rule(n_rings),
                    grids::grid_of_rings(grids::kept_nodes({grids::clenshaw_curtis_nodes, n_rings}), n_rings,
                                         n_phi, phi_0, "clenshaw_curtis"),
                    EquidistantRings{0, 2 * n_rings - 2});
}

Grid Grid::equidistant_cylindrical(std::int64_t n_rings, std::int64_t n_phi) {
    grids::check_n_rings(n_rings);
    const double half_pixel = std::numbers::pi / static_cast<double>(n_phi);
    return exact_to(degree_of_rule(n_rings),
                    grids::grid_of_rings(grids::kept_nodes({grids::fejer1_nodes, n_rings}), n_rings, n_phi,
                                         half_pixel, "equidistant_cylindrical"),
                    EquidistantRings{1, 2 * n_rings});
}

Grid Grid::driscoll_healy(std::int64_t n_rings, std::int64_t n_phi, double phi_0) {
    grids::check_n_rings(n_rings);
    return exact_to(n_rings - 1,
                    grids::grid_of_nodes(grids::kept_nodes({grids::driscoll_healy_nodes, n_rings}), n_phi,
                                         phi_0, "driscoll_healy"),
                    EquidistantRings{0, 2 * n_rings});
}

Grid Grid::mcewen_wiaux(std::int64_t n_rings, std::int64_t n_phi, double phi_0, bool flipped) {
    grids::check_n_rings(n_rings);
    auto nodes = grids::kept_nodes({grids::mcewen_wiaux_nodes, n_rings});
    if (flipped) {
        std::reverse(nodes.begin(), nodes.end());
        for (auto& node : nodes) node = grids::mirrored(node);
        nodes.front().theta = 0;
    }
    return exact_to(
        n_rings - 1,
        grids::grid_of_nodes(nodes, n_phi, phi_0, flipped ? "mcewen_wiaux flipped" : "mcewen_wiaux"),
        EquidistantRings{flipped ? 0 : 1, 2 * n_rings - 1});
}

}  // namespace zonal
