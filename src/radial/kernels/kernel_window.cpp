#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "radial/kernels/kernel_implementation.hpp"
#include "radial/kernels/legendre_sum.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

class Window final : public RadialKernel::Implementation {
  public:
    explicit Window(std::vector<double> window)
        : Implementation(fmt::format("window lmax={}", window.size() - 1), std::numbers::pi),
          window_(std::move(window)) {
        while (window_.size() > 1 && window_.back() == 0) window_.pop_back();
        series_.reserve(window_.size());
        for (const double k_l : window_)
            series_.push_back((2 * static_cast<double>(series_.size()) + 1) / (4 * std::numbers::pi) * k_l);
        drop_what_rounds_away();
    }

    void profile(std::span<const double> theta, std::span<double> value) const override {
        radial::legendre_series(series_, theta, value);
    }

    std::vector<double> window(std::int64_t lmax) const override {
        auto result = window_;
        result.resize(static_cast<std::size_t>(lmax) + 1);
        return result;
    }

    std::int64_t band_limit() const override { return static_cast<std::int64_t>(window_.size()) - 1; }
    double bandwidth() const override { return static_cast<double>(series_.size() - 1); }

  private:
    /// The tails of many windows, exp(-l^2), are long and add nothing.
    void drop_what_rounds_away() {
        constexpr double nothing = 1e-20;
        double all = 0, dropped = 0;
        for (const double term : series_) all += std::abs(term);
        while (series_.size() > 1 && dropped + std::abs(series_.back()) <= nothing * all) {
            dropped += std::abs(series_.back());
            series_.pop_back();
        }
    }

    std::vector<double> window_;
    std::vector<double> series_;  // (2l+1) / (4 pi) K_l
};

}  // namespace

RadialKernel RadialKernel::from_window(std::vector<double> window) {
    if (window.empty()) throw InvalidArgument("window: must have a value for l = 0 at least");
    for (std::size_t l = 0; l < window.size(); ++l)
        if (!std::isfinite(window[l]))
            throw InvalidArgument(fmt::format("window: {} at l = {}: must be finite", window[l], l));
    return RadialKernel(std::make_shared<Window>(std::move(window)));
}

}  // namespace zonal
