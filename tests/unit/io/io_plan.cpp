#include "zonal/io/plan.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "zonal/error.hpp"
#include "zonal/io/cost_model.hpp"

namespace zonal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Removes its file at the end of a test.
class File {
  public:
    explicit File(const std::string& name)
        : path_((std::filesystem::temp_directory_path() / (name + std::to_string(getpid()))).string()) {}
    ~File() { std::filesystem::remove(path_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

ConvolutionRequest small_request() {
    ConvolutionRequest request;
    request.grid = Grid::healpix(32);
    request.kernel = RadialKernel::gaussian(0.2);
    request.lmax = 64;
    for (int l = 0; l <= 64; ++l) request.c_l.push_back(1.0 / (1 + l * l));
    request.error = 1e-4;
    request.threads = 1;
    return request;
}

TEST(PlanFile, GivesAPlanBackThatItsRequestFollows) {
    const auto request = small_request();
    const auto costs = default_cost_model(1);
    const File file("zonal_plan");
    for (const auto& choice : plan_convolution(request, costs)) {
        if (!choice.excluded.empty()) continue;
        io::write_plan(file.path(), make_plan(request, choice, costs), true);
        const auto plan = io::read_plan(file.path());
        EXPECT_NO_THROW(require_match(plan, request));
        EXPECT_EQ(plan.choice.method, choice.method);
        EXPECT_EQ(plan.choice.support, choice.support);
        EXPECT_EQ(plan.choice.error, choice.error);
        EXPECT_EQ(plan.c_l, request.c_l);
    }
}

TEST(PlanFile, RejectsAnotherSpectrumAndACutThatIsTooNarrow) {
    auto request = small_request();
    const auto costs = default_cost_model(1);
    const auto choices = plan_convolution(request, costs);
    const auto sum = std::find_if(choices.begin(), choices.end(), [](const auto& choice) {
        return choice.excluded.empty() && choice.support > 0;
    });
    ASSERT_NE(sum, choices.end());
    auto plan = make_plan(request, *sum, costs);
    plan.choice.support = 0.001;
    EXPECT_THAT([&] { require_match(plan, request); },
                ThrowsMessage<IoError>(HasSubstr("support_rad = 0.001: must be at least")));
    request.c_l[3] *= 2;
    EXPECT_THAT([&] { require_match(plan, request); },
                ThrowsMessage<InvalidArgument>(HasSubstr("c_l[3] = 0.1")));
}

TEST(CostFile, GivesCostsBack) {
    const auto costs = default_cost_model(3);
    const File file("zonal_costs");
    io::write_cost_model(file.path(), costs);
    const auto back = io::read_cost_model(file.path());
    EXPECT_EQ(io::to_json(back), io::to_json(costs));
    EXPECT_TRUE(io::find_costs(file.path(), 1).notes.size() <= 1);  // of a GPU, where one is here
}

}  // namespace
}  // namespace zonal
