#include "distributed/agreement.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <new>

#include "zonal/error.hpp"

namespace zonal::distributed {
namespace {

/// Letters for the classes of errors, as they are sent.
enum class Kind : char {
    none = '-',
    argument = 'A',
    cancelled = 'C',
    memory = 'M',
    device = 'D',
    backend = 'B',
    file = 'F',
    other = 'E'
};

struct Status {
    Kind kind = Kind::none;
    std::string text;
};

Status status_of(const std::exception_ptr& error) {
    if (!error) return {};
    try {
        std::rethrow_exception(error);
    } catch (const InvalidArgument& e) {
        return {Kind::argument, e.what()};
    } catch (const Cancelled& e) {
        return {Kind::cancelled, e.what()};
    } catch (const OutOfMemory& e) {
        return {Kind::memory, e.what()};
    } catch (const std::bad_alloc&) {
        return {Kind::memory, "not enough memory"};  // it calls itself std::bad_alloc
    } catch (const DeviceError& e) {
        return {Kind::device, e.what()};
    } catch (const BackendUnavailable& e) {
        return {Kind::backend, e.what()};
    } catch (const IoError& e) {
        return {Kind::file, e.what()};
    } catch (const std::exception& e) {
        return {Kind::other, e.what()};
    } catch (...) {
        return {Kind::other, "an exception that is no std::exception"};
    }
}

[[noreturn]] void raise(Kind kind, const std::string& text) {
    switch (kind) {
        case Kind::argument:
            throw InvalidArgument(text);
        case Kind::cancelled:
            throw Cancelled(text);
        case Kind::memory:
            throw OutOfMemory(text);
        case Kind::device:
            throw DeviceError(text);
        case Kind::backend:
            throw BackendUnavailable(text);
        case Kind::file:
            throw IoError(text);
        case Kind::none:
        case Kind::other:
            break;
    }
    throw Error(text);
}

}  // namespace

void agree(Transport& transport, const std::string& call, std::exception_ptr error) {
    const Status mine = status_of(error);
    // kind, call, end of the call, text
    const auto all = transport.gather(std::string(1, static_cast<char>(mine.kind)) + call + '\0' + mine.text);
    const auto call_of = [&](std::size_t rank) { return all[rank].substr(1, all[rank].find('\0') - 1); };
    transport.failed_together = true;
    const auto status = [&](std::size_t rank) {
        return all[rank][0] + all[rank].substr(all[rank].find('\0'));
    };
    bool is_common = all.size() > 1;
    for (std::size_t rank = 1; rank < all.size(); ++rank) is_common &= status(rank) == status(0);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (all[rank][0] != static_cast<char>(Kind::none))
            raise(static_cast<Kind>(all[rank][0]), (is_common ? "" : fmt::format("rank {}: ", rank)) +
                                                       all[rank].substr(all[rank].find('\0') + 1));
    for (std::size_t rank = 1; rank < all.size(); ++rank)
        if (call_of(rank) != call_of(0))
            throw InvalidArgument(
                fmt::format("ranks: all must make the same calls, but rank 0 makes {}, and rank {} {}",
                            call_of(0), rank, call_of(rank)));
    transport.failed_together = false;
}

}  // namespace zonal::distributed
