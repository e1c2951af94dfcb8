#include "zonal/io/cache.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>

#include "zonal/error.hpp"

namespace zonal::io {

std::string cache_folder() {
    // XDG Base Directory Specification: a relative path in the variable is ignored.
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/')
        return fmt::format("{}/zonal", cache);
    if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
        return fmt::format("{}/.cache/zonal", home);
    return "";
}

std::string make_cache_folder() {
    auto folder = cache_folder();
    if (folder.empty())
        throw IoError("no cache folder: neither XDG_CACHE_HOME nor HOME is set to an absolute path");
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw IoError(fmt::format("{}: the cache folder cannot be made: {}; XDG_CACHE_HOME says where it is",
                                  folder, error.message()));
    return folder;
}

}  // namespace zonal::io
