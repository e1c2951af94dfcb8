#include "radial/ring_fft_rows.hpp"

#include <cmath>
#include <numbers>
#include <tuple>

namespace zonal::radial {

template <class S>
void NodeRows<S>::write(const RingFftGeometry& geometry, std::int64_t node) {
    packs.clear();
    direct.clear();
    std::vector<KernelRow> rows;
    const RingFftGeometry::Window window = geometry.window(node);
    for (std::int64_t position = window.first; position < window.end; ++position) {
        const KernelRow row = geometry.row(node, position);
        if (row.kind == RowKind::direct) direct.push_back(row);
        if (row.kind == RowKind::equal || row.kind == RowKind::exact) rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
        return std::tuple(a.length, a.parity) < std::tuple(b.length, b.parity);
    });
    std::int64_t size = 0;
    for (const KernelRow& row : rows) {
        const bool fits = !packs.empty() && packs.back().n_rows < row_pack &&
                          packs.back().length == row.length && packs.back().parity == row.parity;
        if (!fits) {
            if (!packs.empty()) size += packs.back().n_values * row_pack;
            packs.push_back({row.length, row.parity, 0, size, 0, {}});
        }
        RowPack& pack = packs.back();
        pack.n_values = std::max(pack.n_values, row.n_values);
        pack.rows[pack.n_rows++] = row;
    }
    if (!packs.empty()) size += packs.back().n_values * row_pack;
    values.assign(static_cast<std::size_t>(size), S(0));
    for (const RowPack& pack : packs)
        for (std::int64_t r = 0; r < pack.n_rows; ++r)
            write_row_values<S>(geometry, pack.rows[r], row_pack, values.data() + pack.values + r);
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

template <class T>
void add_direct(const RingFftGeometry& geometry, std::int64_t node, const KernelRow& row, int side,
                const T* map, double* z) {
    const RingNode &to = geometry.nodes()[node], &from = geometry.nodes()[row.node];
    const std::int64_t index = from.input[row.crosses ? 1 - side : side];
    if (index < 0) return;
    const Ring& ring = geometry.grid().rings()[index];
    const T* const pixels = map + ring.first_pixel;
    const std::int64_t n = ring.n_pixels;
    const double step = 2 * std::numbers::pi / static_cast<double>(n);
    const double width = half_width(row.chord, geometry.limit());
    const bool is_whole = width >= std::numbers::pi;
    for (std::int64_t k = 0; k < to.n_pixels; ++k) {
        const double phi =
            to.phi_0 + 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(to.n_pixels);
        const double centre = (phi - from.phi_0) / step;
        // One pixel more on either side: value() decides which are inside.
        const std::int64_t first =
            is_whole ? 0 : static_cast<std::int64_t>(std::ceil(centre - width / step)) - 1;
        const std::int64_t last =
            is_whole
                ? n - 1
                : std::min(first + n - 1, static_cast<std::int64_t>(std::floor(centre + width / step)) + 1);
        double sum = 0;
        for (std::int64_t j = first; j <= last; ++j) {
            const std::int64_t pixel = ((j % n) + n) % n;
            const double d_phi = (centre - static_cast<double>(j)) * step;
            sum += geometry.value(row.chord.chord_squared(d_phi)) * static_cast<double>(pixels[pixel]);
        }
        z[2 * k] += ring.weight * sum;
    }
}

template struct NodeRows<float>;
template struct NodeRows<double>;
template class CosineTiles<float>;
template class CosineTiles<double>;
template void add_direct(const RingFftGeometry&, std::int64_t, const KernelRow&, int, const float*, double*);
template void add_direct(const RingFftGeometry&, std::int64_t, const KernelRow&, int, const double*, double*);

}  // namespace zonal::radial
