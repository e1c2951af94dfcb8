#include "backend/chebyshev_device.cuh"

// Products of long Chebyshev series on CUDA, which go through FFTs, against the CPU's.
namespace zonal::test {
namespace {

class LongChebyshevProductsOnCuda : public OnCuda {};

template <class T, int D, ChebyshevConvention C>
Array<T, D + 1> product_on_cpu(const std::array<std::int64_t, D>& extents, bool full, Array<T, D + 1> a,
                               Array<T, D + 1> b) {
    auto options = on_cuda(transform, full);
    options.device = Device::cpu();
    const ChebyshevProductPlan<T, D, C> plan(extents, options);
    Array<T, D + 1> product(batch_extents<D>(a.extent(0), plan.extents_out()));
    plan.multiply(ChebyshevView<T, D, C>(a.view()), ChebyshevView<T, D, C>(b.view()),
                  ChebyshevView<T, D, C>(product.view()));
    return product;
}

template <class T, int N>
Array<Real<T>, N> magnitudes_of(const Array<T, N>& values) {
    Array<Real<T>, N> result(values.extents());
    std::transform(values.begin(), values.end(), result.begin(),
                   [](const T& value) { return std::abs(value); });
    return result;
}

/// Both sides are within bound() of the exact product, in units of the largest coefficient of |a| * |b|.
template <class T, int D, ChebyshevConvention C>
void expect_product_of_the_cpu(std::int64_t n_batch, const std::array<std::int64_t, D>& extents, bool full) {
    SCOPED_TRACE(::testing::Message()
                 << "batch " << n_batch << " of " << ::testing::PrintToString(extents) << " full " << full);
    const ChebyshevProductPlan<T, D, C> plan(extents, on_cuda(transform, full));
    const auto a = random_batch<T, D>(n_batch, extents, 1), b = random_batch<T, D>(n_batch, extents, 2);
    const DeviceBatch<T, D> a_there(a), b_there(b),
        product(Array<T, D + 1>(batch_extents<D>(n_batch, plan.extents_out())));
    plan.multiply(a_there.template series<C>(), b_there.template series<C>(), product.template series<C>());
    const auto found = product.host(), expected = product_on_cpu<T, D, C>(extents, full, a, b);
    const auto scale =
        product_on_cpu<Real<T>, D, C>(extents, full, magnitudes_of<T, D + 1>(a), magnitudes_of<T, D + 1>(b));
    const double largest = *std::max_element(scale.begin(), scale.end());
    for (std::int64_t k = 0; k < found.size(); ++k)
        ASSERT_LE(std::abs(found.data()[k] - expected.data()[k]), 2 * bound<T>(transform, extents) * largest)
            << k;
}

TEST_F(LongChebyshevProductsOnCuda, EqualTheCpusInOneDimension) {
    for (const bool full : {false, true}) {
        expect_product_of_the_cpu<double, 1, primed>(1, {1999}, full);
        expect_product_of_the_cpu<double, 1, plain>(3, {2000}, full);
        expect_product_of_the_cpu<float, 1, primed>(2, {scaled(30001)}, full);
        expect_product_of_the_cpu<std::complex<double>, 1, plain>(3, {2500}, full);
        expect_product_of_the_cpu<std::complex<float>, 1, primed>(1, {2500}, full);
    }
    expect_product_of_the_cpu<double, 1, primed>(1, {scaled(1 << 20)}, false);
}

/// More pairs of lines than go through at once, and no power of two of them.
TEST_F(LongChebyshevProductsOnCuda, EqualTheCpusInLargeBatches) {
    expect_product_of_the_cpu<double, 1, primed>(scaled(1239), {1500}, false);
    expect_product_of_the_cpu<std::complex<float>, 1, plain>(scaled(701), {1401}, false);
}

/// Axes of either kind, in all places.
TEST_F(LongChebyshevProductsOnCuda, EqualTheCpusInMoreDimensions) {
    expect_product_of_the_cpu<double, 2, primed>(2, {5, 1500}, false);
    expect_product_of_the_cpu<double, 2, plain>(2, {1500, 7}, true);
    expect_product_of_the_cpu<float, 2, primed>(1, {1400, scaled(1403)}, false);
    expect_product_of_the_cpu<std::complex<double>, 2, plain>(2, {3, 1400}, false);
    expect_product_of_the_cpu<double, 3, primed>(2, {2, 1401, 3}, false);
    expect_product_of_the_cpu<double, 3, plain>(1, {1400, 3, 2}, false);
}

/// Fields and outputs by more than a launch takes; each output is a product of its own.
TEST_F(LongChebyshevProductsOnCuda, ManyFieldsAddUp) {
    constexpr int n_fields = 19;
    constexpr std::int64_t n = 1501;
    std::vector<ChebyshevTerm> terms;
    for (int f = 0; f < n_fields; ++f) terms.push_back({f, 2.0, {f, (f + 1) % n_fields}});
    const ChebyshevProductPlan<double, 1> plan({n}, n_fields, n_fields, terms, on_cuda(transform));
    std::vector<DeviceBatch<double, 1>> fields, sums;
    for (unsigned f = 0; f < n_fields; ++f) {
        fields.emplace_back(random_batch<double, 1>(2, {n}, f));
        sums.emplace_back(random_batch<double, 1>(2, {n}, 99));
    }
    sum_of<primed>(plan, fields, sums);
    for (std::size_t f = 0; f < n_fields; ++f) {
        const auto a = fields[f].host(), b = fields[(f + 1) % n_fields].host(), found = sums[f].host();
        const auto expected = product_on_cpu<double, 1, primed>({n}, false, a, b);
        const auto scale = product_on_cpu<double, 1, primed>({n}, false, magnitudes_of<double, 2>(a),
                                                             magnitudes_of<double, 2>(b));
        const double largest = *std::max_element(scale.begin(), scale.end());
        for (std::int64_t k = 0; k < found.size(); ++k)
            ASSERT_LE(std::abs(found.data()[k] - 2 * expected.data()[k]),
                      4 * bound<double>(transform, std::array{n}) * largest)
                << k;
    }
}

TEST_F(LongChebyshevProductsOnCuda, AreCapturedInAGraph) {
    constexpr std::int64_t n = 5000;
    const ChebyshevProductPlan<double, 1> plan({n}, on_cuda(transform));
    auto workspace = plan.make_workspace(3);
    const DeviceBatch<double, 1> a(random_batch<double, 1>(3, {n}, 1)), b(random_batch<double, 1>(3, {n}, 2)),
        product(a.host());
    const auto multiply = [&] {
        plan.multiply(a.series<primed>(), b.series<primed>(), product.series<primed>(), workspace);
    };
    multiply();
    const auto expected = product.host();
    const core::OwnStream stream;
    workspace.use_stream(stream.get());
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    core::check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "capturing");
    multiply();
    core::check_cuda(cudaStreamEndCapture(stream.get(), &graph), "capturing");
    core::check_cuda(cudaGraphInstantiate(&executable, graph, 0), "making a graph");
    core::check_cuda(cudaMemsetAsync(product.memory.data(), 0xff, product.memory.bytes(), stream.get()),
                     "clearing");
    core::check_cuda(cudaGraphLaunch(executable, stream.get()), "launching a graph");
    core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
    const auto found = product.host();
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin()));
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace zonal::test
