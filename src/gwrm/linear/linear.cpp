#include "gwrm/linear/linear.hpp"

#include <Eigen/Core>
#include <Eigen/Jacobi>
#include <algorithm>
#include <cmath>
#include <limits>

namespace zonal::gwrm {
namespace {

/// Unit vectors, [field, vector, unknown of the field].
Vector unit_vectors(Backend& backend, const VectorPlaces& place) {
    Vector units(backend, place.n * place.n);
    backend.fill(units.data(), units.size());
    backend.run(SetOnes{.n_inner = place.n, .place = place, .to = units.data()});
    return units;
}

}  // namespace

std::unique_ptr<Inverse> dense_inverse(System& system) {
    auto& backend = system.backend();
    const VectorPlaces place{system.shape().size(), system.shape().per_field()};
    auto units = unit_vectors(backend, place);
    Vector images(backend, units.size());
    system.apply_jacobian(units.data(), place.n, images.data());
    return backend.dense_inverse(place, images.data());
}

std::unique_ptr<Inverse> frozen_inverse(System& system, const TimeBasis& basis, const double* a) {
    auto& backend = system.backend();
    const auto n = system.shape().spatial();
    auto units = unit_vectors(backend, {n, n / system.shape().n_fields});
    Vector constant(backend, n * n), integrated(backend, n * n);
    system.frozen_matrices(a, units.data(), constant.data(), integrated.data());
    return backend.frozen_inverse(system.shape(), basis, system.time().half_width(), constant.data(),
                                  integrated.data());
}

void Gmres::make_room(std::int64_t n_vectors, std::int64_t n_kept) {
    if (n_vectors * n_ <= basis_.size()) return;
    Vector larger(backend_, n_vectors * n_);
    if (n_kept > 0) backend_.copy(basis_.data(), n_kept * n_, larger.data());
    basis_ = std::move(larger);
}

double Gmres::norm(std::int64_t j) {
    return std::sqrt(
        backend_.numbers_of(Dot{.n_segments = 1, .n = n_, .vectors = vector(j), .w = vector(j)})[0]);
}

void Gmres::orthogonalise(std::int64_t j, std::vector<double>& column) {
    double* const found = coefficients_.data();
    // Gram-Schmidt twice: once loses orthogonality.
    for (int pass = 0; pass < 2; ++pass) {
        double* const part = found + pass * j;
        backend_.reduce(Dot{.n_segments = j, .n = n_, .vectors = vector(0), .w = vector(j), .results = part});
        backend_.run(Combine{.n_inner = n_,
                             .n_vectors = j,
                             .weight = -1,
                             .vectors = vector(0),
                             .coefficients = part,
                             .w = vector(j)});
    }
    backend_.reduce(
        Dot{.n_segments = 1, .n = n_, .vectors = vector(j), .w = vector(j), .results = found + 2 * j});
    std::vector<double> numbers(static_cast<std::size_t>(2 * j + 1));
    backend_.download(found, 2 * j + 1, numbers.data());
    column.assign(static_cast<std::size_t>(j + 1), 0.0);
    for (std::size_t i = 0; i + 1 < column.size(); ++i)
        column[i] = numbers[i] + numbers[i + static_cast<std::size_t>(j)];
    column.back() = std::sqrt(numbers.back());
    if (column.back() > 0 && std::isfinite(column.back()))
        backend_.run(Divide{.n_inner = n_, .divisor = column.back(), .x = vector(j)});
}

GmresResult Gmres::solve(const LinearMap& a, const LinearMap& preconditioner, const double* b,
                         double tolerance, int max_iterations, double* x) {
    // Room for as many steps as are mostly needed; more when they are.
    int room = std::min(max_iterations, usual_steps);
    make_room(room + 1, 0);
    coefficients_.resize(backend_, 2 * max_iterations + 1);
    backend_.fill(x, n_);
    preconditioner(b, vector(0));
    const double length = norm(0);
    if (length == 0 || !std::isfinite(length)) return {0, length};
    backend_.run(Divide{.n_inner = n_, .divisor = length, .x = vector(0)});
    Eigen::MatrixXd hessenberg = Eigen::MatrixXd::Zero(max_iterations + 1, max_iterations);
    Eigen::VectorXd g = Eigen::VectorXd::Zero(max_iterations + 1);
    std::vector<Eigen::JacobiRotation<double>> rotations(static_cast<std::size_t>(max_iterations));
    std::vector<double> column;
    g[0] = length;
    int j = 0;
    while (j < max_iterations && std::abs(g[j]) > tolerance * length) {
        if (j == room) {
            room = std::min(max_iterations, 2 * room);
            make_room(room + 1, j + 1);
        }
        a(vector(j), image_.data());
        preconditioner(image_.data(), vector(j + 1));
        orthogonalise(j + 1, column);
        if (!std::isfinite(column.back())) return {j, std::numeric_limits<double>::infinity()};
        for (int i = 0; i <= j + 1; ++i) hessenberg(i, j) = column[static_cast<std::size_t>(i)];
        for (int i = 0; i < j; ++i)
            hessenberg.col(j).applyOnTheLeft(i, i + 1, rotations[static_cast<std::size_t>(i)].adjoint());
        auto& rotation = rotations[static_cast<std::size_t>(j)];
        rotation.makeGivens(hessenberg(j, j), hessenberg(j + 1, j));
        hessenberg.col(j).applyOnTheLeft(j, j + 1, rotation.adjoint());
        g.applyOnTheLeft(j, j + 1, rotation.adjoint());
        ++j;
    }
    const Eigen::VectorXd y = hessenberg.topLeftCorner(j, j).triangularView<Eigen::Upper>().solve(g.head(j));
    backend_.upload(y.data(), j, coefficients_.data());
    backend_.run(Combine{
        .n_inner = n_, .n_vectors = j, .vectors = vector(0), .coefficients = coefficients_.data(), .w = x});
    return {j, std::abs(g[j]) / length};
}

}  // namespace zonal::gwrm
