#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "call.hpp"
#include "devices/workspaces.hpp"
#include "zonal/analysis.hpp"
#include "zonal/sht.hpp"

namespace zonal::python {

template <class T>
using Complex = std::complex<T>;

class Transform;

/// The transforms that are alive, by number: what code that a framework has compiled says instead of an
/// object. No number is used twice.
class Transforms {
  public:
    std::int64_t add(const Transform* transform) {
        const std::lock_guard lock(mutex_);
        alive_.emplace(++last_, transform);
        return last_;
    }
    void remove(std::int64_t number) {
        const std::lock_guard lock(mutex_);
        alive_.erase(number);
    }
    /// Throws InvalidArgument for one that is no longer there.
    const Transform& find(std::int64_t number) {
        const std::lock_guard lock(mutex_);
        const auto found = alive_.find(number);
        if (found == alive_.end())
            throw InvalidArgument("sht",
                                  "is gone; keep the zonal.SHT of a compiled function as long as this");
        return *found->second;
    }

  private:
    std::mutex mutex_;
    std::int64_t last_ = 0;
    std::unordered_map<std::int64_t, const Transform*> alive_;
};

/// Those of this process.
inline Transforms& transforms() {
    static Transforms all;
    return all;
}

/// A transform with the scratch memory of its calls.
class Transform {
  public:
    explicit Transform(std::shared_ptr<const ShtPlan> plan) : own_(std::move(plan)), plan_(*own_) {}
    /// The plan lives as long as this.
    explicit Transform(const ShtPlan* plan) : plan_(*plan) {}
    ~Transform() {
        transforms().remove(number_);
        workspaces_.give_away([&](ShtWorkspace workspace) { leave_workspace(plan_, std::move(workspace)); });
    }
    Transform(const Transform&) = delete;
    Transform& operator=(const Transform&) = delete;

    const ShtPlan& plan() const { return plan_; }
    std::int64_t number() const { return number_; }

    template <class T>
    void synthesize(const AnyArray<const Complex<T>>& alm, const AnyArray<T>& map, nb::handle progress,
                    Stream stream) const {
        const auto from = batch_of(alm, plan_.alm_components() == 2);
        const auto to = batch_of(map, plan_.map_components() == 2);
        require_apart(from, to);
        with_workspace(stream, at_once(from), progress, [&](ShtWorkspace& workspace, const Progress& report) {
            plan_.synthesize<T>(from, to, workspace, report);
        });
    }
    template <class T>
    void adjoint(const AnyArray<const T>& map, const AnyArray<Complex<T>>& alm, nb::handle progress,
                 Stream stream) const {
        const auto from = batch_of(map, plan_.map_components() == 2);
        const auto to = batch_of(alm, plan_.alm_components() == 2);
        require_apart(from, to);
        with_workspace(stream, at_once(from), progress, [&](ShtWorkspace& workspace, const Progress& report) {
            plan_.adjoint_synthesis<T>(from, to, workspace, report);
        });
    }
    template <class T>
    AnalysisReport analyze(const AnyArray<const T>& map, const AnyArray<Complex<T>>& alm, int iterations,
                           double tolerance, int max_iterations, std::vector<double> ring_weights,
                           const std::optional<HostArrayOfRank<const double, 1>>& pixel_weights,
                           nb::handle progress, Stream stream) const {
        AnalysisOptions options{.iterations = iterations,
                                .tolerance = tolerance,
                                .max_iterations = max_iterations,
                                .ring_weights = std::move(ring_weights)};
        if (pixel_weights) options.pixel_weights = view_of<1>(*pixel_weights);
        const auto from = batch_of(map, plan_.map_components() == 2);
        const auto to = batch_of(alm, plan_.alm_components() == 2);
        require_apart(from, to);
        AnalysisReport done;
        with_workspace(stream, at_once(from), progress, [&](ShtWorkspace& workspace, const Progress& report) {
            options.progress = report;
            done = zonal::analyze<T>(plan_, from, to, workspace, options);
        });
        return done;
    }

    template <class T>
    void adjoint_analysis(const AnyArray<const Complex<T>>& alm, const AnyArray<T>& map, nb::handle progress,
                          Stream stream) const {
        const auto from = batch_of(alm, plan_.alm_components() == 2);
        const auto to = batch_of(map, plan_.map_components() == 2);
        require_apart(from, to);
        with_workspace(stream, at_once(from), progress, [&](ShtWorkspace& workspace, const Progress& report) {
            zonal::adjoint_analysis<T>(plan_, from, to, workspace, report);
        });
    }

    /// Calls work(workspace), without Python. n_maps: of the call.
    template <class Work>
    void lend_workspace(const Work& work, Stream stream, std::int64_t n_maps) const {
        const bool shares =
            plan_.options().device.kind() == Device::Kind::cuda && plan_.options().max_workspace_bytes == 0;
        workspaces_.lend(
            stream, shares ? std::clamp<std::int64_t>(n_maps, 1, most_at_once) : 1,
            [&](std::int64_t n) { return take_workspace(plan_, n); }, work);
    }

  private:
    template <class Work>
    void with_workspace(Stream stream, std::int64_t n_maps, nb::handle progress, const Work& work) const {
        without_gil(progress, [&](const Progress& report) {
            lend_workspace([&](ShtWorkspace& workspace) { work(workspace, report); }, stream, n_maps);
        });
    }

    /// Maps that may share their work: those of a batch in a GPU's memory.
    template <class T>
    static std::int64_t at_once(const View<T, 3>& batch) {
        return batch.space() == MemorySpace::cuda ? batch.extent(0) : 1;
    }
    static constexpr std::int64_t most_at_once = 8;  ///< that make a GPU faster

    const std::shared_ptr<const ShtPlan> own_;
    const ShtPlan& plan_;
    Workspaces<ShtWorkspace> workspaces_;
    std::int64_t number_ = transforms().add(this);
};

}  // namespace zonal::python
