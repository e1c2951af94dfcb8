#include "zonal/spectrum.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "core/interruption.hpp"
#include "sht/analysis/field_arithmetic.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

template <class T>
void check_alm(const char* name, const AlmLayout& layout, View<T, 1> alm) {
    sht::check_extent(name, alm, 0, "coefficient", layout.size());
    sht::check_host(name, alm);
}

template <class T>
Spectrum named_spectrum(const AlmLayout& layout, const std::string& components, std::size_t i, std::size_t j,
                        View<const std::complex<T>, 2> first, View<const std::complex<T>, 2> second) {
    return {
        {components[i], components[j]},
        "",
        cross_spectrum<T>(layout, first[static_cast<std::int64_t>(i)], second[static_cast<std::int64_t>(j)])};
}

/// Pairs (i, j) in the order that files have: TT EE BB TE TB EB, then ET BT BE.
std::vector<std::pair<std::size_t, std::size_t>> pairs_of_components(std::size_t n, bool symmetric) {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0; i < n; ++i) pairs.emplace_back(i, i);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j) pairs.emplace_back(i, j);
    const auto last = static_cast<std::ptrdiff_t>(pairs.size());
    for (auto k = static_cast<std::ptrdiff_t>(n); k < last && !symmetric; ++k)
        pairs.emplace_back(pairs[k].second, pairs[k].first);
    return pairs;
}

template <class T>
std::vector<Spectrum> all_spectra(const AlmLayout& layout, View<const std::complex<T>, 2> first,
                                  View<const std::complex<T>, 2> second, bool symmetric) {
    sht::check_extent("second alm", second, 0, "component", first.extent(0));
    sht::check_components(first.extent(0));
    const std::string components = std::array{"T", "EB", "TEB"}[first.extent(0) - 1];
    std::vector<Spectrum> result;
    for (const auto& [i, j] : pairs_of_components(components.size(), symmetric))
        result.push_back(named_spectrum<T>(layout, components, i, j, first, second));
    return result;
}

bool is_one_word(const std::string& unit) {
    return std::all_of(unit.begin(), unit.end(),
                       [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; });
}

/// How squares of units are written.
constexpr std::string_view squares[] = {"^2", "**2", "2"};

}  // namespace

void sht::check_components(std::int64_t components) {
    if (components < 1 || components > 3)
        throw InvalidArgument(
            "alm", fmt::format("axis 0 (component) has length {}: must be 1 (T), 2 (E, B) or 3 (T, E, B)",
                               components));
}

std::string squared_unit(const std::string& unit) {
    if (unit.empty()) return {};
    return is_one_word(unit) ? unit + "^2" : fmt::format("({})^2", unit);
}

std::string square_root_unit(const std::string& unit) {
    for (const std::string_view power : squares) {
        if (!unit.ends_with(power)) continue;
        auto root = unit.substr(0, unit.size() - power.size());
        if (root.size() > 2 && root.front() == '(' && root.back() == ')')
            root = root.substr(1, root.size() - 2);
        return is_one_word(root) || power != "2" ? root : std::string();
    }
    return {};
}

bool may_be_variance_of(const std::string& unit, const std::string& unit_of_map) {
    if (unit.empty() || unit_of_map.empty() || unit == squared_unit(unit_of_map)) return true;
    return std::any_of(std::begin(squares), std::end(squares), [&](std::string_view square) {
        return unit == unit_of_map + std::string(square) ||
               unit == fmt::format("({}){}", unit_of_map, square);
    });
}

std::string product_unit(const std::string& a, const std::string& b) {
    if (a == b) return squared_unit(a);
    return a.empty() || b.empty() ? std::string() : fmt::format("({}) ({})", a, b);
}

template <class T>
std::vector<double> cross_spectrum(const AlmLayout& layout, View<const std::complex<T>, 1> x,
                                   View<const std::complex<T>, 1> y) {
    check_alm("alm", layout, x);
    check_alm("alm", layout, y);
    std::vector<double> spectrum(layout.lmax() + 1);
    const core::InterruptionPoll poll;
    for (std::int64_t i = 0; i < layout.n_orders(); ++i) {
        poll();
        const std::int64_t m = layout.order(i), offset = layout.offset(m);
        for (std::int64_t l = m; l <= layout.lmax(); ++l) {
            const std::complex<double> a(x[offset + l]), b(y[offset + l]);
            // -m gives the same as m; the imaginary part of m = 0 is no part of a real field.
            spectrum[l] += m == 0 ? a.real() * b.real() : 2 * (a.real() * b.real() + a.imag() * b.imag());
        }
    }
    for (std::int64_t l = 0; l <= layout.lmax(); ++l) spectrum[l] /= 2.0 * static_cast<double>(l) + 1;
    return spectrum;
}

template <class T>
std::vector<Spectrum> spectra(const AlmLayout& layout, View<const std::complex<T>, 2> alm) {
    return all_spectra<T>(layout, alm, alm, true);
}

template <class T>
std::vector<Spectrum> spectra(const AlmLayout& layout, View<const std::complex<T>, 2> first,
                              View<const std::complex<T>, 2> second) {
    return all_spectra<T>(layout, first, second, false);
}

template <class T>
void multiply_alm(const AlmLayout& layout, const std::vector<double>& window, View<std::complex<T>, 1> alm) {
    check_alm("alm", layout, alm);
    sht::check_window(window, layout.lmax());
    const core::InterruptionPoll poll;
    for (std::int64_t i = 0; i < layout.n_orders(); ++i) {
        poll();
        const std::int64_t m = layout.order(i), offset = layout.offset(m);
        for (std::int64_t l = m; l <= layout.lmax(); ++l)
            alm[offset + l] = std::complex<T>(std::complex<double>(alm[offset + l]) * window[l]);
    }
}

template <class T>
void copy_alm(const AlmLayout& from_layout, View<const std::complex<T>, 1> from, const AlmLayout& to_layout,
              View<std::complex<T>, 1> to) {
    check_alm("from", from_layout, from);
    check_alm("to", to_layout, to);
    const core::InterruptionPoll poll;
    for (std::int64_t i = 0; i < to_layout.n_orders(); ++i) {
        poll();
        for (std::int64_t m = to_layout.order(i), l = m; l <= to_layout.lmax(); ++l)
            to[to_layout.index(l, m)] = l <= from_layout.lmax() && m <= from_layout.mmax()
                                            ? from[from_layout.index(l, m)]
                                            : std::complex<T>(0);
    }
}

#define ZONAL_INSTANTIATE(T)                                                                            \
    template std::vector<double> cross_spectrum(const AlmLayout&, View<const std::complex<T>, 1>,       \
                                                View<const std::complex<T>, 1>);                        \
    template std::vector<Spectrum> spectra(const AlmLayout&, View<const std::complex<T>, 2>);           \
    template std::vector<Spectrum> spectra(const AlmLayout&, View<const std::complex<T>, 2>,            \
                                           View<const std::complex<T>, 2>);                             \
    template void multiply_alm(const AlmLayout&, const std::vector<double>&, View<std::complex<T>, 1>); \
    template void copy_alm(const AlmLayout&, View<const std::complex<T>, 1>, const AlmLayout&,          \
                           View<std::complex<T>, 1>);
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal
