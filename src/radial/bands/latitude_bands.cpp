#include "radial/bands/latitude_bands.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>

namespace zonal::radial {
namespace {

/// A ring's colatitude from the pole of its side: the same to the last bit for mirrored rings.
struct RingPlace {
    double theta;
    int side;  ///< 0: in the north or on the equator, 1: in the south
};

RingPlace place_of(const Ring& ring) {
    return {std::atan2(ring.sin_theta, std::abs(ring.cos_theta)), ring.cos_theta < 0 ? 1 : 0};
}

/// What the support may reach and a little more, as convolvers count pixels at its very edge as inside: near
/// the antipode a chord right to 1e-12 is an angle to 3e-6.
double reach_of(double support) {
    return support * (1 + 1e-5);
}

/// The colatitudes of some rings.
class RingPlaces {
  public:
    void add(const RingPlace& place) { thetas_[place.side].push_back(place.theta); }
    void sort() {
        for (auto& thetas : thetas_) std::sort(thetas.begin(), thetas.end());
    }
    /// Rings whose colatitudes differ from the place's by no more than `reach`.
    std::int64_t count_near(const RingPlace& place, double reach) const {
        const auto& same = thetas_[place.side];
        const auto& other = thetas_[1 - place.side];
        const auto first = std::lower_bound(same.begin(), same.end(), place.theta - reach);
        const auto end = std::upper_bound(first, same.end(), place.theta + reach);
        const auto across =
            std::lower_bound(other.begin(), other.end(), std::numbers::pi - place.theta - reach);
        return (end - first) + (other.end() - across);
    }

  private:
    std::vector<double> thetas_[2];
};

RingPlaces places_of(const Grid& grid, const std::vector<std::int64_t>& rings) {
    RingPlaces places;
    for (const std::int64_t ring : rings) places.add(place_of(grid.rings()[static_cast<std::size_t>(ring)]));
    places.sort();
    return places;
}

std::vector<std::int64_t> all_rings(const Grid& grid) {
    std::vector<std::int64_t> rings(grid.rings().size());
    std::iota(rings.begin(), rings.end(), std::int64_t{0});
    return rings;
}

struct Output {
    std::int64_t ring;
    double theta;  ///< from the pole of its side
    double cost;
};

std::vector<Output> outputs_by_theta(const Grid& grid, double reach, const Grid& grid_out) {
    const RingPlaces inputs = places_of(grid, all_rings(grid));
    std::vector<Output> outputs;
    for (std::int64_t index = 0; index < grid_out.n_rings(); ++index) {
        const Ring& ring = grid_out.rings()[static_cast<std::size_t>(index)];
        const RingPlace place = place_of(ring);
        // Every mode or pixel of a ring meets each ring within the support once, and is transformed.
        const std::int64_t meetings = 1 + inputs.count_near(place, reach);
        outputs.push_back({index, place.theta, static_cast<double>(ring.n_pixels * meetings)});
    }
    std::stable_sort(outputs.begin(), outputs.end(),
                     [](const Output& a, const Output& b) { return a.theta < b.theta; });
    return outputs;
}

}  // namespace

std::vector<std::int64_t> rings_within(const Grid& grid, double support, const Grid& grid_out,
                                       const std::vector<std::int64_t>& outputs) {
    const double reach = reach_of(support);
    const RingPlaces places = places_of(grid_out, outputs);
    std::vector<std::int64_t> inputs;
    for (std::int64_t ring = 0; ring < grid.n_rings(); ++ring)
        if (places.count_near(place_of(grid.rings()[static_cast<std::size_t>(ring)]), reach) > 0)
            inputs.push_back(ring);
    return inputs;
}

PackedRings pack_rings(const Grid& grid, const std::vector<std::int64_t>& ring_indices) {
    std::vector<Ring> rings = grid.subset(ring_indices).rings();
    std::vector<Ring*> in_map;
    in_map.reserve(rings.size());
    for (Ring& ring : rings) in_map.push_back(&ring);
    std::sort(in_map.begin(), in_map.end(),
              [](const Ring* a, const Ring* b) { return a->first_pixel < b->first_pixel; });
    std::vector<PixelRun> runs;
    std::int64_t place = 0;
    for (Ring* const ring : in_map) {
        if (runs.empty() || runs.back().first + runs.back().n_pixels != ring->first_pixel)
            runs.push_back({ring->first_pixel, 0, place});
        runs.back().n_pixels += ring->n_pixels;
        ring->first_pixel = place;
        place += ring->n_pixels;
    }
    return {Grid(std::move(rings), place, grid.name() + ", a band"), std::move(runs)};
}

std::vector<PixelRange> ranges_of(const PackedRings& rings) {
    std::vector<PixelRange> ranges;
    ranges.reserve(rings.runs.size());
    for (const PixelRun& run : rings.runs) ranges.push_back({run.first, run.first + run.n_pixels});
    return ranges;
}

std::vector<PixelRange> ranges_of(const Grid& grid) {
    return ranges_of(pack_rings(grid, all_rings(grid)));
}

std::vector<std::int64_t> count_rings_within(const Grid& grid, double support) {
    const RingPlaces all = places_of(grid, all_rings(grid));
    std::vector<std::int64_t> counts;
    for (const Ring& ring : grid.rings()) counts.push_back(all.count_near(place_of(ring), reach_of(support)));
    return counts;
}

std::vector<std::int64_t> rings_apart(const Grid& grid, double support,
                                      const std::vector<std::int64_t>& counts,
                                      const std::vector<std::int64_t>& rings) {
    const RingPlaces these = places_of(grid, rings);
    std::vector<std::int64_t> apart;
    std::copy_if(rings.begin(), rings.end(), std::back_inserter(apart), [&](std::int64_t index) {
        const auto ring = static_cast<std::size_t>(index);
        return these.count_near(place_of(grid.rings()[ring]), reach_of(support)) == counts[ring];
    });
    return apart;
}

std::vector<LatitudeBand> latitude_bands(const Grid& grid, double support, const Grid& grid_out,
                                         std::int64_t n_bands) {
    const double reach = reach_of(support);
    std::vector<Output> outputs = outputs_by_theta(grid, reach, grid_out);
    double total = 0, done = 0, before = 0;
    for (const Output& output : outputs) total += output.cost;
    std::vector<LatitudeBand> bands;
    std::vector<std::int64_t> of_band;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        of_band.push_back(outputs[k].ring);
        done += outputs[k].cost;
        const bool is_last = k + 1 == outputs.size();
        const bool has_mirror = !is_last && outputs[k].theta == outputs[k + 1].theta;
        const double share = static_cast<double>(bands.size() + 1) / static_cast<double>(n_bands);
        if (has_mirror || (done < share * total && !is_last)) continue;
        std::sort(of_band.begin(), of_band.end());
        auto inputs = rings_within(grid, support, grid_out, of_band);
        if (inputs.empty()) inputs.push_back(0);  // a grid has a ring: one out of reach adds nothing
        bands.push_back({pack_rings(grid, inputs), pack_rings(grid_out, of_band), done - before});
        before = done;
        of_band.clear();
    }
    return bands;
}

void BandMemory::add(const LatitudeBand& band, std::size_t kind,
                     const std::vector<std::int64_t>& workspace_parts) {
    input_pixels_ = std::max(input_pixels_, components_ * band.input.grid.n_pixels());
    output_pixels_ = std::max(output_pixels_, components_ * band.output.grid.n_pixels());
    if (workspaces_.size() <= kind) workspaces_.resize(kind + 1);
    auto& most = workspaces_[kind];
    if (most.size() < workspace_parts.size()) most.resize(workspace_parts.size());
    for (std::size_t k = 0; k < workspace_parts.size(); ++k) most[k] = std::max(most[k], workspace_parts[k]);
}

std::int64_t BandMemory::bytes() const {
    std::int64_t sum = bytes_of_copies(input_pixels_, output_pixels_);
    for (const auto& arrays : workspaces_)
        for (const std::int64_t bytes : arrays) sum += bytes;
    return sum;
}

}  // namespace zonal::radial
