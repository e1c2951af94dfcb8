#pragma once

#include <cstdio>
#include <random>
#include <vector>

#include "cuda/device_timing.cuh"
#include "zonal/chebyshev/product.hpp"

/// Factors of products, in either memory, and how records of them begin.
namespace zonal::bench {

inline constexpr auto direct = ChebyshevMethod::direct;
inline constexpr auto transform = ChebyshevMethod::transform;

struct Setup {
    core::OwnStream stream;
    Peaks peaks{};
    int rounds = 9;
};

template <class T>
std::vector<T> random_values(std::int64_t size, unsigned seed) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    std::vector<T> values(static_cast<std::size_t>(size));
    for (T& value : values) value = static_cast<T>(normal(engine));
    return values;
}

inline ChebyshevProductOptions on(Device device, ChebyshevMethod method) {
    ChebyshevProductOptions options;
    options.device = device;
    options.method = method;
    return options;
}

template <int D>
std::int64_t size_of(const std::array<std::int64_t, D>& extents) {
    std::int64_t size = 1;
    for (const auto extent : extents) size *= extent;
    return size;
}

template <class T, int D>
struct Factors {
    using Extents = std::array<std::int64_t, D>;
    Factors(const Extents& extents, std::int64_t n_batch)
        : a(random_values<T>(n_batch * size_of<D>(extents), 1)),
          b(random_values<T>(n_batch * size_of<D>(extents), 2)),
          product(a.size()),
          a_there(a),
          b_there(b),
          product_there(static_cast<std::int64_t>(a.size())) {
        shape[0] = n_batch;
        std::copy(extents.begin(), extents.end(), shape.begin() + 1);
    }
    template <class Element>
    ChebyshevView<Element, D> view(Element* data, MemorySpace space) const {
        return ChebyshevView<Element, D>(View<Element, D + 1>(data, shape, space));
    }
    void multiply(const ChebyshevProductPlan<T, D>& plan, ChebyshevWorkspace& workspace) {
        constexpr auto space = MemorySpace::cuda;
        plan.multiply(view<const T>(a_there.data(), space), view<const T>(b_there.data(), space),
                      view(product_there.data(), space), workspace);
    }
    void multiply_host(const ChebyshevProductPlan<T, D>& plan, ChebyshevWorkspace& workspace) {
        constexpr auto space = MemorySpace::host;
        plan.multiply(view<const T>(a.data(), space), view<const T>(b.data(), space),
                      view(product.data(), space), workspace);
    }

    std::vector<T> a, b, product;
    core::DeviceArray<T> a_there, b_there, product_there;
    std::array<std::int64_t, D + 1> shape;
};

template <int D>
void print_head(const char* precision, const char* method, const std::array<std::int64_t, D>& extents,
                std::int64_t n_batch) {
    std::printf(R"(  {"method": "%s", "precision": "%s", "batch": %lld, "shape": [)", method, precision,
                static_cast<long long>(n_batch));
    for (int axis = 0; axis < D; ++axis)
        std::printf("%s%lld", axis == 0 ? "" : ", ",
                    static_cast<long long>(extents[static_cast<std::size_t>(axis)]));
    std::printf("]");
}

}  // namespace zonal::bench
