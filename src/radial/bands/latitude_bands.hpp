#pragma once

#include <cstdint>
#include <vector>

#include "zonal/grid.hpp"

/// A convolution in latitude bands (Elsner & Wandelt 2011, scytale): some rings of the output, and of the
/// input the rings within the kernel's support of them, so that a device needs memory for its band and not
/// for the map. Mirrored rings stay together, as they share the kernel's rows: a band has a northern and a
/// southern part.
namespace zonal::radial {

/// Pixels [first, first + n_pixels) of a map, which a band's own array holds from `place` on.
struct PixelRun {
    std::int64_t first, n_pixels, place;
};

/// Some rings of a map, in an array of their own.
struct PackedRings {
    Grid grid;                   ///< of that array; every pixel is in a ring
    std::vector<PixelRun> runs;  ///< as few as there can be, in the order of the map
};

/// The map's pixels in that array, one range after the other.
std::vector<PixelRange> ranges_of(const PackedRings& rings);

/// The pixels of a grid's rings, as few ranges as there can be.
std::vector<PixelRange> ranges_of(const Grid& grid);

/// ring_indices: of the grid. The rings keep that order; their pixels get the map's.
PackedRings pack_rings(const Grid& grid, const std::vector<std::int64_t>& ring_indices);

/// The rings of the grid within the support (rad) of some rings of the output, ascending.
std::vector<std::int64_t> rings_within(const Grid& grid, double support, const Grid& grid_out,
                                       const std::vector<std::int64_t>& outputs);

/// How many rings of the grid are within the support (rad) of each of them, itself among them.
std::vector<std::int64_t> count_rings_within(const Grid& grid, double support);

/// Those of some rings of the grid within whose support there are only rings of these, ascending as they are.
/// counts: count_rings_within.
std::vector<std::int64_t> rings_apart(const Grid& grid, double support,
                                      const std::vector<std::int64_t>& counts,
                                      const std::vector<std::int64_t>& rings);

struct LatitudeBand {
    PackedRings input, output;
    double cost;  ///< of rings and pixels that meet, to be compared with other bands'
};

/// At most n_bands bands of about equal cost, from the poles to the equator; every ring of the output is in
/// one. support: of the kernel, rad.
std::vector<LatitudeBand> latitude_bands(const Grid& grid, double support, const Grid& grid_out,
                                         std::int64_t n_bands);

/// Bytes of device copies of maps in host memory: while one is worked on, the next comes and the one before
/// goes, so there are two of the input's and of the output's; in double.
inline std::int64_t bytes_of_copies(std::int64_t n_pixels_in, std::int64_t n_pixels_out) {
    return 2 * (n_pixels_in + n_pixels_out) * static_cast<std::int64_t>(sizeof(double));
}

/// Device memory of bands that one device works through.
class BandMemory {
  public:
    /// components: that each pixel has.
    explicit BandMemory(int components = 1) : components_(components) {}

    /// kind: of the band's convolver, from 0 on; those of a kind share a workspace. workspace_parts: bytes of
    /// its arrays; as many, in the same order, for all of a kind.
    void add(const LatitudeBand& band, std::size_t kind, const std::vector<std::int64_t>& workspace_parts);

    /// Pixels of the largest band's input and output, those of all components.
    std::int64_t input_pixels() const { return input_pixels_; }
    std::int64_t output_pixels() const { return output_pixels_; }
    /// Bytes of the bands' parts of maps and of the workspaces.
    std::int64_t bytes() const;

  private:
    int components_;
    std::int64_t input_pixels_ = 0, output_pixels_ = 0;
    std::vector<std::vector<std::int64_t>> workspaces_;  ///< [kind][array]
};

}  // namespace zonal::radial
