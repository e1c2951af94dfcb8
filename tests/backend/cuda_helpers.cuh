#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "core/cuda.cuh"
#include "sht_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/smoothing.hpp"

/// What the tests of the CUDA backend share: the device, arrays on it.
namespace zonal::test {

/// Skips without a device, fails instead where the environment variable ZONAL_REQUIRE_GPU is set.
class OnCuda : public ::testing::Test {
  protected:
    void SetUp() override {
        try {
            resolve_device(Device::cuda(0));
        } catch (const BackendUnavailable& error) {
            if (std::getenv("ZONAL_REQUIRE_GPU") != nullptr) FAIL() << error.what();
            GTEST_SKIP() << error.what();
        }
    }
};

/// A size for sanitizers under which kernels take a thousand times as long: divided by ZONAL_TEST_DIVISOR.
inline std::int64_t scaled(std::int64_t size) {
    const char* const divisor = std::getenv("ZONAL_TEST_DIVISOR");
    return divisor == nullptr ? size : std::max<std::int64_t>(1, size / std::atoll(divisor));
}

inline ShtOptions on(Device device, std::int64_t lmax, int spin) {
    ShtOptions options;
    options.lmax = lmax;
    options.spin = spin;
    options.device = device;
    return options;
}

/// Device copies of an array, and views of them.
template <class T>
struct OnDevice {
    core::DeviceArray<T> memory;
    std::array<std::int64_t, 3> extents;

    explicit OnDevice(const Array<T, 3>& host) : memory(host.size()), extents(host.extents()) {
        core::check_cuda(cudaMemcpy(memory.data(), host.data(), memory.bytes(), cudaMemcpyHostToDevice),
                         "copy");
        // From pageable memory the call returns before the last bytes are there, and streams do not wait.
        core::check_cuda(cudaDeviceSynchronize(), "copy");
    }
    View<T, 3> view() const { return {memory.data(), extents, MemorySpace::cuda}; }
    Array<T, 3> host() const {
        Array<T, 3> result(extents);
        core::check_cuda(cudaMemcpy(result.data(), memory.data(), memory.bytes(), cudaMemcpyDeviceToHost),
                         "copy");
        return result;
    }
};

/// What two smoothings of the same maps say of pixels without data.
inline void expect_same_bad_pixels(const SmoothingReport& a, const SmoothingReport& b) {
    EXPECT_EQ(a.masked_pixels, b.masked_pixels);
    EXPECT_EQ(a.unseen_pixels, b.unseen_pixels);
    ASSERT_EQ(a.bad_pixels.size(), b.bad_pixels.size());
    for (std::size_t k = 0; k < a.bad_pixels.size(); ++k) {
        EXPECT_EQ(a.bad_pixels[k].unseen, b.bad_pixels[k].unseen);
        EXPECT_EQ(a.bad_pixels[k].first_unseen, b.bad_pixels[k].first_unseen);
    }
}

}  // namespace zonal::test
