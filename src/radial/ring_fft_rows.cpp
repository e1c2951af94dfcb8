#include "radial/ring_fft_rows.hpp"

#include <tuple>

namespace zonal::radial {

template <class S>
void NodeRows<S>::write(const RingFftGeometry& geometry, std::int64_t node) {
    packs.clear();
    std::vector<KernelRow> rows;
    const RingFftGeometry::Window window = geometry.window(node);
    for (std::int64_t position = window.first; position < window.end; ++position) {
        const KernelRow row = geometry.row(node, position);
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

template struct NodeRows<float>;
template struct NodeRows<double>;
template class CosineTiles<float>;
template class CosineTiles<double>;

}  // namespace zonal::radial
