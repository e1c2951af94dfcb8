#include "distributed/device_link.hpp"
#include "zonal/error.hpp"

namespace zonal::distributed {
namespace {

[[noreturn]] void refuse() {
    throw BackendUnavailable("this build of Zonal has no CUDA code");
}

}  // namespace

RankLink cuda_rank_link(int) {
    refuse();
}
std::string make_nccl_id() {
    refuse();
}
std::shared_ptr<DeviceLink> make_cuda_link(Transport&, int, const std::string&) {
    refuse();
}

}  // namespace zonal::distributed
