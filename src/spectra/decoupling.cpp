#include "zonal/spectra/decoupling.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sht/array_checks.hpp"
#include "spectra/band_system.hpp"
#include "spectra/couplings.hpp"
#include "zonal/error.hpp"
#include "zonal/spectra/coupling.hpp"

namespace zonal {
namespace {

using bands::BandSystem;
using bands::RowMatrix;

/// Matrices of which each has spectra of its own: M00, M02, or M++ + M-- (of EE + BB and EB - BE) and M++ -
/// M-- (of EE - BB and EB + BE).
std::vector<RowMatrix> separate_matrices(SpectraKind kind, const Array<double, 4>& couplings) {
    const auto n = couplings.extent(2);
    std::vector<RowMatrix> found;
    for (std::int64_t i = 0; i < couplings.extent(1); ++i)
        found.emplace_back(Eigen::Map<const RowMatrix>(&couplings(0, i, 0, 0), n, n));
    if (kind == SpectraKind::spin22) {
        const RowMatrix minus = found[1];
        found[1] = found[0] - minus;
        found[0] += minus;
    }
    return found;
}

struct Systems {
    std::vector<BandSystem> parts{};
    double condition = std::numeric_limits<double>::infinity();
};

Systems solved(const Bins& bins, const std::vector<RowMatrix>& matrices, const std::vector<double>& transfer,
               std::int64_t n_low) {
    Systems systems;
    double largest = 0, smallest = std::numeric_limits<double>::infinity();
    for (const auto& matrix : matrices) {
        systems.parts.emplace_back(bins, matrix, transfer, n_low);
        largest = std::max(largest, systems.parts.back().largest());
        smallest = std::min(smallest, systems.parts.back().smallest());
    }
    if (smallest > 0) systems.condition = largest / smallest;
    return systems;
}

/// The narrowest bands between the same degrees whose condition is not poor; 0 if there are none.
std::int64_t width_that_would_do(const Bins& bins, const std::vector<RowMatrix>& matrices,
                                 const std::vector<double>& transfer) {
    const std::int64_t most = bins.lmax() - bins.lmin() + 1;
    const auto does = [&](std::int64_t width) {
        const auto wider = Bins::linear(width, bins.lmin(), bins.lmax(), bins.of());
        return solved(wider, matrices, transfer, 0).condition <= poor_condition;
    };
    std::int64_t low = 1, high = 2;  // low does not do
    while (!does(std::min(high, most))) {
        if (high >= most) return 0;
        low = high;
        high *= 2;
    }
    high = std::min(high, most);
    while (high - low > 1) {
        const std::int64_t middle = (low + high) / 2;
        (does(middle) ? high : low) = middle;
    }
    return high;
}

std::string spectra_of(SpectraKind kind) {
    return kind == SpectraKind::spin00   ? "TT"
           : kind == SpectraKind::spin02 ? "TE and TB"
                                         : "EE, EB, BE and BB";
}

[[noreturn]] void refuse(const Bins& bins, SpectraKind kind, double condition,
                         const std::vector<RowMatrix>& matrices, const std::vector<double>& transfer) {
    const auto width = width_that_would_do(bins, matrices, transfer);
    throw InvalidArgument(
        "bins",
        fmt::format("are too narrow for the mask: K of {} has condition {:.1e}, above {:.0e}; {}",
                    spectra_of(kind), condition, hopeless_condition,
                    width == 0
                        ? "no bands between their degrees are wide enough: the mask leaves too little sky"
                        : fmt::format("bands of {} degrees would do", width)));
}

std::vector<double> checked_transfer(const std::vector<double>& transfer, std::int64_t lmax_sky) {
    const auto n = static_cast<std::size_t>(lmax_sky + 1);
    if (transfer.empty()) return std::vector<double>(n, 1.0);
    if (transfer.size() < n)
        throw InvalidArgument("transfer", fmt::format("ends at l = {}: must reach l = {}, where the sky ends",
                                                      std::ssize(transfer) - 1, lmax_sky));
    for (std::size_t l = 0; l < n; ++l)
        if (!std::isfinite(transfer[l]))
            throw InvalidArgument(fmt::format("transfer[{}]", l), transfer[l], "must be a finite number");
    return {transfer.begin(), transfer.begin() + static_cast<std::ptrdiff_t>(n)};
}

/// into: [spectrum, band, spectrum, degree]. parts: of the systems, one, or two for sum and difference.
void spread(SpectraKind kind, const std::vector<RowMatrix>& parts, Array<double, 4>& into) {
    const auto rows = parts[0].rows(), columns = parts[0].cols();
    into = Array<double, 4>({n_spectra(kind), rows, n_spectra(kind), columns});
    const auto set = [&](std::int64_t to, std::int64_t from, const RowMatrix& values) {
        for (std::int64_t b = 0; b < rows; ++b)
            std::copy_n(values.data() + b * columns, columns, &into(to, b, from, 0));
    };
    if (kind != SpectraKind::spin22) {
        for (std::int64_t i = 0; i < n_spectra(kind); ++i) set(i, i, parts[0]);
        return;
    }
    const RowMatrix same = (parts[0] + parts[1]) / 2, other = (parts[0] - parts[1]) / 2;
    for (std::int64_t i = 0; i < 4; ++i) set(i, i, same);
    set(0, 3, other), set(3, 0, other);    // EE, BB
    set(1, 2, -other), set(2, 1, -other);  // EB, BE
}

/// sum over [from, l] of matrix times spectra, [to, band].
Array<double, 2> applied(const Array<double, 4>& matrix, View<const double, 2> given, const char* name) {
    sht::check_host(name, given);
    const std::int64_t n = matrix.extent(0), n_bands = matrix.extent(1), degrees = matrix.extent(3);
    sht::check_extent(name, given, 0, "spectrum", n);
    if (given.extent(1) < degrees)
        throw InvalidArgument(
            name, fmt::format("end at l = {}: must reach l = {}", given.extent(1) - 1, degrees - 1));
    Array<double, 2> found({n, n_bands});
    for (std::int64_t to = 0; to < n; ++to)
        for (std::int64_t b = 0; b < n_bands; ++b)
            for (std::int64_t from = 0; from < n; ++from) {
                double sum = 0;
                for (std::int64_t l = 0; l < degrees; ++l) sum += matrix(to, b, from, l) * given(from, l);
                found(to, b) += sum;
            }
    return found;
}

}  // namespace

std::int64_t n_spectra(SpectraKind kind) {
    return kind == SpectraKind::spin00 ? 1 : kind == SpectraKind::spin02 ? 2 : 4;
}

Array<double, 4> bands::couplings_of(SpectraKind kind, View<const double, 1> mask_spectrum,
                                     std::int64_t lmax_sky, int threads, Device device) {
    const auto kinds = kind == SpectraKind::spin00   ? std::vector{CouplingKind::spin00}
                       : kind == SpectraKind::spin02 ? std::vector{CouplingKind::spin02}
                                                     : std::vector{CouplingKind::plus, CouplingKind::minus};
    Array<double, 4> couplings({1, std::ssize(kinds), lmax_sky + 1, lmax_sky + 1});
    const View<const double, 2> one_mask(mask_spectrum.data(), {1, mask_spectrum.extent(0)},
                                         {0, mask_spectrum.stride(0)});
    coupling_matrices(one_mask, kinds, couplings.view(), threads, device);
    return couplings;
}

Decoupling bands::decoupled(const Bins& bins, SpectraKind kind, const Array<double, 4>& couplings,
                            const DecouplingOptions& options) {
    const auto transfer = checked_transfer(options.transfer, couplings.extent(3) - 1);
    const auto matrices = separate_matrices(kind, couplings);
    const std::int64_t n_low = kind == SpectraKind::spin00 ? std::min<std::int64_t>(bins.lmin(), 2) : 0;
    Systems systems;
    Decoupling result;
    if (n_low > 0 && options.low_degrees.value_or(true)) {
        systems = solved(bins, matrices, transfer, n_low);
        result.low_degrees = options.low_degrees.has_value() || systems.condition <= poor_condition;
    }
    if (!result.low_degrees) systems = solved(bins, matrices, transfer, 0);
    if (!(systems.condition <= hopeless_condition)) refuse(bins, kind, systems.condition, matrices, transfer);
    result.condition = systems.condition;
    if (systems.condition > poor_condition)
        result.note = fmt::format(
            "the bins are narrow for the mask: K of {} has condition {:.1e}, so that bands are strongly "
            "correlated; a condition below {:.0e} needs {}",
            spectra_of(kind), systems.condition, poor_condition, [&] {
                const auto width = width_that_would_do(bins, matrices, transfer);
                return width == 0 ? "another mask" : fmt::format("bands of {} degrees", width);
            }());
    std::vector<RowMatrix> inverses, windows;
    for (const auto& part : systems.parts) {
        inverses.push_back(part.decoupling());
        windows.push_back(part.windows());
    }
    spread(kind, inverses, result.matrix);
    spread(kind, windows, result.windows);
    return result;
}

Decoupling decouple(const Bins& bins, SpectraKind kind, View<const double, 1> mask_spectrum,
                    const DecouplingOptions& options) {
    const std::int64_t lmax_sky = options.lmax_sky < 0 ? bins.lmax() : options.lmax_sky;
    if (lmax_sky < bins.lmax())
        throw InvalidArgument("lmax_sky", lmax_sky,
                              fmt::format("must be {} or more, where the bins end", bins.lmax()));
    return bands::decoupled(
        bins, kind, bands::couplings_of(kind, mask_spectrum, lmax_sky, options.threads, options.device),
        options);
}

Array<double, 2> band_powers(const Decoupling& decoupling, View<const double, 2> pseudo) {
    return applied(decoupling.matrix, pseudo, "pseudo");
}

Array<double, 2> band_theory(const Decoupling& decoupling, View<const double, 2> c_l) {
    return applied(decoupling.windows, c_l, "c_l");
}

}  // namespace zonal
