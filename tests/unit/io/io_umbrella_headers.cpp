// zonal.hpp and io.hpp compile alone, and leave no public header out.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "zonal/io.hpp"
#include "zonal/zonal.hpp"

namespace zonal {
namespace {

const std::filesystem::path include_folder =
    std::filesystem::path(ZONAL_DATA_DIR).parent_path() / "include" / "zonal";

std::string text_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

TEST(UmbrellaHeaders, IncludeEveryPublicHeader) {
    const auto all = text_of(include_folder / "zonal.hpp"), io = text_of(include_folder / "io.hpp");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(include_folder)) {
        const auto name = std::filesystem::relative(entry.path(), include_folder).generic_string();
        if (!name.ends_with(".hpp") || name == "zonal.hpp" || name == "io.hpp") continue;
        if (name == "distributed/mpi.hpp") continue;  // the only header of zonal_mpi
        EXPECT_NE((name.starts_with("io/") ? io : all).find("\"zonal/" + name + "\""), std::string::npos)
            << name;
    }
}

TEST(UmbrellaHeaders, AreEnoughForAFirstProgram) {
    const auto map = new_sky_map(HealpixPixels{4, healpix::Order::ring}, false);
    EXPECT_EQ(anafast(map, {.lmax = 4})[0].values, std::vector<double>(5));
    EXPECT_THROW(io::read_sky_map("no such file"), IoError);
}

}  // namespace
}  // namespace zonal
