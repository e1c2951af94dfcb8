// Instances of the templates of evaluation for every type of coefficients. Included by each source that
// defines these templates, inside its namespace, zonal::chebyshev or cuda there: so without a guard, as unity
// builds have several.
template void evaluate(const SeriesArray<const float>&, View<const double, 2>, View<float, 2>, void*);
template void evaluate(const SeriesArray<const double>&, View<const double, 2>, View<double, 2>, void*);
template void evaluate(const SeriesArray<const std::complex<float>>&, View<const double, 2>,
                       View<std::complex<float>, 2>, void*);
template void evaluate(const SeriesArray<const std::complex<double>>&, View<const double, 2>,
                       View<std::complex<double>, 2>, void*);
template void evaluate_on_grid(const SeriesArray<const float>&, const GridPoints&, const SeriesArray<float>&,
                               void*);
template void evaluate_on_grid(const SeriesArray<const double>&, const GridPoints&,
                               const SeriesArray<double>&, void*);
template void evaluate_on_grid(const SeriesArray<const std::complex<float>>&, const GridPoints&,
                               const SeriesArray<std::complex<float>>&, void*);
template void evaluate_on_grid(const SeriesArray<const std::complex<double>>&, const GridPoints&,
                               const SeriesArray<std::complex<double>>&, void*);
template void interpolate(const SeriesArray<const float>&, ChebyshevNodes, const SeriesArray<float>&, void*);
template void interpolate(const SeriesArray<const double>&, ChebyshevNodes, const SeriesArray<double>&,
                          void*);
template void interpolate(const SeriesArray<const std::complex<float>>&, ChebyshevNodes,
                          const SeriesArray<std::complex<float>>&, void*);
template void interpolate(const SeriesArray<const std::complex<double>>&, ChebyshevNodes,
                          const SeriesArray<std::complex<double>>&, void*);
template void resample(const SeriesArray<const float>&, const GridPoints&, const SeriesArray<float>&, void*);
template void resample(const SeriesArray<const double>&, const GridPoints&, const SeriesArray<double>&,
                       void*);
template void resample(const SeriesArray<const std::complex<float>>&, const GridPoints&,
                       const SeriesArray<std::complex<float>>&, void*);
template void resample(const SeriesArray<const std::complex<double>>&, const GridPoints&,
                       const SeriesArray<std::complex<double>>&, void*);
