#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "sht_helpers.hpp"
#include "zonal/buffer.hpp"
#include "zonal/error.hpp"

namespace zonal::test {
namespace {

/// 0, 1, 2 .. there and back.
std::vector<double> carried(Buffer buffer) {
    std::vector<double> sent(static_cast<std::size_t>(buffer.bytes()) / sizeof(double)), found(sent.size());
    std::iota(sent.begin(), sent.end(), 0.);
    buffer.copy_from(sent.data());
    const Buffer moved = std::move(buffer);
    moved.copy_to(found.data());
    return found;
}

TEST(Buffer, KeepsWhatIsCopiedThere) {
    const std::int64_t n = 1000, bytes = n * static_cast<std::int64_t>(sizeof(double));
    for (const Device device : {Device::cpu(), test_device()}) {
        const auto found = carried(Buffer(device, bytes)),
                   locked = carried(Buffer::page_locked(device, bytes));
        ASSERT_EQ(found.size(), static_cast<std::size_t>(n));
        for (std::int64_t k = 0; k < n; ++k) {
            EXPECT_EQ(found[static_cast<std::size_t>(k)], static_cast<double>(k));
            EXPECT_EQ(locked[static_cast<std::size_t>(k)], static_cast<double>(k));
        }
    }
}

TEST(Buffer, IsZeroWhenCleared) {
    constexpr std::int64_t bytes = 1000 * sizeof(double);
    const std::vector<double> ones(1000, 1.), zeros(1000, 0.);
    for (const Device device : {Device::cpu(), test_device()}) {
        Buffer memory(device, bytes), locked = Buffer::page_locked(device, bytes);
        for (Buffer* const buffer : {&memory, &locked}) {
            std::vector<double> found(1000, 2.);
            buffer->copy_from(ones.data());
            buffer->clear();
            buffer->copy_to(found.data());
            EXPECT_EQ(found, zeros);
        }
        Buffer(device, 0).clear();
    }
}

TEST(Buffer, RowsAreCopiedToADeviceAndBack) {
    const std::vector<double> given{1, 2, 3, 4, 5, 6, 7, 8};
    const View<const double, 2> rows(given.data(), {2, 3}, {4, 1});
    const Buffer buffer(test_device(), 6 * sizeof(double));
    const auto there = buffer.view<double, 2>({2, 3});
    copy_rows<double>(rows, there);
    std::vector<double> found(8, 0.0);
    copy_rows<double>(there, View<double, 2>(found.data(), {2, 3}, {4, 1}));
    EXPECT_EQ(found, (std::vector<double>{1, 2, 3, 0, 5, 6, 7, 0}));

    EXPECT_THROW(copy_rows<double>(rows, buffer.view<double, 2>({3, 2})), InvalidArgument);
    EXPECT_THROW(copy_rows<double>(View<const double, 2>(given.data(), {2, 3}, {4, 2}), there),
                 InvalidArgument);
}

TEST(Buffer, SaysWhereItIs) {
    const bool on_cuda = test_device().kind() == Device::Kind::cuda;
    EXPECT_EQ(Buffer(Device::cpu(), 8).space(), MemorySpace::host);
    EXPECT_EQ(Buffer(test_device(), 8).space(), on_cuda ? MemorySpace::cuda : MemorySpace::host);
    EXPECT_EQ(Buffer::page_locked(test_device(), 8).space(), MemorySpace::host);
}

TEST(Buffer, ViewsItsMemory) {
    const Buffer buffer(Device::cpu(), 6 * sizeof(float));
    const auto view = buffer.view<float, 2>({2, 3});
    view(1, 2) = 5;
    EXPECT_EQ(static_cast<float*>(buffer.data())[5], 5);
    EXPECT_EQ(Buffer().bytes(), 0);
    EXPECT_EQ(Buffer(Device::cpu(), 0).data(), nullptr);
}

TEST(Buffer, RejectsNegativeSizes) {
    EXPECT_THROW(Buffer(Device::cpu(), -1), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
