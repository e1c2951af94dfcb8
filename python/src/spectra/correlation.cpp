#include "zonal/spectra/correlation.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"

namespace zonal::python {
namespace {

void fill_correlation_spectra(const HostArrayOfRank<const double, 1>& mask_spectrum,
                              const HostArrayOfRank<const double, 1>& apodisation,
                              const HostArrayOfRank<double, 1>& kernel,
                              const HostArrayOfRank<double, 1>& estimator, int threads) {
    without_gil([&] {
        correlation_spectra(view_of<1>(mask_spectrum), view_of<1>(apodisation), view_of<1>(kernel),
                            view_of<1>(estimator), threads);
    });
}

}  // namespace

void bind_correlations(nb::module_& module) {
    module.def("correlation_spectra", &fill_correlation_spectra, nb::arg().noconvert(), nb::arg().noconvert(),
               nb::arg().noconvert(), nb::arg().noconvert(), nb::arg());
}

}  // namespace zonal::python
