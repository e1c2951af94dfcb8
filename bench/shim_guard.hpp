#pragma once

#include <exception>
#include <string>

/// What the last call of this thread failed of.
std::string& shim_error();

/// 0, or 1 and shim_error where `body` throws.
template <class Body>
int guarded(const Body& body) {
    try {
        body();
        return 0;
    } catch (const std::exception& error) {
        shim_error() = error.what();
        return 1;
    }
}
