"""The public functions that long_calls.py has no call of, with the reason."""

QUICK = {
    "reads or makes descriptions, numbers and texts": """
        zonal.ConvolutionPlan.explain zonal.Kernel.gaussian zonal.Kernel.top_hat zonal.Kernel.mexican_hat zonal.Kernel.truncated
        zonal.Map.__init__ zonal.io.Map.__init__ zonal.alm_size zonal.angle zonal.cache_limit zonal.clear_caches zonal.cmake_dir
        zonal.devices zonal.get_include zonal.euler_angles zonal.rotation_matrix zonal.threads zonal.spectra.hartlap_factor zonal.gwrm.Axis.__init__ zonal.gwrm.Condition.__init__
        zonal.gwrm.Parameter.__init__ zonal.gwrm.Unknown.__init__ zonal.gwrm.dirichlet zonal.gwrm.known.__init__
        zonal.gwrm.neumann zonal.gwrm.periodic zonal.gwrm.robin zonal.gwrm.unknowns zonal.chebyshev.Series.__init__
        zonal.chebyshev.Series.from_numpy zonal.chebyshev.Series.to_numpy zonal.healpy.Rotator.__init__
        zonal.healpy.Rotator.do_rot zonal.healpy.Rotator.get_inverse zonal.healpy.check_max_nside
        zonal.healpy.disable_warnings zonal.healpy.enable_warnings zonal.healpy.get_map_size
        zonal.healpy.get_min_valid_nside zonal.healpy.get_nside zonal.healpy.maptype zonal.healpy.max_pixrad
        zonal.healpy.npix2order zonal.healpy.nside2order zonal.healpy.order2npix zonal.healpy.order2nside""",
    "goes by rings, of which the largest grid has some ten thousand": """
        zonal.Grid.__init__ zonal.Grid.healpix zonal.Grid.gauss_legendre zonal.Grid.clenshaw_curtis zonal.Grid.fejer1
        zonal.Grid.fejer2 zonal.Grid.driscoll_healy zonal.Grid.mcewen_wiaux zonal.Grid.equidistant_cylindrical
        zonal.Grid.reduced_gaussian zonal.Grid.octahedral zonal.Grid.reduced_gauss_legendre zonal.Grid.subset zonal.SHT.__init__ zonal.mpi.SHT.__init__
        zonal.healpy.ringinfo""",
    "goes by degrees l": """
        zonal.Kernel.from_window zonal.Kernel.from_profile zonal.deconvolution_window zonal.gaussian_window
        zonal.matched_filter_window zonal.needlet_windows zonal.scale_discretised_windows zonal.sky_window
        zonal.elliptical_beam zonal.wiener_spectrum zonal.wiener_window zonal.healpy.blm_gauss zonal.healpy.gauss_beam zonal.io.read_beam
        zonal.io.read_cl zonal.io.write_cl zonal.io.read_profile zonal.io.read_psf zonal.healpy.read_cl
        zonal.healpy.write_cl zonal.plot.spectrum zonal.spectra.Bins.linear zonal.spectra.Bins.edges zonal.spectra.Bins.logarithmic
        zonal.spectra.Bins.from_weights zonal.spectra.Bins.bin
        zonal.spectra.BandPowers.theory zonal.spectra.BandPowers.chi_squared zonal.spectra.BandPowers.plot zonal.spectra.BandPowers.save
        zonal.spectra.BandPowers.load zonal.spectra.BandPowers.to_sacc""",
    "passes over an array once, at the speed of memory": """
        zonal.alm_index zonal.integral zonal.io.read_events zonal.chebyshev.Series.derivative zonal.chebyshev.Series.integral
        zonal.chebyshev.Series.integrate_out zonal.chebyshev.Series.definite_integral zonal.chebyshev.Series.truncated
        zonal.chebyshev.Series.truncation_bound zonal.chebyshev.Series.chopped zonal.healpy.Rotator.__call__
        zonal.healpy.Rotator.I zonal.healpy.Rotator.angle_ref zonal.healpy.dir2vec zonal.healpy.vec2dir
        zonal.healpy.effective_resolution_fwhm zonal.healpy.isnpixok zonal.healpy.isnsideok zonal.healpy.mask_bad
        zonal.healpy.mask_good zonal.healpy.npix2nside zonal.healpy.nside2npix zonal.healpy.nside2pixarea
        zonal.healpy.nside2resol zonal.healpy.resize_alm zonal.Map.own zonal.io.Map.own""",
    "evaluates a series at as many points as it has coefficients, or few": """
        zonal.gwrm.Solution.error zonal.gwrm.Solution.coefficients zonal.gwrm.Solution.times zonal.gwrm.Solution.__call__
        zonal.gwrm.Solution.plot zonal.gwrm.SolvedField.__call__ zonal.gwrm.SolvedField.error
        zonal.gwrm.SolvedField.series zonal.gwrm.SolvedField.plot""",
    "is interrupted by test_gwrm.py": "zonal.gwrm.solve",
    "draws as mollweide does, or less": """
        zonal.plot.azimuthal zonal.plot.cartesian zonal.plot.gnomonic zonal.plot.graticule zonal.plot.line
        zonal.plot.orthographic zonal.plot.points zonal.plot.polar zonal.plot.polarization zonal.plot.text
        zonal.healpy.azeqview zonal.healpy.cartview zonal.healpy.delgraticules zonal.healpy.gnomview
        zonal.healpy.graticule zonal.healpy.mollzoom zonal.healpy.orthview zonal.healpy.projplot
        zonal.healpy.projscatter zonal.healpy.projtext zonal.healpy.set_g_clim zonal.healpy.projview
        zonal.healpy.newprojplot""",
    "is the same library call on a rank's part of the sky; test_mpi.py interrupts ranks": """
        zonal.mpi.SHT.adjoint zonal.mpi.SHT.analyze zonal.mpi.SHT.alm2map zonal.mpi.SHT.map2alm zonal.mpi.SHT.alm2cl
        zonal.mpi.SHT.cross_spectra zonal.mpi.SHT.anafast zonal.mpi.SHT.synalm zonal.mpi.SHT.synfast zonal.mpi.SHT.convolve
        zonal.mpi.SHT.read_map zonal.mpi.SHT.write_map zonal.mpi.SHT.read_alm zonal.mpi.SHT.write_alm
        zonal.mpi.PixelConvolution.__init__ zonal.mpi.PixelConvolution.__call__
        zonal.mpi.PointTransform.__init__ zonal.mpi.PointTransform.synthesize zonal.mpi.PointTransform.adjoint
        zonal.mpi.SHT.scatter_map zonal.mpi.SHT.gather_map zonal.mpi.SHT.scatter_alm zonal.mpi.SHT.gather_alm""",
}
"""Names of all other public functions, by that reason."""
