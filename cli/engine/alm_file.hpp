#pragma once

#include <string>

#include "options/common_options.hpp"
#include "shell/interrupt.hpp"
#include "zonal/io/parts.hpp"

namespace zonal::cli {

/// Reads alm; the notes go to the session. Over several ranks, each gets a share of the orders. Throws
/// IoError for coefficients that are NaN or infinite.
inline io::AlmFile read_alm(const std::string& path, Session& session) {
    if (session.has_several_ranks()) {
        const auto& ranks = session.ranks;
        const auto whole = io::read_alm_header(path, ranks).file.layout;
        auto file = io::read_alm_part(path, share_of_orders(ranks, whole.lmax(), whole.mmax()), ranks);
        session.note(file.notes);
        return file;
    }
    auto file = io::read_alm(path, session.memory_check());
    session.note(file.notes);
    io::require_finite(path, file, "coefficients");
    return file;
}

/// Writes alm, or this rank's part of them. Throws IoError for coefficients that overflowed.
inline void write_alm_file(const std::string& path, const io::AlmFile& file, const io::WriteOptions& options,
                           const Session& session) {
    if (session.has_several_ranks()) return io::write_alm_part(path, file, session.ranks, options);
    io::require_finite(path, file, "coefficients of the result");
    io::write_alm(path, file, options);
}

/// Writes alm in --precision, with cards that say how they were made and these.
inline void write_alm(const FileOptions& files, io::AlmFile& file, const std::vector<HeaderCard>& cards,
                      Session& session) {
    file.precision = files.precision.value_or(file.precision);
    set_cards(file.cards, provenance(session));
    set_cards(file.cards, cards);
    stop_if_interrupted();
    write_alm_file(files.out, file, files.output.write_options(), session);
}

}  // namespace zonal::cli
