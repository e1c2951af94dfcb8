#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "zonal/grid.hpp"
#include "zonal/sht.hpp"

namespace zonal {

namespace distributed {
class Transport;
class DistributedTransform;
}  // namespace distributed

/// The ranks that work on one transform together, and which of them this is. zonal/distributed/mpi.hpp has
/// the transports of MPI. A rank that is left by an exception must end the job, or its partners wait for it.
class Communicator {
  public:
    explicit Communicator(std::shared_ptr<distributed::Transport> transport);

    int rank() const;
    int size() const;

    /// Collective. The sums of every rank's values, added by rank, on all ranks: of parts of spectra, say.
    /// Throws InvalidArgument on all ranks if their numbers of values differ.
    std::vector<double> sum(const std::vector<double>& values) const;

    /// Ranks that are threads of this process: result[i] is for the thread of rank i.
    static std::vector<Communicator> threads(int n_ranks);
    /// One rank of a job whose others do not exist: it computes its share and sends nothing, to measure what
    /// a large job would take. Results are wrong.
    static Communicator solo(int rank, int n_ranks);

    const std::shared_ptr<distributed::Transport>& transport() const { return transport_; }

  private:
    std::shared_ptr<distributed::Transport> transport_;
};

/// What a distributed transform is for. All ranks must give the same, threads apart.
struct DistributedOptions {
    ShtOptions sht;  ///< device: the CPU, or automatic, which means the CPU
    /// How fast each rank is, relative to the others: shares of the work follow it. Empty: all alike.
    std::vector<double> speeds;
};

/// What one rank has of a transform of one map.
struct RankShare {
    std::int64_t n_pixels, n_coefficients;
    double legendre_flops, ring_flops;  ///< as they were balanced
    std::int64_t bytes_sent;            ///< to other ranks in a synthesis
    bool operator==(const RankShare&) const = default;
};

/// A spherical harmonic transform whose ranks have a part of the alm and of the maps each: some orders m, and
/// two runs of rings, a northern and a southern one. No rank has the whole of either.
///
/// Results do not depend on the number of ranks or their shares: they are those of ShtPlan on the CPU, bit
/// for bit. At most one rank for 16 rings.
class DistributedPlan {
  public:
    /// Collective: all ranks make it, with the same arguments. Throws InvalidArgument on all ranks if one
    /// gives wrong options or others than the rest.
    DistributedPlan(const Communicator& communicator, const Grid& grid, const DistributedOptions& options);

    /// The transforms of this rank's arrays; all ranks make the same calls in the same order. It has this
    /// rank's part of the grid (grid) and of the coefficients (layout), and goes wherever an ShtPlan does:
    /// into analyze, say. An error on one rank is thrown on all of them, with that rank's number in its text.
    const ShtPlan& local() const { return plan_; }

    /// This rank's pixels of the whole map, in the order in which its array has them.
    std::span<const PixelRange> pixels() const { return pixels_; }
    /// Its orders m, which its AlmLayout has, ascending.
    std::span<const std::int64_t> orders() const { return orders_; }
    /// Every rank's share.
    const std::vector<RankShare>& shares() const { return shares_; }

  private:
    explicit DistributedPlan(std::unique_ptr<const distributed::DistributedTransform> transform);

    std::vector<PixelRange> pixels_;
    std::vector<std::int64_t> orders_;
    std::vector<RankShare> shares_;
    ShtPlan plan_;
};

}  // namespace zonal
