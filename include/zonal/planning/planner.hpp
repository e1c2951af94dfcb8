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
#include "zonal/memory.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/progress.hpp"
#include "zonal/split.hpp"

// The planner finds the fastest way to convolve a map with a radial kernel within an error on this machine.
// It multiplies counts of work with costs that a calibration measured, and returns a table of the ways.

namespace zonal {

class SkyPart;

/// Work of one spherical harmonic transform of spin 0. A transform of Q and U is counted as the same work,
/// and has higher costs.
struct TransformWork {
    /// 6 for every degree, order and ring pair that contribute; on the CPU those of the rings on which its
    /// Legendre stage works, and what takes as long as these where they are not the grid's.
    double legendre_flops = 0;
    double pixels = 0;
};

/// Counts the work of a transform from the grid alone, without a plan. lmax >= 0.
TransformWork transform_work(const Grid& grid, std::int64_t lmax, Device device);

/// Seconds measured at some sizes of maps, for what follows no simple law, such as copies to a GPU. Between
/// two sizes they are linear in the root of the pixels; below the smallest they are those of the smallest,
/// and above the largest in proportion to the pixels.
struct SizeCost {
    std::vector<double> n_pixels, seconds;  ///< ascending, of equal length; empty: no cost
};

/// Seconds per unit of TransformWork, and per call.
struct TransformCost {
    double legendre_flop = 0, pixel = 0, call = 0;
    SizeCost others{};  ///< for all else
};

/// Seconds per unit of PixelConvolutionWork, per map and per call.
struct PixelCost {
    double kernel_value = 0, row_product = 0, mode_product = 0;
    double pixel_product = 0;   ///< between rings of one length
    double uneven_product = 0;  ///< between rings of different lengths
    double pixel_row = 0, pixel_weight = 0;
    double fft_pixel = 0;
    double ring_value = 0;  ///< per kernel value of one ring of the map, for what cannot be done in parallel
    double map = 0, call = 0;
    double longest_sum = 0;  ///< per product in the longest sum for one pixel
    SizeCost others{};       ///< of a map, for all else
};

/// Costs of work on one device, from host memory and back, for maps of one spin.
struct ConvolutionCosts {
    TransformCost smoothing;  ///< an analysis without iterations, the window and a synthesis
    TransformCost iteration;  ///< of the analysis, each
    PixelCost ring_fft_single, ring_fft_double, pixel_sum_single, pixel_sum_double;

    const PixelCost& pixels(PixelMethod method, Precision precision) const;
    PixelCost& pixels(PixelMethod method, Precision precision);
};

/// Costs of work on one device.
struct DeviceCosts {
    Device device = Device::cpu();
    ConvolutionCosts scalar;        ///< of a map of spin 0
    ConvolutionCosts polarization;  ///< of Q and U together, which count as one map
};

/// Costs of work on the devices of a machine.
struct CostModel {
    /// The machine_fingerprint of the machine that was measured, or "default" for default_cost_model.
    std::string fingerprint;
    std::vector<DeviceCosts> devices;
};

/// Returns CPUs, instruction set, threads and devices in one string: costs measured under another fingerprint
/// are those of another machine. threads: 0 for all.
std::string machine_fingerprint(int threads = 0);

/// Returns whether the model knows what work on this device costs.
bool has_costs(const CostModel& costs, Device device);

/// Returns costs to plan with before a calibration: of the CPU alone, scaled by the number of threads from
/// one core of a server of 2023 (AMD EPYC 9004, AVX-512).
CostModel default_cost_model(int threads = 0);

/// Measures the costs of the CPU, and of a CUDA device if there is one, in less than half a minute where
/// nothing else runs. Throws Cancelled.
CostModel calibrate(int threads = 0, const Progress& progress = {},
                    const MemoryCheck& check_memory = require_memory);

/// These return the seconds that work takes by its costs.
double predicted_seconds(const SizeCost& cost, double n_pixels);
double predicted_seconds(const TransformCost& cost, const TransformWork& work);
/// Returns the kernel values of one ring, if the map has as many rings as the root of its pixels.
double ring_values(const PixelConvolutionWork& work, std::int64_t n_pixels);
/// n_pixels: of the map.
double predicted_seconds(const PixelCost& cost, const PixelConvolutionWork& work, std::int64_t n_pixels,
                         std::int64_t n_maps = 1);

/// How a map is convolved with a radial kernel.
enum class ConvolutionMethod {
    pixel_sum,
    ring_fft,
    harmonic,
    split,     ///< the kernel's window up to l_cut in harmonic space, its profile by sums over pixels
    automatic  ///< the fastest of them, for functions that choose; no choice has it
};
/// "pixel-sum", "ring-fft", "harmonic", "split", "auto".
std::string to_string(ConvolutionMethod method);

/// The reference that errors are measured from.
enum class ConvolutionReference {
    discrete,   ///< the sum over the map's pixels with the grid's weights
    continuous  ///< the window on the alm that the map is made of
};
/// "discrete", "continuous".
std::string to_string(ConvolutionReference reference);

/// A request to convolve n_maps maps of one grid. The maps are of spin 0, or pairs of Q and U if
/// `polarization` is given, with the error of Q and U together. For I, Q and U make two requests, because I
/// and Q, U each have a fastest way of their own. What is left open is filled in by `completed`
/// (certificate.hpp).
struct ConvolutionRequest {
    Grid grid = Grid::healpix(1);
    /// Applied as it is given. For Q and U, masks are convolved with it.
    RadialKernel kernel = RadialKernel::gaussian(1);
    std::optional<PolarizationKernel> polarization{};  ///< of Q and U, in place of `kernel`; not truncated
    std::optional<Grid> grid_out{};  ///< of the results, where it is another: in harmonic space alone
    /// The last degree of harmonic space and of the continuous reference, at least 2 for Q and U. -1 stands
    /// for what the grids resolve; the continuous reference then goes no higher than the kernel reaches and
    /// the grid certifies (certified_lmax).
    std::int64_t lmax = -1;
    /// Largest error of a convolved map, rms over its rms.
    double error = 1e-5;
    /// rms of the convolved map over that of the map, at least: `error` is certified for every map with this
    /// gain or more. For renormalised maps and counts see effective_gain. Empty: a little less than that of
    /// white noise.
    std::optional<double> gain{};
    /// Empty: see default_reference.
    std::optional<ConvolutionReference> reference{};
    std::int64_t n_maps = 1;
    /// The largest share of a map's pixels that are not 0, from 0 to 1, where it is known: sums over pixels
    /// on the CPU take less time where few are, such as those with photons.
    double filled = 1;
    bool allow_single = true;       ///< sums in single precision where the error permits
    bool consider_split = true;     ///< takes most of the planning where it may pay
    bool consider_harmonic = true;  ///< false: harmonic space is listed, but excluded
    /// Plans this method alone beside harmonic space, even if another is faster. Splits: see can_be_split.
    ConvolutionMethod method = ConvolutionMethod::automatic;
    double support = 0;    ///< of sums, rad: where the profile ends; 0: where the error allows
    double theta_cut = 0;  ///< of splits, rad; 0: to be chosen
    int threads = 0;
    std::vector<Device> devices{};              ///< to choose from; empty: all of the cost model
    MemoryCheck check_memory = require_memory;  ///< told of what planning takes, before it does
};

/// One way to carry out a request, with its predicted time and error.
struct ConvolutionChoice {
    ConvolutionMethod method = ConvolutionMethod::harmonic;
    Device device = Device::cpu();  ///< split: of the sum over pixels
    Precision precision = Precision::float64;
    /// Angle at which the profile is cut, rad; 0 in harmonic space. What the cut takes from the kernel's
    /// integral, if it has one, counts as the error of a constant map.
    double support = 0;
    /// PixelConvolutionOptions::accuracy: a hundredth of the error, as more would show in it; of a split as
    /// large as its profile's share of the result permits.
    double accuracy = 0;
    std::int64_t l_cut = -1;  ///< of a split
    std::int64_t lmax = -1;   ///< of harmonic space; -1: the request's
    int iterations = 0;       ///< of the analysis in harmonic space
    /// > 0: conjugate gradients go on until they reach this; `iterations` is then how many they may take.
    double tolerance = 0;
    /// Iterations go on until the map's error is certified; `iterations` is then how many they may take.
    bool until_certified = false;
    double seconds = 0;                                  ///< predicted
    double exchange_seconds = 0;                         ///< of these, in which a rank waits for messages
    double error = 0;                                    ///< from the reference, certified for the gain
    std::string excluded{};                              ///< why it may not be taken; empty if it may
    Device harmonic_device = Device::cpu();              ///< of a split's window
    std::shared_ptr<const KernelSplit> split = nullptr;  ///< what a split applies
};

/// Returns the reference of a request that names none: continuous with method = harmonic, discrete with sums
/// over pixels and splits; with method = automatic continuous if the kernel is a window (a Gaussian, or b_l),
/// and discrete if it is a profile.
ConvolutionReference default_reference(const ConvolutionRequest& request);

/// Says whether the request's kernel can be split: not for Q and U if the windows of E and B differ.
bool can_be_split(const ConvolutionRequest& request);
/// Returns all ways that were looked at: first those that may be taken, fastest first, then the others. There
/// is always harmonic space among them. Throws InvalidArgument if the request contradicts itself.
std::vector<ConvolutionChoice> plan_convolution(const ConvolutionRequest& request, const CostModel& costs);

/// Returns the ways on one device, in place of the request's devices, or on all of the costs where it is
/// automatic. Where nobody has measured what work on such a device costs, the ways are in the order of the
/// costs of another, on this device, and their seconds are 0.
std::vector<ConvolutionChoice> plan_convolution(const ConvolutionRequest& request, const CostModel& costs,
                                                Device device);

/// Collective. Returns the ways of maps whose parts the ranks of a job have, the same on all of them. Each
/// rank has a device of its own, whatever is wanted. Seconds are those of the slowest rank: of its part, on
/// what it works on, by its own costs, and of the messages that its work does not hide; 0 where a rank has
/// not measured what its device costs. Where the request names another method than split, the ways are in the
/// order of one process that has the first rank's costs, so that results do not depend on the ranks, and
/// seconds are those of whole maps.
std::vector<ConvolutionChoice> plan_convolution(ConvolutionRequest request, const CostModel& costs,
                                                Device wanted, const SkyPart& part);

}  // namespace zonal
