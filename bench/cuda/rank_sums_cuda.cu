// Times of sums over pixels by ranks that are threads, each with a GPU of its own, beside those of one GPU,
// as JSON: in single precision, in rounds of the one and the ranks in turn. "calls" are those of a
// ConvolutionPlan from maps in host memory to results there, and "sums" leaves out their certificate, which
// is made on the CPU; "device" are those of plans of sums whose maps and results lie on the GPUs.
// efficiency: seconds of one GPU / (ranks * seconds of the ranks), medians.
//
// With --solo P, the shares of a job of P ranks on one GPU, one after the other and without sending, with
// maps on the GPU; efficiency: seconds of the whole / (P * those of the longest share).
//
//   rank_sums_cuda [--ranks 2] [--solo P] [--runs 3] [--rounds 2] METHOD:NSIDE:FWHM:CUT...
//
// METHOD is ring-fft or pixel-sum; FWHM and CUT are in arcmin. The CPU's threads are divided among the ranks.
#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "core/constants.hpp"
#include "core/stopwatch.hpp"
#include "cuda/device_timing.cuh"
#include "cuda/rank_threads.hpp"
#include "sky/sky_part.hpp"
#include "zonal/buffer.hpp"
#include "zonal/device.hpp"
#include "zonal/distributed/convolution.hpp"
#include "zonal/distributed/sky.hpp"
#include "zonal/planning/convolution_plan.hpp"

namespace {

using zonal::Array, zonal::bench::median;

struct Settings {
    int ranks = 2, solo = 0, runs = 3, rounds = 2;
};

struct Case {
    std::string text;
    zonal::ConvolutionRequest request;
    zonal::ConvolutionChoice choice;
};

Case parse(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> parts;
    for (std::string part; std::getline(in, part, ':');) parts.push_back(part);
    if (parts.size() != 4 || (parts[0] != "ring-fft" && parts[0] != "pixel-sum"))
        throw std::invalid_argument(text + ": must be ring-fft or pixel-sum:NSIDE:FWHM:CUT");
    constexpr double arcmin = zonal::core::pi / 180 / 60;
    Case found{text, {}, {}};
    found.request.grid = zonal::Grid::healpix(std::stoll(parts[1]));
    found.request.kernel = zonal::RadialKernel::gaussian(std::stod(parts[2]) * arcmin);
    found.request.lmax = 2 * std::stoll(parts[1]);
    found.request.error = 1e-2;
    found.choice.method =
        parts[0] == "ring-fft" ? zonal::ConvolutionMethod::ring_fft : zonal::ConvolutionMethod::pixel_sum;
    found.choice.precision = zonal::Precision::float32;
    found.choice.support = std::stod(parts[3]) * arcmin;
    return found;
}

/// Seconds of calls, and what of them is not for the certificate; of calls with maps on GPUs.
struct Times {
    std::vector<double> calls, sums, device;
};

/// A pixel of the maps, which are the same for any number of ranks.
float value_of(std::int64_t pixel) {
    return static_cast<float>(pixel * 2654435761U % 4096) - 2048;
}

/// A rank's part of a map, and what becomes of it.
class Sums {
  public:
    Sums(const Case& c, int device, int threads, std::shared_ptr<const zonal::SkyPart> part)
        : part_(std::move(part)), maps_({1, part_->grid().n_pixels()}), convolved_(maps_.extents()) {
        auto request = c.request;
        auto choice = c.choice;
        request.threads = threads;
        choice.device = choice.harmonic_device = zonal::Device::cuda(device);
        zonal::ConvolutionOptions options;
        options.part = part_;
        plan_.emplace(request, choice, options);
        std::int64_t place = 0;
        for (const auto& range : part_->pixels())
            for (auto pixel = range.first; pixel < range.end; ++pixel) maps_(0, place++) = value_of(pixel);
    }

    zonal::ConvolutionResult run() { return plan_->convolve<float>(maps_.view(), convolved_.view()); }
    /// The first pixels.
    std::vector<float> some(std::int64_t n) const { return {convolved_.data(), convolved_.data() + n}; }

  private:
    std::shared_ptr<const zonal::SkyPart> part_;
    Array<float, 2> maps_, convolved_;
    std::optional<zonal::ConvolutionPlan> plan_;
};

/// The same in the memory of a GPU.
class DeviceMaps {
  public:
    DeviceMaps(int device, std::span<const zonal::PixelRange> pixels) {
        std::vector<float> host;
        std::int64_t n_pixels = 0;
        for (const auto& range : pixels) n_pixels += range.end - range.first;
        host.reserve(static_cast<std::size_t>(n_pixels));
        for (const auto& range : pixels)
            for (auto pixel = range.first; pixel < range.end; ++pixel) host.push_back(value_of(pixel));
        extents_ = {1, n_pixels};
        const auto bytes = n_pixels * static_cast<std::int64_t>(sizeof(float));
        maps_ = zonal::Buffer(zonal::Device::cuda(device), bytes);
        convolved_ = zonal::Buffer(zonal::Device::cuda(device), bytes);
        maps_.copy_from(host.data());
    }
    zonal::View<const float, 2> maps() const { return maps_.view<const float, 2>(extents_); }
    zonal::View<float, 2> convolved() const { return convolved_.view<float, 2>(extents_); }

  private:
    std::array<std::int64_t, 2> extents_{};
    zonal::Buffer maps_, convolved_;
};

zonal::RadialKernel kernel_of(const Case& c) {
    return c.request.kernel.truncated(c.choice.support);
}

/// The device is for plans that have no sky.
zonal::PixelConvolutionOptions options_of(const Case& c) {
    zonal::PixelConvolutionOptions options;
    options.method = c.choice.method == zonal::ConvolutionMethod::ring_fft ? zonal::PixelMethod::ring_fft
                                                                           : zonal::PixelMethod::pixel_sum;
    options.precision = c.choice.precision;
    options.device = zonal::Device::cuda(0);
    return options;
}

/// Seconds of calls by one GPU that has the maps.
std::vector<double> seconds_of_one(const Case& c, int runs) {
    const zonal::Grid& grid = c.request.grid;
    const zonal::PixelConvolutionPlan plan(grid, kernel_of(c), grid, options_of(c));
    auto workspace = plan.make_workspace();
    const zonal::PixelRange all{0, grid.n_pixels()};
    const DeviceMaps maps(0, {&all, 1});
    std::vector<double> seconds;
    for (int run = -1; run < runs; ++run) {
        const double one =
            zonal::core::seconds_of([&] { plan.convolve<float>(maps.maps(), maps.convolved(), workspace); });
        if (run >= 0) seconds.push_back(one);
    }
    return seconds;
}

/// Seconds of a rank's calls. meet(): is called before and after each.
template <class Meet>
std::vector<double> seconds_of_rank(const Case& c, const zonal::DistributedSky& sky, int device, int runs,
                                    const Meet& meet) {
    zonal::DistributedPixelConvolutionPlan plan(sky, kernel_of(c), options_of(c));
    const DeviceMaps maps(device, sky.pixels());
    std::vector<double> seconds;
    for (int run = -1; run < runs; ++run) {
        meet();
        const double one =
            zonal::core::seconds_of([&] { plan.convolve<float>(maps.maps(), maps.convolved()); });
        meet();
        if (run >= 0) seconds.push_back(one);
    }
    return seconds;
}

zonal::DistributedSky sky_of(const Case& c, const zonal::Communicator& ranks, int threads, int device) {
    return {ranks, c.request.grid, c.request.lmax, c.request.lmax, threads, {}, zonal::Device::cuda(device)};
}

constexpr std::int64_t n_compared = 1 << 20;

/// Times one process. Returns its first pixels, which rank 0 has as well.
std::vector<float> run_one(const Case& c, const Settings& settings, Times& times) {
    for (const double seconds : seconds_of_one(c, settings.runs)) times.device.push_back(seconds);
    Sums sums(c, 0, zonal::available_cpus(), std::make_shared<zonal::WholeSky>(c.request.grid));
    for (int run = -1; run < settings.runs; ++run) {
        zonal::ConvolutionResult result;
        const double seconds = zonal::core::seconds_of([&] { result = sums.run(); });
        if (run < 0) continue;  // which finds the bounds of the certificate
        times.calls.push_back(seconds);
        times.sums.push_back(seconds - result.certificate_seconds);
    }
    return sums.some(n_compared);
}

std::vector<float> run_ranks(const Case& c, const Settings& settings,
                             std::vector<zonal::Communicator>& communicators, Times& times) {
    std::vector<float> first;
    const auto n_ranks = communicators.size();
    std::vector<double> calls(n_ranks), sums_only(n_ranks);
    std::vector<std::vector<double>> on_device(n_ranks);
    std::barrier meet(static_cast<std::ptrdiff_t>(n_ranks));
    const auto work = [&](std::size_t rank) {
        const int threads = std::max(1, zonal::available_cpus() / static_cast<int>(n_ranks));
        const int device = static_cast<int>(rank);
        const auto sky = sky_of(c, communicators[rank], threads, device);
        on_device[rank] = seconds_of_rank(c, sky, device, settings.runs, [&] { meet.arrive_and_wait(); });
        Sums sums(c, device, threads, sky.part());
        for (int run = -1; run < settings.runs; ++run) {
            meet.arrive_and_wait();
            zonal::ConvolutionResult result;
            calls[rank] = zonal::core::seconds_of([&] { result = sums.run(); });
            sums_only[rank] = calls[rank] - result.certificate_seconds;
            meet.arrive_and_wait();
            if (rank != 0 || run < 0) continue;
            times.calls.push_back(*std::max_element(calls.begin(), calls.end()));
            times.sums.push_back(*std::max_element(sums_only.begin(), sums_only.end()));
        }
        if (rank == 0) first = sums.some(std::min(n_compared, sky.pixels()[0].end));
    };
    zonal::bench::in_rank_threads(n_ranks, work);
    for (std::size_t run = 0; run < on_device[0].size(); ++run) {
        double longest = 0;
        for (const auto& seconds : on_device) longest = std::max(longest, seconds[run]);
        times.device.push_back(longest);
    }
    return first;
}

double difference_of(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(a[i])));
        difference = std::max(difference, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    }
    return difference / largest;
}

void measure(const Case& c, const Settings& settings, std::vector<zonal::Communicator>& communicators) {
    Times one, ranks;
    double difference = 0;
    for (int round = 0; round < settings.rounds; ++round) {
        const auto of_ranks = run_ranks(c, settings, communicators, ranks);
        difference = std::max(difference, difference_of(run_one(c, settings, one), of_ranks));
    }
    std::printf(R"(  {"case": "%s", "difference": %.3g)", c.text.c_str(), difference);
    for (const auto& [name, alone, shared] : {std::tuple{"calls", &one.calls, &ranks.calls},
                                              {"sums", &one.sums, &ranks.sums},
                                              {"device", &one.device, &ranks.device}})
        std::printf(R"(, "%s": {"one_seconds": %.5g, "ranks_seconds": %.5g, "efficiency": %.4g})", name,
                    median(*alone), median(*shared), median(*alone) / (settings.ranks * median(*shared)));
    std::printf("}");
}

void measure_solo(const Case& c, const Settings& settings) {
    const double whole = median(seconds_of_one(c, settings.runs));
    double longest = 0;
    std::printf(R"(  {"case": "%s", "whole_seconds": %.5g, "share_seconds": [)", c.text.c_str(), whole);
    for (int rank = 0; rank < settings.solo; ++rank) {
        const auto ranks = zonal::Communicator::solo(rank, settings.solo);
        const auto sky = sky_of(c, ranks, zonal::available_cpus(), 0);
        const double seconds = median(seconds_of_rank(c, sky, 0, settings.runs, [] {}));
        longest = std::max(longest, seconds);
        std::printf("%s%.5g", rank == 0 ? "" : ", ", seconds);
    }
    std::printf(R"(], "efficiency": %.4g})", whole / (settings.solo * longest));
}

}  // namespace

int main(int argc, char** argv) try {
    Settings settings;
    int first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        const std::string name = argv[first], value = argv[first + 1];
        if (name == "--ranks") settings.ranks = std::stoi(value);
        if (name == "--solo") settings.solo = std::stoi(value);
        if (name == "--runs") settings.runs = std::stoi(value);
        if (name == "--rounds") settings.rounds = std::stoi(value);
    }
    auto communicators = zonal::Communicator::threads(settings.ranks);
    std::printf("{\"%s\": %d, \"threads\": %d, \"results\": [\n", settings.solo > 0 ? "solo" : "ranks",
                settings.solo > 0 ? settings.solo : settings.ranks, zonal::available_cpus());
    for (int k = first; k < argc; ++k) {
        if (k != first) std::printf(",\n");
        if (settings.solo > 0)
            measure_solo(parse(argv[k]), settings);
        else
            measure(parse(argv[k]), settings, communicators);
        std::fflush(stdout);
    }
    std::printf("\n]}\n");
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
