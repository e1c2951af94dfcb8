#include <algorithm>
#include <complex>

#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "fft/complex_fft.hpp"
#include "radial/ring_fft/ring_fft.hpp"
#include "radial/ring_fft/rows.hpp"

namespace zonal::radial {
namespace {

/// Nodes of the output at most, and values of their rows, that are worked on between two meetings of the
/// threads; with many threads as many nodes as keep all of them busy for a while.
constexpr std::int64_t band_nodes = 64, nodes_per_thread = 16;
constexpr std::int64_t band_values = std::int64_t{1} << 23;
/// Nodes of a task of the sum over rings: they share a tile of cosines and most of their input.
constexpr std::int64_t group_nodes = 16;
/// Maps that share the rows at once.
constexpr std::int64_t maps_per_pass = 4;

/// Values of one ring's modes of one block.
constexpr std::int64_t chunk = 2 * mode_block;

template <class S, int components>
struct RingFftStorage : PixelConvolutionWorkspace::Storage {
    struct Thread {
        fft::ComplexFft transform;
        core::AlignedVector<std::complex<double>> sequence;
        RowScratch row_scratch;
        BlockRows<S> rows{components};
        std::vector<const S*> fourier;
    };
    std::vector<std::unique_ptr<Thread>> threads;
    core::Scratch fourier, sums;
    std::vector<NodeRows<S>> rows;  ///< of the band's nodes
    core::AlignedVector<S> zeros = core::AlignedVector<S>(chunk);
};

/// Outputs [begin, end) and the nodes [first, last) of their input.
struct Band {
    std::int64_t begin, end, first, last;
};

/// Adds the time that it lives.
class Timer {
  public:
    explicit Timer(double& seconds) : seconds_(seconds) {}
    ~Timer() { seconds_ += watch_.seconds(); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

  private:
    double& seconds_;
    core::Stopwatch watch_;
};

/// Components of a map are fields: a map has one, or Q and U, whose modes are kept as Q + iU and Q - iU.
template <class S, int Rank>
class CpuRingFft final : public ConvolverOf<CpuRingFft<S, Rank>, RingFftStorage<S, Rank - 1>, Rank> {
  public:
    using CpuRingFft::ConvolverOf::components;
    using typename CpuRingFft::ConvolverOf::Storage;

    CpuRingFft(RingFftGeometry geometry, int threads)
        : threads_(threads),
          geometry_(std::move(geometry)),
          input_blocks_(blocks(geometry_.most_input_modes())),
          output_blocks_(blocks(geometry_.most_output_modes())) {
        make_bands();
    }

    template <class T>
    void convolve_maps(View<const T, 3> maps, View<T, 3> convolved, Storage& storage,
                       const Progress& progress) const {
        while (static_cast<int>(storage.threads.size()) < threads_)
            storage.threads.push_back(std::make_unique<typename Storage::Thread>());
        storage.rows.resize(std::max(storage.rows.size(), static_cast<std::size_t>(most_outputs_)));
        storage.seconds = {};
        const std::int64_t n_maps = maps.extent(0), at_once = std::min(n_maps, maps_per_pass);
        constexpr std::int64_t per_double = sizeof(double) / sizeof(S);
        auto* const fourier =
            reinterpret_cast<S*>(storage.fourier.reserve(input_size() * at_once / per_double + 1));
        auto* const sums =
            reinterpret_cast<S*>(storage.sums.reserve(output_size() * at_once / per_double + 1));
        double done = 0;
        const double total = static_cast<double>(bands_.size()) * static_cast<double>(n_maps);
        for (std::int64_t first = 0; first < n_maps; first += maps_per_pass) {
            const std::int64_t count = std::min(maps_per_pass, n_maps - first);
            const Pass<T> pass{maps.slice(first, count), convolved.slice(first, count), storage, fourier,
                               sums};
            Band before{0, 0, 0, 0};
            for (const Band& band : bands_) {
                if (progress && !progress(done / total)) throw Cancelled("convolution: cancelled");
                convolve_band(pass, before, band);
                before = band;
                done += static_cast<double>(count);
            }
        }
        if (progress && !progress(1)) throw Cancelled("convolution: cancelled");
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t) const override {
        return std::make_unique<Storage>();
    }
    std::int64_t workspace_bytes(std::int64_t n_maps) const override {
        const std::int64_t maps = std::min(n_maps, maps_per_pass);
        std::int64_t longest = 0, values = 0;
        for (const RingNode& node : geometry_.nodes()) longest = std::max(longest, node.n_pixels);
        for (const Band& band : bands_) values = std::max(values, values_of(band));
        const std::int64_t per_thread =
            longest * 16 * 8 + components * BlockRows<S>::most_rows * mode_block * std::int64_t{sizeof(S)};
        return (input_size() + output_size()) * maps * std::int64_t{sizeof(S)} +
               values * std::int64_t{sizeof(S)} + threads_ * per_thread;
    }
    PixelConvolutionWork work() const override {
        PixelConvolutionWork work = geometry_.work();
        work.row_products = geometry_.row_products_with_ffts();
        work.maps_per_pass = maps_per_pass;
        return work;
    }

  private:
    static std::int64_t blocks(std::int64_t n_modes) { return (n_modes + mode_block - 1) / mode_block; }

    /// What the rows of a band's outputs keep.
    std::int64_t values_of(const Band& band) const {
        std::int64_t sum = 0;
        for (std::int64_t k = band.begin; k < band.end; ++k) sum += node(k).n_values;
        return sum;
    }
    const RingNode& node(std::int64_t output) const { return geometry_.nodes()[geometry_.outputs()[output]]; }

    void make_bands() {
        const auto n = static_cast<std::int64_t>(geometry_.outputs().size());
        const std::int64_t most_nodes = std::max(band_nodes, nodes_per_thread * threads_);
        for (std::int64_t begin = 0; begin < n;) {
            std::int64_t end = begin + 1, values = node(begin).n_values;
            while (end < n && end - begin < most_nodes && values + node(end).n_values <= band_values)
                values += node(end++).n_values;
            const auto [first, last] = geometry_.inputs_of(begin, end);
            bands_.push_back({begin, end, first, last});
            capacity_ = std::max(capacity_, last - first);
            most_outputs_ = std::max(most_outputs_, end - begin);
            begin = end;
        }
    }

    /// Values of one map's modes of a band.
    std::int64_t input_size() const { return input_blocks_ * capacity_ * components * 2 * chunk; }
    std::int64_t output_size() const { return output_blocks_ * most_outputs_ * components * 2 * chunk; }

    /// One pass over a few maps.
    template <class T>
    struct Pass {
        View<const T, 3> maps;
        View<T, 3> convolved;
        Storage& storage;
        S *fourier, *sums;

        std::int64_t n_maps() const { return maps.extent(0); }
        std::int64_t n_fields() const { return components * n_maps(); }
    };

    /// F(m) of a node's ring on one side: [re, im][mode_block].
    template <class T>
    S* input_chunk(const Pass<T>& pass, std::int64_t block, std::int64_t node, std::int64_t field,
                   int side) const {
        const std::int64_t entry = block * capacity_ + node % capacity_;
        return pass.fourier + ((entry * pass.n_fields() + field) * 2 + side) * chunk;
    }
    /// G(m) of an output of the band.
    template <class T>
    S* output_chunk(const Pass<T>& pass, std::int64_t block, std::int64_t k, std::int64_t field,
                    int side) const {
        const std::int64_t entry = k * output_blocks_ + block;
        return pass.sums + ((entry * pass.n_fields() + field) * 2 + side) * chunk;
    }

    template <class T>
    void convolve_band(const Pass<T>& pass, const Band& before, const Band& band) const {
        PixelConvolutionSeconds& seconds = pass.storage.seconds;
        {
            const Timer timer(seconds.ffts);
            std::vector<std::int64_t> nodes;  // that the band before had not
            for (std::int64_t k = band.first; k < band.last; ++k)
                if ((k < before.first || k >= before.last) && geometry_.nodes()[k].input_modes > 0)
                    nodes.push_back(k);
            core::parallel_for(static_cast<std::int64_t>(nodes.size()), threads_,
                               [&](std::int64_t k, int thread) { transform_input(pass, nodes[k], thread); });
        }
        const std::int64_t n = band.end - band.begin;
        {
            const Timer timer(seconds.kernel_rows);
            core::parallel_for(n, threads_, [&](std::int64_t k, int thread) {
                pass.storage.rows[k].write(geometry_, geometry_.outputs()[band.begin + k],
                                           pass.storage.threads[thread]->row_scratch);
            });
        }
        {
            const Timer timer(seconds.sums);
            const std::int64_t n_groups = (n + group_nodes - 1) / group_nodes;
            core::parallel_for(n_groups * output_blocks_, threads_, [&](std::int64_t task, int thread) {
                const std::int64_t begin = task / output_blocks_ * group_nodes;
                sum_block(pass, band, begin, std::min(begin + group_nodes, n), task % output_blocks_,
                          *pass.storage.threads[thread]);
            });
        }
        const Timer timer(seconds.ffts);
        core::parallel_for(n, threads_, [&](std::int64_t k, int thread) {
            transform_output(pass, geometry_.outputs()[band.begin + k], k, *pass.storage.threads[thread]);
        });
    }

    static std::complex<double>* sequence_of(typename Storage::Thread& thread, std::int64_t n) {
        if (static_cast<std::int64_t>(thread.sequence.size()) < n) thread.sequence.resize(n);
        thread.transform.prepare(n);
        return thread.sequence.data();
    }

    template <class T>
    void transform_input(const Pass<T>& pass, std::int64_t index, int thread_index) const {
        const RingNode& node = geometry_.nodes()[index];
        auto& thread = *pass.storage.threads[thread_index];
        std::complex<double>* const z = sequence_of(thread, node.n_pixels);
        double fine[2 * mode_block];
        if (node.phi_0 != 0) write_phases(node.phi_0, fine);
        const RingPhases phases{node.phi_0 == 0 ? nullptr : fine, node.phi_0};
        for (std::int64_t field = 0; field < pass.n_fields(); ++field) {
            for (int side = 0; side < 2; ++side)
                read_ring(pass.maps[field / components][field % components], node, side,
                          reinterpret_cast<double*>(z) + side);
            thread.transform.backward(z);
            for (std::int64_t block = 0; block < blocks(node.input_modes); ++block) {
                const std::int64_t first = block * mode_block;
                S* sides[2];
                for (int side = 0; side < 2; ++side)
                    sides[side] =
                        node.input[side] < 0 ? nullptr : input_chunk(pass, block, index, field, side);
                ring_fft_loops<S>().unfold_block(z, node.n_pixels, first,
                                                 std::min(mode_block, node.input_modes - first), phases,
                                                 sides[0], sides[1]);
                // U comes after Q.
                for (int side = 0; side < 2; ++side)
                    if (field % components == 1 && sides[side] != nullptr)
                        to_circular(input_chunk(pass, block, index, field - 1, side), sides[side]);
            }
        }
    }

    template <class T>
    void read_ring(View<const T, 1> map, const RingNode& node, int side, double* z) const {
        if (node.input[side] < 0) {
            for (std::int64_t k = 0; k < node.n_pixels; ++k) z[2 * k] = 0;
            return;
        }
        const Ring& ring = geometry_.grid().rings()[node.input[side]];
        const T* const in = map.data() + ring.first_pixel;
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) z[2 * k] = ring.weight * static_cast<double>(in[k]);
    }

    /// G(m) of one block of modes for outputs [begin, end) of the band.
    template <class T>
    void sum_block(const Pass<T>& pass, const Band& band, std::int64_t begin, std::int64_t end,
                   std::int64_t block, typename Storage::Thread& thread) const {
        const std::int64_t first = block * mode_block;
        thread.rows.start(first);
        for (std::int64_t k = begin; k < end; ++k) {
            if (node(band.begin + k).output_modes <= first) continue;
            for (std::int64_t field = 0; field < pass.n_fields(); ++field)
                std::fill_n(output_chunk(pass, block, k, field, 0), 2 * chunk, S(0));
            const NodeRows<S>& rows = pass.storage.rows[k];
            for (const RowPack& pack : rows.packs) {
                thread.rows.add(pack, rows.values.data() + pack.values);
                if (thread.rows.is_full()) apply_rows(pass, block, band.begin + k, k, thread);
            }
            apply_rows(pass, block, band.begin + k, k, thread);
        }
    }

    template <class T>
    void apply_rows(const Pass<T>& pass, std::int64_t block, std::int64_t output, std::int64_t k,
                    typename Storage::Thread& thread) const {
        const std::vector<const KernelRow*>& kept = thread.rows.kept();
        const auto n_rows = static_cast<std::int64_t>(kept.size());
        const std::int64_t n_modes = std::min(mode_block, node(output).output_modes - block * mode_block);
        thread.fourier.resize(n_rows);
        for (std::int64_t field = 0; field < pass.n_fields(); ++field)
            for (int side = 0; side < 2; ++side) {
                if (node(output).output[side] < 0) continue;
                const auto component = static_cast<int>(field % components);
                for (std::int64_t r = 0; r < n_rows; ++r) {
                    const KernelRow& row = *kept[r];
                    const int from = row.crosses ? 1 - side : side;
                    const std::int64_t other = component == 0 ? field + 1 : field - 1;
                    thread.fourier[r] =
                        geometry_.nodes()[row.node].input[from] < 0
                            ? pass.storage.zeros.data()
                            : input_chunk(pass, block, row.node, row.is_minus ? other : field, from);
                }
                // Q + iU takes k_m and Q - iU k_-m; in the south the other way round.
                const int sign = components == 1 ? 0 : component ^ side;
                ring_fft_loops<S>().add_products(n_rows, thread.rows.values(sign), thread.fourier.data(),
                                                 n_modes, output_chunk(pass, block, k, field, side));
            }
        thread.rows.clear();
    }

    template <class T>
    void transform_output(const Pass<T>& pass, std::int64_t index, std::int64_t k,
                          typename Storage::Thread& thread) const {
        const RingNode& node = geometry_.nodes()[index];
        std::complex<double>* const z = sequence_of(thread, node.n_pixels);
        double fine[2 * mode_block];
        if (node.phi_0 != 0) write_phases(node.phi_0, fine);
        const RingPhases phases{node.phi_0 == 0 ? nullptr : fine, node.phi_0};
        for (std::int64_t field = 0; field < pass.n_fields(); ++field) {
            std::fill_n(z, node.n_pixels, 0.0);
            for (std::int64_t block = 0; block < blocks(node.output_modes); ++block) {
                const std::int64_t first = block * mode_block;
                S* sides[2];
                for (int side = 0; side < 2; ++side) {
                    sides[side] = node.output[side] < 0 ? nullptr : output_chunk(pass, block, k, field, side);
                    if (components == 2 && field % components == 0 && sides[side] != nullptr)
                        from_circular(sides[side], output_chunk(pass, block, k, field + 1, side));
                }
                ring_fft_loops<S>().fold_block(sides[0], sides[1], node.n_pixels, first,
                                               std::min(mode_block, node.output_modes - first), phases, z);
            }
            if (node.output_modes > 0) thread.transform.backward(z);
            write_rings(pass.convolved[field / components][field % components], node, z);
        }
    }

    template <class T>
    void write_rings(View<T, 1> map, const RingNode& node, const std::complex<double>* z) const {
        for (int side = 0; side < 2; ++side) {
            if (node.output[side] < 0) continue;
            const double* const pixels = reinterpret_cast<const double*>(z) + side;
            const Ring& ring = geometry_.grid_out().rings()[node.output[side]];
            T* const out = map.data() + ring.first_pixel;
            for (std::int64_t j = 0; j < ring.n_pixels; ++j) out[j] = static_cast<T>(pixels[2 * j]);
        }
    }

    const int threads_;
    const RingFftGeometry geometry_;
    const std::int64_t input_blocks_, output_blocks_;
    std::int64_t capacity_ = 1;  ///< nodes whose modes are kept
    std::int64_t most_outputs_ = 0;
    std::vector<Band> bands_;
};

}  // namespace

template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_cpu_ring_fft(RingFftGeometry geometry,
                                                              const PixelConvolutionOptions& options) {
    if (options.precision == Precision::float32)
        return std::make_unique<const CpuRingFft<float, Rank>>(std::move(geometry), options.threads);
    return std::make_unique<const CpuRingFft<double, Rank>>(std::move(geometry), options.threads);
}

template std::unique_ptr<const BasicConvolver<2>> make_cpu_ring_fft<2>(RingFftGeometry,
                                                                       const PixelConvolutionOptions&);
template std::unique_ptr<const BasicConvolver<3>> make_cpu_ring_fft<3>(RingFftGeometry,
                                                                       const PixelConvolutionOptions&);

}  // namespace zonal::radial
