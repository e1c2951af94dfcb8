#include <regex>

#include "backend/cuda_helpers.cuh"
#include "gwrm_helpers.hpp"

// The time-spectral solver on CUDA against the CPU's: systems, solutions, what goes to the host, failures.
namespace zonal::test {
namespace {

using namespace gwrm;

class GwrmOnCuda : public OnCuda {};

std::vector<double> on_host(Backend& backend, const Vector& vector) {
    std::vector<double> values(static_cast<std::size_t>(vector.size()));
    backend.download(vector.data(), vector.size(), values.data());
    return values;
}

Vector there(Backend& backend, const std::vector<double>& values) {
    Vector vector(backend, std::ssize(values));
    backend.upload(values.data(), std::ssize(values), vector.data());
    return vector;
}

std::vector<double> waves(std::int64_t n, double frequency) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::cos(frequency * static_cast<double>(i)) / 8;
    return values;
}

/// What a system computes: its residual, two products with its Jacobian, the frozen matrices, and a solution
/// of each of its inverses.
std::vector<std::vector<double>> results_of(const Problem& problem, std::int64_t time_modes, HighestMode mode,
                                            Device device) {
    const auto backend = make_backend(device, 1);
    const auto shape = shape_of(problem, time_modes);
    System system(problem, shape, mode, *backend);
    system.set_time({0, 0.5});
    system.set_initial(there(*backend, waves(shape.spatial(), 7)).data());
    const auto a = there(*backend, waves(shape.size(), 3)), v = there(*backend, waves(2 * shape.size(), 2));
    Vector residual(*backend, shape.size()), products(*backend, 2 * shape.size()), x(*backend, shape.size());
    std::vector<std::vector<double>> results;
    system.residual(a.data(), residual.data());
    system.apply_jacobian(v.data(), 2, products.data());
    for (const auto* result : {&residual, &products}) results.push_back(on_host(*backend, *result));
    const TimeBasis basis(time_modes + 1, mode);
    for (const auto& inverse : {dense_inverse(system), frozen_inverse(system, basis, a.data())}) {
        EXPECT_FALSE(inverse->is_singular());
        inverse->solve(residual.data(), x.data());
        results.push_back(on_host(*backend, x));
    }
    return results;
}

void expect_equal_results(const Problem& problem, std::int64_t time_modes, HighestMode mode) {
    const auto expected = results_of(problem, time_modes, mode, Device::cpu());
    const auto found = results_of(problem, time_modes, mode, Device::cuda(0));
    for (std::size_t k = 0; k < found.size(); ++k) {
        double size = 0, error = 0;
        for (std::size_t i = 0; i < found[k].size(); ++i) {
            size = larger(size, std::abs(expected[k][i]));
            error = larger(error, std::abs(found[k][i] - expected[k][i]));
        }
        // Sums of some hundred terms; inverses raise that by the condition of systems with second derivatives
        // of 7 modes, 7^4 / 3, and by the basis of time's, 1e4 for 12 modes.
        const double bound = k < 2 ? 1e3 * 0x1p-52 : 1e3 * 800 * 1e4 * 0x1p-52;
        EXPECT_LE(error, bound * size) << k;
    }
}

TEST_F(GwrmOnCuda, SystemsMatchTheCpus) {
    for (const int subdomains : {1, 3}) {
        SCOPED_TRACE(subdomains);
        expect_equal_results(varied_gwrm_problem(subdomains), 5, HighestMode::projection);
        expect_equal_results(varied_gwrm_problem(subdomains), 11, HighestMode::tau);
        expect_equal_results(plane_gwrm_problem(subdomains), 4, HighestMode::projection);
    }
}

TEST_F(GwrmOnCuda, TriangularBasesOfTimeMatchTheCpus) {
    expect_equal_results(varied_gwrm_problem(1), 25, HighestMode::projection);
}

/// Spatial systems of more than the 64 unknowns that one block takes.
TEST_F(GwrmOnCuda, LargeSystemsMatchTheCpus) {
    const auto setup = make_library_problem("advection-diffusion", {}, {4, 8, 7});
    expect_equal_results(setup.problem, 4, HighestMode::projection);
    expect_equal_results(setup.problem, 25, HighestMode::projection);  // a triangular basis of time
}

TEST_F(GwrmOnCuda, SumsOfLongArraysMatchTheCpus) {
    constexpr std::int64_t n = 100'003;  // several blocks for each
    const auto values = waves(3 * n, 1), w = waves(n, 5);
    std::vector<std::vector<double>> found;
    for (const auto device : {Device::cpu(), Device::cuda(0)}) {
        const auto backend = make_backend(device, 1);
        const auto a = there(*backend, values), b = there(*backend, w);
        found.push_back(
            backend->numbers_of(Dot{.n_segments = 3, .n = n, .vectors = a.data(), .w = b.data()}));
        for (const auto& more : {backend->numbers_of(Magnitudes{.n_segments = 3, .n = n, .a = a.data()}),
                                 backend->numbers_of(Largest{.n_segments = 3, .n = n, .a = a.data()})})
            found.back().insert(found.back().end(), more.begin(), more.end());
    }
    // Sums of n numbers up to 1/8, and of their squares.
    for (std::size_t i = 0; i < found[0].size(); ++i)
        EXPECT_NEAR(found[1][i], found[0][i], 0x1p-52 * n * n / 8) << i;
}

class GwrmOnCudaBy : public OnCuda, public ::testing::WithParamInterface<Solver> {};

TEST_P(GwrmOnCudaBy, BuiltInProblemsMatchTheCpus) {
    for (const auto& problem : gwrm_cases())
        for (const auto mode : {HighestMode::projection, HighestMode::tau}) {
            SCOPED_TRACE(problem.problem + " in " + std::to_string(problem.subdomains) +
                         (mode == HighestMode::tau ? ", tau" : ""));
            SolveOptions options{
                .highest_mode = mode, .solver = GetParam(), .estimate_error = false, .device = Device::cpu()};
            const auto expected = problem.solve(options);
            options.device = Device::cuda(0);
            const auto found = problem.solve(options);
            EXPECT_EQ(found.report().device, Device::cuda(0));
            EXPECT_LE(difference(found, expected), gwrm_agreement);
        }
}

TEST_P(GwrmOnCudaBy, AllBoundaryConditionsMatchTheCpus) {
    for (const int subdomains : {1, 2, 3})
        for (const auto& problem : {varied_gwrm_problem(subdomains), plane_gwrm_problem(subdomains)}) {
            SCOPED_TRACE(subdomains);
            SolveOptions options{.t1 = 0.1,
                                 .time_modes = 6,
                                 .interval = 0.05,
                                 .solver = GetParam(),
                                 .estimate_error = false,
                                 .device = Device::cpu()};
            const auto expected = solve(problem, options);
            options.device = Device::cuda(0);
            EXPECT_LE(difference(solve(problem, options), expected), gwrm_agreement);
        }
}

INSTANTIATE_TEST_SUITE_P(Solvers, GwrmOnCudaBy,
                         ::testing::Values(Solver::newton, Solver::newton_krylov, Solver::sir),
                         [](const auto& info) {
                             auto name = to_string(info.param);
                             name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
                             return name;
                         });

/// Unresolved boxes, of whose errors rounding is no part.
TEST_F(GwrmOnCuda, EstimatesMatchTheCpus) {
    for (const auto& problem :
         {GwrmCase{"burgers", {}, {6, 10}, 0.5}, GwrmCase{"lorenz63", {{"t1", 1}}, {8}, 0.25},
          GwrmCase{"burgers", {}, {6, 6}, 0.5, 2}}) {
        const auto expected = problem.solve({.device = Device::cpu()});
        const auto found = problem.solve({.device = Device::cuda(0)});
        for (int field = 0; field < found.n_fields(); ++field)
            EXPECT_NEAR(found.error(field) / expected.error(field), 1, 1e-3) << problem.problem;
    }
}

/// Lengths follow from modes at the level of rounding, so that they need not be the same.
TEST_F(GwrmOnCuda, AutomaticIntervalsReachTheTolerance) {
    const auto setup = make_library_problem("burgers");
    auto options = setup.options;
    options.device = Device::cuda(0);
    const auto solution = solve(setup.problem, options);
    constexpr double exact[] = {.16256485711067047, .29191595712583554, .28747440591697595};
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(solution(0, {1, 0.25 * (i + 1), 0}), exact[i], 1e-12);
    EXPECT_LT(solution.error(0), 1e-11);
}

TEST_F(GwrmOnCuda, BringsScalarsAloneToTheHost) {
    const auto backend = make_backend(Device::cuda(0), 1);
    expect_scalars_only(*backend);
}

/// What is said but for the digits of its numbers.
std::string failure_of(const Problem& problem, SolveOptions options, Device device) {
    options.device = device;
    try {
        solve(problem, options);
    } catch (const Error& error) {
        return std::regex_replace(error.what(), std::regex("[-+]?[0-9][0-9.]*(e[-+]?[0-9]+)?"), "#");
    }
    return "solved";
}

TEST_F(GwrmOnCuda, FailsInTheCpusWords) {
    const auto expect_equal = [](const Problem& problem, const SolveOptions& options) {
        const auto expected = failure_of(problem, options, Device::cpu());
        EXPECT_NE(expected, "solved");
        EXPECT_EQ(failure_of(problem, options, Device::cuda(0)), expected);
    };
    const auto front = make_library_problem("burgers", {{"nu", 0.0005}}, {6, 20});
    for (const auto solver : {Solver::newton, Solver::newton_krylov})
        expect_equal(front.problem, {.time_modes = 6, .interval = 1, .solver = solver});
    Problem explosion;
    const auto u = explosion.unknown("u", [](const Point&) { return 1.0; });
    explosion.evolve(u, u * u);
    expect_equal(explosion, {.t1 = 2});
    expect_equal(front.problem, {.time_modes = 1});
}

TEST_F(GwrmOnCuda, RefusesADeviceThatIsNotThere) {
    EXPECT_THROW(solve(make_library_problem("heat").problem, {.device = Device::cuda(4711)}),
                 BackendUnavailable);
}

}  // namespace
}  // namespace zonal::test
