#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "zonal/io/header.hpp"

namespace zonal::io {

struct WriteColumn {
    std::string name{};
    std::string format{};  ///< TFORM: "1024E", "D", "K"
    std::string unit{};
    std::string comment{};  ///< of the TTYPE card
};

/// Writes one FITS file through CFITSIO; it appears, complete, when commit() returns, and gzipped where its
/// name ends in .gz. Every failure is an IoError that names the file, and leaves nothing behind.
class FitsWriter {
  public:
    FitsWriter(const std::string& path, const WriteOptions& options);
    ~FitsWriter();

    /// Starts a binary table. Cards follow, then data.
    void begin_table(const std::string& name, std::int64_t rows, const std::vector<WriteColumn>& columns);
    /// Makes the primary HDU an image of doubles (BITPIX -64) or floats (-32).
    void begin_image(FilePrecision precision, const std::vector<std::int64_t>& axes);
    /// Starts an extension that is an image of doubles.
    void begin_image(const std::string& name, const std::vector<std::int64_t>& axes);

    void write_card(const HeaderCard& card);
    void write_cards(const std::vector<HeaderCard>& cards);

    /// Elements from `first` (from 0) of a column (from 0), in table order. Doubles that do not fit a float
    /// column are an error, not an infinity.
    void write_column(int column, std::int64_t first, const double* values, std::int64_t count);
    void write_column(int column, std::int64_t first, const std::int64_t* values, std::int64_t count);
    /// Elements from `first` on; of an image of floats all must fit.
    void write_image(std::int64_t first, const double* values, std::int64_t count);

    /// Rows to write of all columns, one after the other, before the next rows: what CFITSIO buffers.
    std::int64_t rows_at_once();

    void commit();
    /// Instead: returns the bytes of the file, and writes none.
    std::string bytes();

  private:
    struct State;
    void check(int status);
    /// Throws IoError, which names the HDU, when a value is finite as a double but not as a float.
    void check_range(const std::string& name, const double* values, std::int64_t count);
    std::unique_ptr<State> state_;
};

}  // namespace zonal::io
