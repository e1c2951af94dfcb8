#include <array>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "zonal/chebyshev/calculus.hpp"
#include "zonal/chebyshev/evaluation.hpp"
#include "zonal/chebyshev/product.hpp"

// What test_chebyshev_mpmath.py drives: each request is a line
//   OPERATION primed|plain direct|transform AXIS D N.. VALUES..
// with hexadecimal numbers, row-major; the answer is a line of them. The domain is [0, 3] in each axis.
namespace {

using namespace zonal;

struct Request {
    std::string operation, convention, method;
    int axis = 0, dimensions = 1;
    std::vector<std::int64_t> extents;
    std::vector<double> values;
};

Request parse(const std::string& line) {
    std::istringstream words(line);
    Request request;
    words >> request.operation >> request.convention >> request.method >> request.axis >> request.dimensions;
    request.extents.resize(static_cast<std::size_t>(request.dimensions));
    for (auto& extent : request.extents) words >> extent;
    for (std::string word; words >> word;) request.values.push_back(std::stod(word));
    return request;
}

template <class Values>
void print(const Values* values, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) std::printf("%a ", static_cast<double>(values[i]));
    std::printf("\n");
}

template <int D>
ChebyshevDomain<D> domain() {
    ChebyshevDomain<D> box;
    box.fill({0, 3});
    return box;
}

template <class T, int D, ChebyshevConvention C>
ChebyshevSeries<T, D, C> series(const Request& request, std::size_t& next) {
    std::array<std::int64_t, D> extents{};
    for (std::size_t axis = 0; axis < D; ++axis) extents[axis] = request.extents[axis];
    ChebyshevSeries<T, D, C> result(extents, domain<D>());
    for (std::int64_t i = 0; i < result.size(); ++i)
        result.data()[i] = static_cast<T>(request.values.at(next++));
    return result;
}

template <class T, int D, ChebyshevConvention C>
void multiply(const Request& request) {
    std::size_t next = 0;
    const auto a = series<T, D, C>(request, next), b = series<T, D, C>(request, next);
    ChebyshevProductOptions options;
    options.full = request.operation == "full";
    options.method = request.method == "direct" ? ChebyshevMethod::direct : ChebyshevMethod::transform;
    const ChebyshevProductPlan<T, D, C> plan(a.extents(), options);
    ChebyshevSeries<T, D, C> product(plan.extents_out());
    plan.multiply(a.view(), b.view(), product.view());
    print(product.data(), product.size());
}

template <int D, ChebyshevConvention C>
void answer(const Request& request) {
    const auto& operation = request.operation;
    if (operation == "product" || operation == "full") return multiply<double, D, C>(request);
    if (operation == "float") return multiply<float, D, C>(request);
    std::size_t next = 0;
    const auto f = series<double, D, C>(request, next);
    ChebyshevSeries<double, D, C> result;
    if (operation == "derivative") result = derivative(f, request.axis);
    if (operation == "kept") result = integral(f, request.axis, HighestMode::kept);
    if (operation == "projection") result = integral(f, request.axis, HighestMode::projection);
    if (operation == "tau") result = integral(f, request.axis, HighestMode::tau);
    if (operation == "evaluate") {
        std::array<double, D> point{};
        for (auto& x : point) x = request.values.at(next++);
        const double values[] = {evaluate<double, D, C>(f, point), definite_integral(f)};
        return print(values, 2);
    }
    print(result.data(), result.size());
}

template <ChebyshevConvention C>
void answer(const Request& request) {
    if (request.dimensions == 1) answer<1, C>(request);
    if (request.dimensions == 2) answer<2, C>(request);
    if (request.dimensions == 3) answer<3, C>(request);
}

}  // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        const auto request = parse(line);
        if (request.convention == "primed")
            answer<ChebyshevConvention::primed>(request);
        else
            answer<ChebyshevConvention::plain>(request);
    }
}
