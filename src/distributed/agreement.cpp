#include "distributed/agreement.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <utility>

#include "zonal/error.hpp"

namespace zonal::distributed {
namespace {

/// Letters for the classes of errors, as they are sent.
enum class Kind : char {
    none = '-',
    argument = 'A',
    not_kept = 'K',
    cancelled = 'C',
    memory = 'M',
    device = 'D',
    backend = 'B',
    file = 'F',
    other = 'E'
};

/// What a rank brings to an agreement. Errors that are about no argument have a message alone.
struct Status {
    Kind kind = Kind::none;
    ArgumentFacts facts;

    Status() = default;
    Status(Kind of, ArgumentFacts what) : kind(of), facts(std::move(what)) {}
    Status(Kind of, std::string message) : kind(of) { facts.requirement = std::move(message); }
};

Status status_of(const std::exception_ptr& error) {
    if (!error) return {};
    try {
        std::rethrow_exception(error);
    } catch (const InvalidArgument& e) {
        return {Kind::argument, e.facts()};
    } catch (const ErrorNotKept& e) {
        return {Kind::not_kept, e.facts()};
    } catch (const Cancelled& e) {
        return {Kind::cancelled, e.what()};
    } catch (const OutOfMemory& e) {
        return {Kind::memory, e.what()};
    } catch (const std::bad_alloc&) {
        return {Kind::memory, "not enough memory"};  // it calls itself std::bad_alloc
    } catch (const DeviceError& e) {
        return {Kind::device, e.what()};
    } catch (const BackendUnavailable& e) {
        return {Kind::backend, e.facts()};
    } catch (const IoError& e) {
        return {Kind::file, e.what()};
    } catch (const std::exception& e) {
        return {Kind::other, e.what()};
    } catch (...) {
        return {Kind::other, "an exception that is no std::exception"};
    }
}

[[noreturn]] void raise(const Status& status) {
    switch (status.kind) {
        case Kind::argument:
            throw InvalidArgument(status.facts);
        case Kind::not_kept:
            throw ErrorNotKept(status.facts);
        case Kind::cancelled:
            throw Cancelled(status.facts.message());
        case Kind::memory:
            throw OutOfMemory(status.facts.message());
        case Kind::device:
            throw DeviceError(status.facts.message());
        case Kind::backend:
            throw BackendUnavailable(status.facts);
        case Kind::file:
            throw IoError(status.facts.message());
        case Kind::none:
        case Kind::other:
            break;
    }
    throw Error(status.facts.message());
}

/// The kind and the facts, each but the last with a null character behind it.
std::string packed(const Status& status) {
    const auto& [argument, value, requirement, origin] = status.facts;
    std::string text(1, static_cast<char>(status.kind));
    for (const auto& part : {origin, argument, value ? "=" + *value : std::string()}) text += part + '\0';
    return text + requirement;
}

Status unpacked(const std::string& text) {
    std::size_t at = 1;
    const auto next = [&] {
        const auto begin = at, end = text.find('\0', at);
        at = end + 1;
        return text.substr(begin, end - begin);
    };
    ArgumentFacts facts;
    facts.origin = next();
    facts.argument = next();
    if (const auto value = next(); !value.empty()) facts.value = value.substr(1);
    facts.requirement = text.substr(at);
    return {static_cast<Kind>(text[0]), std::move(facts)};
}

}  // namespace

void agree(Transport& transport, const std::string& call, std::exception_ptr error) {
    const auto all = transport.gather(call + '\0' + packed(status_of(error)));
    const auto call_of = [&](std::size_t rank) { return all[rank].substr(0, all[rank].find('\0')); };
    const auto packed_of = [&](std::size_t rank) { return all[rank].substr(all[rank].find('\0') + 1); };
    transport.failed_together = true;
    bool is_common = all.size() > 1;
    for (std::size_t rank = 1; rank < all.size(); ++rank) is_common &= packed_of(rank) == packed_of(0);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        auto status = unpacked(packed_of(rank));
        if (status.kind == Kind::none) continue;
        if (!is_common) status.facts.origin.insert(0, fmt::format("rank {}: ", rank));
        raise(status);
    }
    for (std::size_t rank = 1; rank < all.size(); ++rank)
        if (call_of(rank) != call_of(0))
            throw InvalidArgument(
                "ranks", fmt::format("all must make the same calls, but rank 0 makes {}, and rank {} {}",
                                     call_of(0), rank, call_of(rank)));
    transport.failed_together = false;
}

}  // namespace zonal::distributed
