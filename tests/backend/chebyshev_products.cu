#include "backend/chebyshev_device.cuh"

// Products of Chebyshev series on CUDA against the plain sum in long double, and against each other.
namespace zonal::test {
namespace {

class ChebyshevOnCuda : public OnCuda {};

/// Of a batch, every series of it.
template <class T, int D, ChebyshevConvention C>
void expect_exact(const std::array<std::int64_t, D>& extents, ChebyshevMethod method, bool full,
                  std::int64_t n_batch = 1) {
    SCOPED_TRACE(::testing::Message() << ::testing::PrintToString(extents) << " full " << full << " method "
                                      << static_cast<int>(method) << " batch " << n_batch);
    const ChebyshevProductPlan<T, D, C> plan(extents, on_cuda(method, full));
    const auto a = random_batch<T, D>(n_batch, extents, 1), b = random_batch<T, D>(n_batch, extents, 2);
    const DeviceBatch<T, D> a_there(a), b_there(b),
        product_there(Array<T, D + 1>(batch_extents<D>(n_batch, plan.extents_out())));
    plan.multiply(a_there.template series<C>(), b_there.template series<C>(),
                  product_there.template series<C>());
    const auto product = product_there.host();
    const std::int64_t step = std::max<std::int64_t>(1, (n_batch - 1) / 3);
    for (std::int64_t item = 0; item < n_batch; item += step) {  // references are slow
        const auto x = reference_of<C>(a.view()[item]), y = reference_of<C>(b.view()[item]);
        const auto error = error_of<C>(product.view()[item], reference_product(x, y),
                                       reference_product(magnitudes(x), magnitudes(y)));
        EXPECT_LE(method == direct ? error.componentwise : error.normwise, bound<T>(method, extents)) << item;
    }
}

template <class T, ChebyshevConvention C>
void expect_exact_in_all_dimensions(ChebyshevMethod method) {
    for (const bool full : {false, true}) {
        for (const std::int64_t n : {1, 2, 3, 33, 101}) expect_exact<T, 1, C>({n}, method, full, 3);
        using Plane = std::array<std::int64_t, 2>;
        for (const auto& n :
             {Plane{1, 1}, Plane{1, 9}, Plane{9, 1}, Plane{2, 2}, Plane{17, 12}, Plane{5, 70}})
            expect_exact<T, 2, C>(n, method, full, 2);
        using Box = std::array<std::int64_t, 3>;
        for (const auto& n : {Box{1, 1, 1}, Box{2, 1, 5}, Box{5, 4, 3}, Box{2, 3, 35}})
            expect_exact<T, 3, C>(n, method, full, 2);
    }
}

class ChebyshevOnCudaBy : public OnCuda, public ::testing::WithParamInterface<ChebyshevMethod> {};

TEST_P(ChebyshevOnCudaBy, ProductsOfDoublesMatchReference) {
    expect_exact_in_all_dimensions<double, primed>(GetParam());
    expect_exact_in_all_dimensions<double, plain>(GetParam());
}
TEST_P(ChebyshevOnCudaBy, ProductsOfFloatsMatchReference) {
    expect_exact_in_all_dimensions<float, primed>(GetParam());
    expect_exact_in_all_dimensions<float, plain>(GetParam());
}
TEST_P(ChebyshevOnCudaBy, ProductsOfComplexNumbersMatchReference) {
    expect_exact_in_all_dimensions<std::complex<double>, plain>(GetParam());
    expect_exact<std::complex<float>, 2, primed>({7, 12}, GetParam(), false, 3);
}

/// So many that every processor has some: other kernels than those of single products.
TEST_P(ChebyshevOnCudaBy, LargeBatchesMatchReference) {
    expect_exact<double, 1, primed>({300}, GetParam(), false, scaled(1001));
    expect_exact<double, 1, plain>({33}, GetParam(), true, scaled(4999));
    expect_exact<float, 1, primed>({65}, GetParam(), false, scaled(3001));
    expect_exact<double, 2, primed>({21, 19}, GetParam(), false, scaled(300));
    expect_exact<float, 2, plain>({9, 40}, GetParam(), false, scaled(301));
    expect_exact<double, 3, plain>({6, 5, 7}, GetParam(), false, scaled(211));
}

/// Rows longer than what shared memory holds of them at once.
TEST_P(ChebyshevOnCudaBy, LongRowsMatchReference) {
    expect_exact<double, 1, primed>({1500}, GetParam(), false, 1);
    expect_exact<double, 2, primed>({2, 700}, GetParam(), false, 1);
    expect_exact<double, 2, plain>({130, 3}, GetParam(), false, 1);
}

/// Terms of one to three factors, an output of two terms, one of none, a field that no term uses.
template <class T, int D, ChebyshevConvention C>
void expect_exact_sums(const std::array<std::int64_t, D>& extents, ChebyshevMethod method, bool full,
                       std::int64_t n_batch) {
    SCOPED_TRACE(::testing::Message() << ::testing::PrintToString(extents) << " full " << full);
    const std::vector<ChebyshevTerm> terms{
        {0, 2.5, {0, 1}}, {2, -0.75, {3}}, {0, -1.0, {1, 1}}, {2, 1.25, {3, 0, 1}}};
    const ChebyshevProductPlan<T, D, C> plan(extents, 4, 3, terms, on_cuda(method, full));
    std::vector<Array<T, D + 1>> fields;
    std::vector<DeviceBatch<T, D>> fields_there, sums_there;
    for (unsigned f = 0; f < 4; ++f) fields.push_back(random_batch<T, D>(n_batch, extents, f));
    for (const auto& field : fields) fields_there.emplace_back(field);
    for (int o = 0; o < 3; ++o)
        sums_there.emplace_back(random_batch<T, D>(n_batch, plan.extents_out(), 9));  // to be overwritten
    sum_of<C>(plan, fields_there, sums_there);
    // The CPU's, in double, of which other tests have the reference.
    auto options = on_cuda(direct, full);
    options.device = Device::cpu();
    const ChebyshevProductPlan<T, D, C> on_cpu(extents, 4, 3, terms, options);
    const auto expected = sums_on_cpu<C>(on_cpu, fields);
    for (std::size_t o = 0; o < 3; ++o) {
        const auto found = sums_there[o].host();
        const double scale = largest(expected[o]), error = largest_difference(found, expected[o]);
        // Two products of a term, up to two terms; the weights, and coefficients against their sums.
        EXPECT_LE(error, 4 * bound<T>(transform, extents, 4) * scale) << o;
        EXPECT_EQ(scale == 0, o == 1);
    }
}

TEST_P(ChebyshevOnCudaBy, SumsMatchTheCpus) {
    for (const bool full : {false, true}) {
        expect_exact_sums<double, 1, primed>({40}, GetParam(), full, 3);
        expect_exact_sums<double, 2, plain>({9, 14}, GetParam(), full, 2);
        expect_exact_sums<float, 2, primed>({9, 14}, GetParam(), full, 2);
        expect_exact_sums<double, 3, primed>({4, 5, 6}, GetParam(), full, 2);
        expect_exact_sums<std::complex<double>, 2, plain>({6, 5}, GetParam(), full, 2);
    }
}

/// More fields than one launch takes.
TEST_P(ChebyshevOnCudaBy, ManyFieldsAddUp) {
    constexpr int n_fields = 37;
    std::vector<ChebyshevTerm> terms;
    for (int f = 0; f < n_fields; ++f) terms.push_back({f, 1.0, {f, (f + 1) % n_fields}});
    const ChebyshevProductPlan<double, 1> plan({20}, n_fields, n_fields, terms, on_cuda(GetParam(), false));
    const ChebyshevProductPlan<double, 1> one({20}, on_cuda(GetParam(), false));
    std::vector<DeviceBatch<double, 1>> fields, sums;
    for (unsigned f = 0; f < n_fields; ++f) {
        fields.emplace_back(random_batch<double, 1>(2, {20}, f));
        sums.emplace_back(random_batch<double, 1>(2, {20}, 99));
    }
    sum_of<primed>(plan, fields, sums);
    for (std::size_t f = 0; f < n_fields; ++f) {
        const DeviceBatch<double, 1> product(random_batch<double, 1>(2, {20}, 99));
        one.multiply(fields[f].series<primed>(), fields[(f + 1) % n_fields].series<primed>(),
                     product.series<primed>());
        const auto found = sums[f].host(), expected = product.host();
        for (std::int64_t k = 0; k < found.size(); ++k)
            EXPECT_NEAR(found.data()[k], expected.data()[k], bound<double>(transform, std::array{20L}) * 40);
    }
}

INSTANTIATE_TEST_SUITE_P(Methods, ChebyshevOnCudaBy, ::testing::Values(direct, transform),
                         [](const auto& info) { return info.param == direct ? "Direct" : "Transform"; });

}  // namespace
}  // namespace zonal::test
