#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>

#include "zonal/points/plan.hpp"
#include "zonal/points/samples.hpp"
#include "zonal/progress.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// What a call on points reports.
struct PointReport {
    double bound = 0;  ///< SphereSamples::bound()
    /// The largest rms_error / rms of the call's maps (PointErrors, both components together), 0 where all
    /// alm are.
    double mean_error = 0;
};

/// How to find alm from values at points.
struct PointAnalysisOptions {
    /// Factors of the squared residuals, such as the points' areas: [n_points] or empty for equal ones.
    /// Finite and not negative.
    View<const double, 1> weights = {};
    /// Until |S^T W (f - S a)| / |S^T W f| is at most this; > 0. The transforms must not err by more than a
    /// tenth of it.
    double tolerance = 1e-8;
    int max_iterations = 1000;  ///< 1 or more
    Progress progress = {};     ///< told after each iteration
};

/// What a least-squares analysis reports.
struct PointAnalysisReport {
    int iterations = 0;
    double residual =
        0;  ///< |S^T W (f - S a)| / |S^T W f|, computed anew at the end; the largest of the batch
    bool reached_tolerance = true;
    /// One sentence where the tolerance was not reached, or fewer than two points for each of the (lmax +
    /// 1)^2 unknowns make the problem ill-conditioned; else empty.
    std::string note;
};

/// Scratch memory of a PointTransform's calls, one at a time.
class PointWorkspace {
  public:
    ~PointWorkspace();
    PointWorkspace(PointWorkspace&&) noexcept;
    PointWorkspace& operator=(PointWorkspace&&) noexcept;

    /// CUDA: from now on the work of calls is put on the caller's stream, a cudaStream_t of the plan's device
    /// (null: the default stream). Where all arrays lie on the device, synthesize without a report and
    /// adjoint return without waiting (the first adjoint of a plan waits for the default stream), and errors
    /// of their work show at the caller's next synchronisation. Work on the stream before must be done. By
    /// default the workspace has a stream of its own, the arrays must be ready when the call is made, and it
    /// returns when all is done. It has no effect on the CPU.
    void use_stream(void* cuda_stream);

    struct Storage;
    explicit PointWorkspace(std::unique_ptr<Storage> storage);
    Storage& storage() { return *storage_; }

  private:
    std::unique_ptr<Storage> storage_;
};

/// The transform S from alm to values at fixed points, and its transpose. Immutable; any number of threads
/// may use one at the same time. alm: [map, components, layout size], values: [map, components, n_points].
class PointTransform {
  public:
    /// options.n_points is not used. Throws what SphereSamples and PointPlan throw.
    PointTransform(View<const double, 1> theta, View<const double, 1> phi, const PointOptions& options);

    const SphereSamples& samples() const { return samples_; }
    const PointPlan& points() const { return points_; }
    PointWorkspace make_workspace() const;

    /// values = S alm: f(p) = sum_lm a_lm sY_lm(p) with the signs of ShtPlan. report: null, or what to fill.
    template <class T>
    void synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> values, PointWorkspace& workspace,
                    PointReport* report = nullptr) const;
    /// And derivatives by theta and phi.
    template <class T>
    void synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> values, View<T, 3> by_theta,
                    View<T, 3> by_phi, PointWorkspace& workspace, PointReport* report = nullptr) const;
    /// alm = S^T values: a_lm = sum_p f_p conj(sY_lm(p)).
    template <class T>
    void adjoint(ConstView<T, 3> values, View<std::complex<T>, 3> alm, PointWorkspace& workspace) const;
    /// alm = the least-squares solution of S alm = values, by conjugate gradients on S^T W S a = S^T W f.
    /// values, alm and weights are on the host, also where the transform computes on a GPU.
    /// Throws InvalidArgument for options outside their range.
    template <class T>
    PointAnalysisReport analyze(ConstView<T, 3> values, View<std::complex<T>, 3> alm,
                                PointWorkspace& workspace, const PointAnalysisOptions& options = {}) const;

  private:
    SphereSamples samples_;
    PointPlan points_;
};

}  // namespace zonal
