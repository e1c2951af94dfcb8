#include "io/map/column_names.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "io/tables/text.hpp"

namespace zonal::io {
namespace {

using Names = std::vector<std::string_view>;

// Names that HEALPix F90/C++/IDL, healpy, WMAP and Planck give, in capitals with '-' between words.
const Names intensity{"I-STOKES", "STOKES-I", "TEMPERATURE", "INTENSITY", "I", "T", "I-MAP", "SIGNAL"};
// Beside the Q or U.
const Names polarisation{"", "STOKES", "POLARISATION", "POLARIZATION", "MAP"};
// Written to the letter without anything between.
const Names glued{"MAP", "POL", "STOKES", "SKY"};
const Names hits{"N-OBS", "NOBS",     "N-HITS",         "NHITS",  "HITS",
                 "HIT",   "HITCOUNT", "N-OBSERVATIONS", "HITMAP", "EFFECTIVE-N-OBS"};
const Names errors{"SERROR", "SIGMA", "ERROR", "VARIANCE"};
// healpy's names for the six elements of the covariance of I, Q, U.
const Names covariance{"II", "IQ", "IU", "QQ", "QU", "UU"};
// As a name's first or last word.
const Names error_words{"ERR", "ERROR",  "RMS",    "STD", "STDDEV",     "SIGMA",
                        "VAR", "SERROR", "STDERR", "COV", "COVARIANCE", "VARIANCE"};

bool contains(const Names& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// "Stokes Q" -> STOKES, Q.
std::vector<std::string> words_of(const std::string& name) {
    std::vector<std::string> words(1);
    for (const char c : to_upper(trim(name))) {
        if (std::isalnum(static_cast<unsigned char>(c)))
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

std::string joined(const std::vector<std::string>& words, std::size_t first, std::size_t end) {
    std::string text;
    for (std::size_t i = first; i < end; ++i) text += (i > first ? "-" : "") + words[i];
    return text;
}

Stokes stokes_from_letter(std::string_view word) {
    if (word == "I" || word == "T") return Stokes::I;
    if (word == "Q") return Stokes::Q;
    return word == "U" ? Stokes::U : Stokes::none;
}

/// QMAP -> Q, MAP; STOKESQ -> STOKES, Q.
std::vector<std::string> unglued(const std::string& word) {
    for (const auto part : glued) {
        if (word.size() != part.size() + 1) continue;
        if (word.ends_with(part)) return {word.substr(0, 1), std::string(part)};
        if (word.starts_with(part)) return {std::string(part), word.substr(part.size())};
    }
    return {word};
}

}  // namespace

std::optional<StokesName> stokes_from_name(const std::string& name) {
    auto words = words_of(name);
    if (words.empty()) return {};
    const auto n_words = words.size();
    if (contains(intensity, joined(words, 0, n_words))) return StokesName{Stokes::I, "", true};
    if (n_words == 1) words = unglued(words[0]);
    const auto first = stokes_from_letter(words.front()), last = stokes_from_letter(words.back());
    if ((first == Stokes::none) == (last == Stokes::none) && words.size() > 1) return {};
    StokesName found{first, joined(words, 1, words.size())};
    if (first == Stokes::none) found = {last, joined(words, 0, words.size() - 1)};
    if (found.stokes == Stokes::none) return {};
    found.is_common =
        found.stokes != Stokes::I && n_words == words.size() && contains(polarisation, found.rest);
    return found;
}

Auxiliary auxiliary_from_name(const std::string& name) {
    const auto words = words_of(name);
    if (words.empty()) return Auxiliary::none;
    const auto key = joined(words, 0, words.size());
    if (contains(hits, key) || (words.size() > 1 && words.back() == "HITS")) return Auxiliary::hits;
    const bool has_error_word =
        words.size() > 1 && (contains(error_words, words.front()) || contains(error_words, words.back()));
    return contains(errors, key) || contains(covariance, key) || has_error_word ? Auxiliary::error
                                                                                : Auxiliary::none;
}

bool is_pixel_name(const std::string& name) {
    const auto key = to_upper(trim(name));
    return key == "PIXEL" || key == "PIX";
}

}  // namespace zonal::io
