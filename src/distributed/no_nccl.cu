#include "distributed/device_link.hpp"
#include "distributed/nccl.cuh"
#include "zonal/error.hpp"

// For builds without nccl.h.
namespace zonal::distributed {
namespace {

[[noreturn]] void refuse() {
    throw CommunicationError(missing_nccl());
}

}  // namespace

const std::string& missing_nccl() {
    static const std::string reason = "this build of Zonal was made without nccl.h";
    return reason;
}

std::string make_nccl_id() {
    refuse();
}
NcclGroup::NcclGroup(int, int, int, const std::string&, const Poll&) {
    refuse();
}
void NcclGroup::require() const {
    refuse();
}
void NcclGroup::begin() {
    refuse();
}
void NcclGroup::send(const void*, std::size_t, int, cudaStream_t) {
    refuse();
}
void NcclGroup::receive(void*, std::size_t, int, cudaStream_t) {
    refuse();
}
void NcclGroup::end(const Poll&) {
    refuse();
}
void NcclGroup::check() const {
    refuse();
}
void NcclGroup::abort() noexcept {}

}  // namespace zonal::distributed
