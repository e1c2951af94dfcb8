#pragma once

#include <fmt/core.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>

#include "zonal/error.hpp"

namespace zonal::distributed {

inline std::string text_of(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    return {text.data(), static_cast<std::size_t>(length)};
}

/// Throws what MPI says of an error.
inline void check(int code, const char* call) {
    if (code != MPI_SUCCESS) throw CommunicationError(fmt::format("{}: {}", call, text_of(code)));
}

/// n_bytes as one message, whatever their number: above `largest_count`, one element of a type that consists
/// of blocks and a remainder. MPI compares messages byte by byte, so both sides need not choose alike.
class ByteType {
  public:
    ByteType(std::size_t n_bytes, std::int64_t largest_count) {
        if (n_bytes <= static_cast<std::size_t>(largest_count)) {
            count_ = static_cast<int>(n_bytes);
            return;
        }
        constexpr int block_bytes = 1 << 20;  // 2^31 blocks are 2 PB
        const auto n_blocks = n_bytes / block_bytes;
        const std::array lengths = {static_cast<int>(n_blocks), static_cast<int>(n_bytes % block_bytes)};
        const std::array starts = {MPI_Aint{0}, static_cast<MPI_Aint>(n_blocks * block_bytes)};
        MPI_Datatype block{};
        check(MPI_Type_contiguous(block_bytes, MPI_BYTE, &block), "MPI_Type_contiguous");
        const std::array types = {block, MPI_BYTE};
        const int code = MPI_Type_create_struct(2, lengths.data(), starts.data(), types.data(), &type_);
        MPI_Type_free(&block);
        check(code, "MPI_Type_create_struct");
        is_made_ = true;
        check(MPI_Type_commit(&type_), "MPI_Type_commit");
    }
    ~ByteType() {
        if (is_made_) MPI_Type_free(&type_);  // once messages under way no longer need it
    }
    ByteType(const ByteType&) = delete;
    ByteType& operator=(const ByteType&) = delete;

    MPI_Datatype type() const { return type_; }
    int count() const { return count_; }

  private:
    MPI_Datatype type_ = MPI_BYTE;
    int count_ = 1;
    bool is_made_ = false;
};

}  // namespace zonal::distributed
