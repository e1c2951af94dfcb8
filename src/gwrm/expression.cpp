#include "zonal/gwrm/expression.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "zonal/error.hpp"

namespace zonal::gwrm {

Expression::Expression(double constant) {
    if (constant != 0) terms_.push_back({constant, {}});
}

void Expression::add(Monomial term) {
    std::sort(term.factors.begin(), term.factors.end());
    const auto same = std::find_if(terms_.begin(), terms_.end(),
                                   [&](const Monomial& known) { return known.factors == term.factors; });
    if (same == terms_.end())
        terms_.push_back(std::move(term));
    else if ((same->weight += term.weight) == 0)
        terms_.erase(same);
}

Expression& Expression::operator+=(const Expression& other) {
    for (const auto& term : std::vector(other.terms_)) add(term);
    return *this;
}

Expression operator*(const Expression& a, const Expression& b) {
    Expression product;
    for (const auto& left : a.terms_)
        for (const auto& right : b.terms_) {
            Monomial term{left.weight * right.weight, left.factors};
            term.factors.insert(term.factors.end(), right.factors.begin(), right.factors.end());
            product.add(std::move(term));
        }
    return product;
}

Expression Expression::derivative(int axis) const {
    if (axis < 1 || axis > 2) throw InvalidArgument(fmt::format("axis = {}: must be 1 or 2", axis));
    Expression result;
    for (const auto& term : terms_)
        for (std::size_t i = 0; i < term.factors.size(); ++i) {
            auto part = term;
            ++part.factors[i].orders[static_cast<std::size_t>(axis - 1)];
            result.add(std::move(part));
        }
    return result;
}

Expression pow(const Expression& a, int n) {
    constexpr int most_factors = 8;  // of a term of ChebyshevProductPlan
    if (n < 0 || n > most_factors)
        throw InvalidArgument(fmt::format("n = {}: must be 0 to {}", n, most_factors));
    Expression result = 1.0;
    for (int i = 0; i < n; ++i) result = result * a;
    return result;
}

}  // namespace zonal::gwrm
