#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gwrm/backend.hpp"
#include "zonal/chebyshev/calculus.hpp"
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
    /// Numbers that apply_derivative keeps for the next call.
    std::int64_t numbers_for_derivative(std::int64_t n) const;

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

/// The rows that boundary conditions and joints between subdomains put in the places of the highest spatial
/// modes: for every mode of the other axes, sum_l weight_l a_l = g. In two dimensions of space, rows of axis
/// 1 stand for all modes of axis 2, and those of axis 2 for the modes of axis 1 that are left.
class Boundary {
  public:
    Boundary(const Problem& problem, const Shape& shape, Backend& backend);

    /// Interpolates the conditions' functions on a time interval.
    void set_time(Interval time);
    /// Those rows of result become sum_l weight_l a_l - g, or without g, or 0. a, result: [field, vector,
    /// subdomain, k..], not the same array
    void replace(BoundaryRows::Kind kind, const double* a, std::int64_t n, double* result);

  private:
    struct Entry {
        int subdomain;
        std::vector<double> weights;  ///< [l]
    };
    struct Row {
        int field, axis, subdomain;
        std::int64_t mode;  ///< whose place it takes
        std::vector<Entry> entries;
        int condition = -1;  ///< of the problem, whose g it has; -1: 0
        double scale = 1;    ///< largest weight, by which the weights are divided, and g
    };

    void add_field(int field, int axis);
    std::vector<Row> rows_of_ends(int field, int axis, End end) const;
    std::vector<Row> joint(int field, int axis, int left, int right, int order) const;
    std::vector<double> end_weights(const Axis& axis, std::int64_t n, End end, int order) const;
    std::int64_t n_other(const Row& row) const;
    std::vector<double> values_of_g(const Row& row, Interval time) const;
    void upload_rows();

    const Problem& problem_;
    Shape shape_;
    Backend& backend_;
    std::vector<Row> rows_;
    std::int64_t most_other_ = 1;
    std::vector<std::int64_t> places_of_g_;  ///< [row], in g_; -1: 0
    BackendArray<BoundaryRow> table_;
    Vector weights_, g_;
};

/// The algebraic equations of one box, F(a) = a - u_0 - int_{t0}^{t} (D[u] + f) dt' with boundary rows.
class System {
  public:
    System(const Problem& problem, const Shape& shape, HighestMode mode, Backend& backend);

    Backend& backend() { return backend_; }
    const Shape& shape() const { return operator_.shape(); }
    HighestMode mode() const { return mode_; }
    Interval time() const { return time_; }
    void set_time(Interval time);
    /// u_0: [field, subdomain, l, m]
    void set_initial(const double* u0) { backend_.copy(u0, u0_.size(), u0_.data()); }

    /// F(a); derivatives are then taken at a.
    void residual(const double* a, double* result);
    /// F'(a) v for n vectors. v, result: [field, vector, subdomain, k..]
    void apply_jacobian(const double* v, std::int64_t n, double* result);
    /// result = D[u] + f at a, without boundary rows.
    void right_hand_side(const double* a, double* result) { operator_.apply(a, result); }

    /// Numbers that apply_jacobian and frozen_matrices keep for the next call.
    std::int64_t numbers_for_jacobian(std::int64_t n) const {
        return n * shape().size() + operator_.numbers_for_derivative(n);
    }
    std::int64_t numbers_for_frozen_matrices() const {
        return frozen_.numbers_for_derivative(frozen_.shape().size());
    }

    /// F as fixed-point equation a = phi(a) on every interior row, so the matrix of one time mode:
    /// constant: the rows' part without the integral; integrated: of what is under the integral, linearised
    /// at the mean over time of a. Both are columns, as units are the unit vectors: [field, vector,
    /// subdomain, l, m].
    void frozen_matrices(const double* a, const double* units, double* constant, double* integrated);

  private:
    void integrate_and_subtract(const double* a, std::int64_t n, const double* rate, double* result);

    Backend& backend_;
    Operator operator_, frozen_;
    Boundary boundary_, frozen_boundary_;
    HighestMode mode_;
    Interval time_;
    Vector u0_, rate_, frozen_point_;
};

/// Sums each series in time of a. value: [field, subdomain, l, m]
void sum_over_time(Backend& backend, const Shape& shape, TimeSum::Kind kind, const double* a, double* value);
/// a, [shape], in another shape: cut off, or with zeros.
void resize(Backend& backend, const Shape& shape, const double* a, const Shape& other, double* result);

/// Interpolates the initial values of all fields at t0 on a box. u0: [field, subdomain, l, m]. Throws
/// InvalidArgument where one is not finite.
void upload_initial_value(const Problem& problem, const Shape& shape, double t0, Backend& backend,
                          Vector& u0);

}  // namespace zonal::gwrm
