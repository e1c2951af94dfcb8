#include "points/sphere_samples.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <utility>

#include "core/parallel.hpp"
#include "core/subnormals.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/memory.hpp"

namespace zonal {
namespace points {
namespace {

PointOptions resolve(const PointOptions& options) {
    const ShtOptions checked = sht::resolve_options({.lmax = options.lmax,
                                                     .mmax = options.mmax,
                                                     .spin = options.spin,
                                                     .threads = options.threads,
                                                     .device = options.device});
    PointOptions resolved = options;
    resolved.mmax = checked.mmax;
    resolved.threads = checked.threads;
    resolved.device = checked.device;
    check_named_error(options.error);
    if (options.n_points < 0)
        throw InvalidArgument("n_points", options.n_points,
                              "must be 0 (two for each coefficient) or positive");
    if (options.n_points == 0) resolved.n_points = 4 * AlmLayout(resolved.lmax, resolved.mmax).size();
    return resolved;
}

/// What the weights of a place may err by in each direction, so that both together take their share of the
/// error.
double polynomial_error(double error, const Window& window, std::int64_t degree) {
    return polynomial_share * error * window.transform(degree) / 2;
}

/// The rules that are in use, so that fields of several spins make one.
class KeptRules {
  public:
    std::shared_ptr<const SampleRule> find(const SampleChoice& choice, double error) {
        const std::lock_guard lock(mutex_);
        std::erase_if(rules_, [](const auto& rule) { return rule.expired(); });
        for (const auto& kept : rules_)
            if (auto rule = kept.lock(); rule && rule->sampling.degree == choice.sampling.degree &&
                                         rule->sampling.n == choice.sampling.n &&
                                         rule->window.width() == choice.width && rule->named_error == error)
                return rule;
        auto made = std::make_shared<const SampleRule>(choice, error);
        rules_.push_back(made);
        return made;
    }

  private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<const SampleRule>> rules_;
};

std::shared_ptr<const SphereSamples::Implementation> make_samples(const PointOptions& requested) {
    static KeptRules rules;
    const PointOptions options = resolve(requested);
    for (const SampleChoice& choice : sample_choices(options)) {
        if (Window::rounding_of(choice.width, choice.sampling) > largest_rounding_share * options.error)
            continue;
        auto rule = rules.find(choice, options.error);
        if (rule->rounding <= largest_rounding_share * options.error && rule->bound <= options.error)
            return std::make_shared<const SphereSamples::Implementation>(options, std::move(rule));
    }
    throw InvalidArgument("error", options.error,
                          fmt::format("rounding is more than that at lmax = {}", options.lmax));
}

}  // namespace

SampleRule::SampleRule(const SampleChoice& choice, double error)
    : sampling(choice.sampling),
      window(choice.width, choice.sampling),
      named_error(error),
      rounding(window.rounding()),
      bound(aliasing_for(choice.width, choice.sampling.oversampling()) + rounding + polynomial_share * error),
      polynomials(window, polynomial_error(error, window, sampling.degree)),
      transforms(window.transforms()) {}

SampleRows completed(SampleRows rows, std::int64_t n) {
    SampleRows all = rows;
    if (rows.first < 0) all.end = std::max(all.end, 1 - rows.first);
    if (rows.end > n / 2 + 1) all.first = std::min(all.first, n - rows.end + 1);
    return all;
}

std::int64_t field_size(const SphereSamples::Implementation& plan, SampleRows rows) {
    return plan.on_cuda ? cuda::field_size(*plan.on_cuda, rows)
                        : (rows.end - rows.first) * plan.tables.stride;
}

int threads_for(const PointOptions& options, double nanoseconds) {
    return core::paying_threads(options.threads, nanoseconds / 1000);
}

bool are_alike(const SphereSamples::Implementation& a, const SphereSamples::Implementation& b) {
    return a.rule == b.rule && a.tables.stride == b.tables.stride && a.options.device == b.options.device;
}

MemorySpace space_of(const SphereSamples::Implementation& plan) {
    return plan.on_cuda ? MemorySpace::cuda : MemorySpace::host;
}

void check_plan(const SampleArray& samples, const SphereSamples::Implementation& plan) {
    if (samples.storage().plan.get() != &plan)
        throw InvalidArgument("samples",
                              "are of another SphereSamples: must be made by this one's make_array");
}

}  // namespace points

SphereSamples::Implementation::Implementation(const PointOptions& options,
                                              std::shared_ptr<const points::SampleRule> given)
    : options(options),
      layout(options.lmax, options.mmax),
      rule(std::move(given)),
      sampling(rule->sampling),
      window(rule->window),
      bound(rule->bound),
      polynomials(rule->polynomials),
      tables(options, sampling, window, rule->transforms),
      components(options.spin == 0 ? 1 : 2) {
    if (options.device.kind() == Device::Kind::cuda) on_cuda = points::cuda::make_stage(*this);
}

SphereSamples::SphereSamples(const PointOptions& options) : implementation_(points::make_samples(options)) {}
const PointOptions& SphereSamples::options() const {
    return implementation_->options;
}
const AlmLayout& SphereSamples::layout() const {
    return implementation_->layout;
}
std::int64_t SphereSamples::components() const {
    return implementation_->components;
}
std::int64_t SphereSamples::n_samples() const {
    return implementation_->sampling.n;
}
std::int64_t SphereSamples::width() const {
    return implementation_->window.width();
}
double SphereSamples::bound() const {
    return implementation_->bound;
}
double SphereSamples::derivative_bound() const {
    constexpr double largest_seen = 13;
    return largest_seen * implementation_->bound;
}

SampleRows SphereSamples::all_rows() const {
    const auto& t = implementation_->tables;
    return {-t.border, t.n / 2 + 1 + t.border};
}

SampleRows SphereSamples::rows_between(double theta_1, double theta_2) const {
    if (!(theta_1 >= 0 && theta_1 <= theta_2 && theta_2 <= std::numbers::pi))
        throw InvalidArgument("theta_1 and theta_2", fmt::format("{} and {}", theta_1, theta_2),
                              "must be 0 <= theta_1 <= theta_2 <= pi");
    const auto& t = implementation_->tables;
    const double scale = static_cast<double>(t.n) / (2 * std::numbers::pi);
    return points::completed(
        {std::max(static_cast<std::int64_t>(theta_1 * scale) - t.border, -t.border),
         std::min(static_cast<std::int64_t>(theta_2 * scale) + t.border + 2, t.n / 2 + 1 + t.border)},
        t.n);
}

SampleArray SphereSamples::make_array(std::int64_t n_maps, SampleRows rows) const {
    const SampleRows all = all_rows();
    if (n_maps < 1) throw InvalidArgument("n_maps", n_maps, "must be at least 1");
    if (rows.first < all.first || rows.end > all.end || rows.first >= rows.end)
        throw InvalidArgument("rows", fmt::format("{} to {}", rows.first, rows.end),
                              fmt::format("must be some of {} to {}", all.first, all.end));
    return SampleArray(std::make_unique<SampleArray::Storage>(implementation_, n_maps,
                                                              points::completed(rows, n_samples())));
}

SampleArray::Storage::Storage(std::shared_ptr<const SphereSamples::Implementation> made_by, SampleRows all)
    : plan(std::move(made_by)), rows(all) {
    if (plan->on_cuda) on_cuda = points::cuda::make_memory(*plan->on_cuda, rows);
    for (int thread = 0; thread < plan->options.threads; ++thread)
        threads.push_back(std::make_unique<points::SampleScratch>());
}

SampleArray::Storage::Storage(std::shared_ptr<const SphereSamples::Implementation> made_by, std::int64_t maps,
                              SampleRows all)
    : Storage(std::move(made_by), all) {
    set_maps(maps);
}

SampleArray::Storage::Storage(std::shared_ptr<const SphereSamples::Implementation> made_by, std::int64_t maps,
                              SampleRows all, double* lent)
    : Storage(std::move(made_by), all) {
    lend(lent, maps);
}

void SampleArray::Storage::lend(double* lent, std::int64_t maps) {
    n_maps = maps;
    if (on_cuda)
        points::cuda::lend(*on_cuda, lent, maps);
    else
        data = lent;
}

void SampleArray::Storage::set_maps(std::int64_t count) {
    n_maps = count;
    if (on_cuda) return points::cuda::set_maps(*on_cuda, count);
    const std::int64_t size = n_fields() * points::field_size(*plan, rows);
    constexpr std::int64_t few = 1 << 24;  // which any machine holds
    if (size > few && 8 * size > memory.bytes())
        require_memory(8 * static_cast<double>(size),
                       fmt::format("lmax = {}: samples of {} maps", plan->options.lmax, n_maps));
    if (memory.bytes() == 0) memory = sht::take_scratch(size);
    data = memory.reserve(size);
}

SampleArray::SampleArray(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
SampleArray::~SampleArray() = default;
SampleArray::SampleArray(SampleArray&&) noexcept = default;
SampleArray& SampleArray::operator=(SampleArray&&) noexcept = default;
std::int64_t SampleArray::n_maps() const {
    return storage_->n_maps;
}
SampleRows SampleArray::rows() const {
    return storage_->rows;
}
std::int64_t SampleArray::bytes() const {
    return storage_->on_cuda ? points::cuda::bytes_of(*storage_->on_cuda) : storage_->memory.bytes();
}
void SampleArray::use_stream(void* cuda_stream) {
    if (storage_->on_cuda) points::cuda::use_stream(*storage_->on_cuda, cuda_stream);
}

}  // namespace zonal
