#include "sky/sky_part.hpp"

#include <utility>

#include "sht/transform.hpp"
#include "sht/transform_cache.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal {
namespace {

/// All rings are there.
class NoHalo final : public SkyHalo {
  public:
    explicit NoHalo(const Grid& grid) : grid_(grid) {}
    const Grid& grid() const override { return grid_; }
    View<const float, 3> reach(View<const float, 3> maps, Array<float, 3>&) const override { return maps; }
    View<const double, 3> reach(View<const double, 3> maps, Array<double, 3>&) const override { return maps; }

  private:
    Grid grid_;
};

}  // namespace

AlmLayout WholeSky::layout(std::int64_t lmax, std::int64_t mmax) const {
    if (lmax < 0) lmax = default_smoothing_lmax(grid_);
    return {lmax, mmax < 0 ? lmax : mmax};
}

std::shared_ptr<const ShtPlan> WholeSky::transform(const ShtOptions& options) const {
    return sht::kept_plan(grid_, options);
}

std::shared_ptr<const SkyHalo> WholeSky::halo(double) const {
    return std::make_shared<const NoHalo>(grid_);
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
