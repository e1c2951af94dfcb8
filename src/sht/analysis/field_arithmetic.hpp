#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "sht/transform.hpp"
#include "zonal/mask.hpp"
#include "zonal/window.hpp"

/// Arithmetic on maps and alm in the memory that a workspace's transforms work in: what the analysis and the
/// smoothing do between transforms. Arrays: [batch, component, pixel or coefficient], the last axis
/// contiguous. Sums do not depend on threads or runs. In maps only the pixels in rings are looked at.
namespace zonal::sht {

class NearestPixel;

/// Factors of a map's pixels beside the quadrature weights of the rings.
struct PixelWeights {
    const std::vector<double>* ring = nullptr;  ///< [n_rings], or null or empty
    View<const double, 1> pixel = {};           ///< [n_pixels], or empty

    bool any() const { return (ring != nullptr && !ring->empty()) || pixel.size() > 0; }
    double of_ring(std::int64_t index) const {
        return ring == nullptr || ring->empty() ? 1 : (*ring)[static_cast<std::size_t>(index)];
    }
};

/// Throws InvalidArgument for weights of other rings and pixels than the grid's, and for what is no weight of
/// a ring.
void check_weights(const Grid& grid, const std::vector<double>& ring_weights,
                   View<const double, 1> pixel_weights);
/// Throws InvalidArgument "name[index] = value: must be 0 or positive".
void check_weight(const char* name, std::int64_t index, double value);
/// Returns the window of one of 1 component (T) or 2 (E, B).
const std::vector<double>& window_of(const Beam& beam, std::int64_t n_components, std::int64_t component);
/// Throws InvalidArgument unless a window reaches lmax.
void check_window(const std::vector<double>& window, std::int64_t lmax);
/// Throws InvalidArgument for a value of a mask.
void reject_mask_value(std::int64_t pixel, double value);

template <class T>
class MapArithmetic {
  public:
    using Map = View<T, 3>;
    using ConstMap = View<const T, 3>;
    virtual ~MapArithmetic() = default;

    /// out = map times the weights; out may be map.
    virtual void weigh(ConstMap map, Map out) = 0;
    /// out = map - out
    virtual void subtract_from(ConstMap map, Map out) = 0;
    /// y_b += factors_b x_b
    virtual void add_scaled(const std::vector<double>& factors, ConstMap x, Map y) = 0;
    /// sum_p w_p f_p^2 of each element of the batch, w the rings' weights times the others.
    virtual std::vector<double> weighted_squares(ConstMap map) = 0;

    virtual BadPixels count_bad(View<const T, 1> map) = 0;
    /// kept [pixel]: share of each pixel that is kept: the mask (1 where it is empty), and 0 where a
    /// component of fields [component, pixel] is UNSEEN. Throws InvalidArgument unless the mask is from 0 to
    /// 1 or UNSEEN, which counts as 0.
    virtual void keep_share(View<const T, 2> fields, View<const T, 1> mask, View<T, 1> kept) = 0;
    virtual std::int64_t count_zeros(View<const T, 1> map) = 0;
    /// product = fields times kept; 0 where kept is 0.
    virtual void multiply_by_share(View<const T, 2> fields, View<const T, 1> kept, View<T, 2> product) = 0;
    /// Divides fields by divisor; UNSEEN where that is below the threshold.
    virtual void divide_by_share(View<const T, 1> divisor, double threshold, View<T, 2> fields) = 0;
    /// Sets fields, on this grid, to UNSEEN where kept, on the other one, is 0 in the nearest pixel.
    virtual void restore_unseen(const NearestPixel& nearest, View<const T, 1> kept, View<T, 2> fields) = 0;
};

template <class T>
class AlmArithmetic {
  public:
    using Alm = View<std::complex<T>, 3>;
    using ConstAlm = View<const std::complex<T>, 3>;
    virtual ~AlmArithmetic() = default;

    virtual void set_zero(Alm alm) = 0;
    /// y_b = x_b + factors_b y_b
    virtual void scale_and_add(ConstAlm x, const std::vector<double>& factors, Alm y) = 0;
    /// y_b += factors_b x_b
    virtual void add_scaled(const std::vector<double>& factors, ConstAlm x, Alm y) = 0;
    /// <a, a> = sum_{m>=0} (2 - delta_m0) |a_lm|^2 of each element of the batch.
    virtual std::vector<double> squares(ConstAlm alm) = 0;
    /// The same for each degree: [batch * components][lmax + 1].
    virtual std::vector<std::vector<double>> powers(ConstAlm alm) = 0;
    /// As zonal::apply_beam, on each element of the batch.
    virtual void multiply(const Beam& beam, Alm alm) = 0;
};

/// For maps of this grid. Keep references to the grid, the weights, the storage and the transform whose sums
/// over rings and orders they give, if there is one. Throw InvalidArgument for negative weights of pixels.
template <class T>
std::unique_ptr<MapArithmetic<T>> make_map_arithmetic(const Grid& grid, const PixelWeights& weights,
                                                      int threads, ShtWorkspace::Storage& storage,
                                                      const Transform* transform = nullptr);
template <class T>
std::unique_ptr<AlmArithmetic<T>> make_alm_arithmetic(const AlmLayout& layout, int threads,
                                                      ShtWorkspace::Storage& storage,
                                                      const Transform* transform = nullptr);

/// The CUDA backend's.
template <class T>
std::unique_ptr<MapArithmetic<T>> make_cuda_map_arithmetic(const Grid& grid, const PixelWeights& weights,
                                                           ShtWorkspace::Storage& storage);
template <class T>
std::unique_ptr<AlmArithmetic<T>> make_cuda_alm_arithmetic(const AlmLayout& layout,
                                                           ShtWorkspace::Storage& storage);

}  // namespace zonal::sht
