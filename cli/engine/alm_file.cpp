#include "engine/alm_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "shell/error.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::cli {
namespace {

using Complex = std::complex<double>;

View<Complex, 1> component_view(std::vector<Complex>& component) {
    return {component.data(), {static_cast<std::int64_t>(component.size())}};
}

bool is_finite(Complex value) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
}

/// "l = 3, m = 2" of an element of the layout.
std::string degree_and_order(const AlmLayout& layout, std::int64_t index) {
    std::int64_t m = 0;
    while (m < layout.mmax() && index >= layout.index(m + 1, m + 1)) ++m;
    return fmt::format("l = {}, m = {}", index - layout.offset(m), m);
}

/// what: "coefficients".
void require_numbers(const std::string& path, const io::AlmFile& file, const std::string& what) {
    for (std::size_t i = 0; i < file.components.size(); ++i) {
        const auto& values = file.components[i];
        const auto first = std::find_if_not(values.begin(), values.end(), is_finite);
        if (first == values.end()) continue;
        const auto count =
            std::count_if(first, values.end(), [](Complex value) { return !is_finite(value); });
        throw IoError(fmt::format("{}: alm {}: {} {} are NaN or infinite, the first is {}", path, "TEB"[i],
                                  count, what, degree_and_order(file.layout, first - values.begin())));
    }
}

}  // namespace

io::AlmFile read_alm(const std::string& path, Session& session) {
    auto file = io::read_alm(path);
    session.note(file.notes);
    require_numbers(path, file, "coefficients");
    return file;
}

void write_alm_file(const std::string& path, const io::AlmFile& file, const io::WriteOptions& options) {
    require_numbers(path, file, "coefficients of the result");
    io::write_alm(path, file, options);
}

void truncate(io::AlmFile& file, std::int64_t lmax, std::int64_t mmax) {
    const AlmLayout layout(lmax, mmax);
    if (layout == file.layout) return;
    for (auto& component : file.components) {
        std::vector<Complex> kept(static_cast<std::size_t>(layout.size()));
        copy_alm<Complex::value_type>(file.layout, component_view(component), layout, component_view(kept));
        component = std::move(kept);
    }
    file.layout = layout;
}

void multiply(io::AlmFile& file, const Beam& beam) {
    const std::vector<double>* windows[] = {&beam.temperature, &beam.gradient, &beam.curl};
    for (std::size_t i = 0; i < file.components.size(); ++i)
        multiply_alm<double>(file.layout, *windows[i], component_view(file.components[i]));
}

void require_one_sky(const SkyMap& map) {
    const auto& groups = map.groups();
    const bool one = groups.size() == 1 && (groups[0].fields != Fields::scalars || groups[0].n_rows == 1);
    if (!one)
        throw UsageError(fmt::format("--field: {} has {} columns: choose one of them, or I, Q and U",
                                     map.header().source, map.header().columns.size()));
}

io::AlmFile to_alm_file(const SkyMap& map, const MapAlm& alm, Session& session) {
    const auto& header = map.header();
    io::AlmFile file;
    file.layout = alm.layout;
    file.coordinates = header.coordinates;
    file.unit = header.columns[0].unit;
    const bool single = std::all_of(header.columns.begin(), header.columns.end(), [](const auto& column) {
        return column.precision == io::Precision::float32;
    });
    file.precision = single ? io::Precision::float32 : io::Precision::float64;
    const auto size = alm.layout.size();
    if (map.groups()[0].fields == Fields::qu) {
        file.components.emplace_back(static_cast<std::size_t>(size));
        session.note(fmt::format("{} has Q and U but no I: T is 0", header.source));
    }
    for (std::int64_t row = 0; row < alm.alm.extent(0); ++row)
        file.components.emplace_back(alm.alm.data() + row * size, alm.alm.data() + (row + 1) * size);
    return file;
}

Array<Complex, 2> to_array(const io::AlmFile& file) {
    Array<Complex, 2> array({static_cast<std::int64_t>(file.components.size()), file.layout.size()});
    for (std::size_t i = 0; i < file.components.size(); ++i)
        std::copy(file.components[i].begin(), file.components[i].end(),
                  array.data() + static_cast<std::int64_t>(i) * file.layout.size());
    return array;
}

}  // namespace zonal::cli
