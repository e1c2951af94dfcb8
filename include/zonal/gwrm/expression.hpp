#pragma once

#include <array>
#include <vector>

namespace zonal::gwrm {

/// One factor of a product: an unknown field or a known function, or a derivative of it.
struct Factor {
    int source = 0;               ///< field, or -1 - known function
    std::array<int, 2> orders{};  ///< of the derivative, along axis 1 and axis 2 of the problem
    bool operator==(const Factor&) const = default;
    bool operator<(const Factor& other) const {
        return source != other.source ? source < other.source : orders < other.orders;
    }

    bool is_field() const { return source >= 0; }
};

/// weight times the product of the factors, which are sorted; none stand for 1.
struct Monomial {
    double weight = 1;
    std::vector<Factor> factors;
};

/// A polynomial in unknown fields, known functions and their spatial derivatives, made from
/// Problem::unknown, Problem::known and numbers: `nu * u.dx().dx() - u * u.dx()`. Nothing is computed until
/// a problem is solved; the same terms then give residuals and Jacobian-vector products.
class Expression {
  public:
    Expression(double constant);
    explicit Expression(const Factor& factor) : terms_{{1, {factor}}} {}

    /// Terms of different factors.
    const std::vector<Monomial>& terms() const { return terms_; }

    /// Derivative along an axis of the problem, 1 or 2 (0 is time), by the product rule. Throws
    /// InvalidArgument.
    Expression derivative(int axis) const;
    Expression dx() const { return derivative(1); }
    Expression dy() const { return derivative(2); }

    Expression& operator+=(const Expression& other);
    friend Expression operator*(const Expression& a, const Expression& b);

  private:
    Expression() = default;
    void add(Monomial term);

    std::vector<Monomial> terms_;
};

Expression operator*(const Expression& a, const Expression& b);
inline Expression operator+(Expression a, const Expression& b) {
    return a += b;
}
inline Expression operator-(const Expression& a) {
    return Expression(-1.0) * a;
}
inline Expression operator-(Expression a, const Expression& b) {
    return a += -b;
}

/// a to the power n, 0 <= n <= 8. Throws InvalidArgument.
Expression pow(const Expression& a, int n);

}  // namespace zonal::gwrm
