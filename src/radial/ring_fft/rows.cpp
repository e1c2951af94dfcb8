#include "radial/ring_fft/rows.hpp"

#include <cmath>
#include <numbers>
#include <tuple>

namespace zonal::radial {
namespace {

/// w_j k(pi q_j / length) of a row at even[j stride], j < row.n_values; of Q and U the even and the odd part.
template <class S>
void write_values(const RingFftGeometry& geometry, const KernelRow& row, HalfAngles& angles,
                  std::int64_t stride, S* even, S* odd) {
    if (row.n_values == 0) return;
    const bool is_polarized = geometry.is_polarized();
    angles.prepare(row.length, row.parity + 2 * (row.n_values - 1), is_polarized);
    for (std::int64_t j = 0; j < row.n_values; ++j) {
        const std::int64_t q = row.parity + 2 * j;
        const double chord_squared = row.chord.offset + row.chord.factor * angles.sine_squares[q];
        const double value = row.weight(q) * geometry.value(chord_squared, row.is_minus);
        if (!is_polarized) {
            even[j * stride] = static_cast<S>(value);
            continue;
        }
        const auto power = row.turn.fourth_power(angles.cosines[q], angles.sines[q]);
        even[j * stride] = static_cast<S>(value * power.even);
        odd[j * stride] = static_cast<S>(value * power.odd);
    }
}

}  // namespace

void HalfAngles::prepare(std::int64_t length, std::int64_t last, bool is_polarized) {
    if (length != length_) sine_squares.clear(), sines.clear(), cosines.clear();
    length_ = length;
    for (auto q = static_cast<std::int64_t>(sine_squares.size()); q <= last; ++q) {
        const double angle = std::numbers::pi / 2 * static_cast<double>(q) / static_cast<double>(length);
        const double sine = std::sin(angle);
        sine_squares.push_back(sine * sine);
        if (!is_polarized) continue;
        sines.push_back(sine);
        cosines.push_back(q == length ? 0 : std::cos(angle));
    }
}

template <class S>
void NodeRows<S>::write(const RingFftGeometry& geometry, std::int64_t node, RowScratch& scratch) {
    packs.clear();
    std::vector<KernelRow> rows;
    geometry.for_each_row(node, [&](const KernelRow& row, std::int64_t) {
        if (row.kind == RowKind::equal || row.kind == RowKind::exact) rows.push_back(row);
    });
    const auto key = [](const KernelRow& row) { return std::tuple(row.length, row.parity, row.is_long()); };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const KernelRow& a, const KernelRow& b) { return key(a) < key(b); });
    for (const KernelRow& row : rows) {
        const bool fits = !packs.empty() && packs.back().n_rows < packs.back().capacity() &&
                          key(packs.back().rows[0]) == key(row);
        if (!fits)
            packs.push_back({row.length, row.parity, row.is_long(), geometry.n_components(), 0, 0, 0, {}});
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
        S* const even = values.data() + pack.values;
        S* const odd = pack.n_signs == 2 ? even + pack.n_values * row_pack : even;
        for (std::int64_t r = 0; r < pack.n_rows; ++r)
            write_values<S>(geometry, pack.rows[r], scratch.angles, row_pack, even + r, odd + r);
    }
}

// Samples at x_j = pi (parity + 2 j) / length as one sequence. For its transform X,
//   of two even rows a, b, a + i b:        k_m of a + i k_m of b = exp(i pi m parity / length) X_m,
//   of one row of Q and U, even + i odd:   k_-m = exp(i pi m parity / length) X_m, k_m its conjugate turn's.
template <class S>
void NodeRows<S>::write_transformed(const RingFftGeometry& geometry, const RowPack& pack,
                                    RowScratch& scratch) {
    using Complex = std::complex<double>;
    const std::int64_t n = pack.length;
    scratch.sequence.assign(static_cast<std::size_t>(n), 0.0);
    for (std::int64_t r = 0; r < pack.n_rows; ++r) {
        const KernelRow& row = pack.rows[r];
        scratch.even.resize(static_cast<std::size_t>(row.n_values));
        scratch.odd.resize(static_cast<std::size_t>(row.n_values));
        write_values<double>(geometry, row, scratch.angles, 1, scratch.even.data(), scratch.odd.data());
        const Complex unit = r == 0 ? Complex(1, 0) : Complex(0, 1);
        for (std::int64_t j = 0; j < row.n_values; ++j) {
            const std::int64_t mirror = (n - j - row.parity) % n;
            // The weights count both halves, but where these meet.
            const double share = j == mirror ? 1 : 0.5;
            const Complex value(share * scratch.even[j], pack.n_signs == 2 ? share * scratch.odd[j] : 0);
            scratch.sequence[mirror] += unit * std::conj(value);
            if (j != mirror) scratch.sequence[j] += unit * value;
        }
    }
    scratch.transform.prepare(n);
    scratch.transform.backward(scratch.sequence.data());
    S* const out = values.data() + pack.values;
    const std::int64_t stride = padded_modes(pack.n_modes());
    for (std::int64_t m = 0; m < pack.n_modes(); ++m) {
        const double angle =
            pack.parity == 0 ? 0 : std::numbers::pi * static_cast<double>(m) / static_cast<double>(n);
        const Complex turned = scratch.sequence[m] * std::polar(1.0, angle);
        if (pack.n_signs == 2) {
            const Complex opposite = scratch.sequence[(n - m) % n] * std::polar(1.0, -angle);
            out[m] = static_cast<S>(opposite.real());
            out[stride + m] = static_cast<S>(turned.real());
            continue;
        }
        out[m] = static_cast<S>(turned.real());
        if (pack.n_rows > 1) out[stride + m] = static_cast<S>(turned.imag());
    }
}

template <class S>
const S* WaveTiles<S>::at(Wave wave, std::int64_t length, std::int64_t parity, std::int64_t n_values) {
    Tile* found = nullptr;
    for (Tile& tile : tiles_)
        if (tile.length == length && tile.parity == parity && tile.wave == wave) found = &tile;
    if (found == nullptr) {
        found = &tiles_[next_];
        next_ = (next_ + 1) % n_tiles;
        found->length = length, found->parity = parity, found->wave = wave, found->n_values = 0;
    }
    if (found->n_values < n_values) {
        const auto size = static_cast<std::size_t>(n_values * mode_block);
        if (found->values.size() < size) found->values.resize(size);
        ring_fft_loops<S>().write_waves(wave, length, parity, first_mode_, found->n_values, n_values,
                                        found->values.data());
        found->n_values = n_values;
    }
    return found->values.data();
}

template <class S>
BlockRows<S>::BlockRows(int n_signs) {
    for (int sign = 0; sign < n_signs; ++sign) rows_[sign].resize(most_rows * mode_block);
}

template <class S>
void BlockRows<S>::start(std::int64_t first_mode) {
    first_mode_ = first_mode;
    tiles_.start(first_mode);
    kept_.clear();
}

template <class S>
void BlockRows<S>::add(const RowPack& pack, const S* values) {
    const std::int64_t most = std::min(mode_block, pack.n_modes() - first_mode_);
    if (most <= 0) return;
    const std::int64_t place = static_cast<std::int64_t>(kept_.size()) * mode_block;
    S* const first[2] = {rows_[0].data() + place, pack.n_signs == 2 ? rows_[1].data() + place : nullptr};
    transform(pack, values, most, first);
    std::int64_t n_kept = 0;
    for (std::int64_t r = 0; r < pack.n_rows; ++r) {
        const std::int64_t n_modes = std::min(mode_block, pack.rows[r].n_modes - first_mode_);
        if (n_modes <= 0) continue;
        const bool halved = pack.rows[r].halves_last_mode() && first_mode_ + n_modes == pack.rows[r].n_modes;
        for (int sign = 0; sign < pack.n_signs; ++sign) {
            S* const row = first[sign] + n_kept * mode_block;
            if (n_kept != r) std::copy_n(first[sign] + r * mode_block, mode_block, row);
            std::fill(row + n_modes, row + mode_block, S(0));
            if (halved) row[n_modes - 1] /= 2;
        }
        kept_.push_back(&pack.rows[r]);
        ++n_kept;
    }
}

template <class S>
void BlockRows<S>::transform(const RowPack& pack, const S* values, std::int64_t n_modes, S* const* rows) {
    if (pack.is_transformed) {
        const std::int64_t stride = padded_modes(pack.n_modes());
        for (std::int64_t r = 0; r < pack.n_rows; ++r)
            for (int sign = 0; sign < pack.n_signs; ++sign)
                std::copy_n(values + (r * pack.n_signs + sign) * stride + first_mode_, mode_block,
                            rows[sign] + r * mode_block);
        return;
    }
    const std::int64_t n = pack.n_values;
    ring_fft_loops<S>().transform_rows(values, n, tiles_.at(Wave::cosine, pack.length, pack.parity, n),
                                       n_modes, rows[0]);
    if (pack.n_signs == 1) return;
    ring_fft_loops<S>().transform_rows(values + n * row_pack, n,
                                       tiles_.at(Wave::sine, pack.length, pack.parity, n), n_modes, rows[1]);
    for (std::int64_t r = 0; r < row_pack; ++r)
        for (std::int64_t m = r * mode_block; m < r * mode_block + n_modes; ++m) {
            const S cosines = rows[0][m], sines = rows[1][m];
            rows[0][m] = cosines + sines;
            rows[1][m] = cosines - sines;
        }
}

template class NodeRows<float>;
template class NodeRows<double>;
template class WaveTiles<float>;
template class WaveTiles<double>;
template class BlockRows<float>;
template class BlockRows<double>;

}  // namespace zonal::radial
