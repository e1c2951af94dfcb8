// Times of products and roots of Chebyshev series on a GPU, as JSON: medians of --rounds after two uncounted
// ones.
//
//   chebyshev_cuda [--rounds 9] [--crossover]
//
// --crossover: instead of all that follows, where methods meet (chebyshev_crossover.cuh).
// "seconds": of one call put on a stream after another, "graph_seconds": the same in a graph, both with all
// data on the device; "seconds_with_transfers": of one call with arrays in ordinary host memory. flops: those
// that the method needs, even and odd parts apart in transforms; their share is of what the machine does of
// the same kind, fused multiply-adds for direct and FP64 tensor cores for transform, measured in the same
// run.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "cuda/chebyshev_crossover.cuh"
#include "cuda/chebyshev_factors.cuh"
#include "cuda/chebyshev_paper.cuh"
#include "cuda/chebyshev_roots.cuh"

namespace zonal::bench {
namespace {

/// Of a cosine transform of one array: along the axes in turn, 2 half n multiply-adds for a column, half of
/// them even, half odd.
template <int D>
double transform_flops(const std::array<std::int64_t, D>& extents) {
    double flops = 0, columns = static_cast<double>(size_of<D>(extents));
    for (const auto n : extents) {
        const double points = 2 * (((3 * (n - 1)) / 2 + 2) / 2);
        flops += columns / static_cast<double>(n) * points * static_cast<double>(n);
        columns *= points / static_cast<double>(n);
    }
    return flops;
}

/// Pairs of coefficients: 2 K - k + 1 for each k.
template <int D>
double direct_flops(const std::array<std::int64_t, D>& extents) {
    double pairs = 1;
    for (const auto n : extents) pairs *= static_cast<double>(n) * static_cast<double>(3 * n - 1) / 2;
    return 2 * pairs;
}

/// The largest difference over the largest coefficient.
template <class T>
double difference(const std::vector<T>& found, const std::vector<T>& expected) {
    double error = 0, largest = 0;
    for (std::size_t k = 0; k < found.size(); ++k) {
        error = std::max<double>(error, std::abs(found[k] - expected[k]));
        largest = std::max<double>(largest, std::abs(expected[k]));
    }
    return error / largest;
}

template <class T>
std::vector<T> to_host(const core::DeviceArray<T>& there) {
    std::vector<T> values(static_cast<std::size_t>(there.size()));
    core::check_cuda(cudaMemcpy(values.data(), there.data(), there.bytes(), cudaMemcpyDeviceToHost), "copy");
    return values;
}

template <class T, int D>
void measure(const Setup& setup, const std::array<std::int64_t, D>& extents, std::int64_t n_batch,
             ChebyshevMethod method) {
    const ChebyshevProductPlan<T, D> plan(extents, on(Device::cuda(0), method));
    const ChebyshevProductPlan<T, D> on_cpu(extents, on(Device::cpu(), transform));
    auto workspace = plan.make_workspace(n_batch), other = plan.make_workspace(n_batch);
    workspace.use_stream(setup.stream.get());
    Factors<T, D> factors(extents, n_batch);
    ChebyshevWorkspace cpu_workspace;
    const auto work = [&] { factors.multiply(plan, workspace); };
    const double flops = static_cast<double>(n_batch) *
                         (method == direct ? direct_flops<D>(extents) : 3 * transform_flops<D>(extents));
    const int calls = flops > 1e10 ? 1 : 20;
    const double seconds = stream_seconds(setup.stream.get(), calls, setup.rounds, work);
    const double in_graph = graph_seconds(setup.stream.get(), calls, setup.rounds, work);
    const auto found = to_host(factors.product_there);
    const double with_transfers = wall_seconds(setup.rounds, [&] { factors.multiply_host(plan, other); });
    factors.multiply_host(on_cpu, cpu_workspace);
    const double peak = method == direct ? setup.peaks.fma * (sizeof(T) == 4 ? 2 : 1) : setup.peaks.tensor;
    const auto batch = static_cast<double>(n_batch);
    print_head<D>(sizeof(T) == 4 ? "float" : "double", method == direct ? "direct" : "transform", extents,
                  n_batch);
    std::printf(R"(, "seconds": %.5g, "graph_seconds": %.5g, "seconds_per_product": %.5g,
   "graph_seconds_per_product": %.5g, "seconds_with_transfers": %.5g, "flops": %.5g, "share_of_peak": %.4g,
   "difference_from_cpu": %.3g})",
                seconds, in_graph, seconds / batch, in_graph / batch, with_transfers, flops,
                flops / std::min(seconds, in_graph) / peak, difference(found, factors.product));
    std::fflush(stdout);
}

/// The paper's kernels.
template <int D>
void measure_paper(const Setup& setup, int n, bool stride) {
    std::array<std::int64_t, D> extents;
    extents.fill(n);
    Factors<double, D> factors(extents, 1);
    const auto work = [&] {
        paper_product(stride, D, factors.a_there.data(), factors.b_there.data(), factors.product_there.data(),
                      n, setup.stream.get());
    };
    const int calls = D == 1 ? 20 : 1;
    const double seconds = stream_seconds(setup.stream.get(), calls, setup.rounds, work);
    const auto found = to_host(factors.product_there);
    const ChebyshevProductPlan<double, D> on_cpu(extents, on(Device::cpu(), transform));
    ChebyshevWorkspace workspace;
    factors.multiply_host(on_cpu, workspace);
    print_head<D>("double", stride ? "paper's stride kernel" : "paper's monolithic kernel", extents, 1);
    std::printf(R"(, "seconds": %.5g, "flops": %.5g, "share_of_peak": %.4g, "difference_from_cpu": %.3g})",
                seconds, direct_flops<D>(extents), direct_flops<D>(extents) / seconds / setup.peaks.fma,
                difference(found, factors.product));
    std::fflush(stdout);
}

/// Resistive magnetohydrodynamics as fields (density, velocity u v w, magnetic field B, pressure, current
/// density J, resistivity eta) and the 31 products in its fluxes and sources: of mass, momentum, the
/// magnetic field and the pressure.
std::vector<ChebyshevTerm> plasma_terms() {
    enum Field { rho, u, v, w, bx, by, bz, p, jx, jy, jz, eta };
    return {{0, 1, {rho, u}}, {0, 1, {rho, v}}, {0, 1, {rho, w}},                                         //
            {1, 1, {u, u}},   {1, 1, {u, v}},   {1, 1, {u, w}},     {1, -1, {jy, bz}}, {1, 1, {jz, by}},  //
            {2, 1, {v, u}},   {2, 1, {v, v}},   {2, 1, {v, w}},     {2, -1, {jz, bx}}, {2, 1, {jx, bz}},  //
            {3, 1, {w, u}},   {3, 1, {w, v}},   {3, 1, {w, w}},     {3, -1, {jx, by}}, {3, 1, {jy, bx}},  //
            {4, 1, {v, bz}},  {4, -1, {w, by}}, {4, -1, {eta, jx}},                                       //
            {5, 1, {w, bx}},  {5, -1, {u, bz}}, {5, -1, {eta, jy}},                                       //
            {6, 1, {u, by}},  {6, -1, {v, bx}}, {6, -1, {eta, jz}},                                       //
            {7, 1, {p, u}},   {7, 1, {p, v}},   {7, 1, {p, w}},     {7, 1, {eta, p}}};
}

void measure_sums(const Setup& setup, std::int64_t n) {
    constexpr int n_fields = 12, n_outputs = 8;
    const std::array<std::int64_t, 2> extents{n, n};
    const auto terms = plasma_terms();
    const auto options = on(Device::cuda(0), transform);
    const ChebyshevProductPlan<double, 2> plan(extents, n_fields, n_outputs, terms, options),
        one(extents, options);
    auto workspace = plan.make_workspace(), workspace_of_one = one.make_workspace();
    workspace.use_stream(setup.stream.get());
    workspace_of_one.use_stream(setup.stream.get());
    const auto space = MemorySpace::cuda;
    const core::DeviceArray<double> memory(random_values<double>((n_fields + n_outputs) * n * n, 3));
    std::vector<ChebyshevView<const double, 2>> fields;
    std::vector<ChebyshevView<double, 2>> sums;
    for (int k = 0; k < n_fields + n_outputs; ++k) {
        const ChebyshevView<double, 2> array(View<double, 3>(memory.data() + k * n * n, {1, n, n}, space));
        if (k < n_fields)
            fields.push_back(array);
        else
            sums.push_back(array);
    }
    const auto fused = [&] { plan.sum(fields, sums, workspace); };
    const auto one_by_one = [&] {  // without adding them up
        for (const auto& term : terms)
            one.multiply(fields[static_cast<std::size_t>(term.factors[0])],
                         fields[static_cast<std::size_t>(term.factors[1])],
                         sums[static_cast<std::size_t>(term.output)], workspace_of_one);
    };
    const cudaStream_t stream = setup.stream.get();
    const double seconds = stream_seconds(stream, 5, setup.rounds, fused);
    const double one_seconds = stream_seconds(stream, 5, setup.rounds, one_by_one);
    const double in_graph = graph_seconds(stream, 5, setup.rounds, fused);
    const double one_in_graph = graph_seconds(stream, 5, setup.rounds, one_by_one);
    std::printf(R"({"products": %zu, "fields": %d, "outputs": %d, "shape": [%lld, %lld], "seconds": %.5g,
   "graph_seconds": %.5g, "product_by_product_seconds": %.5g, "product_by_product_graph_seconds": %.5g,
   "gain": %.4g, "gain_in_graphs": %.4g})",
                terms.size(), n_fields, n_outputs, static_cast<long long>(n), static_cast<long long>(n),
                seconds, in_graph, one_seconds, one_in_graph, one_seconds / seconds, one_in_graph / in_graph);
}

void measure_products(const Setup& setup) {
    const auto comma = [] { std::printf(",\n"); };
    for (const auto method : {direct, transform}) {
        for (const std::int64_t n : {200, 400})
            for (const std::int64_t n_batch : {1, 1000})
                measure<double, 1>(setup, {n}, n_batch, method), comma();
        measure<float, 1>(setup, {400}, 1000, method), comma();
        measure<double, 1>(setup, {1000}, 1000, method), comma();
        measure<double, 1>(setup, {2000}, 1, method), comma();
        measure<double, 2>(setup, {100, 100}, 1, method), comma();
        measure<double, 2>(setup, {200, 200}, 1, method), comma();
    }
    measure<double, 2>(setup, {200, 200}, 100, transform), comma();
    measure<float, 2>(setup, {200, 200}, 100, transform), comma();
    measure<double, 3>(setup, {64, 64, 64}, 1, transform), comma();
    measure<double, 3>(setup, {64, 64, 64}, 1, direct), comma();
    for (const bool stride : {false, true}) {
        measure_paper<1>(setup, 400, stride), comma();
        measure_paper<2>(setup, 100, stride), comma();
        measure_paper<2>(setup, 200, stride);
        if (!stride) comma();
    }
}

}  // namespace
}  // namespace zonal::bench

int main(int argc, char** argv) try {
    zonal::bench::Setup setup;
    bool crossover = false;
    for (int k = 1; k < argc; ++k) {
        const std::string option = argv[k];
        if (option == "--crossover")
            crossover = true;
        else if (option == "--rounds" && k + 1 < argc)
            setup.rounds = std::atoi(argv[++k]);
        else
            throw std::invalid_argument("usage: chebyshev_cuda [--rounds 9] [--crossover]");
    }
    cudaDeviceProp device{};
    zonal::core::check_cuda(cudaGetDeviceProperties(&device, 0), "device");
    if (crossover) {
        zonal::bench::measure_crossover(device.name, setup.stream.get(), setup.rounds);
        return 0;
    }
    setup.peaks = zonal::bench::measure_peaks(setup.stream.get());
    std::printf(
        "{\"device\": \"%s\", \"fma_peak_flops\": %.5g, \"tensor_peak_flops\": %.5g, \"rounds\": %d,\n "
        "\"sums\": ",
        device.name, setup.peaks.fma, setup.peaks.tensor, setup.rounds);
    zonal::bench::measure_sums(setup, 100);
    std::printf(",\n \"products\": [\n");
    zonal::bench::measure_products(setup);
    std::printf("\n],\n \"roots\": [\n");
    zonal::bench::measure_roots(setup.rounds);
    std::printf("\n]}\n");
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
