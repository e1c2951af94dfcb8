#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace zonal {

/// Layout of the coefficients a_lm, 0 <= m <= mmax, m <= l <= lmax, of a real field: m-major, as healpy and
/// HEALPix C++ have it. Only m >= 0 is stored; a_{l,-m} = (-1)^m conj(a_lm). Usually all orders m are there;
/// a rank of a distributed transform has a share of them, without holes between them.
class AlmLayout {
  public:
    /// Throws InvalidArgument unless 0 <= mmax <= lmax.
    AlmLayout(std::int64_t lmax, std::int64_t mmax);
    explicit AlmLayout(std::int64_t lmax) : AlmLayout(lmax, lmax) {}
    /// A share: these orders only. Throws InvalidArgument unless they ascend from 0 or more to mmax or less.
    AlmLayout(std::int64_t lmax, std::int64_t mmax, std::vector<std::int64_t> orders);

    std::int64_t lmax() const { return lmax_; }
    std::int64_t mmax() const { return mmax_; }
    bool has_all_orders() const { return share_ == nullptr; }
    std::int64_t n_orders() const {
        return share_ == nullptr ? mmax_ + 1 : static_cast<std::int64_t>(share_->orders.size());
    }
    /// The orders that are there, by their number from 0 to n_orders() - 1; they ascend.
    std::int64_t order(std::int64_t number) const {
        return share_ == nullptr ? number : share_->orders[static_cast<std::size_t>(number)];
    }
    std::int64_t size() const {
        return share_ == nullptr ? (mmax_ + 1) * (lmax_ + 1) - mmax_ * (mmax_ + 1) / 2 : share_->size;
    }
    /// Index of (l = 0, m), virtual for m > 0: index(l, m) == offset(m) + l. Throws InvalidArgument for an
    /// order that is not in the share.
    std::int64_t offset(std::int64_t m) const {
        return share_ == nullptr ? m * (2 * lmax_ + 1 - m) / 2 : offset_in_share(m);
    }
    std::int64_t index(std::int64_t l, std::int64_t m) const { return offset(m) + l; }
    bool operator==(const AlmLayout& other) const;

  private:
    struct Share {
        std::vector<std::int64_t> orders, offsets;
        std::int64_t size = 0;
    };
    std::int64_t offset_in_share(std::int64_t m) const;

    std::int64_t lmax_;
    std::int64_t mmax_;
    std::shared_ptr<const Share> share_;  ///< null: all orders
};

}  // namespace zonal
