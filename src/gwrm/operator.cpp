#include "gwrm/system.hpp"

#include <algorithm>

#include "zonal/chebyshev/calculus.hpp"

namespace zonal::gwrm {
namespace {

/// A product of known functions themselves, which needs no series of its factors.
bool is_force(const Monomial& term) {
    return std::all_of(term.factors.begin(), term.factors.end(), [](const Factor& factor) {
        return !factor.is_field() && factor.orders == std::array{0, 0};
    });
}

/// Index of `value` in `list`, where it is added at the end.
int index_in(std::vector<int>& list, int value) {
    const auto found = std::find(list.begin(), list.end(), value);
    const auto index = static_cast<int>(found - list.begin());
    if (found == list.end()) list.push_back(value);
    return index;
}

}  // namespace

Operator::Operator(const Problem& problem, const Shape& shape, Backend& backend)
    : problem_(problem),
      shape_(shape),
      backend_(backend),
      point_(backend, shape.size()),
      force_(backend, shape.size()) {
    const auto& axes = problem.axes();
    for (std::size_t i = 0; i < axes.size(); ++i)
        derivative_scale_.at(i) = axes[i].subdomains / axes[i].interval.half_width();
    std::vector<ChebyshevTerm> products;
    for (int field = 0; field < shape.n_fields; ++field)
        for (const auto& term : problem.right_hand_sides()[static_cast<std::size_t>(field)].terms())
            add_term(field, term, products);
    make_plan(products, products_);
    make_plan(derivative_terms(products), derivative_products_);
    for (auto* const atoms : {&known_atoms_, &point_atoms_, &vector_atoms_}) atoms->resize(atoms_.size());
    backend.fill(force_.data(), shape.size());
}

int Operator::add_atom(const Factor& factor) {
    const auto found =
        std::find_if(atoms_.begin(), atoms_.end(), [&](const Atom& atom) { return atom.factor == factor; });
    if (found != atoms_.end()) return static_cast<int>(found - atoms_.begin());
    Atom atom{factor};
    for (int axis = 2; axis >= 1 && atom.parent < 0; --axis) {
        auto parent = factor;
        if (--parent.orders.at(static_cast<std::size_t>(axis - 1)) < 0) continue;
        atom.parent = add_atom(parent);
        atom.axis = axis;
    }
    atoms_.push_back(atom);
    return static_cast<int>(atoms_.size()) - 1;
}

void Operator::add_term(int output, const Monomial& term, std::vector<ChebyshevTerm>& products) {
    if (is_force(term)) {
        forces_.emplace_back(output, term);
    } else if (term.factors.size() == 1) {
        linear_.push_back({output, term.weight, add_atom(term.factors[0])});
    } else {
        ChebyshevTerm product{output, term.weight, {}};
        for (const auto& factor : term.factors) product.factors.push_back(add_atom(factor));
        products.push_back(product);
    }
}

/// Factors stand for atoms here: negative ones, -1 - atom, for those of v.
std::vector<ChebyshevTerm> Operator::derivative_terms(const std::vector<ChebyshevTerm>& products) const {
    std::vector<ChebyshevTerm> terms;
    for (const auto& product : products)
        for (std::size_t i = 0; i < product.factors.size(); ++i) {
            const int atom = product.factors[i];
            if (!atoms_[static_cast<std::size_t>(atom)].factor.is_field()) continue;
            auto term = product;
            term.factors[i] = -1 - atom;
            std::sort(term.factors.begin(), term.factors.end());
            const auto same = std::find_if(terms.begin(), terms.end(), [&](const ChebyshevTerm& known) {
                return known.output == term.output && known.factors == term.factors;
            });
            if (same == terms.end())
                terms.push_back(term);
            else
                same->weight += term.weight;
        }
    return terms;
}

void Operator::make_plan(const std::vector<ChebyshevTerm>& terms, ProductTerms& made) const {
    if (terms.empty()) return;
    chebyshev::ProductShape shape{shape_.dimensions, ChebyshevConvention::plain, shape_.extents, 0, 0, terms};
    for (auto& term : shape.terms) {
        term.output = index_in(made.outputs, term.output);
        for (const int factor : term.factors)
            index_in(factor < 0 ? made.differentials : made.points, factor < 0 ? -1 - factor : factor);
    }
    const auto n_points = static_cast<int>(made.points.size());
    for (auto& term : shape.terms)
        for (int& factor : term.factors)
            factor = factor < 0 ? n_points + index_in(made.differentials, -1 - factor)
                                : index_in(made.points, factor);
    shape.n_fields = n_points + static_cast<int>(made.differentials.size());
    shape.n_outputs = static_cast<int>(made.outputs.size());
    ChebyshevProductOptions options;
    options.threads = backend_.threads();
    options.device = backend_.device();
    made.plan.emplace(shape, options);
    made.workspace.use_stream(backend_.stream());
}

void Operator::set_time(Interval time) {
    std::vector<double> values(static_cast<std::size_t>(shape_.per_field()));
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
        const auto& atom = atoms_[i];
        if (atom.factor.is_field() || atom.parent >= 0) continue;
        const auto& function = problem_.functions()[static_cast<std::size_t>(-1 - atom.factor.source)];
        interpolate_function(problem_, shape_, time, function, values.data());
        known_atoms_[i].resize(backend_, shape_.per_field());
        backend_.upload(values.data(), shape_.per_field(), known_atoms_[i].data());
    }
    compute_atoms(nullptr, 1, true, known_atoms_);
    if (!forces_.empty()) set_force(time);
}

void Operator::set_force(Interval time) {
    std::vector<double> force(static_cast<std::size_t>(shape_.size()));
    std::vector<double> part(static_cast<std::size_t>(shape_.per_field()));
    for (const auto& [output, term] : forces_) {
        const auto& monomial = term;
        interpolate_function(
            problem_, shape_, time,
            [&](const Point& point) {
                double value = monomial.weight;
                for (const auto& factor : monomial.factors)
                    value *= problem_.functions()[static_cast<std::size_t>(-1 - factor.source)](point);
                return value;
            },
            part.data());
        double* sum = force.data() + output * shape_.per_field();
        for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
    }
    backend_.upload(force.data(), shape_.size(), force_.data());
}

/// Derivatives of the fields, or (known) of the known functions.
void Operator::compute_atoms(const double* u, std::int64_t n, bool known, Atoms& atoms) {
    const auto n_blocks = n * shape_.n_subdomains;
    const auto space = backend_.space();
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
        const auto& atom = atoms_[i];
        if (atom.parent < 0 || atom.factor.is_field() == known) continue;
        atoms[i].resize(backend_, n_blocks * shape_.block());
        backend_.differentiate(shape_.blocks(atom_data(atom.parent, u, n, atoms), n_blocks, space), atom.axis,
                               derivative_scale_.at(static_cast<std::size_t>(atom.axis - 1)),
                               shape_.blocks(atoms[i].data(), n_blocks, space));
    }
}

const double* Operator::atom_data(int index, const double* u, std::int64_t n, const Atoms& atoms) const {
    const auto& atom = atoms_[static_cast<std::size_t>(index)];
    if (!atom.factor.is_field()) return known_atoms_[static_cast<std::size_t>(index)].data();
    if (atom.parent < 0) return u + atom.factor.source * n * shape_.per_field();
    return atoms[static_cast<std::size_t>(index)].data();
}

void Operator::add_linear(const double* u, std::int64_t n, bool known, const Atoms& atoms, double* result) {
    const auto size = n * shape_.per_field();
    sums_to_add_.clear();
    for (const auto& term : linear_) {
        if (!known && !atoms_[static_cast<std::size_t>(term.atom)].factor.is_field()) continue;
        sums_to_add_.push_back({atom_data(term.atom, u, n, atoms), term.weight, result + term.output * size});
    }
    backend_.add(size, sums_to_add_);
}

void Operator::add_products(ProductTerms& terms, const double* v, std::int64_t n, double* result) {
    if (!terms.plan) return;
    const auto per_field = shape_.per_field(), block = shape_.block();
    const auto space = backend_.space();
    // One stride leads through a batch: the point is repeated for several vectors only where it is one block.
    const bool at_once = shape_.n_subdomains == 1;
    const auto n_batch = at_once ? n : shape_.n_subdomains;
    const auto n_calls = at_once ? 1 : n;
    const auto stride = at_once && !terms.differentials.empty() ? 0 : block;
    terms.sums.resize(backend_, std::ssize(terms.outputs) * n_batch * block);
    std::vector<chebyshev::SeriesArray<const double>> fields;
    std::vector<chebyshev::SeriesArray<double>> sums;
    for (std::int64_t i = 0; i < std::ssize(terms.outputs); ++i)
        sums.push_back(shape_.blocks(terms.sums.data() + i * n_batch * block, n_batch, space));
    for (std::int64_t call = 0; call < n_calls; ++call) {
        fields.clear();
        for (const int atom : terms.points)
            fields.push_back(
                shape_.blocks(atom_data(atom, point_.data(), 1, point_atoms_), n_batch, stride, space));
        for (const int atom : terms.differentials)
            fields.push_back(
                shape_.blocks(atom_data(atom, v, n, vector_atoms_) + call * per_field, n_batch, space));
        terms.plan->execute(fields, sums, terms.workspace);
        sums_to_add_.clear();
        for (std::size_t i = 0; i < terms.outputs.size(); ++i)
            sums_to_add_.push_back({sums[i].data, 1, result + (terms.outputs[i] * n + call) * per_field});
        backend_.add(n_batch * block, sums_to_add_);
    }
}

void Operator::set_point(const double* u) {
    backend_.copy(u, shape_.size(), point_.data());
    compute_atoms(point_.data(), 1, false, point_atoms_);
}

void Operator::apply(const double* u, double* result) {
    set_point(u);
    backend_.copy(force_.data(), shape_.size(), result);
    add_linear(point_.data(), 1, true, point_atoms_, result);
    add_products(products_, nullptr, 1, result);
}

std::int64_t Operator::numbers_for_derivative(std::int64_t n) const {
    const auto n_atoms = std::count_if(atoms_.begin(), atoms_.end(), [](const Atom& atom) {
        return atom.parent >= 0 && atom.factor.is_field();
    });
    // The products of one vector after the other share their sums.
    const auto n_at_once = shape_.n_subdomains == 1 ? n : 1;
    return shape_.per_field() * (n_atoms * n + std::ssize(derivative_products_.outputs) * n_at_once);
}

void Operator::apply_derivative(const double* v, std::int64_t n, double* result) {
    compute_atoms(v, n, false, vector_atoms_);
    backend_.fill(result, n * shape_.size());
    add_linear(v, n, false, vector_atoms_, result);
    add_products(derivative_products_, v, n, result);
}

}  // namespace zonal::gwrm
