#include "beams/beam_convolver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/memory.hpp"

namespace zonal {
namespace beams {
namespace {

constexpr double least_error = 1e-13, most_error = 0.1;

BeamOptions resolve(const AlmLayout& layout, const View<const Complex, 3>& beams,
                    const BeamOptions& options) {
    if (beams.extent(0) < 1) throw InvalidArgument("beams", "must be of at least one detector");
    if (beams.extent(1) != 1 && beams.extent(1) != 3)
        throw InvalidArgument(
            "beams",
            fmt::format("axis 1 (component) has length {}: must be 1 (T) or 3 (T, E, B)", beams.extent(1)));
    if (!layout.has_all_orders()) throw InvalidArgument("layout", "must have all orders up to its mmax");
    sht::check_extent("beams", beams, 2, "coefficient", layout.size());
    sht::check_host("beams", beams);
    BeamOptions resolved = options;
    if (options.kmax < -1 || options.kmax > layout.mmax())
        throw InvalidArgument(
            "kmax", options.kmax,
            fmt::format("must be from 0 to that of the beams, {}, or -1 for it", layout.mmax()));
    if (options.kmax == -1) resolved.kmax = layout.mmax();
    if (options.half_wave_plate && beams.extent(1) != 3)
        throw InvalidArgument("half_wave_plate", "needs beams of three components, T, E and B");
    if (!(options.error >= least_error && options.error <= most_error))
        throw InvalidArgument("error", options.error,
                              fmt::format("must be from {} to {}", least_error, most_error));
    if (options.n_pointings < 0)
        throw InvalidArgument("n_pointings", options.n_pointings,
                              "must be 0 (two for each coefficient) or positive");
    resolved.threads = core::resolve_threads(options.threads);
    resolved.device = resolve_device(options.device);
    for (std::int64_t d = 0; d < beams.extent(0); ++d)
        for (std::int64_t c = 0; c < beams.extent(1); ++c)
            for (std::int64_t i = 0; i < beams.extent(2); ++i)
                if (const Complex b = beams(d, c, i); !std::isfinite(b.real()) || !std::isfinite(b.imag()))
                    throw InvalidArgument(fmt::format("beams[{}, {}, {}]", d, c, i), "must be finite");
    return resolved;
}

/// The error of d has that of the interpolation once, and that of the rounding for each order k and -k.
double bound_of(const SphereSamples& samples, std::int64_t kmax) {
    return samples.bound() + static_cast<double>(2 * kmax) * samples.implementation().window.rounding();
}

/// Samples of spin 0 that keep the error in a sum over the orders.
SphereSamples samples_for(std::int64_t lmax, std::int64_t kmax, const BeamOptions& options) {
    PointOptions of_points{.lmax = lmax,
                           .error = options.error,
                           .n_points = options.n_pointings,
                           .threads = options.threads,
                           .device = options.device};
    for (;; of_points.error /= 2) {
        constexpr double least = 2e-14;  // that PointOptions have
        if (of_points.error < least)
            throw InvalidArgument(
                "error", options.error,
                fmt::format("rounding is more than that at lmax = {} and kmax = {}", lmax, kmax));
        SphereSamples samples(of_points);
        if (bound_of(samples, kmax) <= options.error) return samples;
    }
}

std::int64_t highest_order(const std::vector<EffectiveBeam>& beams) {
    std::int64_t highest = 0;
    for (const EffectiveBeam& beam : beams) highest = std::max(highest, beam.layout.mmax());
    return highest;
}

/// The same samples of another spin.
SphereSamples of_spin(const SphereSamples& samples, std::int64_t k) {
    PointOptions options = samples.options();
    options.spin = static_cast<int>(k);
    return SphereSamples(options);
}

std::shared_ptr<const BeamConvolver::Implementation> make(const AlmLayout& layout,
                                                          const View<const Complex, 3>& beams,
                                                          const BeamOptions& requested) {
    const BeamOptions options = resolve(layout, beams, requested);
    const std::int64_t highest = std::min(options.kmax + (options.half_wave_plate ? 4 : 0), layout.lmax());
    return std::make_shared<const BeamConvolver::Implementation>(
        layout, beams, options, samples_for(layout.lmax(), highest, options));
}

}  // namespace

Fields::Fields(const BeamConvolver::Implementation& convolver, SampleRows all)
    : rows(points::completed(all, convolver.samples.n_samples())),
      stride(convolver.samples.implementation().tables.stride),
      field_size(points::field_size(convolver.samples.implementation(), rows)) {
    constexpr std::int64_t few = 1 << 24;  // which any machine holds
    const std::int64_t size = std::max<std::int64_t>(convolver.n_fields, 1) * field_size;
    if (convolver.is_on_gpu()) {
        gpu_memory = Buffer(convolver.options.device, size * std::int64_t{sizeof(double)});
        data = static_cast<double*>(gpu_memory.data());
        return;
    }
    if (size > few)
        require_memory(
            8 * static_cast<double>(size),
            fmt::format("lmax = {}: samples of {} fields", convolver.sky_layout.lmax(), convolver.n_fields));
    data = memory.reserve(size);
}

SampleArray Fields::array(const SphereSamples& samples, std::int64_t first_field, std::int64_t n_maps) const {
    return SampleArray(std::make_unique<SampleArray::Storage>(samples.implementation().shared_from_this(),
                                                              n_maps, rows, data + first_field * field_size));
}

void check_rows(const SphereSamples& samples, SampleRows there, SampleRows needed) {
    if (there.first <= needed.first && there.end >= needed.end) return;
    const auto theta = [&](std::int64_t row) {
        return std::clamp(
            2 * std::numbers::pi * static_cast<double>(row) / static_cast<double>(samples.n_samples()), 0.0,
            std::numbers::pi);
    };
    const std::int64_t half = samples.width() / 2;
    throw InvalidArgument(
        "theta",
        fmt::format("{:.6g} to {:.6g} rad, about", theta(needed.first + half), theta(needed.end - half)),
        fmt::format("must lie where the planes were made, between {:.6g} and {:.6g}",
                    theta(there.first + half), theta(there.end - half)));
}

}  // namespace beams

AlmLayout beam_layout(std::int64_t lmax, std::int64_t n_coefficients) {
    for (std::int64_t kmax = 0; kmax <= lmax; ++kmax) {
        AlmLayout layout(lmax, kmax);
        if (layout.size() == n_coefficients) return layout;
        if (layout.size() > n_coefficients) break;
    }
    throw InvalidArgument(
        "beam", fmt::format("has {} coefficients: must have those of some kmax up to the lmax of the "
                            "sky, {}: {} for kmax = 0, {} for 1 and so on",
                            n_coefficients, lmax, lmax + 1, 2 * lmax + 1));
}

BeamConvolver::Implementation::Implementation(const AlmLayout& layout,
                                              const View<const beams::Complex, 3>& given,
                                              const BeamOptions& options, const SphereSamples& samples)
    : options(options),
      n_detectors(given.extent(0)),
      components(given.extent(1)),
      sky_layout(layout.lmax()),
      samples(samples) {
    using beams::effective_beams;
    using beams::highest_order;
    using beams::of_spin;
    const bool plate = options.half_wave_plate;
    effective = effective_beams(layout, given, 0, options.kmax, plate, options.threads);
    if (layout.mmax() > options.kmax)
        left_out = effective_beams(layout, given, options.kmax + 1, layout.mmax(), plate, options.threads);
    for (std::int64_t k = 0; k <= highest_order(effective); ++k) {
        std::vector<std::int64_t> with_k;
        for (std::int64_t b = 0; b < std::ssize(effective); ++b)
            if (effective[static_cast<std::size_t>(b)].has(k)) with_k.push_back(b);
        if (with_k.empty()) continue;
        planes.push_back({k, k == 0 ? samples : of_spin(samples, k), std::move(with_k), n_fields});
        const beams::Plane& plane = planes.back();
        for (std::int64_t map = 0; map < plane.n_maps(); ++map) {
            const auto b = static_cast<std::size_t>(plane.beams[static_cast<std::size_t>(map)]);
            terms.push_back({k, plane.field(map), effective[b].detector, effective[b].modulation});
        }
        n_fields += plane.n_fields();
    }
}

double BeamConvolver::Implementation::bound() const {
    return beams::bound_of(samples, beams::highest_order(effective));
}

BeamConvolver::BeamConvolver(const AlmLayout& layout, View<const std::complex<double>, 3> beams,
                             const BeamOptions& options)
    : implementation_(beams::make(layout, beams, options)) {}
const BeamOptions& BeamConvolver::options() const {
    return implementation_->options;
}
std::int64_t BeamConvolver::n_detectors() const {
    return implementation_->n_detectors;
}
std::int64_t BeamConvolver::components() const {
    return implementation_->components;
}
const AlmLayout& BeamConvolver::sky_layout() const {
    return implementation_->sky_layout;
}
double BeamConvolver::bound() const {
    return implementation_->bound();
}
const SphereSamples& BeamConvolver::samples() const {
    return implementation_->samples;
}
std::int64_t BeamConvolver::n_fields() const {
    return implementation_->n_fields;
}

BeamPlanes::BeamPlanes(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
BeamPlanes::~BeamPlanes() = default;
BeamPlanes::BeamPlanes(BeamPlanes&&) noexcept = default;
BeamPlanes& BeamPlanes::operator=(BeamPlanes&&) noexcept = default;
SampleRows BeamPlanes::rows() const {
    return storage_->fields.rows;
}
std::int64_t BeamPlanes::bytes() const {
    return storage_->fields.bytes();
}

}  // namespace zonal
