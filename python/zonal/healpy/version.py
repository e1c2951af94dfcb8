"""The version of healpy whose names and arguments this package has, by which programs tell what they can use."""

version = "1.20.0"
__version__ = version
