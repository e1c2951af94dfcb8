#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "radial/bands/latitude_bands.hpp"
#include "radial/column_sums.hpp"
#include "radial/part_sums.hpp"
#include "sky/sky_part.hpp"
#include "zonal/normalized_convolution.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal::planning {

template <class T>
View<T, 3> as_pairs(View<T, 2> rows) {
    return {rows.data(), {rows.extent(0) / 2, 2, rows.extent(1)}};
}

/// The sums over pixels of a ConvolutionPlan, of a whole sky, of a patch, or of a rank's part. One call at a
/// time.
class PixelSums {
  public:
    /// All of them must outlive it. Collective for a part of a sky, as are its functions.
    PixelSums(const ConvolutionRequest& request, const ConvolutionChoice& choice,
              const ConvolutionOptions& options, const SkyPart& part);

    /// Rows without UNSEEN pixels.
    template <class T>
    void convolve(View<const T, 2> maps, View<T, 2> convolved, const Progress& progress);
    /// The memory of the host that convolve, and divide_by_shares after it where masks are renormalised, take
    /// at a time beside their arrays, in double precision. Not that of a part of a sky that ranks share.
    double scratch_bytes(std::int64_t n_rows) const;
    /// Divides K(m f) by K(m). known: m, [row, pixel]; UNSEEN where too little is known.
    template <class T>
    void divide_by_shares(View<const T, 2> known, View<T, 2> convolved, const Progress& progress) const;

  private:
    /// Calls work(sums, maps, convolved, progress) for whole rings, some at a time, that together have all
    /// pixels of a patch. The maps are 0 in other pixels.
    template <class T, class Work>
    void in_bands(View<const T, 2> maps, View<T, 2> convolved, const Progress& progress,
                  const Work& work) const;
    /// Counts over the sums of the kernel from their pixels.
    template <class T>
    Array<T, 2> shares_of(View<const T, 2> counts) const;
    const Grid& grid() const { return part_.grid(); }

    const ConvolutionRequest& request_;
    const ConvolutionChoice& choice_;
    const ConvolutionOptions& options_;
    const SkyPart& part_;
    using Scalars = radial::PartSums<PixelConvolutionPlan>;
    using Pairs = radial::PartSums<PolarizationConvolutionPlan>;
    std::optional<Scalars> scalar_;              ///< of Q and U: of their masks
    std::optional<radial::ColumnSums> columns_;  ///< by which this part's counts are divided
    std::optional<Pairs> spin_;
    std::shared_ptr<const SkyHalo> halo_;
    Scalars::Workspaces of_scalar_;
    Pairs::Workspaces of_spin_;
    /// Rings that are summed by themselves.
    struct Band {
        radial::LatitudeBand rings;   ///< the output's with their neighbours
        std::vector<PixelRange> own;  ///< pixels of those that no other band has
    };
    static std::vector<Band> bands_of(const SkyPatch& patch, double support);
    /// A band's result into the part's.
    template <class T>
    void put(const Band& band, View<const T, 2> result, View<T, 2> all) const;
    std::vector<Band> bands_;  ///< of a patch, which has none of the above
};

}  // namespace zonal::planning
