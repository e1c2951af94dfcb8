#include <algorithm>
#include <cstring>

#include "core/cuda_transfer.cuh"
#include "core/parallel.hpp"

namespace zonal::core {
namespace {

/// This many threads' copies keep up with the bus; more would only take memory.
constexpr int most_lanes = 8;
/// A thread takes several times as long to copy this much as it takes to start.
constexpr std::int64_t lane_bytes = std::int64_t{1} << 20;
/// A lane has enough pieces that filling the first and emptying the last, while the bus stands still, takes a
/// small part of the time.
constexpr std::int64_t pieces_per_lane = 4;
/// A piece is long enough for the bus to run at full speed, and no longer than a buffer.
constexpr std::int64_t least_bytes = std::int64_t{1} << 18, most_bytes = std::int64_t{1} << 21;

}  // namespace

bool is_page_locked(const void* memory, std::int64_t bytes) {
    const auto is = [](const void* byte) {
        cudaPointerAttributes found{};
        check_cuda(cudaPointerGetAttributes(&found, byte), "looking up a pointer");
        return found.type == cudaMemoryTypeHost || found.type == cudaMemoryTypeManaged;
    };
    return bytes > 0 && is(memory) && is(static_cast<const char*>(memory) + bytes - 1);
}

PageLockedArray::PageLockedArray(std::int64_t bytes) {
    check_cuda(cudaMallocHost(reinterpret_cast<void**>(&data_), static_cast<std::size_t>(bytes)),
               "allocating page-locked memory");
}

HostTransfer::Lane::Lane() : buffers{PageLockedArray(most_bytes), PageLockedArray(most_bytes)} {}

HostTransfer::HostTransfer(int device, int threads)
    : device_(device), threads_(std::clamp(threads, 1, most_lanes)) {}

template <class Work, class Finish>
void HostTransfer::for_each_piece(std::int64_t bytes, const Work& work, const Finish& finish) {
    const std::int64_t n_lanes = std::clamp<std::int64_t>(bytes / lane_bytes, 1, threads_);
    constexpr std::int64_t page = 4096;
    const std::int64_t piece_bytes =
        std::clamp(bytes / (n_lanes * pieces_per_lane) / page * page, least_bytes, most_bytes);
    const std::int64_t n_pieces = (bytes + piece_bytes - 1) / piece_bytes;
    while (static_cast<std::int64_t>(lanes_.size()) < n_lanes) lanes_.push_back(std::make_unique<Lane>());
    parallel_for(n_lanes, static_cast<int>(n_lanes), [&](std::int64_t index, int) {
        const CurrentDevice current(device_);
        Lane& lane = *lanes_[static_cast<std::size_t>(index)];
        int k = 0;
        for (std::int64_t piece = index; piece < n_pieces; piece += n_lanes, k ^= 1) {
            const std::int64_t first = piece * piece_bytes;
            work(lane, k, Piece{first, std::min(piece_bytes, bytes - first)});
        }
        finish(lane);
    });
}

void HostTransfer::to_device(const void* from, void* to, std::int64_t bytes, cudaStream_t stream) {
    if (bytes <= most_bytes || is_page_locked(from, bytes)) {
        check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying to the device");
        return;
    }
    const auto fill = [&](Lane& lane, int k, Piece piece) {
        char* const buffer = lane.buffers[k].data();
        lane.copied[k].wait();
        std::memcpy(buffer, static_cast<const char*>(from) + piece.first, piece.bytes);
        check_cuda(cudaMemcpyAsync(static_cast<char*>(to) + piece.first, buffer, piece.bytes,
                                   cudaMemcpyDefault, stream),
                   "copying to the device");
        lane.copied[k].record(stream);
    };
    for_each_piece(bytes, fill, [](Lane&) {});
}

void HostTransfer::to_host(const void* from, void* to, std::int64_t bytes, cudaStream_t stream) {
    const bool is_locked = is_page_locked(to, bytes);
    if (is_locked || bytes <= most_bytes) {
        check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying to the host");
        // CUDA does not promise that such a copy is over on return where memory is not page-locked.
        if (!is_locked) check_cuda(cudaStreamSynchronize(stream), "copying to the host");
        return;
    }
    const auto empty = [&](Lane& lane, int k) {
        const Piece piece = std::exchange(lane.pieces[k], Piece{});
        if (piece.bytes == 0) return;
        lane.copied[k].wait();
        std::memcpy(static_cast<char*>(to) + piece.first, lane.buffers[k].data(), piece.bytes);
    };
    // Each thread has one piece on its way while it empties the buffer of the one before.
    const auto fetch = [&](Lane& lane, int k, Piece piece) {
        lane.copied[k].wait();
        check_cuda(cudaMemcpyAsync(lane.buffers[k].data(), static_cast<const char*>(from) + piece.first,
                                   piece.bytes, cudaMemcpyDefault, stream),
                   "copying to the host");
        lane.copied[k].record(stream);
        lane.pieces[k] = piece;
        empty(lane, k ^ 1);
    };
    for (const auto& lane : lanes_) lane->pieces[0] = lane->pieces[1] = {};
    for_each_piece(bytes, fetch, [&](Lane& lane) {
        for (const int k : {0, 1}) empty(lane, k);
    });
}

}  // namespace zonal::core
