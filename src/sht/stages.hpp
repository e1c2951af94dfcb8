#pragma once

#include <algorithm>
#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "sht/legendre/legendre.hpp"
#include "sht/rings/meridian_integral.hpp"
#include "zonal/sht.hpp"

/// The two halves of a transform on one kind of device, between alm and the F_m of ring pairs, and between
/// those and pixels, as a rank of a distributed transform runs them with an exchange in between.
namespace zonal::sht {

/// Numbers [first, end) of the orders of a layout.
struct OrderNumbers {
    std::int64_t first, end;
};

/// What a call's stages keep between calls: their own scratch memory, and the bands' coefficients.
class StageMemory {
  public:
    /// The coefficients of the ring stage, and of the Legendre stage for two chunks of orders in turn.
    static constexpr std::size_t n_bands = 3;

    /// threads: that copies in host memory take.
    explicit StageMemory(int threads) : threads_(threads) {}
    virtual ~StageMemory() = default;
    /// Room for `count` doubles, which stays until more are asked for.
    virtual double* reserve(std::size_t band, std::int64_t count) = 0;
    /// Copies from one band to another.
    virtual void copy(const double* from, double* to, std::int64_t count);
    /// Where the bands lie in a device's memory, the stream whose work fills and reads them: functions then
    /// return while it is at work, unless they read or write arrays in host memory. Null for bands in host
    /// memory.
    virtual void* stream() const { return nullptr; }
    /// What comes to that stream from now on waits for all that the stages have been given.
    virtual void join() {}

  private:
    const int threads_;
};

/// Where the coefficients of bands lie.
enum class BandMemory { host, device };

/// A rank's rings and how it exchanges F_m with the others.
struct RankRings {
    const Grid& grid;         ///< of the rank's own rings, those of the blocks [first, end)
    std::int64_t first, end;  ///< of the whole grid's pairs
    /// All orders, as they come from each rank (FourierBand).
    const std::vector<std::vector<std::int64_t>>& runs;
    /// On the device, they have zones: the ranks', or all blocks of a rank in one.
    BandMemory bands;
};

/// The stages for maps of T. Arrays are [map, component, ...], with maps * components == band.n_fields, and
/// lie in host memory or in that of the stages' device; bands hold all that the stages read or write of them.
template <class T>
class StagesOf {
  public:
    virtual ~StagesOf() = default;
    /// F_m of the band from some orders of alm.
    virtual void synthesize_orders(View<const std::complex<T>, 3> alm, OrderNumbers orders,
                                   const FourierBand& band, StageMemory& memory) const = 0;
    /// From the F_m of the band to pixels.
    virtual void synthesize_rings(const FourierBand& band, View<T, 3> map, StageMemory& memory) const = 0;
    /// From the F_m of S alm to those of W (map - S alm), in place.
    virtual void residual_rings(View<const T, 3> map, const FourierBand& band, StageMemory& memory) const = 0;
    /// F_m from the pixels; weighted: times their rings' weights.
    virtual void adjoint_rings(View<const T, 3> map, bool weighted, const FourierBand& band,
                               StageMemory& memory) const = 0;
    /// alm of some orders, overwritten, from the parts that Stages::band_bounds cuts a band into.
    virtual void adjoint_orders(std::span<const FourierBand> parts, View<std::complex<T>, 3> alm,
                                OrderNumbers orders, StageMemory& memory) const = 0;
};

/// Stages::maps_per_pass. pairs: of the whole grid. One map at least, and not so many that their F_m take
/// more than 2 GiB.
inline std::int64_t maps_per_pass(const RingPairs& pairs, int components) {
    constexpr std::int64_t most_fields = 8, most_bytes = std::int64_t{2} << 30;
    const std::int64_t of_map = FourierBand(pairs, 0, pairs.n_blocks(), components).size() * 8;
    return std::clamp<std::int64_t>(most_bytes / std::max<std::int64_t>(of_map, 1), 1,
                                    most_fields / components);
}

class Stages : public virtual StagesOf<float>, public virtual StagesOf<double> {
  public:
    template <class T>
    const StagesOf<T>& of() const {
        return *this;
    }

    /// The table of the orders that these stages have.
    virtual const LegendreTable& table() const = 0;
    /// Blocks [bounds[i], bounds[i+1]) are part i of what adjoint_orders adds up, of a pass over n_fields
    /// fields.
    virtual std::vector<std::int64_t> band_bounds(std::int64_t n_fields) const = 0;
    virtual std::unique_ptr<StageMemory> make_memory() const = 0;
    /// Makes room for these stages, whichever plan made the memory. Throws InvalidArgument for memory of
    /// another device.
    virtual void prepare(StageMemory& memory) const = 0;
    /// What they take beside the bands, on the host or the device, for one map.
    virtual std::int64_t scratch_bytes() const = 0;

    /// F_m of these orders become scale G F_m, G the exact rule over theta (rings/meridian_integral.hpp), of
    /// a band of all blocks that has all orders of each. Only of stages that were made with it.
    virtual void integrate_orders(const FourierBand& band, OrderNumbers orders, double scale,
                                  StageMemory& memory) const = 0;
    /// Zeros in such a band where synthesize_orders does not write.
    virtual void clear_unreached(const FourierBand& band, OrderNumbers orders, StageMemory& memory) const = 0;

    /// Maps that one pass of the recurrence serves, the same on every device.
    virtual std::int64_t maps_per_pass() const = 0;
};

/// The functions for T, which are templates of the class Derived.
template <class Derived, class T>
class StagesBy : public virtual StagesOf<T> {
  public:
    void synthesize_orders(View<const std::complex<T>, 3> alm, OrderNumbers orders, const FourierBand& band,
                           StageMemory& memory) const final {
        self().template synthesize_orders<T>(alm, orders, band, self().scratch_of(memory));
    }
    void synthesize_rings(const FourierBand& band, View<T, 3> map, StageMemory& memory) const final {
        self().template synthesize_rings<T>(band, map, self().scratch_of(memory));
    }
    void residual_rings(View<const T, 3> map, const FourierBand& band, StageMemory& memory) const final {
        self().template residual_rings<T>(map, band, self().scratch_of(memory));
    }
    void adjoint_rings(View<const T, 3> map, bool weighted, const FourierBand& band,
                       StageMemory& memory) const final {
        self().template adjoint_rings<T>(map, weighted, band, self().scratch_of(memory));
    }
    void adjoint_orders(std::span<const FourierBand> parts, View<std::complex<T>, 3> alm, OrderNumbers orders,
                        StageMemory& memory) const final {
        self().template adjoint_orders<T>(parts, alm, orders, self().scratch_of(memory));
    }

  private:
    const Derived& self() const { return static_cast<const Derived&>(*this); }
};
template <class Derived>
class StagesAs : public Stages, public StagesBy<Derived, float>, public StagesBy<Derived, double> {};

/// layout: of the rank's alm. pairs: of the whole grid, to which references are kept. options: resolved, its
/// device CUDA.
std::unique_ptr<const Stages> make_cuda_stages(const AlmLayout& layout, const ShtOptions& options,
                                               const RingPairs& pairs, const RankRings& rings,
                                               const ExactRings* exact);

}  // namespace zonal::sht
