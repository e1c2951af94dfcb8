#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zonal {

/// One ring of constant colatitude theta: n_pixels pixels at longitudes phi_0 + 2 pi k / n_pixels, stored
/// from index first_pixel of the map on, one after the other.
struct Ring {
    double theta;      ///< colatitude in [0, pi], rad
    double cos_theta;  ///< to rounding, also near the equator
    double sin_theta;  ///< to rounding, also near the poles
    double phi_0;      ///< longitude of the first pixel, rad
    double weight;     ///< quadrature weight of each pixel of the ring, sr
    std::int64_t n_pixels;
    std::int64_t first_pixel;
    bool operator==(const Ring&) const = default;
};

/// Makes a ring from its colatitude (rad), computing cosine and sine.
Ring make_ring(double theta, double phi_0, double weight, std::int64_t n_pixels, std::int64_t first_pixel);

/// Gives southern rings whose colatitude is pi - theta of a northern ring to rounding (1e-15 rad) the ring's
/// sine and the opposite of its cosine to the last bit, so that transforms share the work of the two.
void mirror_southern_rings(std::vector<Ring>& rings);

/// Pixels [first, end) of a map.
struct PixelRange {
    std::int64_t first, end;
    bool operator==(const PixelRange&) const = default;
};

/// Rings at theta_i = (2 i + first) pi / parts, i = 0, 1, ...
struct EquidistantRings {
    std::int64_t first, parts;
    bool operator==(const EquidistantRings&) const = default;
};

/// An iso-latitude grid: a list of rings in any order, with any number of pixels each. Build your own from
/// rings, or use the factories below. Any subset of a grid's rings is a grid too: a partial sky in rings
/// costs only its rings.
///
/// In the factories' grids southern rings that mirror northern ones do so to the last bit (equal sin_theta,
/// opposite cos_theta), and a ring on the equator has cos_theta = 0. Copies of a grid share its rings.
class Grid {
  public:
    /// n_map_pixels: length of the maps that the rings index into; -1 takes the end of the furthest ring.
    /// Throws InvalidArgument (naming the ring's index) for no rings, empty or overlapping rings, theta
    /// outside [0, pi] or apart from its cosine and sine, values that are not finite, or a ring past the map.
    explicit Grid(std::vector<Ring> rings, std::int64_t n_map_pixels = -1, std::string name = "custom");

    const std::vector<Ring>& rings() const { return *rings_; }
    std::int64_t n_rings() const { return static_cast<std::int64_t>(rings_->size()); }
    /// Length of a map on this grid.
    std::int64_t n_pixels() const { return n_pixels_; }
    /// Whether a map has pixels in no ring.
    bool has_other_pixels() const;
    /// Such as "healpix nside=64".
    const std::string& name() const { return name_; }
    /// nside of a grid that healpix() has made; 0 of every other, also of its subsets, whatever the name.
    std::int64_t healpix_nside() const { return healpix_nside_; }
    /// nside of the grid of healpix() that these are rings of, be it all or a subset; 0 of other grids.
    std::int64_t healpix_nside_of_rings() const { return healpix_nside_of_rings_; }
    /// Degree up to which the weights integrate polynomials in cos theta exactly, where a rule that this
    /// class made says so; -1 of every other grid.
    std::int64_t exact_degree() const { return exact_degree_; }
    /// Where the rings are, if a factory of this class made all of an equidistant grid: analyze is exact
    /// there up to twice the lmax that the weights allow (zonal::exact_lmax).
    const std::optional<EquidistantRings>& equidistant() const { return equidistant_; }

    /// Whether it has the same rings, pixels and name, and was made in the same way. Looks at the rings only
    /// where the two do not share them.
    bool operator==(const Grid& other) const;

    /// The grid of the rings with these indices, of maps of the same length: other pixels are left alone.
    Grid subset(const std::vector<std::int64_t>& ring_indices) const;

    /// HEALPix, ring order. weight = 4 pi / (12 nside^2). nside: any integer from 1 to 2^29.
    static Grid healpix(std::int64_t nside);
    /// n_rings Gauss-Legendre nodes from north to south; exact for lmax <= n_rings - 1 where
    /// n_phi >= 2 lmax + 1. weight = Gauss weight * 2 pi / n_phi.
    static Grid gauss_legendre(std::int64_t n_rings, std::int64_t n_phi, double phi_0 = 0);
    /// theta_i = i pi / (n_rings - 1), n_rings >= 2, poles included. analyze is exact for lmax <= n_rings - 2
    /// where n_phi >= 2 lmax + 1. The weights of this rule and the following integrate polynomials in cos
    /// theta exactly up to degree n_rings - 1.
    static Grid clenshaw_curtis(std::int64_t n_rings, std::int64_t n_phi, double phi_0 = 0);
    /// theta_i = (i + 1/2) pi / n_rings (Fejer's first rule); analyze is exact for lmax <= n_rings - 1.
    static Grid fejer1(std::int64_t n_rings, std::int64_t n_phi, double phi_0 = 0);
    /// theta_i = (i + 1) pi / (n_rings + 1), without the poles (Fejer's second rule); analyze is exact for
    /// lmax <= n_rings - 1.
    static Grid fejer2(std::int64_t n_rings, std::int64_t n_phi, double phi_0 = 0);
    /// Equidistant cylindrical (plate carree, CAR): fejer1 rings, pixels centred at (j + 1/2) 2 pi / n_phi.
    static Grid equidistant_cylindrical(std::int64_t n_rings, std::int64_t n_phi);
    /// theta_i = i pi / n_rings, with the north pole and without the south pole (Driscoll & Healy 1994);
    /// analyze is exact for lmax <= n_rings - 1, twice what the rule's weights allow. What s2fft calls "dh"
    /// is fejer1.
    static Grid driscoll_healy(std::int64_t n_rings, std::int64_t n_phi, double phi_0 = 0);
    /// theta_i = (2 i + 1) pi / (2 n_rings - 1), with the south pole (McEwen & Wiaux 2011), or flipped
    /// 2 i pi / (2 n_rings - 1), with the north pole; analyze is exact for lmax <= n_rings - 1.
    static Grid mcewen_wiaux(std::int64_t n_rings, std::int64_t n_phi, double phi_0 = 0,
                             bool flipped = false);
    /// Reduced Gaussian grid as weather models have it: Gauss-Legendre rings, of which ring i has n_phi[i]
    /// pixels that begin at longitude 0, from north to south, as the list `pl` of GRIB has them. weight =
    /// Gauss weight
    /// * 2 pi / n_phi[i]. Analysis is exact for lmax <= n_rings - 1 where n_phi[i] >= 2 lmax + 1 everywhere;
    /// rings near the poles do with fewer, because high orders are small there (see octahedral and
    /// reduced_gauss_legendre). Throws InvalidArgument for no rings, a ring without pixels, and southern
    /// rings with other numbers of pixels than their mirror images.
    static Grid reduced_gaussian(const std::vector<std::int64_t>& n_phi);
    /// Octahedral reduced Gaussian grid O_n of ECMWF: 2 n Gauss-Legendre rings, of which the i-th from each
    /// pole has 20 + 4 i pixels, i from 0 to n - 1. Analysis by quadrature errs by about 1e-12 of the alm up
    /// to lmax = n - 1 (cubic truncation), and by 1e-5 up to 4 n / 3 - 1 (quadratic), which two Jacobi
    /// iterations take to 1e-14. lmax = 2 n - 1 (linear) is not determined. n: from 1 to 2^29.
    static Grid octahedral(std::int64_t n);
    /// Gauss-Legendre rings with as few pixels as analysis by quadrature up to lmax needs to be as exact as
    /// on full rings (1e-13 of the alm at lmax 127), for each spin from 0 to `spin`. They are 79 % of those
    /// of full rings at lmax 127, 69 % at 1023. A ring has 2 ceil(mlim) + 2 pixels, or up to the next number
    /// 4 k without primes above 5, whose transform is quick: orders above mlim, the largest s |cos| +
    /// sqrt(t^2 - s^2 sin^2) of a spin s with t = lmax sin + 6 (lmax sin cos^2)^(1/3) + 4, and those above
    /// lmax are below rounding there. lmax: from spin to n_rings - 1.
    static Grid reduced_gauss_legendre(std::int64_t n_rings, std::int64_t lmax, int spin = 0);

  private:
    static Grid exact_to(std::int64_t degree, Grid grid, std::optional<EquidistantRings> rings = {});

    std::shared_ptr<const std::vector<Ring>> rings_;
    std::int64_t n_pixels_;
    std::string name_;
    std::int64_t healpix_nside_ = 0, healpix_nside_of_rings_ = 0, exact_degree_ = -1;
    std::optional<EquidistantRings> equidistant_;
};

}  // namespace zonal
