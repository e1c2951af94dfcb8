#pragma once

#include <algorithm>
#include <memory>

#include "core/cuda.cuh"
#include "sht/legendre/legendre.hpp"

/// The Legendre stage on CUDA: between coefficients a_lm and the Fourier coefficients F_m(theta) of the ring
/// pairs, as on the CPU (legendre_cpu.cpp): Ishioka's recurrence for spin 0 and, through scalars, others;
/// differences of Jacobi polynomials near the poles, the three-term recurrence near the equator and where a
/// field of a spin above 2 is no scalar one yet.
namespace zonal::sht::cuda {

/// F_m of a ring pair: re and im of each ring.
struct alignas(32) PairModes {
    double2 north, south;
};

/// log2 in two parts per entry (sht/ring_pairs.hpp).
struct LogView {
    const double *high, *low;
};

/// What the kernels read of a plan; device pointers.
struct LegendreView {
    std::int64_t lmax, mmax;
    int spin, components;
    /// [pair]
    const double *cos_theta, *cos2_theta, *h;
    /// [pair]: 1 / sin^s theta, the factor that the scalar form of a spin field leaves out.
    const double* scalar_factor;
    LogView log2_sin, log2_cos_half, log2_sin_half;
    /// [mmax + 1]
    LogView log2_scalar, log2_wigner;
    /// [n_orders], the orders by their number: a rank of a distributed transform has some of them.
    const std::int64_t* orders;
    /// [mmax + 1]: degree l of order m is entry alm_origin[m] + l of the alm, and entry row_origin[m] + l of
    /// rows with degrees up to lmax + spin, of which there are n_rows entries.
    const std::int64_t *alm_origin, *row_origin;
    std::int64_t n_rows;
    /// [spin][3][lmax + spin + 3]: the weights below, above and across of SpinStep, from l = -1 on.
    const double* spin_steps;
    /// [mmax + 2]: order m has the Ishioka steps first_step[m] .. first_step[m+1], a multiple of step_group.
    const std::int64_t* first_step;
    /// [steps]
    const double* alpha;
    /// [mmax + 1]: F_m of pair p lies at fourier_origin[m] + p.
    const std::int64_t* fourier_origin;
};

/// One block's work: order m at the pairs [first, end). Adjoint: its sums start at `sums` (in doubles, per
/// field for Ishioka, per map for Jacobi).
struct LegendreJob {
    std::int32_t m, first, end;
    std::int64_t sums;
};

inline constexpr int all_bands = -1;

/// Orders of the numbers [first, end), those that one launch of a kernel works on: with all orders, the
/// numbers are the orders. band: number of the JobBand whose jobs only are launched.
struct Orders {
    std::int64_t first, end;
    int band = all_bands;
    std::int64_t count() const { return end - first; }
    Orders of_band(int k) const { return {first, end, k}; }
};

/// The jobs that end past pair `above`, with pair `last` - 1 or before.
struct JobBand {
    std::int64_t above, last;
};

/// Jobs of one kind, order by order.
struct JobList {
    /// Those of the orders in their band: where they begin, and how many.
    const LegendreJob* begin(Orders orders) const {
        return jobs.data() + first_job[orders.band + 1][orders.first];
    }
    unsigned count(Orders orders) const {
        const auto& first = first_job[orders.band + 1];
        return static_cast<unsigned>(first[orders.end] - first[orders.first]);
    }
    /// Makes launches of these bands possible.
    void cut(const std::vector<JobBand>& bands);

    /// Doubles per field of the sums of the orders, which follow one another, and of the orders before them.
    std::int64_t sums_of(Orders orders) const { return sums_before(orders.end) - sums_before(orders.first); }
    std::int64_t sums_before(std::int64_t number) const { return first_sum_of_order[number]; }

    std::vector<LegendreJob> host_jobs;         ///< order by order, longest first
    core::DeviceArray<LegendreJob> jobs;        ///< those, and behind them once more band by band
    core::DeviceArray<std::int64_t> first_sum;  ///< [mmax + 1], where the order's first job's sums start
    core::DeviceArray<std::int32_t> n_tiles;    ///< [mmax + 1]
    /// [1 + bands][orders + 1], on the host: of each order, by number, and the end; first of all bands.
    std::vector<std::vector<std::int64_t>> first_job{1};
    std::vector<std::int64_t> first_sum_of_order;  ///< the same of its sums
    std::int64_t n_sums = 0;                       ///< doubles per field of all jobs
    std::int64_t tile = 0;                         ///< pairs of a job at most
};

/// Doubles per field that the adjoint's sums of a step (even re, im, odd re, im) and of a degree (re, im)
/// take.
inline constexpr int sums_per_step = 4;
inline constexpr int sums_per_degree = 2;
/// Steps and degrees come in whole groups.
inline constexpr int step_group = 8;
inline constexpr int degree_group = 16;

/// Ring pairs of a block of each kind of kernel, and scalar fields that one pass of Ishioka's recurrence
/// serves at most. Fewer pairs where there would not be blocks enough to fill the device, found by trying
/// lmax 1023, 2048 and 4096 on an H200; and no more than what shared memory holds: passes of adjoints take 91
/// KiB (ishioka_adjoint_cuda.cu), products of eight fields 69 (ishioka_products_cuda.cu).
struct Tiles {
    static constexpr std::int64_t small_adjoint = 256, large_adjoint = 384;
    static constexpr std::int64_t small_adjoint_grain = 64, large_adjoint_grain = 96;
    static constexpr std::int64_t small_jacobi = 32;
    std::int64_t synthesis;  ///< Ishioka
    std::int64_t jacobi;     ///< where there are more pairs than small_jacobi
    int max_fields;
    bool few;      ///< blocks
    bool smaller;  ///< tiles of adjoints, which are not made in passes, few blocks or not

    Tiles(std::int64_t lmax, std::int64_t shared_memory) {
        constexpr std::int64_t kib = 1024;
        few = lmax < 2048;
        smaller = few || shared_memory < 92 * kib;
        synthesis = 128;
        jacobi = few ? small_jacobi : 64;
        max_fields = shared_memory < 72 * kib ? 6 : 8;
    }

    bool takes_passes() const { return !smaller; }
    /// The size for Ishioka's adjoint.
    std::int64_t adjoint() const { return smaller ? small_adjoint : large_adjoint; }
    /// Pairs that an adjoint's jobs take more of at a time: what keeps one more warp busy.
    std::int64_t adjoint_grain() const { return smaller ? small_adjoint_grain : large_adjoint_grain; }
};

/// Where the F_m of a field's ring pairs lie: order by order, those of the pairs that an order reaches.
class FourierLayout {
  public:
    /// alm: whose orders there are.
    FourierLayout(const RingPairs& rings, const AlmLayout& alm);
    /// All orders up to mmax in the order of the runs: a band with one zone of these pairs lies alike.
    FourierLayout(const RingPairs& rings, std::int64_t mmax,
                  const std::vector<std::vector<std::int64_t>>& runs);

    /// Pairs that hold a ring: without those that fill up the last block.
    std::int64_t n_pairs() const { return n_pairs_; }
    /// The first pair that order m reaches, at most n_pairs(), which is that of orders that are not there.
    std::int64_t first_pair(std::int64_t m) const { return first_pair_[m]; }
    /// Entries of one field.
    std::int64_t size() const { return size_; }
    /// On the device, [mmax + 1]: F_m of pair p lies at origin[m] + p.
    const std::int64_t* origin() const { return device_origin_.data(); }
    const std::int64_t* first_pairs() const { return device_first_pair_.data(); }
    /// On the device, [n_orders()]: the orders by their number.
    const std::int64_t* orders() const { return device_orders_.data(); }
    std::int64_t n_orders() const { return device_orders_.size(); }

  private:
    /// placed: the orders as they lie.
    FourierLayout(const RingPairs& rings, std::int64_t mmax, const std::vector<std::int64_t>& placed);

    std::int64_t n_pairs_ = 0, size_ = 0;
    std::vector<std::int64_t> first_pair_;
    core::DeviceArray<std::int64_t> device_origin_, device_first_pair_, device_orders_;
};

/// A plan's tables on the device, and its work in blocks.
class LegendreStage {
  public:
    LegendreStage(const RingPairs& rings, const LegendreTable& table);

    const LegendreView& view() const { return view_; }
    const FourierLayout& layout() const { return layout_; }
    const AlmLayout& alm() const { return alm_; }
    Orders all_orders() const { return {0, alm_.n_orders()}; }
    std::int64_t n_steps() const { return n_steps_; }
    const Tiles& tiles() const { return tiles_; }
    /// Whether there are pairs between the polar and the equatorial ones.
    bool has_ishioka() const { return view_.alpha != nullptr; }
    /// The jobs of adjoints.
    const JobList& ishioka() const { return ishioka_; }
    /// Doubles that adjoints of up to n_fields fields, at once, sum the orders' steps to: passes of three
    /// have room for four.
    std::int64_t most_step_sums(int n_fields, Orders orders) const {
        const int room = tiles_.takes_passes() && n_fields % 4 == 3 ? n_fields + 1 : n_fields;
        return room * ishioka_.sums_of(orders);
    }
    const JobList& ishioka_synthesis() const { return ishioka_synthesis_; }
    const JobList& polar() const { return polar_; }
    /// Makes launches of these bands possible.
    void cut(const std::vector<JobBand>& bands);
    /// Those of the three-term recurrence: at the equator, and between it and the poles for spins that are
    /// not taken for scalars.
    const JobList& equatorial() const { return equatorial_; }

  private:
    const Tiles tiles_;
    const AlmLayout alm_;
    FourierLayout layout_;
    std::int64_t n_steps_ = 0;
    core::DeviceArray<double> cos_theta_, cos2_theta_, h_, scalar_factor_, alpha_, spin_steps_;
    core::DeviceArray<double> logs_[10];
    core::DeviceArray<std::int64_t> first_step_, alm_origin_, row_origin_;
    JobList ishioka_, ishioka_synthesis_, polar_, equatorial_;
    LegendreView view_{};
};

/// Scalar fields that one pass of Ishioka's recurrence serves at most, on any device.
inline constexpr int max_fields = 8;
/// Spins above are not taken for scalars: no more steps from spin to spin fit in a block.
inline constexpr int most_spin_steps = 32;

/// Doubles of a step of the synthesis: A, B, then from first_field on four per field.
struct StepLayout {
    int stride, first_field, n_fields;
};

/// How synthesize_ishioka reads them: by each thread for itself up to two fields, else as the tensor cores
/// do, two fields a block of columns; rows that are read together then lie in different banks.
inline StepLayout step_layout(int n_fields) {
    if (n_fields <= 2) return {2 + 4 * n_fields, 2, n_fields};
    const int even = (n_fields + 1) / 2 * 2;
    return {4 + 4 * even, 4, even};
}

/// coefficients: write_steps with step_layout(n_fields); fourier: [n_fields] of layout().size() each, the
/// part of the Ishioka pairs overwritten. n_fields: 1 to max_fields.
void synthesize_ishioka(const LegendreStage& stage, Orders orders, const double* coefficients, int n_fields,
                        PairModes* fourier, cudaStream_t stream);
/// The same for one scalar field from its alm, without write_steps: each block makes the steps that it needs,
/// which pays while an order has few blocks (Tiles::few).
template <class T>
void synthesize_ishioka_alm(const LegendreStage& stage, Orders orders, const T* alm, PairModes* fourier,
                            cudaStream_t stream);
/// The same by matrix products on the tensor cores: for more than two fields.
void synthesize_ishioka_products(const LegendreStage& stage, Orders orders, const double* coefficients,
                                 int n_fields, PairModes* fourier, cudaStream_t stream);

/// Where adjoints leave the sums of the steps of some orders, which follow one another; null where no pairs
/// are for Ishioka's recurrence.
struct StepSumsRoom {
    double* sums;
    Orders orders;
};

/// Fields [first, first + count) that one pass of adjoint_ishioka serves, with room for `width` of them:
/// four, or what is left, but three as four.
struct FieldPass {
    int first, count, width;

    FieldPass(int first, int n_fields)
        : first(first), count(std::min(4, n_fields - first)), width(count == 3 ? 4 : count) {}
};

/// recurrence: [step][2], see write_recurrence. room: for the orders and perhaps others, of which the orders'
/// jobs are overwritten: [job of ishioka()][step][4 n_fields]; where it takes passes (Tiles::takes_passes),
/// of each pass [job of ishioka()][S, then T: 4 per field][even step].
void adjoint_ishioka(const LegendreStage& stage, Orders orders, const double* recurrence, int n_fields,
                     const PairModes* fourier, StepSumsRoom room, cudaStream_t stream);
/// Those of the n fields from `first` on that share a job's, such that a job's begin at n * job.sums: jobs
/// count from the first of all orders.
inline double* sums_of_fields(const LegendreStage& stage, StepSumsRoom room, int first, int n) {
    const JobList& jobs = stage.ishioka();
    return room.sums + first * jobs.sums_of(room.orders) - n * jobs.sums_before(room.orders.first);
}
/// adjoint_ishioka where it does not take passes, with what sums_of_fields returns: of one field, and by
/// matrix products of more.
void adjoint_ishioka_few(const LegendreStage& stage, Orders orders, const double* recurrence, int n_fields,
                         const PairModes* fourier, double* sums, cudaStream_t stream);
void adjoint_ishioka_products(const LegendreStage& stage, Orders orders, const double* recurrence,
                              int n_fields, const PairModes* fourier, double* sums, cudaStream_t stream);

/// A map's coefficients as the Jacobi kernels read them: component c at alm[c], null where it is zero.
template <class T>
struct AlmPointers {
    const T* alm[2];  ///< complex: re, im
};

/// The two kinds of pairs have little to do each and do not fill the device: side by side.
struct JacobiStreams {
    cudaStream_t polar, equatorial;
};

/// Maps that one pass of the Jacobi recurrences serves: a spin field, or 4, 2 or 1 scalar maps.
struct MapsOfPass {
    int first, count;
};
/// The pass of map k of n_maps.
inline MapsOfPass maps_of_pass(int k, int n_maps, int components) {
    if (components == 2) return {k, 1};
    for (int first = 0;;) {
        const int left = n_maps - first, count = left >= 4 ? 4 : left >= 2 ? 2 : 1;
        if (k < first + count) return {first, count};
        first += count;
    }
}

/// fourier: [map][component] of layout().size() each; the parts of the polar and the equatorial pairs
/// overwritten.
template <class T>
void synthesize_jacobi(const LegendreStage& stage, Orders orders, const std::vector<AlmPointers<T>>& maps,
                       PairModes* fourier, JacobiStreams streams);

/// polar, equatorial: [map][n_sums of the jobs], of which the maps of a pass share theirs:
/// [job][degree][map][2 components], overwritten.
void adjoint_jacobi(const LegendreStage& stage, Orders orders, int n_maps, const PairModes* fourier,
                    double* polar, double* equatorial, JacobiStreams streams);

}  // namespace zonal::sht::cuda
