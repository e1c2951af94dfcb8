#pragma once

#include <cstdint>
#include <vector>

#include "zonal/grid.hpp"
#include "zonal/view.hpp"

namespace zonal::sht {

/// Which pixel of one grid lies nearest to a pixel of another: on the ring nearest in theta, the pixel
/// nearest in longitude. The pixel itself where the grids are the same.
class NearestPixel {
  public:
    NearestPixel(const Grid& from, const Grid& to);
    /// Pixel of `from` nearest to pixel k of ring `ring` of `to`.
    std::int64_t operator()(std::int64_t ring, std::int64_t k) const;

  private:
    const Grid& from_;
    const Grid& to_;
    bool same_;
    std::vector<std::int64_t> nearest_ring_;  ///< [to.n_rings()]
};

/// Share of each pixel that is kept: the mask (1 where there is none), and 0 where a component is UNSEEN.
/// fields: [component, pixel], mask: [pixel] or empty. Throws InvalidArgument unless the mask is from 0 to 1
/// or UNSEEN, which counts as 0.
template <class T>
Array<T, 1> kept_share(const Grid& grid, View<const T, 2> fields, View<const T, 1> mask);

/// fields times kept; 0 where kept is 0. fields, product: [component, pixel].
template <class T>
void multiply_by_share(const Grid& grid, View<const T, 2> fields, View<const T, 1> kept, View<T, 2> product);

/// Divides fields [component, pixel] by divisor [pixel]; UNSEEN where that is below the threshold.
template <class T>
void divide_by_share(const Grid& grid, View<const T, 1> divisor, double threshold, View<T, 2> fields);

/// Sets fields [component, pixel of nearest's `to`] to UNSEEN where kept [pixel of its `from`] is 0.
template <class T>
void restore_unseen(const Grid& to, const NearestPixel& nearest, View<const T, 1> kept, View<T, 2> fields);

}  // namespace zonal::sht
