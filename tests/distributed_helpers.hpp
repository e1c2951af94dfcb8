#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "distributed/transport.hpp"
#include "sht_helpers.hpp"
#include "zonal/analysis.hpp"
#include "zonal/distributed/plan.hpp"
#include "zonal/error.hpp"

/// What tests of distributed transforms share, whatever connects the ranks.
namespace zonal::test {

/// One rank per device.
using Devices = std::vector<Device>;

/// Has ranks that are threads work one after the other: a rank has the turn but for when it waits for others.
/// compute-sanitizer loses launches where several threads make them, or waits for ever.
class InTurns final : public distributed::Transport {
  public:
    InTurns(std::shared_ptr<distributed::Transport> job, std::shared_ptr<std::mutex> turn)
        : job_(std::move(job)), turn_(std::move(turn)) {}

    int rank() const override { return job_->rank(); }
    int size() const override { return job_->size(); }
    bool is_alone() const override { return job_->is_alone(); }
    std::unique_ptr<distributed::Exchange> exchange(
        std::vector<distributed::Message<const std::byte>> send,
        std::vector<distributed::Message<std::byte>> receive) override {
        return std::make_unique<Waiting>(job_->exchange(std::move(send), std::move(receive)), turn_);
    }
    std::vector<std::string> gather(const std::string& bytes) override {
        const Pause pause(*turn_);
        return job_->gather(bytes);
    }
    void check_ranks() override { job_->check_ranks(); }

  private:
    struct Pause {
        explicit Pause(std::mutex& turn) : turn(turn) { turn.unlock(); }
        ~Pause() { turn.lock(); }
        Pause(const Pause&) = delete;
        Pause& operator=(const Pause&) = delete;
        std::mutex& turn;
    };
    class Waiting final : public distributed::Exchange {
      public:
        Waiting(std::unique_ptr<distributed::Exchange> exchange, std::shared_ptr<std::mutex> turn)
            : exchange_(std::move(exchange)), turn_(std::move(turn)) {}
        ~Waiting() override {
            const Pause pause(*turn_);
            exchange_.reset();
        }
        Waiting(const Waiting&) = delete;
        Waiting& operator=(const Waiting&) = delete;
        void wait() override {
            const Pause pause(*turn_);
            exchange_->wait();
        }

      private:
        std::unique_ptr<distributed::Exchange> exchange_;
        const std::shared_ptr<std::mutex> turn_;
    };

    const std::shared_ptr<distributed::Transport> job_;
    const std::shared_ptr<std::mutex> turn_;
};

/// Calls work(communicator, device) on a thread for each rank and returns what each threw, "" for nothing.
/// Where the environment has ZONAL_TEST_TURNS, ranks take turns.
template <class Work>
std::vector<std::string> on_ranks(const Devices& devices, const Work& work) {
    auto communicators = Communicator::threads(static_cast<int>(devices.size()));
    const auto turn = std::getenv("ZONAL_TEST_TURNS") != nullptr ? std::make_shared<std::mutex>() : nullptr;
    std::vector<std::string> errors(communicators.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < communicators.size(); ++i)
        threads.emplace_back([&, i] {
            std::unique_lock<std::mutex> mine;
            if (turn) {
                mine = std::unique_lock(*turn);
                communicators[i] =
                    Communicator(std::make_shared<InTurns>(communicators[i].transport(), turn));
            }
            const Communicator communicator = std::move(communicators[i]);
            try {
                work(communicator, devices[i]);
            } catch (const Error& error) {
                errors[i] = error.what();
            }
        });
    for (auto& thread : threads) thread.join();
    return errors;
}
/// The same of work(communicator), on CPUs.
template <class Work>
std::vector<std::string> on_ranks(int n_ranks, const Work& work) {
    return on_ranks(Devices(static_cast<std::size_t>(n_ranks), Device::cpu()),
                    [&](const Communicator& ranks, Device) { work(ranks); });
}

/// A rank's part of whole arrays, and back.
struct Parts {
    const DistributedPlan& plan;
    AlmLayout whole;

    template <class Visit>
    void for_each_pixel(const Visit& visit) const {
        std::int64_t place = 0;
        for (const PixelRange& range : plan.pixels())
            for (auto pixel = range.first; pixel < range.end; ++pixel) visit(pixel, place++);
        ASSERT_EQ(place, plan.local().grid().n_pixels());
    }
    template <class Visit>
    void for_each_coefficient(const Visit& visit) const {
        for (const std::int64_t m : plan.orders())
            for (std::int64_t l = m; l <= whole.lmax(); ++l)
                visit(whole.index(l, m), plan.local().layout().index(l, m));
    }
    template <class T>
    Array<T, 3> of_map(View<const T, 3> map) const {
        Array<T, 3> part({map.extent(0), map.extent(1), plan.local().grid().n_pixels()});
        for (std::int64_t b = 0; b < map.extent(0); ++b)
            for (std::int64_t c = 0; c < map.extent(1); ++c)
                for_each_pixel([&](std::int64_t from, std::int64_t to) { part(b, c, to) = map(b, c, from); });
        return part;
    }
    template <class T>
    Array<T, 3> of_alm(View<const T, 3> alm) const {
        Array<T, 3> part({alm.extent(0), alm.extent(1), plan.local().layout().size()});
        for (std::int64_t b = 0; b < alm.extent(0); ++b)
            for (std::int64_t c = 0; c < alm.extent(1); ++c)
                for_each_coefficient(
                    [&](std::int64_t from, std::int64_t to) { part(b, c, to) = alm(b, c, from); });
        return part;
    }
    /// The numbers of elements that are not the same, bit for bit.
    template <class T>
    std::int64_t other_pixels(View<const T, 3> part, View<const T, 3> map) const {
        std::int64_t count = 0;
        for (std::int64_t b = 0; b < map.extent(0); ++b)
            for (std::int64_t c = 0; c < map.extent(1); ++c)
                for_each_pixel([&](std::int64_t whole, std::int64_t here) {
                    count += !(part(b, c, here) == map(b, c, whole));
                });
        return count;
    }
    template <class T>
    std::int64_t other_coefficients(View<const T, 3> part, View<const T, 3> alm) const {
        std::int64_t count = 0;
        for (std::int64_t b = 0; b < alm.extent(0); ++b)
            for (std::int64_t c = 0; c < alm.extent(1); ++c)
                for_each_coefficient([&](std::int64_t whole, std::int64_t here) {
                    count += !(part(b, c, here) == alm(b, c, whole));
                });
        return count;
    }
};

inline ShtOptions cpu_options(std::int64_t lmax, std::int64_t mmax, int spin,
                              SpinParts parts = SpinParts::both) {
    ShtOptions options;
    options.lmax = lmax;
    options.mmax = mmax;
    options.spin = spin;
    options.parts = parts;
    options.threads = 1;
    options.device = Device::cpu();
    return options;
}

/// Input, and all that one process makes of it.
template <class T>
class OneProcess {
  public:
    OneProcess(const Grid& grid, const ShtOptions& options, std::int64_t n_maps = 1)
        : grid_(grid),
          plan_(grid, options),
          alm_({n_maps, plan_.alm_components(), plan_.layout().size()}),
          adjoint_(alm_),
          quadrature_(alm_),
          projected_(alm_),
          iterated_(alm_),
          solved_(alm_),
          map_({n_maps, plan_.map_components(), grid.n_pixels()}),
          synthesized_(map_),
          transposed_(map_),
          weights_({grid.n_pixels()}) {
        std::mt19937_64 generator(3);
        std::normal_distribution<double> normal;
        for (std::int64_t i = 0; i < alm_.size(); ++i)
            alm_.data()[i] =
                std::complex<T>(static_cast<T>(normal(generator)), static_cast<T>(normal(generator)));
        for (std::int64_t i = 0; i < map_.size(); ++i) map_.data()[i] = static_cast<T>(normal(generator));
        for (std::int64_t i = 0; i < weights_.size(); ++i) weights_(i) = i % 3 == 0 ? 0.5 : 1.25;
        plan_.template synthesize<T>(alm_.view(), synthesized_.view());
        adjoint_analysis<T>(plan_, std::as_const(alm_).view(), transposed_.view());
        plan_.template adjoint_synthesis<T>(map_.view(), adjoint_.view());
        plan_.template quadrature<T>(map_.view(), quadrature_.view());
        ShtWorkspace workspace = plan_.make_workspace();
        plan_.template project_residual<T>(alm_.view(), map_.view(), projected_.view(), workspace);
        iterations_ = analyze<T>(plan_, map_.view(), iterated_.view(), {.iterations = 2});
        solution_ = analyze<T>(plan_, map_.view(), solved_.view(), solving(weights_.view()));
    }

    /// Expects the same bits of the ranks, of which this is one. speeds: of the ranks.
    void expect_of(const Communicator& ranks, const std::vector<double>& speeds) const {
        const DistributedPlan distributed(ranks, grid_, {plan_.options(), speeds});
        const ShtPlan& local = distributed.local();
        const Parts parts{distributed, plan_.layout()};
        const auto alm = parts.of_alm<std::complex<T>>(alm_.view());
        const auto map = parts.of_map<T>(map_.view());
        Array<T, 3> synthesized(map.extents());
        Array<std::complex<T>, 3> found(alm.extents());
        const auto same = [&](const char* what, View<const std::complex<T>, 3> expected) {
            EXPECT_EQ(parts.other_coefficients<std::complex<T>>(found.view(), expected), 0) << what;
        };
        local.template synthesize<T>(alm.view(), synthesized.view());
        EXPECT_EQ(parts.other_pixels<T>(synthesized.view(), synthesized_.view()), 0);
        adjoint_analysis<T>(local, alm.view(), synthesized.view());
        EXPECT_EQ(parts.other_pixels<T>(synthesized.view(), transposed_.view()), 0);
        local.template adjoint_synthesis<T>(map.view(), found.view());
        same("adjoint", adjoint_.view());
        local.template quadrature<T>(map.view(), found.view());
        same("quadrature", quadrature_.view());
        ShtWorkspace workspace = local.make_workspace();
        local.template project_residual<T>(alm.view(), map.view(), found.view(), workspace);
        same("projected residual", projected_.view());
        const auto report = analyze<T>(local, map.view(), found.view(), {.iterations = 2});
        same("analysis by iterations", iterated_.view());
        EXPECT_EQ(report.last_update, iterations_.last_update);
        EXPECT_EQ(report.note, iterations_.note);
        Array<double, 1> weights({local.grid().n_pixels()});
        parts.for_each_pixel([&](std::int64_t from, std::int64_t to) { weights(to) = weights_(from); });
        const auto solution = analyze<T>(local, map.view(), found.view(), solving(weights.view()));
        same("conjugate gradients", solved_.view());
        EXPECT_EQ(solution.iterations, solution_.iterations);
        EXPECT_EQ(solution.residual, solution_.residual);
        EXPECT_EQ(solution.invertible, solution_.invertible);
    }

  private:
    static AnalysisOptions solving(View<const double, 1> weights) {
        return {.tolerance = 1e-4, .max_iterations = 5, .pixel_weights = weights};
    }

    Grid grid_;
    ShtPlan plan_;
    Array<std::complex<T>, 3> alm_, adjoint_, quadrature_, projected_, iterated_, solved_;
    Array<T, 3> map_, synthesized_, transposed_;
    Array<double, 1> weights_;
    AnalysisReport iterations_, solution_;
};

}  // namespace zonal::test
