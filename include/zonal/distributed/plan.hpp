#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zonal/error.hpp"
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
    /// Collective. Every rank's bytes, by rank, on all ranks. Lengths may differ.
    std::vector<std::string> gather(const std::string& bytes) const;
    /// Collective. Sends outgoing[i] to rank i, and returns what each rank has sent to this one, by rank.
    /// Throws InvalidArgument on all ranks unless each has a message, empty or not, for each rank.
    std::vector<std::string> exchange(std::vector<std::string> outgoing) const;
    /// Collective. Throws on all ranks what went wrong on the first one on which something did, with "rank N:
    /// " before its text unless all ranks say the same; and InvalidArgument if the ranks' calls, which say
    /// what they do, differ. error: what went wrong here, or null.
    void agree(const std::string& call, std::exception_ptr error = nullptr) const;
    /// Collective. Does a rank's own work, in which it does not wait for others, and agrees on its errors.
    template <class Work>
    void together(const std::string& call, const Work& work) const {
        agree(call, thrown_by(work));
    }
    /// Collective. This rank's share of the CPUs that it may use, above 0 and at most 1: each CPU is divided
    /// among the ranks of the machine that may use it.
    double share_of_cpus() const;
    /// Collective. Throws OutOfMemory on all ranks if a rank lacks these bytes, or a machine those of all its
    /// ranks: for the moment before much is allocated, as require_memory is in one process.
    void require_memory(double bytes, const std::string& what) const;
    /// Collective. What this rank computes on, if each takes a GPU of its own: the GPU with the rank's number
    /// among the ranks of its machine, of those that it sees, beginning again after the last. wanted:
    /// cuda, which throws on all ranks if one sees no GPU that it can use; automatic, by which such a rank
    /// takes the CPU; or cpu.
    Device own_device(Device::Kind wanted) const;
    /// Collective. own_device for Device::automatic(); others, which each rank may choose, as they are.
    Device resolve_device(Device requested) const;
    /// Collective. How long to wait for another rank, in seconds, before CommunicationError names the ranks
    /// that are silent; without it, for ever. A rank that computes for long is silent, too. The job must end
    /// after such an error, as MPI may still use the memory of messages, and crash where that is gone.
    /// at_silence: called with the error's text before it is thrown, while that memory is still there, to end
    /// the job. Throws InvalidArgument for numbers that are not positive, and for ranks that MPI does not
    /// connect.
    void set_timeout(double seconds, const std::function<void(const std::string&)>& at_silence = {}) const;
    /// Tells the other ranks that this one is about to say why the job fails, and to abort it.
    void announce_end() const;
    /// The lowest of the other ranks that have announced an end; -1 if none has.
    int rank_that_ends() const;
    /// Whether the last thing that the ranks agreed on was an error, which all of them then throw.
    bool failed_together() const;

    /// All ranks of the job that mpirun or the like has started, of which this process is one; nothing where
    /// it was started alone, or as the only rank. Loads the library zonal_mpi, so that programs need not be
    /// linked with MPI, which ends with the last copy. Throws CommunicationError if the library is not there,
    /// or belongs to another MPI than mpirun does.
    static std::optional<Communicator> launched();
    /// Ends all ranks of launched() at once; mpirun's exit status is `status`.
    static void abort_launched(int status);
    /// Ranks that are threads of this process: result[i] is for the thread of rank i. Sets the environment
    /// variable NCCL_CUMEM_ENABLE to 0, unless it is set: by cuMem, NCCL may end the process as ranks leave.
    static std::vector<Communicator> threads(int n_ranks);
    /// One rank of a job whose others do not exist: it computes its share and sends nothing, to measure what
    /// a large job would take. Results are wrong.
    static Communicator solo(int rank, int n_ranks);

    const std::shared_ptr<distributed::Transport>& transport() const { return transport_; }

  private:
    std::shared_ptr<distributed::Transport> transport_;
};

/// How the ranks send each other coefficients.
enum class ExchangeWay {
    automatic,  ///< nccl where it can be used, else host
    host,       ///< by the job's MPI, from and to host memory, which is page-locked on ranks with a GPU
    nccl        ///< by NCCL, between the memories of GPUs: every rank must compute on one of its own
};

/// Which way the ranks of a plan use.
struct ExchangeReport {
    ExchangeWay way = ExchangeWay::host;  ///< host or nccl
    std::string reason;                   ///< why it is not nccl; "" if it is
    /// "NCCL", "host memory (rank 1 computes on the CPU)" and the like.
    std::string text() const;
};

/// What a distributed transform is for. All ranks must give the same, but for threads, device and accuracy,
/// which are each rank's own.
struct DistributedOptions {
    /// device: what this rank computes on, Device::automatic() by Communicator::own_device. A job may have
    /// ranks on CPUs and on GPUs; several may share a GPU. max_workspace_bytes: must be 0.
    ShtOptions sht;
    /// How fast each rank is, relative to the others: shares of the work follow it. Empty: all alike if all
    /// are on CPUs, or all on GPUs; else a rank on a CPU counts as its threads, and one on a GPU as 64.
    std::vector<double> speeds = {};
    /// nccl: InvalidArgument on all ranks, with the reason, where it cannot be used.
    ExchangeWay exchange = ExchangeWay::automatic;
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
/// If all ranks are on CPUs, results do not depend on their number or shares: they are those of ShtPlan on
/// the CPU, bit for bit. With ranks on GPUs, they are the same to rounding, and to the accuracy of the
/// options. At most one rank for 16 rings.
class DistributedPlan {
  public:
    /// Collective: all ranks make it, with the same arguments. Throws InvalidArgument on all ranks if one
    /// gives wrong options or others than the rest.
    DistributedPlan(const Communicator& communicator, const Grid& grid, const DistributedOptions& options);

    /// The transforms of this rank's arrays; all ranks make the same calls in the same order. It has this
    /// rank's part of the grid (grid) and of the coefficients (layout), and goes wherever an ShtPlan does:
    /// into analyze, say. Arrays lie in host memory or, on a rank that computes on a GPU, in that GPU's
    /// memory; options().device is the CPU on all ranks, as an analysis keeps its own arrays in host memory.
    /// A workspace on a GPU has times of stages after measure_stages(true), which makes each stage wait for
    /// the one before. An error on one rank is thrown on all of them, with that rank's number in its text.
    const ShtPlan& local() const { return plan_; }

    /// This rank's pixels of the whole map, in the order in which its array has them.
    std::span<const PixelRange> pixels() const { return pixels_; }
    /// Its orders m, which its AlmLayout has, ascending.
    std::span<const std::int64_t> orders() const { return orders_; }
    /// How fast each rank counts, relative to the others.
    const std::vector<double>& speeds() const { return speeds_; }
    /// Every rank's share.
    const std::vector<RankShare>& shares() const { return shares_; }
    /// How the ranks exchange coefficients, the same on all of them.
    const ExchangeReport& exchange() const { return exchange_; }

  private:
    std::vector<PixelRange> pixels_;
    std::vector<std::int64_t> orders_;
    std::vector<double> speeds_;
    std::vector<RankShare> shares_;
    ExchangeReport exchange_;
    ShtPlan plan_;
};

}  // namespace zonal
