"""A replacement for pysm3.mpi.mpi_smoothing, which needs libsharp: the same arguments, over the ranks of an MPI job.

    sht = zonal.mpi.SHT(comm, nside, lmax)
    map_dist = pysm3.MapDistribution(pixel_indices=sht.local_pixels, nside=nside, mpi_comm=comm, smoothing_lmax=lmax)
    map_dist.sht = sht
    sky = pysm3.Sky(nside=nside, preset_strings=["d1", "s1"], map_dist=map_dist)
    smoothed = mpi_smoothing(sky.get_emission(100 * u.GHz), 1 * u.deg, map_dist)
"""


def mpi_smoothing(input_map, fwhm, map_dist):
    """Smooths this rank's I, or I, Q and U, with a Gaussian, and returns an array of the same shape.

    input_map: [n_pixels] or [3, n_pixels]; of a Quantity, the values. fwhm: an angle of zonal.angle, such as a Quantity.
    map_dist: has sht, a zonal.mpi.SHT, whose local_pixels are the pixels of the map.
    """
    return map_dist.sht.smooth(getattr(input_map, "value", input_map), fwhm, method="harmonic")
