#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "beams/beam_convolver.hpp"
#include "beams/cuda/scan_cuda.hpp"
#include "beams/harmonics.hpp"
#include "core/parallel.hpp"
#include "points/point_kernels.hpp"
#include "points/point_plan.hpp"
#include "points/point_spreading.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

/// Between samples of fields and what detectors measure at pointings.
namespace zonal {
namespace beams {
namespace {

using Set = Pointings::Implementation::Set;

/// Pointings whose sums are made together.
constexpr std::int64_t block = 512;

void check_angles(const char* name, const View<const double, 2>& angles, std::int64_t n_detectors,
                  std::int64_t n_pointings, MemorySpace also) {
    if (angles.extent(0) != 1 && angles.extent(0) != n_detectors)
        throw InvalidArgument(
            name, fmt::format("axis 0 (detector) has length {}: must be 1 or the number of detectors, {}",
                              angles.extent(0), n_detectors));
    sht::check_extent(name, angles, 1, "pointing", n_pointings);
    sht::check_space(name, angles, also);
}

void check_finite(const char* name, const View<const double, 2>& angles, Device device) {
    constexpr int in_order = 1;  // one thread, so that the first is named
    const auto refuse = [&](double angle, std::int64_t i) {
        throw InvalidArgument(name, angle, fmt::format("must be finite (pointing {})", i));
    };
    for (std::int64_t d = 0; d < angles.extent(0); ++d) {
        if (angles.space() == MemorySpace::cuda) {
            if (const auto found = cuda::first_not_finite(name, device, angles[d]))
                refuse(found->angle, found->number);
            continue;
        }
        core::for_pieces(angles.extent(1), in_order, [&](std::int64_t first, std::int64_t end) {
            for (std::int64_t i = first; i < end; ++i)
                if (!std::isfinite(angles(d, i))) refuse(angles(d, i), i);
        });
    }
}

core::AlignedVector<double> sorted(const View<const double, 1>& angles, const PointPlan& plan) {
    const auto& points = plan.implementation();
    core::AlignedVector<double> made(static_cast<std::size_t>(points.n_points));
    core::for_pieces(points.n_points, plan.samples().options().threads,
                     [&](std::int64_t first, std::int64_t end) {
                         for (std::int64_t i = first; i < end; ++i)
                             made[static_cast<std::size_t>(i)] = angles[points.placed[i].caller];
                     });
    return made;
}

/// cos(k x) and sin(k x), k = 0 .. kmax, of the angles x[first], ..: [k][block].
class Harmonics {
  public:
    void make(const double* x, std::int64_t count, std::int64_t kmax) {
        cos_.resize(static_cast<std::size_t>((kmax + 1) * block));
        sin_.resize(cos_.size());
        make_harmonics(x, count, kmax, cos_.data(), sin_.data(), block);
    }
    const double* cos(std::int64_t k) const { return cos_.data() + k * block; }
    const double* sin(std::int64_t k) const { return sin_.data() + k * block; }

  private:
    std::vector<double> cos_, sin_;
};

/// The terms of a detector of a set.
struct OfDetector {
    std::vector<Term> terms;
    std::int64_t kmax = 0;
};

/// The fields of a set's detectors, one detector's after the other's, and their terms, which count fields
/// among these.
struct SetFields {
    SetFields(const BeamConvolver::Implementation& convolver, const Set& set) {
        for (const std::int64_t detector : set.detectors) {
            OfDetector of;
            for (Term term : convolver.terms) {
                if (term.detector != detector) continue;
                const std::int64_t of_convolver = std::exchange(term.field, std::ssize(numbers));
                for (std::int64_t c = 0; c < term.n_fields(); ++c) numbers.push_back(of_convolver + c);
                of.kmax = std::max(of.kmax, term.k);
                of.terms.push_back(term);
            }
            ends.push_back(std::ssize(numbers));
            detectors.push_back(std::move(of));
        }
    }
    std::int64_t n_fields() const { return std::ssize(numbers); }

    std::vector<std::int64_t> numbers;  ///< [field of the set] its number among the convolver's
    std::vector<std::int64_t> ends;     ///< [detector of the set] of its fields
    std::vector<OfDetector> detectors;
};

/// Factors of the detectors' terms at pointings [first, first + count) of a set, one detector after the
/// other.
class Turns {
  public:
    Turns(const BeamConvolver::Implementation& convolver, const Set& set, const SetFields& fields)
        : plate_(convolver.options.half_wave_plate), set_(set), fields_(fields) {}

    /// To be called for ascending detectors of a block.
    void make(std::size_t detector, std::int64_t first, std::int64_t count) {
        if (detector == 0 || set_.psi.sorted.size() > 1) {
            std::int64_t kmax = fields_.detectors[detector].kmax;
            if (set_.psi.sorted.size() == 1)
                for (const OfDetector& other : fields_.detectors) kmax = std::max(kmax, other.kmax);
            psi_.make(set_.psi.of(detector) + first, count, kmax);
        }
        if (!plate_ || (detector > 0 && set_.hwp.sorted.size() == 1)) return;
        const double* const alpha = set_.hwp.of(detector) + first;
        for (std::int64_t i = 0; i < count; ++i) four_[i] = 4 * alpha[i];
        alpha_.make(four_, count, 1);
    }
    const double* modulation(Modulation m) const {
        return m == Modulation::none     ? alpha_.cos(0)
               : m == Modulation::cosine ? alpha_.cos(1)
                                         : alpha_.sin(1);
    }
    const double* cos(std::int64_t k) const { return psi_.cos(k); }
    const double* sin(std::int64_t k) const { return psi_.sin(k); }

  private:
    const bool plate_;
    const Set& set_;
    const SetFields& fields_;
    Harmonics psi_, alpha_;
    double four_[block];
};

/// values of the term's fields = numbers times what its fields count in the detector's signal: mod(alpha)
/// P_0, or mod(alpha) 2 (Q cos k psi + U sin k psi).
void set_term(const Term& term, const Turns& turns, const double* numbers, std::int64_t count, double* values,
              std::int64_t stride) {
    double* const q = values + term.field * stride;
    const bool steady = term.modulation == Modulation::none;
    const double* const mod = steady ? nullptr : turns.modulation(term.modulation);
    for (std::int64_t i = 0; i < count; ++i) q[i] = (steady ? 1 : mod[i]) * numbers[i];
    if (term.k == 0) return;
    double* const u = q + stride;
    const double *const c = turns.cos(term.k), *const s = turns.sin(term.k);
    for (std::int64_t i = 0; i < count; ++i) {
        u[i] = 2 * s[i] * q[i];
        q[i] *= 2 * c[i];
    }
}

template <class T>
void check_tod(const Pointings::Implementation& pointings, const View<T, 2>& tod) {
    sht::check_extent("tod", tod, 0, "detector", pointings.convolver->n_detectors);
    sht::check_extent("tod", tod, 1, "pointing", pointings.n_pointings);
    const Device device = pointings.convolver->options.device;
    sht::check_space("tod", tod, points::space_on(device));
    if (tod.space() == MemorySpace::cuda) points::cuda::wait_for_caller(device);
}

/// Rows of angles, all or those of a set's detectors.
std::vector<View<const double, 1>> rows_of(const View<const double, 2>& angles, const Set& set, bool shared) {
    std::vector<View<const double, 1>> rows;
    if (shared && angles.extent(0) == 1) return {angles[0]};
    for (const std::int64_t d : set.detectors) rows.push_back(angles[angles.extent(0) == 1 ? 0 : d]);
    return rows;
}

/// shared: whether all detectors are of the set.
SetAngles angles_of(const char* name, const View<const double, 2>& angles, const Set& set, bool shared) {
    SetAngles made;
    const auto rows = rows_of(angles, set, shared);
    if (set.transfer)
        made.there = angles_there(name, set.plan.samples().options().device, *set.transfer, rows);
    else
        for (const auto& row : rows) made.sorted.push_back(sorted(row, set.plan));
    return made;
}

}  // namespace

template <class T>
void scan_set(const BeamConvolver::Implementation& convolver, const Fields& from, const Set& set,
              const View<T, 2>& tod) {
    if (convolver.is_on_gpu()) return scan_set_there(convolver, from, set, tod);
    const auto& points = set.plan.implementation();
    const auto& plan = convolver.samples.implementation();
    const SetFields fields(convolver, set);
    std::vector<const double*> data;
    for (const std::int64_t f : fields.numbers) data.push_back(from.field(f).data);
    const points::SampleFields samples{data.data(), from.rows.first + plan.tables.border, from.stride,
                                       fields.n_fields()};
    const std::int64_t n_tasks = (points.n_points + points::task_points - 1) / points::task_points;
    const int threads =
        points::threads_for(plan.options, static_cast<double>(points.n_points) *
                                              points::time_of_point(plan.window.width(), fields.n_fields()));
    core::parallel_for(n_tasks, threads, [&](std::int64_t task, int) {
        core::AlignedVector<double> factors(static_cast<std::size_t>(fields.n_fields() * block)),
            sums(set.detectors.size() * block);
        Turns turns(convolver, set, fields);
        const std::vector<double> ones(block, 1.0);
        const std::int64_t begin = task * points::task_points,
                           task_end = std::min(begin + points::task_points, points.n_points);
        for (std::int64_t first = begin; first < task_end; first += block) {
            const std::int64_t end = std::min(first + block, task_end);
            for (std::size_t i = 0; i < set.detectors.size(); ++i) {
                turns.make(i, first, end - first);
                for (const Term& term : fields.detectors[i].terms)
                    set_term(term, turns, ones.data(), end - first, factors.data(), block);
            }
            points::combine_points(plan.polynomials, samples, {fields.ends.data(), std::ssize(fields.ends)},
                                   points.range(first, end), factors.data(), sums.data(), block);
            for (std::size_t i = 0; i < set.detectors.size(); ++i) {
                const View<T, 1> out = tod[set.detectors[i]];
                const double* const in = sums.data() + static_cast<std::int64_t>(i) * block;
                for (std::int64_t p = first; p < end; ++p)
                    out[points.placed[p].caller] = static_cast<T>(in[p - first]);
            }
        }
    });
}

template <class T>
void spread_set(const BeamConvolver::Implementation& convolver, const Fields& to, const Set& set,
                const View<const T, 2>& tod) {
    if (convolver.is_on_gpu()) return spread_set_there(convolver, to, set, tod);
    const auto& points = set.plan.implementation();
    const SetFields fields(convolver, set);
    if (fields.n_fields() == 0) return;
    std::vector<points::SampleView> views;
    for (const std::int64_t f : fields.numbers) views.push_back(to.field(f));
    points::spread_sorted(
        points, views, [&](std::int64_t begin, std::int64_t all_end, double* values, std::int64_t stride) {
            Turns turns(convolver, set, fields);
            double measured[block];
            for (std::int64_t first = begin; first < all_end; first += block) {
                const std::int64_t end = std::min(first + block, all_end);
                for (std::size_t i = 0; i < set.detectors.size(); ++i) {
                    turns.make(i, first, end - first);
                    const View<const T, 1> in = tod[set.detectors[i]];
                    for (std::int64_t p = first; p < end; ++p)
                        measured[p - first] = static_cast<double>(in[points.placed[p].caller]);
                    for (const Term& term : fields.detectors[i].terms)
                        set_term(term, turns, measured, end - first, values + first - begin, stride);
                }
            }
        });
}

template void scan_set(const BeamConvolver::Implementation&, const Fields&, const Set&,
                       const View<float, 2>&);
template void scan_set(const BeamConvolver::Implementation&, const Fields&, const Set&,
                       const View<double, 2>&);
template void spread_set(const BeamConvolver::Implementation&, const Fields&, const Set&,
                         const View<const float, 2>&);
template void spread_set(const BeamConvolver::Implementation&, const Fields&, const Set&,
                         const View<const double, 2>&);

}  // namespace beams

Pointings::Pointings(const BeamConvolver& convolver, View<const double, 2> theta, View<const double, 2> phi,
                     View<const double, 2> psi, View<const double, 2> hwp) {
    using beams::angles_of;
    using beams::check_angles;
    using beams::check_finite;
    auto made = std::make_unique<Implementation>();
    made->convolver = convolver.implementation();
    made->n_pointings = theta.extent(1);
    const std::int64_t n_detectors = convolver.n_detectors();
    const bool plate = convolver.options().half_wave_plate;
    if (plate != (hwp.data() != nullptr))
        throw InvalidArgument("hwp",
                              plate ? "must be given for beams behind a half-wave plate"
                                    : "must not be given: the beams were planned without a half-wave plate");
    const Device device = convolver.options().device;
    const MemorySpace space = points::space_on(device);
    if (space == MemorySpace::cuda) points::cuda::wait_for_caller(device);
    check_angles("theta", theta, n_detectors, made->n_pointings, space);
    check_angles("phi", phi, n_detectors, made->n_pointings, space);
    check_angles("psi", psi, n_detectors, made->n_pointings, space);
    check_finite("psi", psi, device);
    if (plate) {
        check_angles("hwp", hwp, n_detectors, made->n_pointings, space);
        check_finite("hwp", hwp, device);
    }
    const auto of = [](const View<const double, 2>& angles, std::int64_t d) {
        return angles[angles.extent(0) == 1 ? 0 : d];
    };
    const bool together = theta.extent(0) == 1 && phi.extent(0) == 1;
    const std::int64_t n_sets = together ? 1 : n_detectors;
    const auto transfer = made->convolver->is_on_gpu()
                              ? points::cuda::make_transfer(device, convolver.options().threads)
                              : nullptr;
    for (std::int64_t s = 0; s < n_sets; ++s) {
        const std::int64_t n_fields = convolver.n_fields() / n_sets;
        Implementation::Set set{
            PointPlan(convolver.samples(), of(theta, s), of(phi, s), n_fields), {}, {}, {}, transfer};
        for (std::int64_t d = together ? 0 : s; d < (together ? n_detectors : s + 1); ++d)
            set.detectors.push_back(d);
        set.psi = angles_of("psi", psi, set, together);
        if (plate) set.hwp = angles_of("hwp", hwp, set, together);
        const SampleRows rows = set.plan.rows();
        made->rows =
            s == 0 ? rows
                   : SampleRows{std::min(made->rows.first, rows.first), std::max(made->rows.end, rows.end)};
        made->sets.push_back(std::move(set));
    }
    implementation_ = std::move(made);
}
Pointings::~Pointings() = default;
Pointings::Pointings(Pointings&&) noexcept = default;
Pointings& Pointings::operator=(Pointings&&) noexcept = default;
std::int64_t Pointings::n_pointings() const {
    return implementation_->n_pointings;
}
SampleRows Pointings::rows() const {
    return implementation_->rows;
}

template <class T>
void BeamConvolver::scan(const BeamPlanes& planes, const Pointings& pointings, View<T, 2> tod) const {
    const auto& given = pointings.implementation();
    if (planes.storage().convolver != implementation_)
        throw InvalidArgument("planes",
                              "are of another BeamConvolver: must be made by this one's make_planes");
    if (given.convolver != implementation_)
        throw InvalidArgument("pointings", "are of another BeamConvolver: must be made for this one");
    beams::check_tod(given, tod);
    beams::check_rows(implementation_->samples, planes.rows(), pointings.rows());
    for (const auto& set : given.sets) beams::scan_set(*implementation_, planes.storage().fields, set, tod);
}

template <class T>
void BeamConvolver::adjoint(const Pointings& pointings, ConstView<T, 2> tod,
                            View<std::complex<T>, 2> sky) const {
    using beams::add_sky_of_planes;
    using beams::check_tod;
    using beams::Complex;
    using beams::Fields;
    using beams::spread_set;
    const Implementation& convolver = *implementation_;
    const auto& given = pointings.implementation();
    if (given.convolver != implementation_)
        throw InvalidArgument("pointings", "are of another BeamConvolver: must be made for this one");
    check_tod(given, tod);
    sht::check_extent("sky", sky, 0, "component", convolver.components);
    sht::check_extent("sky", sky, 1, "coefficient", convolver.sky_layout.size());
    sht::check_host("sky", sky);
    const Fields fields(convolver, pointings.rows());
    for (const auto& set : given.sets) spread_set<T>(convolver, fields, set, tod);
    Array<Complex, 2> sum({convolver.components, convolver.sky_layout.size()});
    add_sky_of_planes(convolver, fields, sum.view());
    for (std::int64_t c = 0; c < sum.extent(0); ++c)
        for (std::int64_t i = 0; i < sum.extent(1); ++i)
            sky(c, i) = {static_cast<T>(sum(c, i).real()), static_cast<T>(sum(c, i).imag())};
}

template void BeamConvolver::scan(const BeamPlanes&, const Pointings&, View<float, 2>) const;
template void BeamConvolver::scan(const BeamPlanes&, const Pointings&, View<double, 2>) const;
template void BeamConvolver::adjoint<float>(const Pointings&, View<const float, 2>,
                                            View<std::complex<float>, 2>) const;
template void BeamConvolver::adjoint<double>(const Pointings&, View<const double, 2>,
                                             View<std::complex<double>, 2>) const;

}  // namespace zonal
