#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <nanobind/typing.h>

#include "arrays.hpp"
#include "call.hpp"
#include "zonal/io/map.hpp"

namespace zonal::python {

/// Name, value and comment.
using Card = std::tuple<std::string, std::variant<bool, std::int64_t, double, std::string>, std::string>;

std::vector<Card> cards_of(const std::vector<HeaderCard>& cards);
std::vector<HeaderCard> header_cards(const std::vector<Card>& tuples);

/// What is read, by the names of its parts.
using FileContent = nb::typed<nb::dict, nb::str, nb::any>;

/// What a file says of a map beside its pixels.
struct MapMetadata {
    std::string fields;
    std::vector<std::string> names, units;
    std::string coordinates;
    std::vector<Card> cards;
    bool nest = false, single = true, partial = false, multi_order = false;
};

/// Which part of a file to read, and how.
io::ReadMapOptions reading_options(const std::string& hdu, const std::vector<std::string>& fields,
                                   bool auxiliary, std::optional<bool> polarized,
                                   std::optional<bool> nest_if_absent, bool nan_is_unseen);
/// The rows of a map and what its header says. With the GIL.
FileContent content_of(SkyMap map);
/// Makes the header say this. Throws InvalidArgument for unknown coordinates.
void describe(SkyMap& map, const MapMetadata& metadata);

/// Reads or writes without the GIL.
template <class Work>
auto reading(const Work& work) {
    return without_gil(nb::none(), [&](const Progress&) { return work(); });
}

}  // namespace zonal::python
