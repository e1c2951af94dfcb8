#include "radial/ring_fft_rows.hpp"

#include <cmath>
#include <numbers>
#include <tuple>

namespace zonal::radial {
namespace {

/// w_j k(pi q_j / length) of a row at values[j stride], j < row.n_values.
template <class S>
void write_values(const RingFftGeometry& geometry, const KernelRow& row, SineSquares& sines,
                  std::int64_t stride, S* values) {
    if (row.n_values == 0) return;
    const double* const squares = sines.at(row.length, row.parity + 2 * (row.n_values - 1));
    for (std::int64_t j = 0; j < row.n_values; ++j) {
        const std::int64_t q = row.parity + 2 * j;
        const double chord_squared = row.chord.offset + row.chord.factor * squares[q];
        values[j * stride] = static_cast<S>(row.weight(q) * geometry.value(chord_squared));
    }
}

}  // namespace

const double* SineSquares::at(std::int64_t length, std::int64_t last) {
    if (length != length_) values_.clear();
    length_ = length;
    for (auto q = static_cast<std::int64_t>(values_.size()); q <= last; ++q) {
        const double sine =
            std::sin(std::numbers::pi / 2 * static_cast<double>(q) / static_cast<double>(length));
        values_.push_back(sine * sine);
    }
    return values_.data();
}

template <class S>
void NodeRows<S>::write(const RingFftGeometry& geometry, std::int64_t node, RowScratch& scratch) {
    packs.clear();
    std::vector<KernelRow> rows;
    const RingFftGeometry::Window window = geometry.window(node);
    for (std::int64_t position = window.first; position < window.end; ++position) {
        const KernelRow row = geometry.row(node, position);
        if (row.kind == RowKind::equal || row.kind == RowKind::exact) rows.push_back(row);
    }
    const auto key = [](const KernelRow& row) { return std::tuple(row.length, row.parity, row.is_long()); };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const KernelRow& a, const KernelRow& b) { return key(a) < key(b); });
    for (const KernelRow& row : rows) {
        const bool fits = !packs.empty() && packs.back().n_rows < packs.back().capacity() &&
                          key(packs.back().rows[0]) == key(row);
        if (!fits) packs.push_back({row.length, row.parity, row.is_long(), 0, 0, 0, {}});
        RowPack& pack = packs.back();
        pack.n_values = std::max(pack.n_values, row.n_values);
        pack.rows[pack.n_rows++] = row;
    }
    std::int64_t size = 0;
    for (RowPack& pack : packs) {
        pack.values = size;
        size += pack.size();
    }
    values.assign(static_cast<std::size_t>(size), S(0));
    for (const RowPack& pack : packs) {
        if (pack.is_transformed) {
            write_transformed(geometry, pack, scratch);
            continue;
        }
        for (std::int64_t r = 0; r < pack.n_rows; ++r)
            write_values<S>(geometry, pack.rows[r], scratch.sines, row_pack, values.data() + pack.values + r);
    }
}

// Two even rows a, b at x_j = pi (parity + 2 j) / length as one sequence a + i b: for its transform X,
//   k_m of a + i k_m of b = exp(i pi m parity / length) X_m.
template <class S>
void NodeRows<S>::write_transformed(const RingFftGeometry& geometry, const RowPack& pack,
                                    RowScratch& scratch) {
    const std::int64_t n = pack.length;
    scratch.sequence.assign(static_cast<std::size_t>(n), 0.0);
    auto* const sequence = reinterpret_cast<double*>(scratch.sequence.data());
    for (std::int64_t r = 0; r < pack.n_rows; ++r) {
        const KernelRow& row = pack.rows[r];
        scratch.values.resize(static_cast<std::size_t>(row.n_values));
        write_values<double>(geometry, row, scratch.sines, 1, scratch.values.data());
        for (std::int64_t j = 0; j < row.n_values; ++j) {
            const std::int64_t mirror = (n - j - row.parity) % n;
            // The weights count both halves, but where these meet.
            const double value = j == mirror ? scratch.values[j] : 0.5 * scratch.values[j];
            sequence[2 * j + r] = sequence[2 * mirror + r] = value;
        }
    }
    scratch.transform.prepare(n);
    scratch.transform.backward(scratch.sequence.data());
    S* const out = values.data() + pack.values;
    const std::int64_t stride = padded_modes(pack.n_modes());
    for (std::int64_t m = 0; m < pack.n_modes(); ++m) {
        const double angle =
            pack.parity == 0 ? 0 : std::numbers::pi * static_cast<double>(m) / static_cast<double>(n);
        const std::complex<double> turned = scratch.sequence[m] * std::polar(1.0, angle);
        out[m] = static_cast<S>(turned.real());
        if (pack.n_rows > 1) out[stride + m] = static_cast<S>(turned.imag());
    }
}

template <class S>
const S* CosineTiles<S>::at(std::int64_t length, std::int64_t parity, std::int64_t n_values) {
    Tile* found = nullptr;
    for (Tile& tile : tiles_)
        if (tile.length == length && tile.parity == parity) found = &tile;
    if (found == nullptr) {
        found = &tiles_[next_];
        next_ = (next_ + 1) % n_tiles;
        found->length = length, found->parity = parity, found->n_values = 0;
    }
    if (found->n_values < n_values) {
        const auto size = static_cast<std::size_t>(n_values * mode_block);
        if (found->values.size() < size) found->values.resize(size);
        write_cosines<S>(length, parity, first_mode_, found->n_values, n_values, found->values.data());
        found->n_values = n_values;
    }
    return found->values.data();
}

template class NodeRows<float>;
template class NodeRows<double>;
template class CosineTiles<float>;
template class CosineTiles<double>;

}  // namespace zonal::radial
