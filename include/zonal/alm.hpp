#pragma once

#include <cstdint>

namespace zonal {

/// Triangular layout of the coefficients a_lm, 0 <= m <= mmax, m <= l <= lmax, of a real field: m-major, as
/// healpy and HEALPix C++ have it. Only m >= 0 is stored; a_{l,-m} = (-1)^m conj(a_lm).
class AlmLayout {
  public:
    /// Throws InvalidArgument unless 0 <= mmax <= lmax.
    AlmLayout(std::int64_t lmax, std::int64_t mmax);
    explicit AlmLayout(std::int64_t lmax) : AlmLayout(lmax, lmax) {}

    std::int64_t lmax() const { return lmax_; }
    std::int64_t mmax() const { return mmax_; }
    std::int64_t size() const { return (mmax_ + 1) * (lmax_ + 1) - mmax_ * (mmax_ + 1) / 2; }
    /// Index of (l = 0, m), virtual for m > 0: index(l, m) == offset(m) + l.
    std::int64_t offset(std::int64_t m) const { return m * (2 * lmax_ + 1 - m) / 2; }
    std::int64_t index(std::int64_t l, std::int64_t m) const { return offset(m) + l; }
    bool operator==(const AlmLayout&) const = default;

  private:
    std::int64_t lmax_;
    std::int64_t mmax_;
};

}  // namespace zonal
