#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "beams/beam_convolver.hpp"
#include "beams/cuda/scan_cuda.hpp"

/// As pointings.cpp, on a GPU: values of a few fields at a time at all pointings of a set, and their terms.
namespace zonal::beams {
namespace {

using Set = Pointings::Implementation::Set;
using points::WorkArray;
using points::cuda::ValueTransfer;

/// Terms whose fields follow one another.
struct Block {
    std::int64_t first_field, n_fields;
    cuda::SetTerms terms;
};

/// Fields of a block at most: their values take a GiB, or are those of one term.
std::int64_t fields_at_once(std::int64_t n_pointings) {
    constexpr std::int64_t most_values = std::int64_t{1} << 27;
    return std::clamp<std::int64_t>(most_values / std::max<std::int64_t>(n_pointings, 1), 2,
                                    cuda::most_fields);
}

/// The terms of a set's detectors, in blocks.
std::vector<Block> blocks_of(const BeamConvolver::Implementation& convolver, const Set& set) {
    const std::int64_t n = set.plan.n_points(), at_once = fields_at_once(n);
    const auto row_of = [](const SetAngles& angles, std::int64_t i) {
        return static_cast<int>(angles.there.extent(0) == 1 ? 0 : i);
    };
    std::vector<Block> blocks;
    for (const Term& term : convolver.terms) {
        const std::int64_t i =
            std::find(set.detectors.begin(), set.detectors.end(), term.detector) - set.detectors.begin();
        if (i == std::ssize(set.detectors)) continue;
        if (blocks.empty() || term.field != blocks.back().first_field + blocks.back().n_fields ||
            blocks.back().n_fields + term.n_fields() > at_once)
            blocks.push_back({term.field, 0, {set.psi.there.data(), set.hwp.there.data(), n, 0, {}}});
        Block& block = blocks.back();
        block.terms.terms[block.terms.n_terms++] = {term.k,
                                                    static_cast<int>(block.n_fields),
                                                    static_cast<int>(i),
                                                    term.modulation,
                                                    row_of(set.psi, i),
                                                    row_of(set.hwp, i)};
        block.n_fields += term.n_fields();
    }
    return blocks;
}

/// Calls work(terms, samples, values) for the fields of each block: what their samples are, and room for
/// their values, [field, 1, pointing].
template <class Work>
void for_blocks(const BeamConvolver::Implementation& convolver, const Fields& fields, const Set& set,
                const Work& work) {
    const auto blocks = blocks_of(convolver, set);
    std::int64_t most = 0;
    for (const Block& block : blocks) most = std::max(most, block.n_fields);
    const std::int64_t n = set.plan.n_points();
    WorkArray<double, 3> room(convolver.options.device, {most, 1, n});
    // Points lie alike among the samples of all spins, and each field counts as a map of spin 0.
    SampleArray samples = fields.array(convolver.samples, 0, 1);
    for (const Block& block : blocks) {
        samples.storage().lend(fields.data + block.first_field * fields.field_size, block.n_fields);
        work(block.terms, samples, room.view().slice(0, block.n_fields));
    }
}

/// Copies a row on the host to the GPU.
template <class T>
void to_gpu(ValueTransfer& transfer, const View<const T, 1>& row, T* there) {
    const std::int64_t bytes = row.size() * static_cast<std::int64_t>(sizeof(T));
    if (row.stride(0) == 1) return points::cuda::to_device(transfer, row.data(), there, bytes);
    Array<T, 1> contiguous({row.size()});
    for (std::int64_t i = 0; i < row.size(); ++i) contiguous(i) = row[i];
    points::cuda::to_device(transfer, contiguous.data(), there, bytes);
}

template <class T>
void to_host(ValueTransfer& transfer, const T* there, const View<T, 1>& row) {
    const std::int64_t bytes = row.size() * static_cast<std::int64_t>(sizeof(T));
    if (row.stride(0) == 1) return points::cuda::to_host(transfer, there, row.data(), bytes);
    Array<T, 1> contiguous({row.size()});
    points::cuda::to_host(transfer, there, contiguous.data(), bytes);
    for (std::int64_t i = 0; i < row.size(); ++i) row[i] = contiguous(i);
}

/// signal, on the GPU, = a detector's tod.
template <class T>
void bring(Device device, ValueTransfer& transfer, const View<const T, 1>& tod,
           const View<double, 1>& signal) {
    if (tod.space() == MemorySpace::cuda)
        return points::cuda::gather<T, double>("tod", device, nullptr, tod, signal);
    if constexpr (std::is_same_v<T, double>) {
        to_gpu(transfer, tod, signal.data());
    } else {
        const WorkArray<T, 1> narrow(device, {tod.size()});
        to_gpu(transfer, tod, narrow.data());
        points::cuda::gather<T, double>("tod", device, nullptr, narrow.view(), signal);
    }
}

/// The other way, rounded to T.
template <class T>
void deliver(Device device, ValueTransfer& transfer, const View<const double, 1>& signal,
             const View<T, 1>& tod) {
    if (tod.space() == MemorySpace::cuda)
        return points::cuda::gather<double, T>("tod", device, nullptr, signal, tod);
    if constexpr (std::is_same_v<T, double>) {
        to_host(transfer, signal.data(), tod);
    } else {
        WorkArray<T, 1> narrow(device, {tod.size()});
        points::cuda::gather<double, T>("tod", device, nullptr, signal, narrow.view());
        to_host<T>(transfer, narrow.data(), tod);
    }
}

}  // namespace

WorkArray<double, 2> angles_there(const char* name, Device device, ValueTransfer& transfer,
                                  const std::vector<View<const double, 1>>& rows) {
    WorkArray<double, 2> made(device, {std::ssize(rows), rows[0].size()});
    for (std::int64_t r = 0; r < std::ssize(rows); ++r) {
        const View<const double, 1>& row = rows[static_cast<std::size_t>(r)];
        const View<double, 1> to = made.view()[r];
        if (row.space() == MemorySpace::cuda)
            points::cuda::gather<double, double>(name, device, nullptr, row, to);
        else
            to_gpu(transfer, row, to.data());
    }
    return made;
}

template <class T>
void scan_set_there(const BeamConvolver::Implementation& convolver, const Fields& from, const Set& set,
                    const View<T, 2>& tod) {
    const Device device = convolver.options.device;
    WorkArray<double, 2> signals(device, {std::ssize(set.detectors), set.plan.n_points()});
    signals.clear();
    for_blocks(convolver, from, set,
               [&](const cuda::SetTerms& terms, const SampleArray& samples, const View<double, 3>& values) {
                   set.plan.interpolate<double>(samples, values);
                   cuda::add_terms(device, terms, values.data(), signals.data());
               });
    for (std::int64_t i = 0; i < signals.extent(0); ++i)
        deliver<T>(device, *set.transfer, std::as_const(signals).view()[i],
                   tod[set.detectors[static_cast<std::size_t>(i)]]);
}

template <class T>
void spread_set_there(const BeamConvolver::Implementation& convolver, const Fields& to, const Set& set,
                      const View<const T, 2>& tod) {
    const Device device = convolver.options.device;
    WorkArray<double, 2> signals(device, {std::ssize(set.detectors), set.plan.n_points()});
    for (std::int64_t i = 0; i < signals.extent(0); ++i)
        bring<T>(device, *set.transfer, tod[set.detectors[static_cast<std::size_t>(i)]], signals.view()[i]);
    for_blocks(convolver, to, set,
               [&](const cuda::SetTerms& terms, SampleArray& samples, const View<double, 3>& values) {
                   cuda::set_values(device, terms, signals.data(), values.data());
                   set.plan.spread<double>(values, samples);
               });
}

template void scan_set_there(const BeamConvolver::Implementation&, const Fields&, const Set&,
                             const View<float, 2>&);
template void scan_set_there(const BeamConvolver::Implementation&, const Fields&, const Set&,
                             const View<double, 2>&);
template void spread_set_there(const BeamConvolver::Implementation&, const Fields&, const Set&,
                               const View<const float, 2>&);
template void spread_set_there(const BeamConvolver::Implementation&, const Fields&, const Set&,
                               const View<const double, 2>&);

}  // namespace zonal::beams
