// Where what is dear to compute is kept, and the weights there.
#include "zonal/io/cache.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <optional>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/weights.hpp"

namespace zonal::io {
namespace {

using test::message_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A variable of the environment, which has its old value again in the end.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        set(value);
    }
    ~Variable() { set(before_ ? before_->c_str() : nullptr); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    void set(const char* value) { value != nullptr ? setenv(name_, value, 1) : unsetenv(name_); }
    const char* name_;
    std::optional<std::string> before_;
};

TEST(CacheFolder, IsWhereTheEnvironmentSays) {
    const Variable home("HOME", "/home/me");
    {
        const Variable cache("XDG_CACHE_HOME", "/var/mine");
        EXPECT_EQ(cache_folder(), "/var/mine/zonal");
    }
    for (const char* relative : {"mine", ""}) {
        const Variable cache("XDG_CACHE_HOME", relative);
        EXPECT_EQ(cache_folder(), "/home/me/.cache/zonal");
        const Variable nowhere("HOME", relative);
        EXPECT_EQ(cache_folder(), "");
        EXPECT_THAT(message_of<IoError>([] { make_cache_folder(); }), HasSubstr("no cache folder"));
    }
    const Variable cache("XDG_CACHE_HOME", nullptr);
    EXPECT_EQ(cache_folder(), "/home/me/.cache/zonal");
    const Variable nowhere("HOME", nullptr);
    EXPECT_EQ(cache_folder(), "");
}

TEST(CachedWeights, AreComputedOnceAndAnewWhereTheyAreNotRight) {
    using Kind = QuadratureWeights::Kind;
    const TemporaryFolder folder;
    const Variable cache("XDG_CACHE_HOME", folder.folder().c_str());
    for (const auto& [choice, kind, other] :
         {std::tuple{"ring", Kind::ring, Kind::pixel}, {"pixel", Kind::pixel, Kind::ring}}) {
        const auto path = folder.path("zonal/") + weight_file_name(kind, 2);
        const auto expected = compute_weights(kind, 2, {.threads = 1}).deviations;
        const auto found = [&, choice = choice] { return find_weights(choice, 2, {.threads = 1}); };
        auto first = found();
        EXPECT_TRUE(first.computed);
        EXPECT_THAT(first.notes, IsEmpty());
        EXPECT_EQ(first.description, std::string(choice) + ", computed and kept in " + path);
        EXPECT_EQ(first.values.deviations, expected);
        auto kept = found();
        EXPECT_FALSE(kept.computed);
        EXPECT_EQ(kept.description, std::string(choice) + ", from " + path);
        EXPECT_EQ(kept.values.deviations, expected);
        write_weights(path, compute_weights(other, 2, {.threads = 1}), {true});
        EXPECT_THAT(found().notes, ElementsAre(path + ": weights of the other kind: computed anew"));
        write_weights(path, compute_weights(kind, 4, {.threads = 1}), {true});
        EXPECT_THAT(found().notes, ElementsAre(path + ": weights for nside 4, the map has 2: computed anew"));
        std::filesystem::resize_file(path, 3000);
        const auto damaged = found();
        EXPECT_TRUE(damaged.computed);
        EXPECT_THAT(damaged.notes, ElementsAre(HasSubstr("computed anew")));
        EXPECT_FALSE(found().computed);
    }
}

TEST(CachedWeights, AreTakenWhereTheyCannotBeKept) {
    const TemporaryFolder folder;
    const auto file = folder.write("file", "");
    const Variable cache("XDG_CACHE_HOME", file.c_str());
    const auto found = find_weights("ring", 2, {.threads = 1});
    EXPECT_TRUE(found.computed);
    EXPECT_EQ(found.description, "ring, computed");
    EXPECT_THAT(found.notes, ElementsAre(HasSubstr("weights are not kept: ")));
}

}  // namespace
}  // namespace zonal::io
