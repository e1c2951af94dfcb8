#include "sky/resampling/interpolation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "points/map_passes.hpp"
#include "points/sphere_samples.hpp"
#include "sht/array_checks.hpp"
#include "sht/progress_part.hpp"
#include "zonal/error.hpp"
#include "zonal/points/plan.hpp"
#include "zonal/points/samples.hpp"

namespace zonal {
namespace sky {
namespace {

using Complex = std::complex<double>;

/// Points whose plan is there at once: enough for all threads, or for a GPU, few beside a map.
std::int64_t points_at_once(Device device) {
    return std::int64_t{1} << (device.kind() == Device::Kind::cuda ? 22 : 19);
}

/// Calls work(first, last) for parts of a block.
template <class Work>
void for_parts(std::int64_t n, int threads, const Work& work) {
    constexpr std::int64_t part = std::int64_t{1} << 14;
    core::parallel_for((n + part - 1) / part, threads,
                       [&](std::int64_t task, int) { work(task * part, std::min(n, (task + 1) * part)); });
}

/// Fields of alm at places, by samples of them.
class Interpolation {
  public:
    /// rotation: of the field, before it is evaluated.
    Interpolation(const AlmLayout& layout, View<const Complex, 2> alm, Fields fields, const Places& places,
                  const std::optional<RotationMatrix>& rotation, double error, int threads, Device device)
        : layout_(layout),
          alm_(alm),
          fields_(fields),
          places_(places),
          rotation_(rotation),
          error_(error),
          threads_(threads),
          device_(resolve_device(device)) {}

    EvaluationReport run(View<double, 2> out, const Slopes& slopes, const Progress& progress) {
        // I and P share the points; scalars come a few at a time.
        std::vector<std::vector<Group>> passes;
        for (const Group& group : make_groups(fields_, alm_.extent(0))) {
            if (passes.empty() || fields_ == Fields::scalars) passes.emplace_back();
            passes.back().push_back(group);
        }
        const double n = static_cast<double>(passes.size());
        for (std::size_t i = 0; i < passes.size(); ++i) {
            std::vector<Sampled> sampled;
            for (const Group& group : passes[i]) sampled.push_back(sample(group));
            const auto of_pass =
                sht::part_of(progress, static_cast<double>(i) / n, static_cast<double>(i + 1) / n);
            for (std::int64_t begin = 0, end = 0; begin < places_.n_places(); begin = end) {
                end = std::min(begin + points_at_once(device_), places_.n_places());
                interpolate_block(sampled, begin, end, out, slopes);
                if (of_pass && !of_pass(static_cast<double>(end) / static_cast<double>(places_.n_places())))
                    throw Cancelled("resampling: cancelled");
            }
        }
        return report_;
    }

  private:
    /// Samples of the fields of one spin.
    struct Sampled {
        Group group;
        SphereSamples samples;
        SampleArray array;
    };

    Sampled sample(const Group& group) {
        SphereSamples samples({.lmax = layout_.lmax(),
                               .mmax = layout_.mmax(),
                               .spin = group.spin(),
                               .error = error_,
                               .n_points = std::max<std::int64_t>(places_.n_places(), 1),
                               .threads = threads_,
                               .device = device_});
        auto array = samples.make_array(group.batch);
        std::vector<PointErrors> errors;
        samples.synthesize<double>(batch_of(alm_.slice(group.first, n_rows(group)), group), array, &errors);
        report_.mean_error = std::max(report_.mean_error, points::largest_share(errors, group.components));
        report_.bound = std::max(report_.bound, samples.bound());
        report_.derivative_bound = std::max(report_.derivative_bound, samples.derivative_bound());
        return {group, samples, std::move(array)};
    }

    void interpolate_block(const std::vector<Sampled>& sampled, std::int64_t begin, std::int64_t end,
                           const View<double, 2>& out, const Slopes& slopes) {
        const std::int64_t n = end - begin;
        Array<double, 1> theta({n}), phi({n});
        std::vector<Complex> turns(static_cast<std::size_t>(n));
        std::vector<std::int64_t> values(static_cast<std::size_t>(n));
        for_parts(n, threads_, [&](std::int64_t first, std::int64_t last) {
            places_.visit(begin + first, begin + last,
                          [&](std::int64_t k, std::int64_t value, double c, double s, double t, double p) {
                              const std::int64_t i = first + k;
                              values[static_cast<std::size_t>(i)] = value;
                              const auto from = come_from(rotation_, c, s, t, p);
                              theta(i) = from.theta;
                              phi(i) = from.phi;
                              turns[static_cast<std::size_t>(i)] = {from.cosine, from.sine};
                          });
        });
        const PointPlan points(sampled[0].samples, std::as_const(theta).view(), std::as_const(phi).view());
        for (const Sampled& field : sampled) {
            const Group& group = field.group;
            const auto make = [&] { return Array<double, 3>({group.batch, group.components, n}); };
            auto found = make();
            if (!slopes.wanted()) {
                points.interpolate<double>(field.array, found.view());
            } else {
                auto by_theta = make(), by_phi = make();
                points.interpolate<double>(field.array, found.view(), by_theta.view(), by_phi.view());
                store(group, by_theta, values, turns, slopes.by_theta);
                store(group, by_phi, values, turns, slopes.by_phi);
            }
            store(group, found, values, turns, out);
        }
    }

    void store(const Group& group, const Array<double, 3>& found, const std::vector<std::int64_t>& values,
               const std::vector<Complex>& turns, const View<double, 2>& out) const {
        for_parts(std::ssize(values), threads_, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t map = 0; map < group.batch; ++map)
                for (std::int64_t i = first; i < last; ++i) {
                    const auto value = values[static_cast<std::size_t>(i)];
                    if (group.components == 1) {
                        out(group.first + map, value) = found(map, 0, i);
                        continue;
                    }
                    const Complex once = turns[static_cast<std::size_t>(i)];
                    const Complex p = once * once * Complex(found(map, 0, i), found(map, 1, i));
                    out(group.first, value) = p.real();
                    out(group.first + 1, value) = p.imag();
                }
        });
    }

    const AlmLayout layout_;
    const View<const Complex, 2> alm_;
    const Fields fields_;
    const Places& places_;
    const std::optional<RotationMatrix> rotation_;
    const double error_;
    const int threads_;
    const Device device_;
    EvaluationReport report_;
};

}  // namespace

void check_slopes(const Slopes& slopes, const View<double, 2>& values) {
    for (const auto& [name, view] : {std::pair("by_theta", slopes.by_theta), {"by_phi", slopes.by_phi}}) {
        if (!slopes.wanted() && view.data() == nullptr) continue;
        sht::check_host(name, view);
        sht::check_extent(name, view, 0, "field", values.extent(0));
        sht::check_extent(name, view, 1, "point", values.extent(1));
    }
}

EvaluationReport interpolate(const AlmLayout& layout, View<const Complex, 2> alm, Fields fields,
                             const Places& places, const std::optional<RotationMatrix>& rotation,
                             const EvaluationOptions& options, View<double, 2> out, const Slopes& slopes) {
    return Interpolation(layout, alm, fields, places, rotation, options.error,
                         core::resolve_threads(options.threads), options.device)
        .run(out, slopes, options.progress);
}

}  // namespace sky

double bytes_of_evaluation(const AlmLayout& layout, Fields fields, std::int64_t n_fields,
                           std::int64_t n_points, const EvaluationOptions& options, bool derivatives) {
    const Device device = resolve_device(options.device);
    const bool on_cuda = device.kind() == Device::Kind::cuda;  // whose memory has samples and plans
    const auto on_host = on_cuda ? std::vector<sky::Group>() : sky::make_groups(fields, n_fields);
    double samples = 0;
    for (const sky::Group& group : on_host) {
        const SphereSamples plan({.lmax = layout.lmax(),
                                  .mmax = layout.mmax(),
                                  .spin = group.spin(),
                                  .error = options.error,
                                  .n_points = std::max<std::int64_t>(n_points, 1),
                                  .threads = options.threads});
        const SampleRows rows = plan.all_rows();
        const double of_group = 8 * static_cast<double>(sky::n_rows(group) * (rows.end - rows.first)) *
                                static_cast<double>(plan.implementation().tables.stride);
        samples = fields == Fields::scalars ? std::max(samples, of_group) : samples + of_group;
    }
    const std::int64_t most_rows = fields == Fields::scalars ? sky::most_scalars_at_once : 2;
    // Its plan, where it comes from, its values.
    const double of_point =
        (on_cuda ? 0 : 32) + 5 * 8 + 8 * static_cast<double>(most_rows) * (derivatives ? 3 : 1);
    return samples + of_point * static_cast<double>(std::min(n_points, sky::points_at_once(device)));
}

EvaluationReport evaluate(const AlmLayout& layout, View<const std::complex<double>, 2> alm, Fields fields,
                          View<const double, 1> theta, View<const double, 1> phi, View<double, 2> values,
                          const EvaluationOptions& options, View<double, 2> by_theta,
                          View<double, 2> by_phi) {
    const sky::Places places(theta, phi);
    const sky::Slopes slopes{by_theta, by_phi};
    const auto rows = fields == Fields::iqu ? 3 : fields == Fields::qu ? 2 : alm.extent(0);
    sht::check_extent("alm", alm, 0, "field", rows);
    sht::check_extent("alm", alm, 1, "coefficient", layout.size());
    sht::check_host("alm", alm);
    sht::check_contiguous("alm", alm);
    sht::check_extent("values", values, 0, "field", rows);
    sht::check_extent("values", values, 1, "point", places.n_values());
    sht::check_host("values", values);
    sky::check_slopes(slopes, values);
    if (fields != Fields::scalars && layout.lmax() < 2)
        throw InvalidArgument("lmax", layout.lmax(), "must be at least 2 for Q and U");
    return sky::interpolate(layout, alm, fields, places, {}, options, values, slopes);
}

}  // namespace zonal
