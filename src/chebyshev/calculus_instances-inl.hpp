// Instances of the templates of calculus for every type of coefficients. Included by each source that defines
// these templates, inside its namespace, zonal::chebyshev or cuda there: so without a guard, as unity builds
// have several.
template void differentiate(const SeriesArray<const float>&, int, double, const SeriesArray<float>&, void*);
template void differentiate(const SeriesArray<const double>&, int, double, const SeriesArray<double>&, void*);
template void differentiate(const SeriesArray<const std::complex<float>>&, int, double,
                            const SeriesArray<std::complex<float>>&, void*);
template void differentiate(const SeriesArray<const std::complex<double>>&, int, double,
                            const SeriesArray<std::complex<double>>&, void*);
template void integrate(const SeriesArray<const float>&, int, double, HighestMode, const SeriesArray<float>&,
                        void*);
template void integrate(const SeriesArray<const double>&, int, double, HighestMode,
                        const SeriesArray<double>&, void*);
template void integrate(const SeriesArray<const std::complex<float>>&, int, double, HighestMode,
                        const SeriesArray<std::complex<float>>&, void*);
template void integrate(const SeriesArray<const std::complex<double>>&, int, double, HighestMode,
                        const SeriesArray<std::complex<double>>&, void*);
template void integrate_out(const SeriesArray<const float>&, int, double, const SeriesArray<float>&, void*);
template void integrate_out(const SeriesArray<const double>&, int, double, const SeriesArray<double>&, void*);
template void integrate_out(const SeriesArray<const std::complex<float>>&, int, double,
                            const SeriesArray<std::complex<float>>&, void*);
template void integrate_out(const SeriesArray<const std::complex<double>>&, int, double,
                            const SeriesArray<std::complex<double>>&, void*);
