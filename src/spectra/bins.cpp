#include "zonal/spectra/bins.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "zonal/error.hpp"

namespace zonal {
namespace {

Band equal_weights(std::int64_t first, std::int64_t end) {
    return {first, std::vector<double>(static_cast<std::size_t>(end - first), 1.0)};
}

std::string name_of(std::size_t number, const Band& band) {
    return fmt::format("bins: band {} (l = {} to {})", number, band.first, band.last());
}

/// Makes the weights add up to 1.
void normalize(Band& band, const std::string& name) {
    double sum = 0;
    for (std::size_t i = 0; i < band.weights.size(); ++i) {
        if (!(band.weights[i] >= 0) || !std::isfinite(band.weights[i]))
            throw InvalidArgument(
                fmt::format("{}: weight of l = {}", name, band.first + static_cast<std::int64_t>(i)),
                band.weights[i], "must be a finite number, 0 or more");
        sum += band.weights[i];
    }
    if (!(sum > 0)) throw InvalidArgument(name, "has no weight above 0: give it one, or leave it out");
    // Weights of other bins are left as they are, so that the bands made of them are the same.
    const double rounding = std::numeric_limits<double>::epsilon() * static_cast<double>(band.weights.size());
    if (std::abs(sum - 1) <= rounding) return;
    for (double& weight : band.weights) weight /= sum;
}

void check_range(std::int64_t lmin, std::int64_t lowest, std::int64_t lmax) {
    if (lmin < lowest) throw InvalidArgument("lmin", lmin, fmt::format("must be {} or more", lowest));
    if (lmax < lmin) throw InvalidArgument("lmax", lmax, fmt::format("must be lmin = {} or more", lmin));
}

}  // namespace

Bins::Bins(std::vector<Band> bands, BandsOf of) : bands_(std::move(bands)), of_(of) {
    if (bands_.empty()) throw InvalidArgument("bins", "have no band: must have one or more");
    for (std::size_t i = 0; i < bands_.size(); ++i) {
        Band& band = bands_[i];
        if (band.weights.empty())
            throw InvalidArgument(fmt::format("bins: band {}", i), "is empty: must have a degree or more");
        const auto name = name_of(i, band);
        if (band.first < 0) throw InvalidArgument(name, "must begin at l = 0 or more");
        if (i > 0 && band.first <= bands_[i - 1].last())
            throw InvalidArgument(
                name, fmt::format("must begin behind the band before it, which ends at l = {}: overlapping "
                                  "bands would count degrees twice",
                                  bands_[i - 1].last()));
        if (of == BandsOf::d_l && band.first == 0)
            throw InvalidArgument(name,
                                  "must not have l = 0, where D_l is 0 whatever C_l is: begin at 1 or later");
        normalize(band, name);
    }
}

Bins Bins::linear(std::int64_t width, std::int64_t lmin, std::int64_t lmax, BandsOf of) {
    check_range(lmin, 0, lmax);
    if (width < 1 || width > lmax - lmin + 1)
        throw InvalidArgument(
            "width", width,
            fmt::format("must be from 1 to {}, the degrees between lmin and lmax", lmax - lmin + 1));
    std::vector<Band> bands;
    for (std::int64_t first = lmin; first + width - 1 <= lmax; first += width)
        bands.push_back(equal_weights(first, first + width));
    return Bins(std::move(bands), of);
}

Bins Bins::edges(const std::vector<std::int64_t>& edges, BandsOf of) {
    if (edges.size() < 2)
        throw InvalidArgument("edges", std::ssize(edges), "must be two or more, for one band or more");
    std::vector<Band> bands;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        if (edges[i] < 0) throw InvalidArgument(fmt::format("edges[{}]", i), edges[i], "must be 0 or more");
        if (edges[i + 1] <= edges[i])
            throw InvalidArgument(fmt::format("edges[{}]", i + 1), edges[i + 1],
                                  fmt::format("must be above the edge before it, {}", edges[i]));
        bands.push_back(equal_weights(edges[i], edges[i + 1]));
    }
    return Bins(std::move(bands), of);
}

Bins Bins::logarithmic(std::int64_t n, std::int64_t lmin, std::int64_t lmax, BandsOf of) {
    check_range(lmin, 1, lmax);
    if (n < 1 || n > lmax - lmin + 1)
        throw InvalidArgument(
            "n", n, fmt::format("must be from 1 to {}, the degrees between lmin and lmax", lmax - lmin + 1));
    std::vector<std::int64_t> all{lmin};
    const double ratio = static_cast<double>(lmax + 1) / static_cast<double>(lmin);
    for (std::int64_t i = 1; i <= n; ++i) {
        const double edge =
            static_cast<double>(lmin) * std::pow(ratio, static_cast<double>(i) / static_cast<double>(n));
        // A degree at least for this band, and for each behind it.
        all.push_back(i == n
                          ? lmax + 1
                          : std::clamp<std::int64_t>(std::llround(edge), all.back() + 1, lmax + 1 - n + i));
    }
    return edges(all, of);
}

Bins Bins::weighted(const std::vector<double>& weights) const {
    if (std::ssize(weights) <= lmax())
        throw InvalidArgument("weights",
                              fmt::format("end at l = {}: must reach l = {}, the last of the bands",
                                          std::ssize(weights) - 1, lmax()));
    auto bands = bands_;
    for (Band& band : bands) {
        const auto first = weights.begin() + static_cast<std::ptrdiff_t>(band.first);
        std::copy(first, first + static_cast<std::ptrdiff_t>(band.weights.size()), band.weights.begin());
    }
    return Bins(std::move(bands), of_);
}

double Bins::factor(std::int64_t l) const {
    return of_ == BandsOf::c_l ? 1.0 : static_cast<double>(l * (l + 1)) / (2 * std::numbers::pi);
}

std::vector<double> Bins::effective_degrees() const {
    std::vector<double> found;
    for (const Band& band : bands_) {
        double mean = 0;
        for (std::size_t i = 0; i < band.weights.size(); ++i)
            mean += band.weights[i] * static_cast<double>(band.first + static_cast<std::int64_t>(i));
        found.push_back(mean);
    }
    return found;
}

std::vector<double> Bins::binned(View<const double, 1> c_l) const {
    if (c_l.extent(0) <= lmax())
        throw InvalidArgument("c_l", fmt::format("ends at l = {}: must reach l = {}, the last of the bands",
                                                 c_l.extent(0) - 1, lmax()));
    std::vector<double> found;
    for (const Band& band : bands_) {
        double sum = 0;
        for (std::int64_t l = band.first; l <= band.last(); ++l)
            sum += band.weights[static_cast<std::size_t>(l - band.first)] * factor(l) * c_l[l];
        found.push_back(sum);
    }
    return found;
}

}  // namespace zonal
