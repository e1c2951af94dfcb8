#include "sky/sky_part.hpp"

#include <utility>

#include "sht/transform.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal {
namespace {

/// Nothing is on its way.
template <class T>
class NoExchange final : public HaloExchange<T> {
    View<const T, 3> wait() override { return {}; }
};

/// All rings are there.
class NoHalo final : public SkyHalo {
  public:
    NoHalo(const Grid& in, const Grid& out) : all_({in, out}) {}
    const std::optional<RingSums>& inner() const override { return all_; }
    const std::optional<RingSums>& outer() const override { return none_; }
    std::unique_ptr<HaloExchange<float>> begin(View<const float, 3>, HaloMemory&) const override {
        return std::make_unique<NoExchange<float>>();
    }
    std::unique_ptr<HaloExchange<double>> begin(View<const double, 3>, HaloMemory&) const override {
        return std::make_unique<NoExchange<double>>();
    }

  private:
    std::optional<RingSums> all_, none_;
};

/// A range, and where an array has it.
struct PlacedRange {
    PixelRange range;
    std::int64_t place;
};

std::vector<PlacedRange> in_map_order(std::span<const PixelRange> ranges) {
    std::vector<PlacedRange> placed;
    placed.reserve(ranges.size());
    std::int64_t place = 0;
    for (const auto& range : ranges) {
        placed.push_back({range, place});
        place += range.end - range.first;
    }
    std::sort(placed.begin(), placed.end(),
              [](const auto& a, const auto& b) { return a.range.first < b.range.first; });
    return placed;
}

}  // namespace

std::vector<PixelCopy> copies_between(std::span<const PixelRange> from, std::span<const PixelRange> to) {
    std::vector<PixelCopy> copies;
    const auto sources = in_map_order(from), targets = in_map_order(to);
    auto target = targets.begin();
    for (const auto& [range, place] : sources) {
        while (target != targets.end() && target->range.end <= range.first) ++target;
        for (auto one = target; one != targets.end() && one->range.first < range.end; ++one) {
            const auto first = std::max(range.first, one->range.first),
                       end = std::min(range.end, one->range.end);
            copies.push_back(
                {place + first - range.first, one->place + first - one->range.first, end - first});
        }
    }
    return copies;
}

AlmLayout WholeSky::layout(std::int64_t lmax, std::int64_t mmax) const {
    if (lmax < 0) lmax = default_smoothing_lmax(grid_);
    return {lmax, mmax < 0 ? lmax : mmax};
}

std::shared_ptr<const ShtPlan> WholeSky::transform(const ShtOptions& options) const {
    return kept_plan(grid_, options);
}

std::shared_ptr<const SkyHalo> WholeSky::halo(double) const {
    return std::make_shared<const NoHalo>(grid_, grid());
}

void WholeSky::agree(const std::string&, std::exception_ptr error) const {
    if (error) std::rethrow_exception(std::move(error));
}

std::vector<double> WholeSky::sum_rings(View<const double, 2> partial) const {
    return sht::sum_rows(partial);
}

std::shared_ptr<const SkyPart> part_or_whole(std::shared_ptr<const SkyPart> part, const Grid& grid) {
    return part ? std::move(part) : std::make_shared<const WholeSky>(grid);
}

}  // namespace zonal
