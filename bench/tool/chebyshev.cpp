#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "options/common_options.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/version.hpp"
#include "tool/best_seconds.hpp"
#include "tool/chebyshev_terms.hpp"
#include "tool/subcommands.hpp"
#include "zonal/buffer.hpp"
#include "zonal/chebyshev/product.hpp"
#include "zonal/memory.hpp"

namespace zonal::cli {
namespace {

constexpr std::int64_t largest_batch = 1'000'000, largest_extent = 1 << 20;
constexpr double eps = 0x1p-52;

/// "200", "200x200" or "64x64x64".
std::vector<std::int64_t> parse_shape(const std::string& text) {
    std::vector<std::int64_t> shape;
    for (std::size_t first = 0; first <= text.size();) {
        const auto end = std::min(text.find('x', first), text.size());
        shape.push_back(parse_integer("--shape", text.substr(first, end - first), 1, largest_extent));
        first = end + 1;
    }
    if (shape.size() > 3)
        throw UsageError(fmt::format("--shape = {}: must have 1 to 3 extents", printable(text)));
    return shape;
}

/// Which sums are computed.
enum class ChebyshevTerms {
    product,  ///< of two series
    residual  ///< 31 products of 12 fields in 8 sums, of the shape of a resistive MHD residual
};

struct ChebyshevBenchOptions {
    std::string shape;  ///< "200x200"
    std::int64_t batch = 1, repeat = 3;
    ChebyshevMethod method = ChebyshevMethod::automatic;
    ChebyshevTerms terms = ChebyshevTerms::product;
    bool full = false;
    RunOptions run;
};

void declare(CLI::App& app, ChebyshevBenchOptions& options) {
    const OptionGroup group(app, "Products");
    group.text("--shape", options.shape, "NxMx..", "coefficients per axis, 1 to 3 axes")->required();
    group.integer("--batch", options.batch, {1, largest_batch}, "products at once", "1");
    using enum ChebyshevMethod;
    group.choice<ChebyshevMethod>("--method", options.method,
                                  {{"direct", direct}, {"transform", transform}, {"auto", automatic}},
                                  "how to multiply", "auto");
    group.choice<ChebyshevTerms>(
        "--terms", options.terms,
        {{"product", ChebyshevTerms::product}, {"residual", ChebyshevTerms::residual}},
        "one product, or the 31 of 12 fields in 8 sums that a resistive MHD residual has, fused and one by "
        "one",
        "product");
    group.flag("--full", options.full, "all coefficients of the products");
    group.integer("--repeat", options.repeat, {1, 10000}, "runs, of which the fastest counts", "3");
    add_run_options(app, options.run);
}

/// What all dimensions' benchmarks are made of.
struct ChebyshevBench {
    std::vector<std::int64_t> shape;
    std::int64_t batch, repeat;
    ChebyshevTerms terms;
    ChebyshevProductOptions options;
};

struct SampledError {
    double componentwise = 0;  ///< largest |error| / (|a| * |b|)
    double largest_error = 0, largest_magnitude = 0;
    std::int64_t sampled = 0;
};

/// Coefficient k of a b and of |a| * |b|, c_k = 2^-D sum_i a_|i| b_|k-i|, in long double. Absent axes: 1.
std::pair<long double, long double> exact_coefficient(const double* a, const double* b,
                                                      const std::array<std::int64_t, 3>& n,
                                                      const std::array<std::int64_t, 3>& k, double factor) {
    long double sum = 0, magnitude = 0;
    const auto inside = [&](std::int64_t i, int axis) { return std::abs(k[axis] - i) < n[axis]; };
    const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
        return (std::abs(x) * n[1] + std::abs(y)) * n[2] + std::abs(z);
    };
    for (std::int64_t x = 1 - n[0]; x < n[0]; ++x)
        for (std::int64_t y = 1 - n[1]; inside(x, 0) && y < n[1]; ++y)
            for (std::int64_t z = 1 - n[2]; inside(y, 1) && z < n[2]; ++z) {
                if (!inside(z, 2)) continue;
                const auto term =
                    static_cast<long double>(a[at(x, y, z)]) * b[at(k[0] - x, k[1] - y, k[2] - z)];
                sum += term;
                magnitude += std::abs(term);
            }
    return {sum * factor, magnitude * factor};
}

/// Samples the error of a product's coefficients, as many as a fraction of a second allows, the first and the
/// last ones among them.
template <int D>
SampledError sampled_error(const double* a, const double* b, const std::array<std::int64_t, D>& extents,
                           View<const double, D> product) {
    std::array<std::int64_t, 3> n{1, 1, 1};
    double pairs = 1;
    for (int axis = 0; axis < D; ++axis) {
        n[3 - D + axis] = extents[axis];
        pairs *= 2 * static_cast<double>(extents[axis]);
    }
    const auto wanted = std::clamp<std::int64_t>(static_cast<std::int64_t>(3e7 / pairs), 8, 4096);
    SampledError error;
    const auto size = product.size();
    const auto n_samples = std::min(wanted, size);
    for (std::int64_t sample = 0; sample < n_samples; ++sample) {
        const auto index = n_samples == 1 ? 0 : (size - 1) * sample / (n_samples - 1);
        std::array<std::int64_t, 3> k{};
        auto rest = index;
        for (int axis = D - 1; axis >= 0; --axis) {
            k[3 - D + axis] = rest % product.extent(axis);
            rest /= product.extent(axis);
        }
        const auto [exact, magnitude] = exact_coefficient(a, b, n, k, std::ldexp(1.0, -D));
        const auto difference = static_cast<double>(std::abs(product.data()[index] - exact));
        error.componentwise =
            std::max(error.componentwise, difference == 0 ? 0 : difference / static_cast<double>(magnitude));
        error.largest_error = std::max(error.largest_error, difference);
        error.largest_magnitude = std::max(error.largest_magnitude, static_cast<double>(magnitude));
    }
    error.sampled = n_samples;
    return error;
}

template <int D>
std::array<std::int64_t, D + 1> batched(std::int64_t batch, const std::array<std::int64_t, D>& extents) {
    std::array<std::int64_t, D + 1> all{batch};
    std::copy(extents.begin(), extents.end(), all.begin() + 1);
    return all;
}

template <int D>
std::vector<Array<double, D + 1>> random_fields(int n, const std::array<std::int64_t, D + 1>& extents) {
    std::mt19937_64 engine(1);
    std::normal_distribution<double> normal;
    std::vector<Array<double, D + 1>> fields;
    for (int field = 0; field < n; ++field) {
        fields.emplace_back(extents);
        for (double& value : fields.back()) value = normal(engine);
    }
    return fields;
}

template <int D>
void report_plan(const ChebyshevProductPlan<double, D>& plan, Json& report) {
    report["method"] = plan.options().method == ChebyshevMethod::direct ? "direct" : "transform";
    report["device"] = to_string(plan.options().device);
    report["threads"] = plan.options().threads;
}

/// Seconds of a call with all arrays in the memory of the plan's device.
template <int D>
double seconds_on_device(const ChebyshevBench& bench, const ChebyshevProductPlan<double, D>& plan,
                         const std::vector<Array<double, D + 1>>& fields, ChebyshevWorkspace& workspace) {
    const auto bytes = [](std::int64_t size) { return size * static_cast<std::int64_t>(sizeof(double)); };
    const auto device = plan.options().device;
    const auto extents = batched<D>(bench.batch, plan.extents()),
               extents_out = batched<D>(bench.batch, plan.extents_out());
    Buffer a(device, bytes(fields[0].size())), b(device, bytes(fields[1].size()));
    const Buffer product(device, bytes(View<double, D + 1>(nullptr, extents_out).size()));
    a.copy_from(fields[0].data());
    b.copy_from(fields[1].data());
    const ChebyshevView<const double, D> a_there(a.view<const double, D + 1>(extents)),
        b_there(b.view<const double, D + 1>(extents));
    const ChebyshevView<double, D> out(product.view<double, D + 1>(extents_out));
    return best_seconds(bench.repeat, [&] { plan.multiply(a_there, b_there, out, workspace); });
}

template <int D>
void bench_product(const ChebyshevBench& bench, const std::array<std::int64_t, D>& extents, Json& report) {
    const ChebyshevProductPlan<double, D> plan(extents, bench.options);
    report_plan(plan, report);
    const auto fields = random_fields<D>(2, batched<D>(bench.batch, extents));
    Array<double, D + 1> product(batched<D>(bench.batch, plan.extents_out()));
    const ChebyshevView<const double, D> a(fields[0].view()), b(fields[1].view());
    const ChebyshevView<double, D> out(product.view());
    auto workspace = plan.make_workspace(bench.batch);
    const auto batch = static_cast<double>(bench.batch);
    const double seconds = best_seconds(bench.repeat, [&] { plan.multiply(a, b, out, workspace); });
    report["seconds_with_transfers"] = seconds / batch;
    // The CPU has nothing to transfer.
    const bool on_device = plan.options().device.kind() == Device::Kind::cuda;
    report["seconds_per_product"] =
        (on_device ? seconds_on_device<D>(bench, plan, fields, workspace) : seconds) / batch;
    const auto error = sampled_error<D>(fields[0].data(), fields[1].data(), extents,
                                        View<const double, D>(product.data(), plan.extents_out()));
    double n = 1;
    for (const auto extent : extents) n *= static_cast<double>(extent);
    report["componentwise_error"] = error.componentwise / (n * eps);
    report["normwise_error"] = error.largest_error / error.largest_magnitude;
    report["coefficients_compared"] = error.sampled;
}

/// The terms one by one, each its own product, added up: what fused sums are compared with.
template <int D>
void products_one_by_one(const ChebyshevProductPlan<double, D>& plan, const std::vector<ChebyshevTerm>& terms,
                         const std::vector<ChebyshevView<const double, D>>& fields,
                         std::vector<Array<double, D + 1>>& sums, Array<double, D + 1>& product,
                         ChebyshevWorkspace& workspace) {
    for (auto& sum : sums) std::fill(sum.begin(), sum.end(), 0.0);
    for (const auto& term : terms) {
        plan.multiply(fields[static_cast<std::size_t>(term.factors[0])],
                      fields[static_cast<std::size_t>(term.factors[1])],
                      ChebyshevView<double, D>(product.view()), workspace);
        auto& sum = sums[static_cast<std::size_t>(term.output)];
        for (std::int64_t i = 0; i < sum.size(); ++i) sum.data()[i] += term.weight * product.data()[i];
    }
}

template <int D>
void bench_residual(const ChebyshevBench& bench, const std::array<std::int64_t, D>& extents, Json& report) {
    const auto terms = residual_terms();
    const ChebyshevProductPlan<double, D> fused(extents, residual_fields, residual_sums, terms,
                                                bench.options);
    const ChebyshevProductPlan<double, D> single(extents, bench.options);
    report_plan(fused, report);
    const auto arrays = random_fields<D>(residual_fields, batched<D>(bench.batch, extents));
    const std::vector<Array<double, D + 1>> zeros(
        residual_sums, Array<double, D + 1>(batched<D>(bench.batch, fused.extents_out())));
    auto sums = zeros, expected = zeros;
    auto product = zeros.front();
    std::vector<ChebyshevView<const double, D>> fields;
    std::vector<ChebyshevView<double, D>> outputs;
    fields.reserve(arrays.size());
    outputs.reserve(sums.size());
    for (const auto& array : arrays) fields.emplace_back(array.view());
    for (auto& sum : sums) outputs.emplace_back(sum.view());
    auto workspace = fused.make_workspace(bench.batch), single_workspace = single.make_workspace(bench.batch);
    const double seconds = best_seconds(bench.repeat, [&] { fused.sum(fields, outputs, workspace); });
    const double one_by_one = best_seconds(bench.repeat, [&] {
        products_one_by_one<D>(single, terms, fields, expected, product, single_workspace);
    });
    double difference = 0, largest = 0;
    for (std::size_t output = 0; output < sums.size(); ++output)
        for (std::int64_t i = 0; i < sums[output].size(); ++i) {
            difference = std::max(difference, std::abs(sums[output].data()[i] - expected[output].data()[i]));
            largest = std::max(largest, std::abs(expected[output].data()[i]));
        }
    report["seconds_per_sum"] = seconds / static_cast<double>(bench.batch);
    report["seconds_product_by_product"] = one_by_one / static_cast<double>(bench.batch);
    report["fused_speedup"] = one_by_one / seconds;
    report["difference"] = difference / largest;
    for (const auto& term : terms)
        report["terms"].push_back(
            {{"output", term.output}, {"weight", term.weight}, {"factors", term.factors}});
}

template <int D>
void bench_dimension(const ChebyshevBench& bench, Json& report) {
    std::array<std::int64_t, D> extents{};
    std::copy_n(bench.shape.begin(), D, extents.begin());
    if (bench.terms == ChebyshevTerms::product)
        bench_product<D>(bench, extents, report);
    else
        bench_residual<D>(bench, extents, report);
}

void run(ChebyshevBenchOptions& options, Session& session) {
    ChebyshevBench bench{parse_shape(options.shape), options.batch, options.repeat, options.terms, {}};
    bench.options.method = options.method;
    bench.options.full = options.full;
    bench.options.n_batch = bench.batch;
    bench.options.threads = options.run.thread_count();
    bench.options.device = options.run.device;
    double values = static_cast<double>(bench.batch) * (bench.terms == ChebyshevTerms::product ? 3 : 30);
    // As many values as full products of two have, 2^D times, and those of workspaces.
    for (const auto extent : bench.shape) values *= 3 * static_cast<double>(extent);
    require_memory(values * sizeof(double), fmt::format("{} products of {}", bench.batch, options.shape));
    auto& report = session.report;
    if (options.run.device.kind() == Device::Kind::cuda) options.run.resolve(session);
    report["shape"] = bench.shape;
    report["batch"] = bench.batch;
    report["repeat"] = bench.repeat;
    if (bench.shape.size() == 1) bench_dimension<1>(bench, report);
    if (bench.shape.size() == 2) bench_dimension<2>(bench, report);
    if (bench.shape.size() == 3) bench_dimension<3>(bench, report);
    report["machine"] = version_report();
}

}  // namespace

void add_bench_chebyshev(CLI::App& root, Session& session, Action& action) {
    add_command<ChebyshevBenchOptions>(
        root, session, action, "chebyshev", "Measures products of Chebyshev series.",
        "zonal-bench chebyshev --shape 200x200 --method auto --json", declare, run);
}

}  // namespace zonal::cli
