#pragma once

#include "io/fits/file_bytes.hpp"
#include "zonal/io/spectrum.hpp"

namespace zonal::io {

SpectrumFile read_text_spectrum(const FileBytes& file);

/// A single TG, TC, GC stands for TE, TB, EB: files of one map write them either way. Throws InvalidArgument
/// when a spectrum is there twice or there is none.
void settle_names(std::vector<Spectrum>& spectra);

}  // namespace zonal::io
