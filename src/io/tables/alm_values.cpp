// Files of alm in memory.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "zonal/error.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::io {
namespace {

using Complex = std::complex<double>;

View<Complex, 1> view_of(std::vector<Complex>& component) {
    return {component.data(), {std::ssize(component)}};
}

bool is_bad(Complex value) {
    return !std::isfinite(value.real()) || !std::isfinite(value.imag());
}

/// "l = 3, m = 2" of an element of the layout.
std::string degree_and_order(const AlmLayout& layout, std::int64_t index) {
    std::int64_t number = 0;
    const auto begin = [&](std::int64_t n) { return layout.index(layout.order(n), layout.order(n)); };
    while (number + 1 < layout.n_orders() && index >= begin(number + 1)) ++number;
    const auto m = layout.order(number);
    return fmt::format("l = {}, m = {}", index - layout.offset(m), m);
}

/// The layout's orders up to mmax, all of them or a share.
AlmLayout layout_up_to(const AlmLayout& layout, std::int64_t lmax, std::int64_t mmax) {
    if (layout.has_all_orders()) return {lmax, mmax};
    std::vector<std::int64_t> orders;
    for (std::int64_t i = 0; i < layout.n_orders() && layout.order(i) <= mmax; ++i)
        orders.push_back(layout.order(i));
    return {lmax, mmax, std::move(orders)};
}

}  // namespace

void require_finite(const std::string& path, const AlmFile& alm, const std::string& what) {
    for (std::size_t i = 0; i < alm.components.size(); ++i) {
        const auto& values = alm.components[i];
        const auto first = std::find_if(values.begin(), values.end(), is_bad);
        if (first == values.end()) continue;
        throw IoError(fmt::format("{}: alm {}: {} {} are NaN or infinite, the first is {}", path, "TEB"[i],
                                  std::count_if(first, values.end(), is_bad), what,
                                  degree_and_order(alm.layout, first - values.begin())));
    }
}

void truncate(AlmFile& alm, std::int64_t lmax, std::int64_t mmax) {
    const auto old = std::exchange(alm.layout, layout_up_to(alm.layout, lmax, mmax));
    if (alm.layout == old) return;
    for (auto& component : alm.components) {
        std::vector<Complex> kept(static_cast<std::size_t>(alm.layout.size()));
        copy_alm<double>(old, view_of(component), alm.layout, view_of(kept));
        component = std::move(kept);
    }
}

void multiply(AlmFile& alm, const Beam& beam) {
    const std::vector<double>* windows[] = {&beam.temperature, &beam.gradient, &beam.curl};
    for (std::size_t i = 0; i < alm.components.size(); ++i)
        multiply_alm<double>(alm.layout, *windows[i], view_of(alm.components[i]));
}

MapAlm to_map_alm(const AlmFile& file) {
    MapAlm result{file.layout, Array<Complex, 2>({std::ssize(file.components), file.layout.size()})};
    auto* to = result.alm.data();
    for (const auto& component : file.components) to = std::copy(component.begin(), component.end(), to);
    return result;
}

MapAlm to_map_alm(AlmFile&& file) {
    MapAlm result{file.layout, Array<Complex, 2>({std::ssize(file.components), file.layout.size()})};
    auto* to = result.alm.data();
    for (auto& component : file.components) {
        to = std::copy(component.begin(), component.end(), to);
        std::vector<Complex>().swap(component);
    }
    return result;
}

void set_alm(AlmFile& file, const MapAlm& alm) {
    file.layout = alm.layout;
    file.components.clear();
    for (std::int64_t row = 0; row < alm.alm.extent(0); ++row) {
        const auto values = alm.alm.view()[row];
        file.components.emplace_back(values.data(), values.data() + values.size());
    }
}

AlmFile to_alm_file(const MapAlm& alm, const SkyMap& map) {
    require_one_sky(map);
    const auto& header = map.header();
    AlmFile file{.unit = header.columns[0].unit, .coordinates = header.coordinates};
    set_alm(file, alm);
    const bool single = std::all_of(header.columns.begin(), header.columns.end(), [](const auto& column) {
        return column.precision == FilePrecision::float32;
    });
    if (single) file.precision = FilePrecision::float32;
    if (map.groups()[0].fields == Fields::qu) {
        file.components.emplace(file.components.begin(), static_cast<std::size_t>(alm.layout.size()));
        file.notes.push_back(fmt::format("{} has Q and U but no I: T is 0", header.source));
    }
    return file;
}

}  // namespace zonal::io
