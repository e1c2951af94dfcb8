"""The names of healpy.utils."""
