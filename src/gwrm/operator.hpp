#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gwrm/backend.hpp"
#include "zonal/chebyshev/product.hpp"

namespace zonal::gwrm {

/// The right-hand sides D[u] + f of a problem, in coefficients, and their derivative.
class Operator {
  public:
    Operator(const Problem& problem, const Shape& shape, Backend& backend);

    const Shape& shape() const { return shape_; }
    /// Interpolates the known functions on a time interval.
    void set_time(Interval time);
    /// result = D[u] + f. u, result: [shape]
    void apply(const double* u, double* result);
    /// Keeps what apply_derivative needs of the point u.
    void set_point(const double* u);
    /// result = D'[u] v, for n vectors. v, result: [field, vector, subdomain, k..]
    void apply_derivative(const double* v, std::int64_t n, double* result);

  private:
    /// A factor that occurs, or one whose derivative does.
    struct Atom {
        Factor factor;
        int parent = -1;  ///< atom of which it is the derivative
        int axis = 0;
    };
    struct LinearTerm {
        int output;
        double weight;
        int atom;
    };
    struct ProductTerms {
        std::optional<chebyshev::ProductPlanHandle<double>> plan;
        std::vector<int> outputs;                ///< fields
        std::vector<int> points, differentials;  ///< atoms: factors at u, then those of v
        ChebyshevWorkspace workspace;
        Vector sums;  ///< [output, batch, k..]
    };
    using Atoms = std::vector<Vector>;

    int add_atom(const Factor& factor);
    void add_term(int output, const Monomial& term, std::vector<ChebyshevTerm>& products);
    void make_plan(const std::vector<ChebyshevTerm>& terms, ProductTerms& made) const;
    std::vector<ChebyshevTerm> derivative_terms(const std::vector<ChebyshevTerm>& products) const;
    void set_force(Interval time);
    void compute_atoms(const double* u, std::int64_t n, bool known, Atoms& atoms);
    const double* atom_data(int index, const double* u, std::int64_t n, const Atoms& atoms) const;
    void add_linear(const double* u, std::int64_t n, bool known, const Atoms& atoms, double* result);
    void add_products(ProductTerms& terms, const double* v, std::int64_t n, double* result);

    const Problem& problem_;
    Shape shape_;
    Backend& backend_;
    std::array<double, 2> derivative_scale_{1, 1};
    std::vector<Atom> atoms_;
    std::vector<LinearTerm> linear_;
    std::vector<std::pair<int, Monomial>> forces_;
    ProductTerms products_, derivative_products_;
    Vector point_, force_;
    Atoms known_atoms_, point_atoms_, vector_atoms_;
    std::vector<WeightedArray> sums_to_add_;
};

}  // namespace zonal::gwrm
