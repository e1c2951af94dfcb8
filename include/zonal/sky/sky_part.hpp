#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/error.hpp"
#include "zonal/grid.hpp"
#include "zonal/sht.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// A rank's rings, and those of other ranks that a kernel reaches from them.
class SkyHalo {
  public:
    virtual ~SkyHalo() = default;
    /// All these rings, in an array of their own.
    virtual const Grid& grid() const = 0;
    /// Collective. maps: [row, this rank's pixel]; haloed: [row, grid().n_pixels()]. Throws InvalidArgument
    /// on all ranks if their rows differ in number.
    virtual void fill(View<const float, 2> maps, View<float, 2> haloed) const = 0;
    virtual void fill(View<const double, 2> maps, View<double, 2> haloed) const = 0;
};

/// What a rank sends to others or receives from them, whichever is more.
struct Traffic {
    std::int64_t messages = 0, bytes = 0;
    bool operator==(const Traffic&) const = default;
};

/// What messages between ranks take, s. Zero where that is not known.
struct MessageCosts {
    double message = 0;  ///< each, however short
    double byte = 0;

    double seconds(const Traffic& traffic) const {
        return message * static_cast<double>(traffic.messages) + byte * static_cast<double>(traffic.bytes);
    }
};

/// A rank's share of a transform.
struct TransformShare {
    double legendre = 1;        ///< of the work of the Legendre stage of all ranks
    std::int64_t n_chunks = 1;  ///< of its orders: one is sent while the next is worked on
    Traffic traffic{};          ///< of a synthesis or adjoint of one map
};

/// The rings that a rank's sums over pixels read.
struct HaloShare {
    Grid grid;          ///< of these rings, in an array of their own
    Traffic traffic{};  ///< of one row in double precision
};

/// One rank's part of a sky of which no process has the whole: DistributedSky in zonal/distributed/sky.hpp.
/// A SkyMap that has a part goes wherever a whole one does, if all ranks make the same calls.
class SkyPart {
  public:
    virtual ~SkyPart() = default;

    virtual const Grid& whole_grid() const = 0;
    /// This rank's rings, in an array of their own.
    virtual const Grid& grid() const = 0;
    /// The pixels of that array, in ring order of the whole map, one range after the other.
    virtual std::span<const PixelRange> pixels() const = 0;
    /// This rank's orders m.
    virtual const AlmLayout& layout() const = 0;
    /// The transform of this rank's arrays. Collective where it is the first of this spin.
    virtual std::shared_ptr<const ShtPlan> plan(int spin) const = 0;
    /// Collective. The same rings, with all alm up to another lmax.
    virtual std::shared_ptr<const SkyPart> up_to(std::int64_t lmax) const = 0;
    /// Collective. support: of the kernel, rad; the same on all ranks.
    virtual std::shared_ptr<const SkyHalo> halo(double support) const = 0;
    /// Collective. Throws on all ranks what went wrong on one.
    virtual void agree(const std::string& call, std::exception_ptr error) const = 0;
    /// Collective. Sums over all rings of the sky in their order: partial [this rank's ring, n].
    virtual std::vector<double> sum_rings(View<const double, 2> partial) const = 0;
    /// Collective. The sums of every rank's values, added by rank, on all ranks.
    virtual std::vector<double> sum(const std::vector<double>& values) const = 0;
    /// Collective. Every rank's number, by rank.
    virtual std::vector<double> gather(double number) const = 0;

    /// What this rank's transforms run on.
    virtual Device device() const = 0;
    /// What this rank does in a transform up to another lmax.
    virtual TransformShare transform_share(std::int64_t lmax, int spin) const = 0;
    /// What a halo is going to be, without making one.
    virtual HaloShare halo_share(double support) const = 0;
    /// Says why there is no halo; empty where there may be one.
    virtual std::string why_no_halo() const = 0;
    /// Collective. The costs of messages, measured when a job first asks, the same on all ranks.
    virtual MessageCosts message_costs() const = 0;

    /// The number in the whole map of a pixel of this rank's array.
    std::int64_t whole_pixel(std::int64_t pixel) const {
        for (const auto& range : pixels()) {
            if (pixel < range.end - range.first) return range.first + pixel;
            pixel -= range.end - range.first;
        }
        return pixel;
    }
};

/// Does a process's own work, and throws on all ranks what goes wrong on one. part: null where the process
/// is alone.
template <class Work>
void do_together(const SkyPart* part, const std::string& call, const Work& work) {
    if (part == nullptr) return work();
    std::exception_ptr error;
    try {
        work();
    } catch (...) {
        error = std::current_exception();
    }
    part->agree(call, error);
}

/// Collective. The sum of all ranks' numbers of pixels. part: null where the process is alone.
inline std::int64_t count_of_ranks(const SkyPart* part, std::int64_t count) {
    if (part == nullptr) return count;
    const auto counts = part->gather(static_cast<double>(count));
    return static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.end(), 0.0));
}

/// Collective. The largest of all ranks' values. part: null where the process is alone.
inline double largest_of_ranks(const SkyPart* part, double value) {
    if (part == nullptr) return value;
    const auto values = part->gather(value);
    return *std::max_element(values.begin(), values.end());
}

}  // namespace zonal
