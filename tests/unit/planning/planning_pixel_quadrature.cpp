#include "zonal/planning/pixel_quadrature.hpp"

#include <gmock/gmock.h>

#include "zonal/error.hpp"

namespace zonal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

ConvolutionRequest continuous_request(const Grid& grid) {
    ConvolutionRequest request;
    request.grid = grid;
    request.kernel = RadialKernel::gaussian(0.2);
    request.lmax = 48;
    request.error = 1e-4;
    request.reference = ConvolutionReference::continuous;
    return request;
}

TEST(PixelQuadrature, PlansMeasureItThemselves) {
    const auto request = continuous_request(Grid::healpix(32));
    const auto complete = with_quadrature(request);
    const double measured = PixelQuadrature(request, 32).error({{}});
    EXPECT_EQ(complete.quadrature_error, measured);
    EXPECT_EQ(complete.iteration_gain, iteration_gain(48, 32));
    const auto costs = default_cost_model(1);
    const auto by_itself = plan_convolution(request, costs), told = plan_convolution(complete, costs);
    ASSERT_EQ(by_itself.size(), told.size());
    for (std::size_t i = 0; i < told.size(); ++i) {
        EXPECT_EQ(by_itself[i].error, told[i].error);
        EXPECT_EQ(by_itself[i].iterations, told[i].iterations);
    }
}

TEST(PixelQuadrature, KeepsWhatTheRequestSays) {
    auto request = continuous_request(Grid::gauss_legendre(49, 98));
    request.quadrature_error = 1e-3;
    request.iteration_gain = 0.25;
    const auto complete = with_quadrature(request);
    EXPECT_EQ(complete.quadrature_error, 1e-3);
    EXPECT_EQ(complete.iteration_gain, 0.25);
    request.reference = ConvolutionReference::discrete;
    request.quadrature_error.reset();
    EXPECT_FALSE(with_quadrature(request).quadrature_error);
}

TEST(PixelQuadrature, IsNotGuessedOnOtherGrids) {
    const auto request = continuous_request(Grid::gauss_legendre(49, 98));
    EXPECT_THAT([&] { plan_convolution(request, default_cost_model(1)); },
                ThrowsMessage<InvalidArgument>(HasSubstr("must be given on")));
}

TEST(PixelQuadrature, SaysWhereAKernelIsNarrowerThanPixels) {
    const PixelQuadrature narrow(RadialKernel::gaussian(0.002), 32, 1);
    EXPECT_FALSE(narrow.is_sum());
    EXPECT_GE(narrow.error({{}}), narrow.defect());
    EXPECT_THAT(narrow.explanation(), HasSubstr("so narrow"));
    EXPECT_TRUE(PixelQuadrature(RadialKernel::gaussian(0.2), 32, 1).is_sum());
}

}  // namespace
}  // namespace zonal
