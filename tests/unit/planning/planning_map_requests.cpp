// What options of smoothing maps ask for: which contradict each other, and what reaches the planner.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "compare.hpp"
#include "convolution_helpers.hpp"
#include "planning/maps/fields_smoothing.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/map_smoothing.hpp"

namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using enum ConvolutionMethod;
using Options = MapSmoothingOptions;

constexpr double fwhm = 0.4;

SkyMap sky(bool polarized = false) {
    SkyMap map = new_sky_map(HealpixPixels{8}, polarized);
    const auto values = random_map(map.rows().size(), 3);
    std::copy(values.begin(), values.end(), map.rows().data());
    return map;
}

std::vector<planning::FieldsRequest> requests(const SkyMap& map, const planning::MapKernel& kernel,
                                              const Options& options) {
    return planning::requests_of(map, kernel, options);
}

/// What is said of a Gaussian by these options; empty where they are taken.
std::string refusal(const Options& options, const SkyMap& map, const planning::MapKernel& kernel) {
    try {
        requests(map, kernel, options);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}
std::string refusal(const Options& options) {
    return refusal(options, sky(), {{.fwhm = fwhm}, {}});
}
std::string refusal_of_pairs(const Options& options) {
    return refusal(options, sky(true), {{.fwhm = fwhm}, {}});
}

Options renormalizing(Options options = {}) {
    options.mask_rule.mode = MaskMode::renormalize;
    return options;
}
Options counting(Options options = {}) {
    options.normalization = Normalization::pixel;
    return options;
}

TEST(MapRequests, RefuseDegreesAndAnglesThatThereAreNot) {
    EXPECT_EQ(refusal({.lmax = 23}), "");
    EXPECT_EQ(refusal({.lmax = 0}), "");
    EXPECT_THAT(refusal({.lmax = 24}), HasSubstr("lmax = 24: must be at most 23"));
    EXPECT_EQ(refusal_of_pairs({.lmax = 2}), "");
    EXPECT_THAT(refusal_of_pairs({.lmax = 1}), HasSubstr("lmax = 1: must be at least 2 for the Q and U"));
    for (const auto method : {pixel_sum, ring_fft}) EXPECT_EQ(refusal({.method = method, .cut = 0.5}), "");
    for (const auto method : {automatic, harmonic, split})
        EXPECT_THAT(refusal({.method = method, .cut = 0.5}),
                    HasSubstr("cut: not with method " + to_string(method)));
    EXPECT_THAT(refusal({.method = ring_fft, .cut = 4}), HasSubstr("cut = 4"));
    EXPECT_EQ(refusal({.method = split, .theta_cut = 0.5}), "");
    EXPECT_THAT(refusal({.method = split, .theta_cut = 4}), HasSubstr("theta_cut = 4"));
    for (const auto method : {automatic, harmonic, ring_fft, pixel_sum})
        EXPECT_THAT(refusal({.method = method, .theta_cut = 0.5}),
                    HasSubstr("theta_cut: only with method split"));
}

TEST(MapRequests, RefuseErrorsOutsideTheirRangeAndBelowTheRoundingOfTheResult) {
    for (const double error : {1e-9, 0.999}) EXPECT_EQ(refusal({.error = error}), "");
    for (const double error : {0.0, -1.0, 1.0, std::nan("")})
        EXPECT_THAT(refusal({.error = error}), HasSubstr("must be above 0 and below 1"));
    EXPECT_EQ(refusal({.error = 2e-6, .output_rounding = 1e-6}), "");
    EXPECT_THAT(refusal({.error = 1e-6, .output_rounding = 1e-6}),
                HasSubstr("must be above 1e-06, by which"));
    EXPECT_THAT(refusal({.output_rounding = 1e-5}), HasSubstr("error = 1e-05: must be above 1e-05"));
    // Nothing is kept in harmonic space without an error.
    EXPECT_EQ(refusal({.method = harmonic, .output_rounding = 1e-5}), "");
    EXPECT_THAT(refusal({.method = harmonic, .error = 1e-6, .output_rounding = 1e-5}),
                HasSubstr("must be above"));
}

TEST(MapRequests, RefuseAnalysesThatContradictEachOtherOrTheReference) {
    const auto discrete = ConvolutionReference::discrete, continuous = ConvolutionReference::continuous;
    EXPECT_EQ(refusal({.iterations = 2}), "");
    EXPECT_EQ(refusal({.tolerance = 1e-3}), "");
    EXPECT_THAT(refusal({.iterations = 0, .tolerance = 1e-3}),
                HasSubstr("must be 0 where iterations are given"));
    EXPECT_EQ(refusal({.reference = discrete, .iterations = 0}), "");
    EXPECT_THAT(refusal({.reference = discrete, .iterations = 1}),
                HasSubstr("no iterations and no tolerance"));
    EXPECT_THAT(refusal({.reference = discrete, .tolerance = 1e-3}),
                HasSubstr("no iterations and no tolerance"));
    EXPECT_THAT(refusal({.reference = discrete, .pixels_out = HealpixPixels{4}}),
                HasSubstr("the result has others: must be continuous"));
    EXPECT_EQ(refusal({.reference = continuous, .pixels_out = HealpixPixels{4}}), "");
    for (const auto method : {pixel_sum, ring_fft, split}) {
        EXPECT_THAT(refusal({.method = method, .reference = continuous}), HasSubstr("must be discrete"));
        EXPECT_THAT(refusal({.method = method, .iterations = 0}), HasSubstr("no iterations"));
        EXPECT_THAT(refusal({.method = method, .tolerance = 1e-3}), HasSubstr("no iterations"));
        EXPECT_THAT(refusal({.method = method, .pixels_out = HealpixPixels{4}}),
                    HasSubstr("has other pixels"));
        EXPECT_EQ(refusal({.method = method, .reference = discrete}), "");
    }
    for (const auto method : {automatic, harmonic})
        EXPECT_EQ(refusal({.method = method, .reference = continuous}), "");
}

TEST(MapRequests, RefuseCountsByWhatDoesNotKeepThem) {
    EXPECT_EQ(refusal(counting({.method = pixel_sum})), "");
    EXPECT_EQ(refusal(counting()), "");
    EXPECT_THAT(refusal_of_pairs(counting()), HasSubstr("is only for counts, which have spin 0"));
    for (const auto method : {harmonic, split})
        EXPECT_THAT(refusal(counting({.method = method})), HasSubstr("only sums over pixels keep counts"));
    EXPECT_THAT(refusal(renormalizing(counting())), HasSubstr("not with mask_mode renormalize"));
    const std::vector<double> ones(768, 1.0);
    Options of_rings = counting(), of_pixels = counting();
    of_rings.ring_weights.assign(31, 1.0);
    of_pixels.pixel_weights = {ones.data(), {768}};
    for (const auto& options : {of_rings, of_pixels})
        EXPECT_THAT(refusal(options), HasSubstr("weights: not with normalization pixel"));
    for (auto options : {of_rings, of_pixels}) {
        options.normalization = Normalization::none;
        EXPECT_EQ(refusal(options), "");
        options.mask_rule.mode = MaskMode::renormalize;
        EXPECT_THAT(refusal(options), HasSubstr("weights: not with mask_mode renormalize"));
        options.method = harmonic;
        EXPECT_EQ(refusal(options), "");
    }
    EXPECT_EQ(refusal(renormalizing()), "");
    EXPECT_THAT(refusal(renormalizing({.method = split})), HasSubstr("not with method split"));
}

TEST(MapRequests, RefuseKernelsThatFitNoRowAndWindowsOfNothing) {
    const auto kernel = RadialKernel::gaussian(fwhm);
    EXPECT_EQ(refusal({}, sky(), {{}, {kernel}}), "");
    EXPECT_THAT(refusal({}, sky(), {{}, {kernel, kernel}}),
                HasSubstr("kernels = 2: must be one, or one for each"));
    for (const auto& kernels : {std::vector{kernel, kernel}, std::vector{kernel, kernel, kernel}})
        EXPECT_THAT(refusal({}, sky(true), {{}, kernels}), HasSubstr("whose Q and U are convolved together"));
    EXPECT_THAT(refusal({}, sky(), {}), HasSubstr("nothing is given"));
    EXPECT_THAT(refusal({.method = ring_fft}, sky(true), {{}, {kernel}}),
                HasSubstr("the kernel is of spin 0, and the map has Q and U"));
    EXPECT_THAT(refusal({.method = ring_fft}, sky(), {{.fwhm = fwhm, .fwhm_in = 0.2}, {}}),
                HasSubstr("windows of the input or of pixels are given"));
    EXPECT_EQ(refusal({}, sky(), {{.fwhm_in = 0.2}, {}}), "");
}

TEST(MapRequests, HaveTheRowsOfEachSpinTogether) {
    const auto map = sky(true);
    const planning::MapKernel kernel{{.fwhm = fwhm}, {}};
    const Options options{.method = ring_fft, .error = 1e-3, .cut = 0.3, .threads = 1};
    const auto all = requests(map, kernel, options);
    ASSERT_EQ(all.size(), 2U);
    for (const bool is_spin : {false, true}) {
        const auto& fields = all[is_spin ? 1 : 0];
        ASSERT_EQ(fields.rows.size(), 1U);
        const auto& rows = fields.rows[0];
        EXPECT_EQ(fields.fields, is_spin ? Fields::qu : Fields::scalars);
        EXPECT_EQ(rows.first_row, is_spin ? 1 : 0);
        EXPECT_EQ(rows.n_rows, is_spin ? 2 : 1);
        EXPECT_EQ(rows.request.n_maps, 1);
        EXPECT_EQ(rows.request.polarization.has_value(), is_spin);
        EXPECT_EQ(rows.request.error, 1e-3);
        EXPECT_EQ(rows.request.support, 0.3);
        EXPECT_EQ(rows.request.method, ring_fft);
        EXPECT_EQ(rows.request.threads, 1);
        EXPECT_TRUE(fields.has_one_kernel);
        EXPECT_FALSE(fields.is_harmonic_only);
        EXPECT_TRUE(fields.must_keep());
    }
    const SkyMap two(MapFile{HealpixPixels{8},
                             CoordinateSystem::unknown,
                             PolarizationConvention::absent,
                             {},
                             {{.name = "LOW"}, {.name = "HIGH"}}});
    const auto scalars = requests(two, {{}, {RadialKernel::gaussian(0.3), RadialKernel::gaussian(0.4)}},
                                  {.method = harmonic, .error = 1e-3});
    ASSERT_EQ(scalars.size(), 1U);
    EXPECT_FALSE(scalars[0].has_one_kernel);
    EXPECT_TRUE(scalars[0].is_harmonic_only);
    ASSERT_EQ(scalars[0].rows.size(), 2U);
    for (std::int64_t row = 0; row < 2; ++row) {
        EXPECT_EQ(scalars[0].rows[row].first_row, row);
        EXPECT_EQ(scalars[0].rows[row].n_rows, 1);
        EXPECT_EQ(scalars[0].rows[row].request.n_maps, 1);
        EXPECT_FALSE(scalars[0].rows[row].request.consider_split);
    }
    const auto both = requests(two, kernel, {});
    EXPECT_EQ(both[0].rows[0].n_rows, 2);
    EXPECT_EQ(both[0].rows[0].request.n_maps, 2);
    EXPECT_TRUE(both[0].rows[0].request.consider_split);
    EXPECT_FALSE(requests(two, kernel, renormalizing())[0].rows[0].request.consider_split);
    EXPECT_FALSE(requests(two, kernel, counting())[0].rows[0].request.consider_split);
}

TEST(MapRequests, SayWhatMustBeKeptAndWhatIsGiven) {
    const auto map = sky();
    const planning::MapKernel kernel{{.fwhm = fwhm}, {}};
    const auto of = [&](const Options& options) { return requests(map, kernel, options).front(); };
    struct Expected {
        Options options;
        bool must_keep, is_given;
    };
    const Expected all[] = {{{}, true, false},
                            {{.method = harmonic}, false, true},
                            {{.iterations = 1}, false, true},
                            {{.tolerance = 1e-3}, false, true},
                            {{.error = 1e-3, .iterations = 1}, true, true},
                            {{.error = 1e-3, .tolerance = 1e-3}, true, true},
                            {{.method = harmonic, .error = 1e-3}, true, false},
                            {{.method = ring_fft, .cut = 0.5}, false, false},
                            {{.method = ring_fft, .error = 1e-2, .cut = 0.5}, true, false},
                            {{.method = ring_fft}, true, false}};
    for (const auto& [options, must_keep, is_given] : all) {
        const auto fields = of(options);
        EXPECT_EQ(fields.must_keep(), must_keep) << &options - &all[0].options;
        EXPECT_EQ(fields.is_given(), is_given) << &options - &all[0].options;
    }
    EXPECT_EQ(of({}).rows[0].request.error, 1e-5);
    // healpy's lmax, and what the error and the grid certify.
    EXPECT_EQ(of({.method = harmonic}).rows[0].request.lmax, 23);
    EXPECT_EQ(of({.method = harmonic, .lmax = 11}).rows[0].request.lmax, 11);
    EXPECT_EQ(of({.error = 1e-9}).rows[0].request.lmax, 19);
}

// Above its last degree such a window is not known.
TEST(MapRequests, EndWhereTheFirstOfTheWindowsEnds) {
    const auto lmax_of = [&](const SmoothingWindow& window) {
        return requests(sky(), {window, {}}, {.error = 1e-3}).front().rows[0].request.lmax;
    };
    const Beam longer = uniform_beam(gaussian_window(fwhm / 2, 16)),
               shorter = uniform_beam(gaussian_window(fwhm / 2, 11));
    EXPECT_EQ(lmax_of({.fwhm = fwhm, .beam_in = shorter}), 11);
    EXPECT_EQ(lmax_of({.fwhm = fwhm, .beam_in = shorter, .pixel_window_in = longer}), 11);
    EXPECT_EQ(lmax_of({.fwhm = fwhm, .beam_in = longer, .pixel_window_out = shorter}), 11);
    EXPECT_EQ(lmax_of({.beam = longer, .fwhm_in = fwhm / 2}), 16);
}

TEST(MapRequests, AllowSinglePrecisionWhereValuesFitAndItIsNotRuledOut) {
    const planning::MapKernel kernel{{.fwhm = fwhm}, {}};
    const auto discrete = ConvolutionReference::discrete;
    const auto allows = [&](double scale, const Options& options) {
        auto map = sky();
        double largest = 0;
        for (std::int64_t i = 0; i < 768; ++i) largest = std::max(largest, std::abs(map.rows()(0, i)));
        for (std::int64_t i = 0; i < 768; ++i) map.rows()(0, i) *= scale / largest;
        map.rows()(0, 5) = unseen_value;
        return requests(map, kernel, options).front().rows[0].request.allow_single;
    };
    const auto single = Precision::float32, twice = Precision::float64;
    for (const auto method : {automatic, split}) {
        const Options options{.method = method, .reference = discrete};
        for (const auto& [scale, fits] : {std::pair{0.9e-25, false},
                                          {1.1e-25, true},
                                          {1.0, true},
                                          {0.9e25, true},
                                          {1.1e25, false},
                                          {0.0, true}})
            EXPECT_EQ(allows(scale, options), fits) << scale;
        EXPECT_FALSE(allows(1, {.method = method, .reference = discrete, .precision = twice}));
    }
    for (const auto method : {ring_fft, pixel_sum}) {
        EXPECT_FALSE(allows(1, {.method = method}));
        EXPECT_TRUE(allows(1, {.method = method, .precision = single}));
        EXPECT_THROW(allows(1e26, {.method = method, .precision = single}), InvalidArgument);
    }
    EXPECT_FALSE(allows(1, counting()));
    EXPECT_TRUE(allows(1, counting({.precision = single})));
    EXPECT_FALSE(allows(1, {.method = automatic}));  // the continuous reference has no sums
}

TEST(MapRequests, KnowHowManyPixelsAreFilled) {
    auto map = sky();
    const auto filled = [&](const Options& options) {
        return requests(map, {{.fwhm = fwhm}, {}}, options).front().rows[0].request.filled;
    };
    for (std::int64_t i = 0; i < 768; ++i) map.rows()(0, i) = i % 8 == 0 ? 2 : 0;
    map.rows()(0, 1) = unseen_value;
    EXPECT_EQ(filled({.method = pixel_sum}), 0.125);
    map.rows()(0, 2) = std::nan("");
    EXPECT_EQ(filled({.method = pixel_sum}), 97. / 768);
    EXPECT_EQ(filled({.method = harmonic}), 1);                  // nobody asks
    EXPECT_EQ(filled(renormalizing({.method = pixel_sum})), 1);  // its mask is summed, too
}

/// A constant map becomes the integral times its value, whatever the mask, and its certificate is of that.
TEST(MapRequests, QuotientsHaveTheIntegralThatTheKernelHas) {
    const auto kernel = RadialKernel::gaussian(fwhm).scaled(0.8);
    auto ones = sky();
    for (std::int64_t i = 0; i < 768; ++i) ones.rows()(0, i) = i < 100 ? unseen_value : 5;
    for (const auto normalization : {Normalization::none, Normalization::window}) {
        auto options = renormalizing({.method = ring_fft, .error = 1e-3, .threads = 1});
        options.normalization = normalization;
        const auto found = convolve(ones, {kernel}, options);
        const double value = normalization == Normalization::none ? 4 : 5;
        for (std::int64_t i = 100; i < 768; ++i) ASSERT_NEAR(found.map.rows()(0, i), value, 1e-9);
        const auto& one = found.parts[0].certificates[0];
        EXPECT_NEAR(one.rms_out / (value * std::sqrt(668.0 / 768)), 1, 1e-9);
        EXPECT_NEAR(one.rms_in / (value * std::sqrt(668.0 / 768)), 1, 1e-9);
    }
}

TEST(MapSmoothingTexts, SayWhatTheKernelLeavesOnlyWhereItIsKnown) {
    auto zero = sky();
    for (std::int64_t i = 0; i < 768; ++i) zero.rows()(0, i) = i % 2 == 0 ? 1 : -1;
    const auto text = [&](const Options& options) -> std::string {
        try {
            smooth(zero, {.fwhm = 1}, options);
        } catch (const ErrorNotKept& error) {
            return error.what();
        }
        return "";
    };
    // Of what could not even be planned for nothing is known.
    const auto unplanned = text({.method = ring_fft, .error = 1e-15});
    EXPECT_THAT(unplanned, HasSubstr("the least error that can be planned for is"));
    EXPECT_EQ(unplanned.find("of which the kernel leaves"), std::string::npos);
    const auto missed = text({.method = ring_fft, .error = 1e-9, .precision = Precision::float64});
    EXPECT_THAT(missed, HasSubstr("of which the kernel leaves"));
}

TEST(MapSmoothingTexts, NormalizationsAndExtentsHaveTheirNames) {
    EXPECT_EQ(to_string(Normalization::pixel), "pixel");
    EXPECT_EQ(to_string(Normalization::window), "window");
    EXPECT_EQ(to_string(Normalization::none), "none");
    for (const auto method : {automatic, pixel_sum, ring_fft})
        EXPECT_EQ(extent_for({.method = method}), Extent::own_pixels);
    for (const auto method : {harmonic, split}) EXPECT_EQ(extent_for({.method = method}), Extent::whole_sky);
    std::vector<Options> whole(4), own(2);
    const std::vector<double> ones(768, 1.0);
    whole[0].mask_rule.fill_masked = true;
    whole[1].pixels_out = HealpixPixels{4};
    whole[2].ring_weights = {1, 2};
    whole[3].pixel_weights = {ones.data(), {768}};
    own[0].mask_rule.mode = MaskMode::error;
    own[1].normalization = Normalization::pixel;
    for (const auto& options : whole) EXPECT_EQ(extent_for(options), Extent::whole_sky);
    for (const auto& options : own) EXPECT_EQ(extent_for(options), Extent::own_pixels);
}

}  // namespace
}  // namespace zonal::test
