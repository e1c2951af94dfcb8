#pragma once

#include <cmath>
#include <complex>
#include <iterator>
#include <limits>
#include <type_traits>

/// What tests compare results by. A NaN in either operand makes the answer NaN, and operands of different
/// lengths or without values make it infinite: EXPECT_LT and EXPECT_LE fail on both. larger(most, std::abs(a
/// - b)), in contrast, drops a NaN.
namespace zonal::test {

/// The larger of two numbers; NaN when either is NaN.
template <class A, class B>
std::common_type_t<A, B> larger(A a, B b) {
    return a > b || std::isnan(a) ? a : b;
}

inline double wide(double value) {
    return value;
}
template <class T>
std::complex<double> wide(const std::complex<T>& value) {
    return std::complex<double>(value);
}

/// max |value|
template <class Values>
double largest(const Values& values) {
    double result = 0;
    for (const auto& value : values) result = larger(result, std::abs(wide(value)));
    return result;
}

/// Calls body(a_k, b_k) for each k; false when there is nothing to compare or no partner for a value.
template <class A, class B, class Body>
bool for_each_pair(const A& a, const B& b, const Body& body) {
    const auto n = std::distance(a.begin(), a.end());
    if (n == 0 || n != std::distance(b.begin(), b.end())) return false;
    auto other = b.begin();
    for (const auto& value : a) body(wide(value), wide(*other++));
    return true;
}

/// max |a - b|
template <class A, class B>
double largest_difference(const A& a, const B& b) {
    double result = 0;
    const bool comparable =
        for_each_pair(a, b, [&](const auto& x, const auto& y) { result = larger(result, std::abs(x - y)); });
    return comparable ? result : std::numeric_limits<double>::infinity();
}

/// max |a - b| / max |b|
template <class A, class B>
double relative_difference(const A& a, const B& b) {
    return largest_difference(a, b) / largest(b);
}

/// The square root of the mean of |value|^2.
template <class Values>
double rms(const Values& values) {
    double sum = 0;
    for (const auto& value : values) sum += std::norm(wide(value));
    return std::sqrt(sum / static_cast<double>(std::distance(values.begin(), values.end())));
}

/// rms(a - b)
template <class A, class B>
double rms_difference(const A& a, const B& b) {
    double sum = 0;
    const bool comparable =
        for_each_pair(a, b, [&](const auto& x, const auto& y) { sum += std::norm(x - y); });
    return comparable ? std::sqrt(sum / static_cast<double>(std::distance(a.begin(), a.end())))
                      : std::numeric_limits<double>::infinity();
}

/// rms(a - b) / rms(b)
template <class A, class B>
double relative_rms(const A& a, const B& b) {
    return rms_difference(a, b) / rms(b);
}

}  // namespace zonal::test
