#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct _cairo_surface;

namespace zonal::plot {

/// Size and resolution of a picture.
struct ImageOptions {
    int width = 0;   ///< pixels, 200 to 16384; 0: 1600, or 1100 for a gnomonic map
    int height = 0;  ///< pixels, 150 to 16384; 0: in proportion to the width
    /// Pixels per inch of type and lines, 40 to 1200 (text has 10 pt); 0: width / 8, at least 80, so that
    /// text keeps its share of the picture.
    double dpi = 0;
    bool transparent = false;  ///< outside the map and the axes; white otherwise
};

struct Rgb {
    std::uint8_t red, green, blue;
    bool operator==(const Rgb&) const = default;
};

/// A finished picture. Equal plots give equal bytes on one machine.
class Image {
  public:
    /// surface: a Cairo image surface, ARGB32 or RGB24.
    Image(std::shared_ptr<_cairo_surface> surface, double dpi);

    int width() const;
    int height() const;
    /// The colour at column x from the left and row y from the top, over white where transparent.
    Rgb pixel(int x, int y) const;
    /// Writes a PNG file that appears complete or not at all; replaces an existing file.
    /// Throws IoError with the path.
    void write_png(const std::string& path) const;

    friend Image arrange(const std::vector<std::vector<Image>>& rows);

  private:
    std::shared_ptr<_cairo_surface> surface_;
    double dpi_;
};

/// Pictures side by side in rows, which are below each other and in the middle of the widest, on white, with
/// the resolution of the first. Throws InvalidArgument where there is none.
Image arrange(const std::vector<std::vector<Image>>& rows);

enum class Projection { mollweide, gnomonic };

/// How values become colours between the ends of the range. symlog is linear within +-linear_threshold and
/// logarithmic beyond; equalised gives every colour the same area.
enum class Scale { linear, log, symlog, equalised };

/// "linear", "log", "symlog", "equalised"; throws InvalidArgument with the permitted names.
Scale scale_from_name(const std::string& name);
/// "mollweide", "gnomonic"; throws InvalidArgument with the permitted names.
Projection projection_from_name(const std::string& name);

/// The map's value at colatitude theta in [0, pi] and longitude phi in [0, 2 pi), rad. NaN, Inf and UNSEEN
/// are drawn grey.
using SkyFunction = std::function<double(double theta, double phi)>;

/// Nearest pixel of a HEALPix map in ring or nest order. map: [12 nside^2], must outlive the function.
/// Throws InvalidArgument.
SkyFunction healpix_ring(std::int64_t nside, std::span<const double> map);
SkyFunction healpix_ring(std::int64_t nside, std::span<const float> map);
SkyFunction healpix_nest(std::int64_t nside, std::span<const double> map);
SkyFunction healpix_nest(std::int64_t nside, std::span<const float> map);

struct MapPlot {
    SkyFunction value;

    Projection projection = Projection::mollweide;
    double centre_lon = 0;  ///< degrees, in the map's coordinates
    double centre_lat = 0;  ///< degrees, -90 to 90
    double field = 10;      ///< side of the square field of a gnomonic map, degrees, above 0 and at most 150

    /// The ends of the range; where empty, automatic_range of what is drawn. Values beyond get the end's
    /// colour.
    std::optional<double> minimum, maximum;
    Scale scale = Scale::linear;
    double linear_threshold = 0;  ///< of symlog; 0: the median |value|

    /// A name of colormap_names(), "_r" appended to reverse. Empty: coolwarm where the range is symmetric
    /// about zero, viridis otherwise.
    std::string colormap;

    std::string title;  ///< may hold sub- and superscripts: "C_{TT}", "10^{3}"
    std::string unit;   ///< of the values, in any usual spelling: "uK", "K_CMB", "MJy/sr"
    /// Name of the coordinate system, "Galactic", for a corner or the axes; empty: "coordinates unknown".
    std::string coordinates;

    bool colorbar = true;
    bool graticule = true;
    bool graticule_labels = true;
    double graticule_step = 0;  ///< degrees; 0: 30 on a full sky, a round number on a zoom

    ImageOptions image;
};

/// Draws a sky map. Longitude grows leftwards. Throws InvalidArgument.
Image draw_map(const MapPlot& plot);

struct Range {
    double minimum, maximum;
};

/// The range that a map gets by default; values: any order, missing ones (NaN, Inf, UNSEEN) are left out.
/// - log: from the 1st percentile of the positive values to the largest.
/// - equalised: smallest to largest.
/// - both signs present, each in 5 % of the values or more (CMB, Q and U, differences): symmetric about
/// zero,
///   +-2.33 sigma of a Gaussian sky, taken from the median |value| so that the Galactic plane saturates and
///   the sky keeps its contrast. For symlog +- the largest |value|.
/// - otherwise (intensities, counts, masks): from the 0.5th percentile, or the smallest value where that is
/// near
///   zero, to the 99.5th percentile.
/// A constant map gets a tenth of its value on each side.
/// Throws InvalidArgument where no value can be drawn.
Range automatic_range(std::vector<double> values, Scale scale);

/// viridis, magma, inferno, plasma, cividis (lightness grows from end to end); coolwarm, planck (diverging);
/// grey.
std::vector<std::string> colormap_names();

struct Spectrum {
    std::string name;         ///< for the legend: "TT", "EE", "TE"
    std::vector<double> c_l;  ///< [lmax + 1], from l = 0 on; NaN leaves a gap
};

enum class Axis { automatic, linear, log };

struct SpectrumPlot {
    std::vector<Spectrum> spectra;
    /// Drawn as lines over the spectra, which then are points; the same name has the same colour.
    std::vector<Spectrum> theory;
    std::string unit;  ///< of C_l: "uK^2"
    std::string title;
    bool times_l2 = true;  ///< draw l(l+1)C_l/2pi; false: C_l

    int lmin = 2;           ///< first multipole drawn
    int lmax = -1;          ///< last multipole drawn; -1: the longest spectrum's (theory left aside)
    Axis x = Axis::linear;  ///< automatic means linear
    /// automatic: log where the spectra's largest values differ by more than 30, or one of them spans more
    /// than four decades; linear otherwise. On a log axis negative values are drawn as |value|, dashed or as
    /// hollow points.
    Axis y = Axis::automatic;
    std::optional<double> minimum, maximum;  ///< ends of the y axis

    ImageOptions image;
};

/// Draws spectra against l. Throws InvalidArgument.
Image draw_spectrum(const SpectrumPlot& plot);

}  // namespace zonal::plot
