#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <type_traits>

#include "core/aligned.hpp"
#include "zonal/device.hpp"
#include "zonal/error.hpp"
#include "zonal/view.hpp"

namespace zonal {
namespace {

TEST(View, IsRowMajorByDefault) {
    int numbers[24];
    std::iota(numbers, numbers + 24, 0);
    const View<int, 3> view(numbers, {2, 3, 4});
    EXPECT_EQ(view.strides(), (View<int, 3>::Extents{12, 4, 1}));
    EXPECT_EQ(view.size(), 24);
    EXPECT_EQ(view(1, 2, 3), 23);
    EXPECT_EQ(view[1](0, 2), 14);
    EXPECT_EQ(view[1][0][2], 14);
    EXPECT_EQ(view.space(), MemorySpace::host);
}

TEST(View, FollowsItsStrides) {
    int numbers[24];
    std::iota(numbers, numbers + 24, 0);
    const View<int, 2> columns(numbers, {4, 6}, {1, 4});
    EXPECT_EQ(columns(3, 2), 11);
    EXPECT_EQ(columns[3][2], 11);
    const View<int, 1> backwards(numbers + 23, {24}, {-1});
    EXPECT_EQ(backwards[23], 0);
}

TEST(View, ConvertsToConstAndNotBack) {
    int number = 3;
    const View<int, 1> view(&number, {1});
    const View<const int, 1> constant = view;
    EXPECT_EQ(constant[0], 3);
    EXPECT_FALSE((std::is_convertible_v<View<const int, 1>, View<int, 1>>));
}

TEST(View, KeepsItsMemorySpace) {
    double elements[4];
    const View<double, 2> device(elements, {2, 2}, MemorySpace::cuda);
    EXPECT_EQ(device[1].space(), MemorySpace::cuda);
    EXPECT_EQ((View<const double, 2>(device).space()), MemorySpace::cuda);
}

TEST(View, OfNothingHasNoElements) {
    EXPECT_EQ((View<double, 2>(nullptr, {0, 5}).size()), 0);
    EXPECT_EQ((View<double, 2>().size()), 0);
}

TEST(Array, StartsAtZeroAndOwnsItsElements) {
    Array<double, 2> array({3, 2});
    EXPECT_EQ(array.size(), 6);
    for (const double value : array) EXPECT_EQ(value, 0);
    array(2, 1) = 5;
    const Array<double, 2> copy = array;
    array(2, 1) = 6;
    EXPECT_EQ(copy(2, 1), 5);
    EXPECT_EQ(copy.view()[2][1], 5);
    EXPECT_EQ(copy.extent(0), 3);
}

TEST(CoreAlignedVector, StartsAtACacheLine) {
    for (const std::size_t size : {1, 3, 100, 5000}) {
        const core::AlignedVector<double> vector(size);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(vector.data()) % core::cache_line, 0u);
    }
}

TEST(CoreScratch, GrowsAndNeverShrinks) {
    core::Scratch scratch;
    double* const small = scratch.reserve(10);
    small[9] = 1;
    EXPECT_EQ(scratch.reserve(5), small);
    double* const large = scratch.reserve(1 << 20);
    large[(1 << 20) - 1] = 1;
    EXPECT_EQ(scratch.reserve(1000), large);
}

TEST(Device, HasAName) {
    EXPECT_EQ(to_string(Device::cpu()), "cpu");
    EXPECT_EQ(to_string(Device::cuda(3)), "cuda:3");
    EXPECT_EQ(to_string(Device::automatic()), "auto");
}

TEST(Device, ResolvesToOneThatIsThere) {
    EXPECT_EQ(resolve_device(Device::cpu()), Device::cpu());
    for (const int number : {0, 1, 5})
        EXPECT_EQ(resolve_device(Device::automatic(), number).kind(),
                  resolve_device(Device::automatic()).kind());
    EXPECT_NE(resolve_device(Device::automatic()).kind(), Device::Kind::automatic);
    EXPECT_FALSE(simd_target().empty());
}

TEST(Device, IsNamedByItsText) {
    for (const Device device : {Device::cpu(), Device::automatic(), Device::cuda(0), Device::cuda(12)})
        EXPECT_EQ(parse_device(to_string(device)), device);
    EXPECT_EQ(parse_device("cuda"), Device::cuda(0));
    for (const char* const text : {"", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999"})
        EXPECT_THROW(parse_device(text), InvalidArgument) << text;
}

TEST(Device, ListBeginsWithTheCpuAndNumbersGpus) {
    const auto found = list_devices();
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].device, Device::cpu());
    EXPECT_EQ(found[0].name, simd_target());
    EXPECT_TRUE(found[0].reason.empty());
    for (std::size_t i = 1; i < found.size(); ++i) {
        EXPECT_EQ(found[i].device, Device::cuda(static_cast<int>(i) - 1));
        if (found[i].reason.empty()) {
            EXPECT_EQ(resolve_device(found[i].device), found[i].device);
        } else
            EXPECT_THROW(resolve_device(found[i].device), BackendUnavailable);
    }
}

}  // namespace
}  // namespace zonal
