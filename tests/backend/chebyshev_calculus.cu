#include "backend/chebyshev_device.cuh"
#include "zonal/chebyshev/calculus.hpp"

// Derivatives and integrals of Chebyshev series on CUDA against the CPU's.
namespace zonal::test {
namespace {

class ChebyshevCalculusOnCuda : public OnCuda {};

constexpr Interval interval{-0.5, 2};

template <class T, int D, ChebyshevConvention C>
ChebyshevView<T, D, C> on_host(Array<T, D + 1>& batch) {
    return ChebyshevView<T, D, C>(batch.view());
}

template <class T, int D>
Array<Real<T>, D + 1> magnitudes_of(const Array<T, D + 1>& batch) {
    Array<Real<T>, D + 1> result(batch.extents());
    std::transform(batch.begin(), batch.end(), result.begin(),
                   [](const T& value) { return std::abs(value); });
    return result;
}

/// |found - expected| <= bound(k) in every element k.
template <class T, int N, class Bound>
void expect_within(const Array<T, N>& found, const Array<T, N>& expected, const Bound& bound) {
    ASSERT_EQ(found.extents(), expected.extents());
    for (std::int64_t k = 0; k < found.size(); ++k)
        ASSERT_LE(std::abs(found.data()[k] - expected.data()[k]), bound(k)) << k;
}

/// A derivative's coefficient is a sum of at most n / 2 shares, each rounded twice, and halved: on either
/// side the error is at most (n / 2 + 3) eps / 2 of the sum of magnitudes, which is the derivative of those.
template <class T, int D, ChebyshevConvention C>
void expect_derivatives(Array<T, D + 1> f) {
    const DeviceBatch<T, D> there(f), result(f);
    auto on_cpu = f;
    auto magnitudes = magnitudes_of<T, D>(f), scale = magnitudes;
    for (int axis = 0; axis < D; ++axis) {
        SCOPED_TRACE(::testing::Message() << "derivative, axis " << axis);
        differentiate<T, D, C>(there.template series<C>(), axis, interval, result.template series<C>());
        differentiate<T, D, C>(on_host<T, D, C>(f), axis, interval, on_host<T, D, C>(on_cpu));
        differentiate<Real<T>, D, C>(on_host<Real<T>, D, C>(magnitudes), axis, interval,
                                     on_host<Real<T>, D, C>(scale));
        const double factor = (static_cast<double>(f.extent(axis + 1)) / 2 + 3) * epsilon<T>;
        expect_within(result.host(), on_cpu, [&](std::int64_t k) { return factor * scale.data()[k]; });
    }
}

/// A_k has two coefficients, a plain a_0 with twice its size, and four roundings. Of all |A_k| together, of
/// which A_0 is up to twice the sum, no coefficient has more than 2: n of them, added up in n roundings.
template <class T, int D, ChebyshevConvention C>
void expect_integrals(Array<T, D + 1> f) {
    const DeviceBatch<T, D> there(f);
    for (int axis = 0; axis < D; ++axis)
        for (const auto mode : {HighestMode::projection, HighestMode::tau, HighestMode::kept}) {
            SCOPED_TRACE(::testing::Message()
                         << "integral, axis " << axis << " mode " << static_cast<int>(mode));
            auto extents = f.extents();
            const auto n = static_cast<double>(extents[static_cast<std::size_t>(axis + 1)]);
            if (mode == HighestMode::kept) ++extents[static_cast<std::size_t>(axis + 1)];
            Array<T, D + 1> on_cpu(extents);
            std::fill(on_cpu.begin(), on_cpu.end(), T(9));  // to be overwritten
            const DeviceBatch<T, D> result(on_cpu);
            integrate<T, D, C>(there.template series<C>(), axis, interval, mode, result.template series<C>());
            integrate<T, D, C>(on_host<T, D, C>(f), axis, interval, mode, on_host<T, D, C>(on_cpu));
            const double bound = 4 * n * (n + 4) * epsilon<T> * largest(f) * interval.half_width();
            expect_within(result.host(), on_cpu, [&](std::int64_t) { return bound; });
        }
}

/// Weights are at most 2; n / 2 + 1 terms of three roundings, added up.
template <class T, int D, ChebyshevConvention C>
void expect_whole_integrals(Array<T, D + 1> f) {
    const DeviceBatch<T, D> there(f);
    for (int axis = 0; axis < D; ++axis) {
        SCOPED_TRACE(::testing::Message() << "whole integral, axis " << axis);
        std::array<std::int64_t, D> extents{};
        for (int from = 0, to = 0; from <= D; ++from)
            if (from != axis + 1) extents[static_cast<std::size_t>(to++)] = f.extent(from);
        Array<T, D> on_cpu(extents), found(extents);
        const core::DeviceArray<T> result(on_cpu.size());
        integrate_out<T, D, C>(there.template series<C>(), axis, interval,
                               View<T, D>(result.data(), extents, MemorySpace::cuda));
        integrate_out<T, D, C>(on_host<T, D, C>(f), axis, interval, on_cpu.view());
        core::check_cuda(cudaMemcpy(found.data(), result.data(), result.bytes(), cudaMemcpyDeviceToHost),
                         "copy");
        const double n_terms = static_cast<double>(f.extent(axis + 1)) / 2 + 1;
        const double bound = 2 * n_terms * (n_terms + 3) * epsilon<T> * largest(f) * interval.half_width();
        expect_within(found, on_cpu, [&](std::int64_t) { return bound; });
    }
}

template <class T, int D, ChebyshevConvention C>
void expect_calculus(std::int64_t n_batch, const std::array<std::int64_t, D>& extents) {
    SCOPED_TRACE(::testing::Message() << "batch " << n_batch << " of " << ::testing::PrintToString(extents));
    const auto f = random_batch<T, D>(n_batch, extents, 1);
    expect_derivatives<T, D, C>(f);
    expect_integrals<T, D, C>(f);
    expect_whole_integrals<T, D, C>(f);
}

/// Lines of one to many rounds of a warp and of a block.
template <class T, ChebyshevConvention C>
void expect_calculus_in_all_dimensions() {
    for (const std::int64_t n : {1, 2, 3, 31, 32, 33, 64, 101, 1023, 1025, 2500})
        expect_calculus<T, 1, C>(n > 1000 ? 1 : 3, {n});
    using Plane = std::array<std::int64_t, 2>;
    for (const auto& n : {Plane{1, 1}, Plane{1, 9}, Plane{9, 1}, Plane{2, 40}, Plane{70, 5}})
        expect_calculus<T, 2, C>(2, n);
    using Box = std::array<std::int64_t, 3>;
    for (const auto& n : {Box{1, 1, 1}, Box{2, 1, 5}, Box{7, 4, 3}, Box{3, 35, 2}})
        expect_calculus<T, 3, C>(2, n);
}

TEST_F(ChebyshevCalculusOnCuda, OfDoublesEqualsTheCpus) {
    expect_calculus_in_all_dimensions<double, primed>();
    expect_calculus_in_all_dimensions<double, plain>();
}
TEST_F(ChebyshevCalculusOnCuda, OfFloatsEqualsTheCpus) {
    expect_calculus_in_all_dimensions<float, primed>();
    expect_calculus_in_all_dimensions<float, plain>();
}
TEST_F(ChebyshevCalculusOnCuda, OfComplexNumbersEqualsTheCpus) {
    expect_calculus_in_all_dimensions<std::complex<double>, plain>();
    expect_calculus_in_all_dimensions<std::complex<float>, primed>();
}

/// So many lines that each has a thread: side by side, short ones, and those of complex numbers.
TEST_F(ChebyshevCalculusOnCuda, OfManyLinesEqualsTheCpus) {
    expect_calculus<double, 1, primed>(scaled(20001), {7});
    expect_calculus<double, 2, plain>(1, {50, scaled(17001)});
    expect_calculus<std::complex<double>, 1, plain>(scaled(9001), {12});
    expect_calculus<float, 3, primed>(2, {6, 5, scaled(4001)});
}

/// A series of [m, batch, n] in reverse, and one whose every second element counts.
TEST_F(ChebyshevCalculusOnCuda, TakesStridedArrays) {
    constexpr std::int64_t batch = 2, n = 37, m = 5;
    const auto f = random_array<double, 3>({m, batch, 2 * n}, 1);
    const DeviceBatch<double, 2> there(f), result(f);
    const auto strided = [&](const DeviceBatch<double, 2>& memory) {
        return ChebyshevView<double, 2>(View<double, 3>(memory.memory.data() + (batch - 1) * 2 * n,
                                                        {batch, n, m}, {-2 * n, 2, batch * 2 * n},
                                                        MemorySpace::cuda));
    };
    Array<double, 3> straight({batch, n, m}), expected({batch, n, m});
    for (std::int64_t item = 0; item < batch; ++item)
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < m; ++j) straight(item, i, j) = f(j, batch - 1 - item, 2 * i);
    const DeviceBatch<double, 2> straight_there(straight), expected_there(straight);
    for (int axis = 0; axis < 2; ++axis) {
        differentiate(strided(there), axis, interval, strided(result));
        differentiate(straight_there.series<primed>(), axis, interval, expected_there.series<primed>());
        const auto found = result.host(), right = expected_there.host();
        for (std::int64_t item = 0; item < batch; ++item)
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < m; ++j) {
                    EXPECT_EQ(found(j, batch - 1 - item, 2 * i), right(item, i, j));
                    EXPECT_EQ(found(j, batch - 1 - item, 2 * i + 1), f(j, batch - 1 - item, 2 * i + 1));
                }
    }
}

TEST_F(ChebyshevCalculusOnCuda, OfAnEmptyBatchDoesNothing) {
    const DeviceBatch<double, 1> there(random_batch<double, 1>(1, {5}, 1));
    const ChebyshevView<double, 1> none(View<double, 2>(there.memory.data(), {0, 5}, MemorySpace::cuda));
    differentiate(none, 0, interval,
                  ChebyshevView<double, 1>(View<double, 2>(nullptr, {0, 5}, MemorySpace::cuda)));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

}  // namespace
}  // namespace zonal::test
