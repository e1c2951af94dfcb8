#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/fits/file_bytes.hpp"
#include "io/fits/fits_scan.hpp"
#include "zonal/error.hpp"
#include "zonal/grid.hpp"
#include "zonal/view.hpp"

namespace zonal::io {

/// A FITS file open for reading: its scanned HDUs, and their data through CFITSIO. CFITSIO sees a file only
/// after scan_fits has found its headers sound.
class FitsReader {
  public:
    /// Throws IoError.
    explicit FitsReader(const std::string& path);
    explicit FitsReader(std::unique_ptr<FileBytes> file);
    ~FitsReader();

    const std::string& path() const { return file_->path(); }
    /// Whether the file was packed, and now lies in memory.
    bool is_unpacked() const { return is_unpacked_; }
    const std::vector<Hdu>& hdus() const { return scan_.hdus; }
    /// Why HDUs behind the last one cannot be used; empty when all is well.
    const std::string& problem() const { return scan_.problem; }

    /// By name (any case) or number; an empty text takes the first that `wanted` accepts. `what` is what was
    /// looked for: "map". Throws IoError that says which HDUs there are.
    const Hdu& select(const std::string& name_or_number, const std::string& what,
                      const std::function<bool(const Hdu&)>& wanted) const;

    /// All elements of numeric or logical columns, [column][rows * repeat]; NaN stays, TNULL and undefined
    /// logicals become `null`.
    std::vector<std::vector<double>> read_columns(const Hdu& hdu, const std::vector<int>& columns,
                                                  double null);
    /// Elements of these ranges only, one after the other. Columns of no elements are left empty.
    std::vector<std::vector<double>> read_columns(const Hdu& hdu, const std::vector<int>& columns,
                                                  const std::vector<PixelRange>& elements, double null);
    /// Takes values of columns, [column, element], whose first element stands at `place` among all that are
    /// read.
    using TakePiece = std::function<void(std::int64_t place, View<double, 2> values)>;
    /// The same for columns that have as many elements a row, in pieces that stay in the cache: no value need
    /// go through memory more often than once. take is called on several threads. threads: 0 for all CPUs.
    void read_pieces(const Hdu& hdu, const std::vector<int>& columns, const std::vector<PixelRange>& elements,
                     double null, const TakePiece& take, int threads = 0);
    /// All elements of the integer column (B, I, J, K) hdu.columns[index], exactly.
    std::vector<std::int64_t> read_integers(const Hdu& hdu, int index);
    /// Those of the elements in a range, which lies in the column.
    std::vector<std::int64_t> read_integers(const Hdu& hdu, int index, const PixelRange& elements);
    /// Elements [first, first + count) of an image; BLANK becomes `null`.
    std::vector<double> read_image(const Hdu& hdu, std::int64_t first, std::int64_t count, double null);

    /// "map.fits: HDU 1 'SKYMAP'"
    std::string source(const Hdu& hdu) const { return path() + ": " + hdu.label(); }
    /// Throws IoError "map.fits: HDU 1 'SKYMAP': reason".
    [[noreturn]] void fail(const Hdu& hdu, const std::string& reason) const;

    /// Runs `read`, whose InvalidArgument (a header value of the wrong type) or want of memory becomes an
    /// IoError.
    template <class Read>
    auto in(const Hdu& hdu, Read&& read) const {
        try {
            return read();
        } catch (const InvalidArgument& error) {
            fail(hdu, error.what());
        } catch (const std::bad_alloc&) {
            fail(hdu, "does not fit in memory");
        } catch (const std::length_error&) {
            fail(hdu, "does not fit in memory");
        }
    }

  private:
    struct Handle;
    void open_handle();
    void move_to(const Hdu& hdu);
    void read_elements(const Hdu& hdu, const FitsColumn& column, std::int64_t first, std::int64_t count,
                       double null, double* values);
    void read_ascii_rows(const Hdu& hdu, const FitsColumn& column, std::int64_t first_row, std::int64_t rows,
                         double null, double* values);
    void check(const Hdu& hdu, int status) const;

    std::unique_ptr<FileBytes> file_;
    bool is_unpacked_;
    FitsScan scan_;
    std::unique_ptr<Handle> handle_;
};

}  // namespace zonal::io
