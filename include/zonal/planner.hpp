#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "zonal/convolution.hpp"
#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/kernel.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/progress.hpp"
#include "zonal/split.hpp"

// Which way of convolving a map with a radial kernel is fastest on this machine within an error: costs that a
// calibration measures, times counts of work, and a table of what could be done.

namespace zonal {

/// What one spherical harmonic transform of spin 0 takes; one of Q and U takes as many times that as its
/// costs are higher.
struct TransformWork {
    double legendre_flops = 0;  ///< 6 for every degree, order and ring pair that contribute
    double pixels = 0;
};

/// Counted from the grid alone, without a plan. lmax >= 0.
TransformWork transform_work(const Grid& grid, std::int64_t lmax);

/// Seconds by the pixels of a map where they follow no simple law, as on a GPU, to which maps come and go the
/// faster the larger they are: those of the sizes that were measured and, between them, linear in the root of
/// the pixels; those of the smallest below it, and in proportion to the pixels above the largest.
struct SizeCost {
    std::vector<double> n_pixels, seconds;  ///< ascending, as many of both; empty: none
};

/// Seconds per unit of the TransformWork of one transform, and of a call.
struct TransformCost {
    double legendre_flop = 0, pixel = 0, call = 0;
    SizeCost others{};  ///< for all else
};

/// Seconds per unit of PixelConvolutionWork, of a map and of a call.
struct PixelCost {
    double kernel_value = 0, row_product = 0, mode_product = 0;
    double pixel_product = 0;   ///< of those that are not uneven
    double uneven_product = 0;  ///< in its place
    double pixel_row = 0, pixel_weight = 0;
    double fft_pixel = 0;
    double ring_value = 0;  ///< per kernel value of one of the map's rings: what cannot be done at once
    double map = 0, call = 0;
    double longest_sum = 0;  ///< per product in it
    SizeCost others{};       ///< of a map, for all else
};

/// What work on one device costs, from host memory and back, of maps of one spin.
struct ConvolutionCosts {
    TransformCost smoothing;  ///< an analysis without iterations, the window and a synthesis
    TransformCost iteration;  ///< of the analysis, each
    PixelCost ring_fft_single, ring_fft_double, pixel_sum_single, pixel_sum_double;

    const PixelCost& pixels(PixelMethod method, Precision precision) const;
    PixelCost& pixels(PixelMethod method, Precision precision);
};

/// What work on one device costs, of maps of either spin.
struct DeviceCosts {
    Device device = Device::cpu();
    ConvolutionCosts scalar;        ///< of a map of spin 0
    ConvolutionCosts polarization;  ///< of Q and U together, which count as one map
};

/// What this machine's devices cost.
struct CostModel {
    /// Of the machine that was measured, see machine_fingerprint; "default" for default_cost_model.
    std::string fingerprint;
    std::vector<DeviceCosts> devices;
};

/// CPUs, instruction set and devices, as far as they decide how fast Zonal is: costs measured under another
/// fingerprint are of another machine. threads: 0 for all.
std::string machine_fingerprint(int threads = 0);

/// Costs of the CPU alone, from a core of a server of 2023 (AMD EPYC 9004, AVX-512) and the number of
/// threads: in place of a calibration.
CostModel default_cost_model(int threads = 0);

/// Measures the CPU, and a CUDA device where there is one, in seconds. Throws Cancelled.
CostModel calibrate(int threads = 0, const Progress& progress = {});

double predicted_seconds(const SizeCost& cost, double n_pixels);
double predicted_seconds(const TransformCost& cost, const TransformWork& work);
/// Kernel values of a ring, of which there are about the root of the pixels.
double ring_values(const PixelConvolutionWork& work, std::int64_t n_pixels);
/// n_pixels: of the map.
double predicted_seconds(const PixelCost& cost, const PixelConvolutionWork& work, std::int64_t n_pixels,
                         std::int64_t n_maps = 1);

enum class ConvolutionMethod { pixel_sum, ring_fft, harmonic, split };
/// "pixel-sum", "ring-fft", "harmonic", "split".
std::string to_string(ConvolutionMethod method);

/// What errors are measured from.
enum class ConvolutionReference {
    discrete,   ///< the sum over the map's pixels with the grid's weights
    continuous  ///< the window on the alm that the map is made of
};

/// What is to be convolved. n_maps maps of one grid, to which they also go: of spin 0 or, with a kernel for
/// them, pairs of Q and U, whose errors are those of Q and U together. I, Q and U are two requests, each of
/// which has a fastest way of its own.
struct ConvolutionRequest {
    Grid grid = Grid::healpix(1);
    RadialKernel kernel = RadialKernel::gaussian(1);
    std::optional<PolarizationKernel> polarization{};  ///< of Q and U, in place of `kernel`; not truncated
    std::int64_t lmax = 0;       ///< of the maps, and of harmonic space; Q, U: from 2 on
    std::vector<double> c_l{};   ///< [lmax + 1], of the maps, of Q and U EE; empty: white
    std::vector<double> c_bb{};  ///< as many as c_l, of Q and U alone: BB
    double error = 1e-5;         ///< of the convolved map, rms over its rms
    ConvolutionReference reference = ConvolutionReference::discrete;
    /// continuous: what a sum over the pixels with the grid's weights is wrong by, rms over the rms of the
    /// convolved map. Empty: measured on a random sky (PixelQuadrature), which HEALPix grids alone allow.
    std::optional<double> quadrature_error{};
    /// continuous: what an iteration of the analysis leaves of that, in (0, 1). Empty: iteration_gain(lmax,
    /// nside) of HEALPix grids.
    std::optional<double> iteration_gain{};
    std::int64_t n_maps = 1;
    bool allow_single = true;    ///< sums in single precision where the error permits
    bool consider_split = true;  ///< takes most of the planning where it may pay
    /// No sums over pixels alone, and splits whatever they save. See can_be_split.
    bool only_split = false;
    double theta_cut = 0;  ///< of splits, rad; 0: to be chosen
    int threads = 0;
    std::vector<Device> devices{};  ///< to choose from; empty: all of the cost model
};

/// One way to do it.
struct ConvolutionChoice {
    ConvolutionMethod method = ConvolutionMethod::harmonic;
    Device device = Device::cpu();  ///< split: of the sum over pixels
    Precision precision = Precision::double_;
    /// rad, where the profile is cut; 0 in harmonic space. What that takes from the kernel's integral (where
    /// it has one) is counted, too, as the error of a constant map.
    double support = 0;
    /// PixelConvolutionOptions::accuracy, a hundredth of the error: splines of splits would not converge to
    /// more, and less would show.
    double accuracy = 0;
    std::int64_t l_cut = -1;                             ///< of a split
    int iterations = 0;                                  ///< of the analysis in harmonic space
    double seconds = 0;                                  ///< predicted
    double error = 0;                                    ///< expected, from the reference
    std::string excluded{};                              ///< why it may not be taken; empty: it may
    Device harmonic_device = Device::cpu();              ///< of a split's window
    std::shared_ptr<const KernelSplit> split = nullptr;  ///< what a split applies
};

/// [component], up to l = 6 nside or lmax: C_l of what a sum over the pixels of the request's maps sees at
/// most, of Q and U EE and BB. Maps go on above lmax with their last C_l, unless the reference is continuous,
/// and pixels alias power to all degrees, which is most of it where maps have none. Empty ones: white.
std::vector<std::vector<double>> spectra_on_pixels(const ConvolutionRequest& request);
/// Whether there are splits of the request's kernel: not of Q and U where the windows of E and B differ.
bool can_be_split(const ConvolutionRequest& request);
/// split_error of a split of the request's kernel, for its maps. Throws InvalidArgument where it has none.
double split_error(const KernelSplit& split, const ConvolutionRequest& request);

/// All ways that were looked at, those that may be taken first, fastest first. Never empty; harmonic space is
/// always among them. Throws InvalidArgument where the request contradicts itself.
std::vector<ConvolutionChoice> plan_convolution(const ConvolutionRequest& request, const CostModel& costs);

}  // namespace zonal
