#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/buffer.hpp"
#include "zonal/device.hpp"
#include "zonal/error.hpp"
#include "zonal/grid.hpp"
#include "zonal/sht.hpp"
#include "zonal/view.hpp"

namespace zonal {

class SkyPatch;

/// Pixels that one array has from `from` on, and another from `to` on.
struct PixelCopy {
    std::int64_t from, to, n_pixels;
    bool operator==(const PixelCopy&) const = default;
};

/// What an array that has ranges of a map's pixels, one after the other, gives to one that has other ranges
/// of them; in the order of the map.
std::vector<PixelCopy> copies_between(std::span<const PixelRange> from, std::span<const PixelRange> to);

/// Copies rows of such arrays, [row, pixel].
template <class T>
void copy_pixels(const std::vector<PixelCopy>& copies, View<const T, 2> from, View<T, 2> to) {
    for (std::int64_t row = 0; row < from.extent(0); ++row)
        for (const auto& copy : copies)
            std::copy_n(from[row].data() + copy.from, copy.n_pixels, to[row].data() + copy.to);
}

/// Rows that have `from`, [row, pixel], as rows that have `to`, with `elsewhere` in pixels that were not
/// there.
template <class T>
Array<T, 2> on_pixels(View<const T, 2> rows, std::span<const PixelRange> from, std::span<const PixelRange> to,
                      double elsewhere) {
    std::int64_t n_pixels = 0;
    for (const auto& range : to) n_pixels += range.end - range.first;
    Array<T, 2> result({rows.extent(0), n_pixels});
    if (elsewhere != 0) std::fill_n(result.data(), result.size(), static_cast<T>(elsewhere));
    copy_pixels(copies_between(from, to), rows, result.view());
    return result;
}

/// Rings of `out`, and those that a kernel reaches from them: `in`, in an array of their own.
struct RingSums {
    Grid in, out;
};

/// What the exchanges of halos keep for the next one; one exchange at a time.
struct HaloMemory {
    Buffer reached;                          ///< where the maps are
    Buffer sent, received;                   ///< messages, where they go through the host's memory
    std::shared_ptr<void> stream = nullptr;  ///< a cudaStream_t of the maps' GPU
};

/// Maps of all that is reached from a rank's outer rings, on their way.
template <class T>
class HaloExchange {
  public:
    virtual ~HaloExchange() = default;
    /// Collective, once. Returns them, [map, component, outer()->in.n_pixels()], when they are there; nothing
    /// where there are no outer rings.
    virtual View<const T, 3> wait() = 0;
};

/// A rank's rings by whether a kernel reaches other ranks' from them.
class SkyHalo {
  public:
    virtual ~SkyHalo() = default;
    /// Those from which it does not: in is the grid of the rank's maps. Nothing where there are none.
    virtual const std::optional<RingSums>& inner() const = 0;
    /// The others: in is the grid of what an exchange brings.
    virtual const std::optional<RingSums>& outer() const = 0;
    /// Collective. Begins to bring what is reached from the outer rings to where the maps are. maps: of this
    /// rank's pixels, [map, component, pixel], in the memory of the host or of the rank's GPU, and ready or
    /// written by work on its default stream. They and the memory stay as they are until wait() returns.
    /// Throws InvalidArgument on all ranks if their maps differ in number.
    virtual std::unique_ptr<HaloExchange<float>> begin(View<const float, 3> maps,
                                                       HaloMemory& memory) const = 0;
    virtual std::unique_ptr<HaloExchange<double>> begin(View<const double, 3> maps,
                                                        HaloMemory& memory) const = 0;
};

/// What a rank sends to others or receives from them, whichever is more.
struct Traffic {
    std::int64_t messages = 0, bytes = 0;
    bool operator==(const Traffic&) const = default;
};

/// What messages between ranks take, s. Zero where that is not known, and where there are none.
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

/// The rings of a part's sums over pixels.
struct HaloShare {
    Grid grid;          ///< of the rings that are read
    Grid grid_out;      ///< of those that get sums
    Traffic traffic{};  ///< of one row in double precision
};

/// The part of a sky that a process has: all of it where the process is alone (WholeSky), or the pixels of a
/// partial sky (SkyPatch), else that of one rank (DistributedSky). What is done with a part is done with
/// either, if all ranks make the same calls.
class SkyPart {
  public:
    virtual ~SkyPart() = default;

    virtual const Grid& whole_grid() const = 0;
    /// This rank's rings, in an array of their own.
    virtual const Grid& grid() const = 0;
    /// The pixels of that array, in ring order of the whole map, one range after the other.
    virtual std::span<const PixelRange> pixels() const = 0;
    /// This rank's coefficients up to lmax and mmax; -1: the usual ones. Throws InvalidArgument where a
    /// rank's are others.
    virtual AlmLayout layout(std::int64_t lmax = -1, std::int64_t mmax = -1) const = 0;
    /// The transform of this rank's arrays. Collective where it is the first with these options. Ranks have
    /// their own threads and devices, whatever the options say.
    virtual std::shared_ptr<const ShtPlan> transform(const ShtOptions& options) const = 0;
    /// Collective. support: of the kernel, rad; the same on all ranks.
    virtual std::shared_ptr<const SkyHalo> halo(double support) const = 0;
    /// Collective. Throws on all ranks what went wrong on one.
    virtual void agree(const std::string& call, std::exception_ptr error) const = 0;
    /// Collective. Sums over all rings of the sky in their order: partial [this rank's ring, n].
    virtual std::vector<double> sum_rings(View<const double, 2> partial) const = 0;
    /// Collective. Every rank's number, by rank.
    virtual std::vector<double> gather(double number) const = 0;

    /// What is computed on where this is wanted; automatic may stay so.
    virtual Device device(Device wanted) const = 0;
    /// What this rank does in a transform up to another lmax.
    virtual TransformShare transform_share(std::int64_t lmax, int spin) const = 0;
    /// What a halo is going to be, without making one.
    virtual HaloShare halo_share(double support) const = 0;
    /// Whether it is a rank's of a job, be it the only one, where calls are collective.
    virtual bool is_of_a_rank() const { return true; }
    /// This part, where it is a patch; else null.
    virtual const SkyPatch* patch() const { return nullptr; }
    /// Collective. The costs of messages, measured when a job first asks, the same on all ranks.
    virtual MessageCosts message_costs() const = 0;

    /// Whether this process has all of the sky's pixels, as the only rank of a job has, too.
    bool has_all_pixels() const { return grid().n_pixels() == whole_grid().n_pixels(); }
    /// Collective. Does this rank's own work, and throws on all ranks what goes wrong on one.
    template <class Work>
    void together(const std::string& call, const Work& work) const {
        agree(call, thrown_by(work));
    }
    /// Collective. The sum of all ranks' numbers of pixels.
    std::int64_t sum(std::int64_t count) const {
        const auto counts = gather(static_cast<double>(count));
        return static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.end(), 0.0));
    }
    /// Collective. The largest of all ranks' values.
    double largest(double value) const {
        const auto values = gather(value);
        return *std::max_element(values.begin(), values.end());
    }
    /// The number in the whole map of a pixel of this rank's array.
    std::int64_t whole_pixel(std::int64_t pixel) const {
        for (const auto& range : pixels()) {
            if (pixel < range.end - range.first) return range.first + pixel;
            pixel -= range.end - range.first;
        }
        return pixel;
    }
};

/// The sky of a process that is alone, which has all rings and computes where it is told to.
class WholeSky : public SkyPart {
  public:
    explicit WholeSky(const Grid& grid) : grid_(grid), pixels_{0, grid.n_pixels()} {}

    const Grid& whole_grid() const override { return grid_; }
    const Grid& grid() const override { return grid_; }
    std::span<const PixelRange> pixels() const override { return {&pixels_, 1}; }
    AlmLayout layout(std::int64_t lmax, std::int64_t mmax) const override;
    std::shared_ptr<const ShtPlan> transform(const ShtOptions& options) const override;
    std::shared_ptr<const SkyHalo> halo(double support) const override;
    void agree(const std::string& call, std::exception_ptr error) const override;
    std::vector<double> sum_rings(View<const double, 2> partial) const override;
    std::vector<double> gather(double number) const override { return {number}; }
    Device device(Device wanted) const override { return wanted; }
    TransformShare transform_share(std::int64_t, int) const override { return {}; }
    HaloShare halo_share(double) const override { return {grid_, grid_}; }
    MessageCosts message_costs() const override { return {}; }
    bool is_of_a_rank() const override { return false; }

  private:
    Grid grid_;
    PixelRange pixels_;
};

/// A part of a sky, or all of it where there is none.
std::shared_ptr<const SkyPart> part_or_whole(std::shared_ptr<const SkyPart> part, const Grid& grid);

}  // namespace zonal
