#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "points/lensing/displacement_math.hpp"
#include "zonal/alm.hpp"
#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/view.hpp"

/// What lensing does with what it has at points, in a GPU's memory. Each call returns when all is done.
/// Without CUDA code all of it throws BackendUnavailable.
namespace zonal::points::cuda {

/// Waits for what the caller may have put on the default stream.
void wait_for_caller(Device device);

/// theta and phi of the pixels of rings, of which ring r's begin at first[r].
void ring_angles(const std::vector<Ring>& rings, const std::vector<std::int64_t>& first, Device device,
                 View<double, 1> theta, View<double, 1> phi);

/// As zonal::displace: displaced gets theta and phi, [2, point]. Returns |d|.
Lengths displace(Device device, View<const double, 1> theta, View<const double, 1> phi,
                 View<const double, 2> deflection, View<double, 2> displaced, View<double, 2> rotation);

/// values: [map, 2, point], each turned as turn_value does it.
template <class T>
void turn_values(Device device, View<const double, 2> rotation, int spin, double sign, View<T, 3> values);

/// to = factor(l) from, of each degree l of alm with all orders.
void scale(Device device, const AlmLayout& layout, EthFactor factor, View<const std::complex<double>, 1> from,
           View<std::complex<double>, 1> to);

/// sums.add(i) for n points.
void add_slopes(Device device, const SlopeSums& sums, std::int64_t n);

/// points[i] = values[value_of[i]], and the other way round. value_of: null where it is i itself. name: of
/// the values, for errors.
template <class In, class Out>
void gather(const char* name, Device device, const std::int64_t* value_of, View<const In, 1> values,
            View<Out, 1> points);
template <class T>
void scatter(Device device, const std::int64_t* value_of, View<const T, 1> points, View<T, 1> values);

/// What copies to and from the host need, which take turns.
class ValueTransfer;
std::shared_ptr<ValueTransfer> make_transfer(Device device, int threads);
void to_device(ValueTransfer& transfer, const void* host, void* there, std::int64_t bytes);
void to_host(ValueTransfer& transfer, const void* there, void* host, std::int64_t bytes);

}  // namespace zonal::points::cuda
