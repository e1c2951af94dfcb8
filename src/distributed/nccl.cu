#include "distributed/nccl.cuh"

#include <dlfcn.h>
#include <nccl.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "distributed/device_link.hpp"
#include "zonal/error.hpp"

namespace zonal::distributed {
namespace {

struct Nccl {
    static const Nccl& get() {
        static const Nccl library;
        return library;
    }

    std::string missing;
    decltype(&ncclGetUniqueId) get_unique_id = nullptr;
    decltype(&ncclCommInitRankConfig) init = nullptr;
    decltype(&ncclCommAbort) abort = nullptr;
    decltype(&ncclCommGetAsyncError) async_error = nullptr;
    decltype(&ncclGetErrorString) error_string = nullptr;
    decltype(&ncclGetLastError) last_error = nullptr;
    decltype(&ncclGroupStart) group_start = nullptr;
    decltype(&ncclGroupEnd) group_end = nullptr;
    decltype(&ncclSend) send = nullptr;
    decltype(&ncclRecv) receive = nullptr;

  private:
    Nccl() : handle_(dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) {
            missing = dlerror();
            return;
        }
        find(get_unique_id, "ncclGetUniqueId");
        find(init, "ncclCommInitRankConfig");
        find(abort, "ncclCommAbort");
        find(async_error, "ncclCommGetAsyncError");
        find(error_string, "ncclGetErrorString");
        find(last_error, "ncclGetLastError");
        find(group_start, "ncclGroupStart");
        find(group_end, "ncclGroupEnd");
        find(send, "ncclSend");
        find(receive, "ncclRecv");
    }
    template <class Function>
    void find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(handle_, name));
        if (function == nullptr) missing = std::string("libnccl.so.2: is too old: has no ") + name;
    }

    void* handle_;
};

ncclComm_t as_nccl(void* communicator) {
    return static_cast<ncclComm_t>(communicator);
}

void check_nccl(ncclResult_t status, const char* what, void* communicator = nullptr) {
    if (status == ncclSuccess || status == ncclInProgress) return;
    const char* const more = Nccl::get().last_error(as_nccl(communicator));
    throw CommunicationError(std::string("NCCL, ") + what + ": " + Nccl::get().error_string(status) +
                             (more == nullptr || *more == '\0' ? "" : std::string(": ") + more));
}

/// Until what NCCL does in a thread of its own is done.
void settle(void* communicator, const char* what, const NcclGroup::Poll& between_looks) {
    // The connections to other ranks take a second, later calls some 50 us.
    const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (true) {
        ncclResult_t status = ncclSuccess;
        check_nccl(Nccl::get().async_error(as_nccl(communicator), &status), what, communicator);
        check_nccl(status, what, communicator);
        if (status == ncclSuccess) return;
        between_looks();
        if (std::chrono::steady_clock::now() > patience)
            std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

}  // namespace

const std::string& missing_nccl() {
    return Nccl::get().missing;
}

std::string make_nccl_id() {
    ncclUniqueId id;
    check_nccl(Nccl::get().get_unique_id(&id), "beginning");
    return {id.internal, sizeof id.internal};
}

NcclGroup::NcclGroup(int device, int rank, int n_ranks, const std::string& bytes, const Poll& between_looks) {
    const core::CurrentDevice current(device);
    ncclUniqueId id;
    if (bytes.size() != sizeof id.internal) throw CommunicationError("NCCL: ranks have no common identifier");
    std::memcpy(id.internal, bytes.data(), sizeof id.internal);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // so that whoever waits for a rank that is gone can stop
    ncclComm_t communicator = nullptr;
    const ncclResult_t status = Nccl::get().init(&communicator, n_ranks, id, rank, &config);
    communicator_ = communicator;
    try {
        check_nccl(status, "connecting ranks", communicator_);
        settle(communicator_, "connecting ranks", between_looks);
    } catch (...) {
        abort();
        throw;
    }
}

void NcclGroup::require() const {
    if (communicator_ == nullptr) throw CommunicationError("NCCL: ended after an error");
}

void NcclGroup::begin() {
    require();
    check_nccl(Nccl::get().group_start(), "beginning an exchange");
    is_begun_ = true;
}

void NcclGroup::send(const void* bytes, std::size_t count, int rank, cudaStream_t stream) {
    check_nccl(Nccl::get().send(bytes, count, ncclChar, rank, as_nccl(communicator_), stream), "sending",
               communicator_);
}

void NcclGroup::receive(void* bytes, std::size_t count, int rank, cudaStream_t stream) {
    check_nccl(Nccl::get().receive(bytes, count, ncclChar, rank, as_nccl(communicator_), stream), "receiving",
               communicator_);
}

void NcclGroup::end(const Poll& between_looks) {
    is_begun_ = false;
    check_nccl(Nccl::get().group_end(), "an exchange", communicator_);
    settle(communicator_, "an exchange", between_looks);
}

void NcclGroup::check() const {
    require();
    ncclResult_t status = ncclSuccess;
    check_nccl(Nccl::get().async_error(as_nccl(communicator_), &status), "an exchange", communicator_);
    check_nccl(status, "an exchange", communicator_);
}

void NcclGroup::abort() noexcept {
    // NCCL only notes what ends within a group, and frees no rank's communicator then.
    if (std::exchange(is_begun_, false)) Nccl::get().group_end();
    if (communicator_ != nullptr) Nccl::get().abort(as_nccl(communicator_));
    communicator_ = nullptr;
}

}  // namespace zonal::distributed
