#include "zonal/alm.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "zonal/error.hpp"

namespace zonal {

AlmLayout::AlmLayout(std::int64_t lmax, std::int64_t mmax) : lmax_(lmax), mmax_(mmax) {
    // The triangle's size, about lmax^2 / 2, must stay far inside 64 bits.
    constexpr std::int64_t largest_lmax = std::int64_t{1} << 30;
    if (lmax < 0 || lmax > largest_lmax)
        throw InvalidArgument("lmax", lmax, fmt::format("must be from 0 to {}", largest_lmax));
    if (mmax < 0 || mmax > lmax)
        throw InvalidArgument("mmax", mmax, fmt::format("must be from 0 to lmax = {}", lmax));
}

AlmLayout::AlmLayout(std::int64_t lmax, std::int64_t mmax, std::vector<std::int64_t> orders)
    : AlmLayout(lmax, mmax) {
    auto share = std::make_shared<Share>();
    for (std::size_t i = 0; i < orders.size(); ++i) {
        const std::int64_t m = orders[i], least = i == 0 ? 0 : orders[i - 1] + 1;
        if (m < least || m > mmax)
            throw InvalidArgument(fmt::format("orders[{}]", i), m,
                                  fmt::format("must be from {} to mmax = {}", least, mmax));
        share->offsets.push_back(share->size - m);
        share->size += lmax + 1 - m;
    }
    share->orders = std::move(orders);
    share_ = std::move(share);
}

std::int64_t AlmLayout::offset_in_share(std::int64_t m) const {
    const auto found = std::lower_bound(share_->orders.begin(), share_->orders.end(), m);
    if (found == share_->orders.end() || *found != m)
        throw InvalidArgument("m", m, fmt::format("is not among the {} orders of this share", n_orders()));
    return share_->offsets[static_cast<std::size_t>(found - share_->orders.begin())];
}

bool AlmLayout::operator==(const AlmLayout& other) const {
    if (lmax_ != other.lmax_ || mmax_ != other.mmax_ || n_orders() != other.n_orders()) return false;
    for (std::int64_t i = 0; i < n_orders(); ++i)
        if (order(i) != other.order(i)) return false;
    return true;
}

}  // namespace zonal
