#include <gmock/gmock.h>

#include "backend/chebyshev_device.cuh"
#include "chebyshev_roots_helpers.hpp"
#include "zonal/chebyshev/calculus.hpp"
#include "zonal/chebyshev/roots.hpp"

// How calculus of Chebyshev series on CUDA is called: streams, graphs, refusals.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;

class ChebyshevCalculusCallsOnCuda : public OnCuda {};

/// A derivative and an integral, on the caller's stream.
struct Calls {
    void put(cudaStream_t stream) const {
        differentiate(f.series<primed>(), 1, Interval{}, slope.series<primed>(), stream);
        integrate(slope.series<primed>(), 0, Interval{}, HighestMode::tau, integral.series<primed>(), stream);
    }

    DeviceBatch<double, 2> f{random_batch<double, 2>(2, {19, 34}, 1)};
    DeviceBatch<double, 2> slope{f.host()}, integral{f.host()};
};

TEST_F(ChebyshevCalculusCallsOnCuda, AreCapturedInAGraph) {
    const Calls calls;
    calls.put(nullptr);
    const auto expected = calls.integral.host();
    const core::OwnStream stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    core::check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "capturing");
    calls.put(stream.get());
    core::check_cuda(cudaStreamEndCapture(stream.get(), &graph), "capturing");
    core::check_cuda(cudaGraphInstantiate(&executable, graph, 0), "making a graph");
    for (int run = 0; run < 2; ++run) {
        for (const auto* array : {&calls.slope, &calls.integral})
            core::check_cuda(cudaMemsetAsync(array->memory.data(), 0xff, array->memory.bytes(), stream.get()),
                             "clearing");
        core::check_cuda(cudaGraphLaunch(executable, stream.get()), "launching a graph");
        core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
        const auto found = calls.integral.host();
        EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin()));
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}

TEST_F(ChebyshevCalculusCallsOnCuda, FindRootsAndLengthsOfSeriesThere) {
    auto host = random_batch<double, 1>(3, {40}, 2);
    for (std::int64_t s = 0; s < 3; ++s)
        for (std::int64_t k = 0; k < 40; ++k) host(s, k) *= std::exp2(-3 * k);
    const DeviceBatch<double, 1> f(host);
    const ChebyshevView<double, 1> here(host.view());
    const core::OwnStream stream;
    const auto expect_same = [](const std::vector<std::vector<std::complex<double>>>& found,
                                const std::vector<std::vector<std::complex<double>>>& expected,
                                const ChebyshevView<double, 1>& series) {
        for (std::int64_t s = 0; s < 3; ++s)
            expect_same_roots(plain_coefficients(series.coefficients.extent(1), true,
                                                 [&](std::int64_t k) { return series.coefficients(s, k); }),
                              found[static_cast<std::size_t>(s)], expected[static_cast<std::size_t>(s)]);
    };
    expect_same(all_roots(f.series<primed>(), 0, stream.get()), all_roots(here), here);
    const auto length = chop_length(here);
    EXPECT_LT(length, 30);
    EXPECT_EQ(chop_length(f.series<primed>(), 0, 0x1p-52, stream.get()), length);
    // From the last element backwards, every other coefficient.
    const std::int64_t last = host.size() - 1;
    const auto backwards = [&](double* data, MemorySpace space) {
        return ChebyshevView<double, 1>(View<double, 2>(data + last, {3, 20}, {-40, -2}, space));
    };
    const auto backwards_here = backwards(host.data(), MemorySpace::host);
    expect_same(all_roots(backwards(f.memory.data(), MemorySpace::cuda)), all_roots(backwards_here),
                backwards_here);
}

TEST_F(ChebyshevCalculusCallsOnCuda, RefuseArraysInTheWrongPlace) {
    const Calls calls;
    auto host = calls.f.host();
    const ChebyshevView<double, 2> here(host.view());
    const ChebyshevView<double, 2> said_to_be_there(
        View<double, 3>(host.data(), host.extents(), MemorySpace::cuda));
    const auto f = calls.f.series<primed>();
    EXPECT_THAT(message_of([&] { differentiate(f, 0, Interval{}, here); }),
                "derivative: must be in the memory of f, the host's or a device's");
    EXPECT_THAT(message_of([&] { differentiate(said_to_be_there, 0, Interval{}, f); }),
                "f: is not in device memory");
    EXPECT_THAT(message_of([&] { integrate(f, 0, Interval{}, HighestMode::tau, said_to_be_there); }),
                HasSubstr("integral: is not in device memory"));
    EXPECT_THAT(message_of([&] { integrate(f, 0, Interval{}, HighestMode::kept, f); }),
                "integral: axis 0 = 19: must be 20");
    EXPECT_THAT(message_of([&] { differentiate(f, 0, Interval{}, f); }), "derivative: must not be f itself");
    EXPECT_THAT(message_of([&] { differentiate(f, 2, Interval{}, here); }), "axis = 2: must be 0 to 1");
}

}  // namespace
}  // namespace zonal::test
