"""What healpy keeps in healpy.utils."""
