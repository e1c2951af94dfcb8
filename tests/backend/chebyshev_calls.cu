#include <gmock/gmock.h>

#include "backend/chebyshev_device.cuh"

// How products of Chebyshev series on CUDA are called: memory of all kinds, streams, graphs, refusals.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;

class ChebyshevCallsOnCuda : public OnCuda {};

/// A plan with factors and their product, on the device.
struct Product {
    explicit Product(ChebyshevMethod method, std::int64_t n_batch = 2)
        : plan({19, 34}, on_cuda(method)),
          workspace(plan.make_workspace(n_batch)),
          a(random_batch<double, 2>(n_batch, {19, 34}, 1)),
          b(random_batch<double, 2>(n_batch, {19, 34}, 2)),
          result(random_batch<double, 2>(n_batch, {19, 34}, 3)) {
        multiply();
        expected = result.host();
    }
    void multiply() {
        plan.multiply(a.series<primed>(), b.series<primed>(), result.series<primed>(), workspace);
    }
    void clear(cudaStream_t stream) const {
        core::check_cuda(cudaMemsetAsync(result.memory.data(), 0xff, result.memory.bytes(), stream),
                         "clearing");
    }
    /// The stream must have been waited for.
    void expect_right() const {
        const auto found = result.host();
        EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin()));
    }

    ChebyshevProductPlan<double, 2> plan;
    ChebyshevWorkspace workspace;
    DeviceBatch<double, 2> a, b, result;
    Array<double, 3> expected;
};

TEST_F(ChebyshevCallsOnCuda, TakeHostAndDeviceMemoryAlike) {
    for (const auto method : {direct, transform}) {
        const Product product(method);
        const auto a = product.a.host(), b = product.b.host();
        Array<double, 3> result(a.extents());
        product.plan.multiply(ChebyshevView<const double, 2>(a.view()),
                              ChebyshevView<const double, 2>(b.view()),
                              ChebyshevView<double, 2>(result.view()));
        EXPECT_TRUE(std::equal(result.begin(), result.end(), product.expected.begin()));
        std::fill(result.begin(), result.end(), 0.0);
        product.plan.multiply(product.a.series<primed>(), ChebyshevView<const double, 2>(b.view()),
                              ChebyshevView<double, 2>(result.view()));
        EXPECT_TRUE(std::equal(result.begin(), result.end(), product.expected.begin()));
    }
}

/// Transposed and reversed arrays, in either memory.
TEST_F(ChebyshevCallsOnCuda, TakeStridedArrays) {
    constexpr std::int64_t batch = 2, n = 7, m = 5;
    const auto transposed = [&](double* data, MemorySpace space) {  // of [m, batch, n], batch backwards
        return ChebyshevView<double, 2>(
            View<double, 3>(data + (batch - 1) * n, {batch, n, m}, {-n, 1, batch * n}, space));
    };
    for (const auto method : {direct, transform}) {
        const ChebyshevProductPlan<double, 2> plan({n, m}, on_cuda(method));
        auto a = random_array<double, 3>({m, batch, n}, 1), b = random_array<double, 3>({m, batch, n}, 2);
        Array<double, 3> on_host({m, batch, n}), straight({batch, n, m});
        plan.multiply(transposed(a.data(), MemorySpace::host), transposed(b.data(), MemorySpace::host),
                      transposed(on_host.data(), MemorySpace::host));
        const DeviceBatch<double, 2> a_there(a), b_there(b), result(a);
        plan.multiply(transposed(a_there.memory.data(), MemorySpace::cuda),
                      transposed(b_there.memory.data(), MemorySpace::cuda),
                      transposed(result.memory.data(), MemorySpace::cuda));
        const auto there = result.host();
        EXPECT_TRUE(std::equal(there.begin(), there.end(), on_host.begin()));
        plan.multiply(transposed(a.data(), MemorySpace::host), transposed(b.data(), MemorySpace::host),
                      ChebyshevView<double, 2>(straight.view()));
        for (std::int64_t item = 0; item < batch; ++item)
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < m; ++j)
                    EXPECT_EQ(straight(item, i, j), on_host(j, batch - 1 - item, i));
    }
}

TEST_F(ChebyshevCallsOnCuda, AProductMayBeAFactor) {
    for (const auto method : {direct, transform}) {
        Product product(method);
        product.plan.multiply(product.a.series<primed>(), product.b.series<primed>(),
                              product.b.series<primed>(), product.workspace);
        const auto found = product.b.host();
        EXPECT_TRUE(std::equal(found.begin(), found.end(), product.expected.begin()));
        // One dimension has kernels of its own.
        const ChebyshevProductPlan<double, 1> line({700}, on_cuda(method));
        const DeviceBatch<double, 1> a(random_batch<double, 1>(3, {700}, 1)), apart(a.host());
        line.multiply(a.series<primed>(), a.series<primed>(), apart.series<primed>());
        line.multiply(a.series<primed>(), a.series<primed>(), a.series<primed>());
        const auto expected = apart.host(), squared = a.host();
        for (std::int64_t k = 0; k < squared.size(); ++k) EXPECT_EQ(squared.data()[k], expected.data()[k]);
    }
}

TEST_F(ChebyshevCallsOnCuda, AreCapturedInAGraph) {
    for (const auto method : {direct, transform}) {
        Product product(method);
        const core::OwnStream stream;
        product.workspace.use_stream(stream.get());
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t executable = nullptr;
        core::check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "capturing");
        product.multiply();
        core::check_cuda(cudaStreamEndCapture(stream.get(), &graph), "capturing");
        core::check_cuda(cudaGraphInstantiate(&executable, graph, 0), "making a graph");
        for (int run = 0; run < 2; ++run) {
            product.clear(stream.get());
            core::check_cuda(cudaGraphLaunch(executable, stream.get()), "launching a graph");
            core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
            product.expect_right();
        }
        cudaGraphExecDestroy(executable);
        cudaGraphDestroy(graph);
    }
}

TEST_F(ChebyshevCallsOnCuda, OneWorkspaceServesPlansOfAllKinds) {
    ChebyshevWorkspace workspace;
    const DeviceBatch<double, 1> a(random_batch<double, 1>(5, {50}, 1)), result(a.host());
    for (const auto method : {direct, transform, direct}) {
        Product product(method);
        product.plan.multiply(product.a.series<primed>(), product.b.series<primed>(),
                              product.result.series<primed>(), workspace);
        product.expect_right();
        const ChebyshevProductPlan<double, 1> line({50}, on_cuda(method));
        line.multiply(a.series<primed>(), a.series<primed>(), result.series<primed>(), workspace);
        const auto first = result.host();
        line.multiply(a.series<primed>(), a.series<primed>(), result.series<primed>());
        const auto second = result.host();
        EXPECT_TRUE(std::equal(first.begin(), first.end(), second.begin()));
    }
}

TEST_F(ChebyshevCallsOnCuda, RefuseArraysInTheWrongPlace) {
    const Product product(direct);
    auto host = product.a.host();
    const ChebyshevView<double, 2> said_to_be_there(
        View<double, 3>(host.data(), host.extents(), MemorySpace::cuda));
    const ChebyshevView<double, 2> said_to_be_here(
        View<double, 3>(product.a.memory.data(), host.extents(), MemorySpace::host));
    const auto b = product.b.series<primed>(), result = product.result.series<primed>();
    EXPECT_THAT(message_of([&] { product.plan.multiply(said_to_be_there, b, result); }), HasSubstr("fields"));
    EXPECT_THAT(message_of([&] { product.plan.multiply(said_to_be_here, b, result); }), HasSubstr("fields"));
    EXPECT_THAT(message_of([&] { product.plan.multiply(b, b, said_to_be_there); }), HasSubstr("sums"));
    auto on_cpu = on_cuda(direct);
    on_cpu.device = Device::cpu();
    const ChebyshevProductPlan<double, 2> of_the_cpu({19, 34}, on_cpu);
    EXPECT_THAT(message_of([&] { of_the_cpu.multiply(b, b, result); }), HasSubstr("fields"));
}

TEST_F(ChebyshevCallsOnCuda, RefuseShapesThatDiffer) {
    const Product product(transform);
    const DeviceBatch<double, 2> other(random_batch<double, 2>(2, {19, 33}, 1)),
        longer(random_batch<double, 2>(3, {19, 34}, 1));
    const auto a = product.a.series<primed>(), result = product.result.series<primed>();
    EXPECT_THAT(message_of([&] { product.plan.multiply(other.series<primed>(), a, result); }),
                HasSubstr("fields"));
    EXPECT_THAT(message_of([&] { product.plan.multiply(a, a, other.series<primed>()); }), HasSubstr("sums"));
    EXPECT_THAT(message_of([&] { product.plan.multiply(longer.series<primed>(), a, result); }),
                HasSubstr("batch"));
}

TEST_F(ChebyshevCallsOnCuda, ChooseTheMethodByTheAccuracy) {
    auto options = on_cuda(ChebyshevMethod::automatic);
    EXPECT_EQ((ChebyshevProductPlan<double, 1>({20000}, options).options().method), transform);
    options.accuracy = ChebyshevAccuracy::componentwise;
    EXPECT_EQ((ChebyshevProductPlan<double, 1>({20000}, options).options().method), direct);
    EXPECT_EQ((ChebyshevProductPlan<double, 2>({50, 50}, options).options().method), direct);
    EXPECT_THROW((ChebyshevProductPlan<double, 1>({8}, on_cuda(direct)).make_workspace(0)), InvalidArgument);
}

TEST_F(ChebyshevCallsOnCuda, RefuseADeviceThatIsNotThere) {
    auto options = on_cuda(direct);
    options.device = Device::cuda(4711);
    EXPECT_THROW((ChebyshevProductPlan<double, 1>({8}, options)), BackendUnavailable);
}

}  // namespace
}  // namespace zonal::test
