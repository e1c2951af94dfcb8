#include "io/tables/spectrum_names.hpp"

#include <algorithm>

#include "io/tables/text.hpp"

namespace zonal::io {

bool is_multipole_name(const std::string& name) {
    const auto key = to_upper(trim(name));
    return key == "L" || key == "ELL" || key == "MULTIPOLE";
}

std::optional<std::string> spectrum_from_name(const std::string& name, bool healpy) {
    // Upper case, without blanks, "-", "_" and "x" between the two fields: "G-T", "TxE".
    std::string key = to_upper(trim(name));
    std::erase_if(key, [](char byte) { return byte == '-' || byte == '_' || byte == ' '; });
    if (key.size() == 3 && key[1] == 'X') key.erase(1, 1);
    if (healpy && key == "CT") return "EB";
    if (healpy && key == "CG") return "TB";

    // TG is ET only beside a TE (see read_spectrum): files of one map write their TE either way.
    if (key == "TEMPERATURE" || key == "TT" || key == "T") return "TT";
    if (key == "GRADIENT" || key == "EE" || key == "GG" || key == "ELECTRIC") return "EE";
    if (key == "CURL" || key == "BB" || key == "CC" || key == "MAGNETIC") return "BB";
    if (key == "GT" || key == "TE") return "TE";
    if (key == "CT" || key == "TB") return "TB";
    if (key == "CG" || key == "EB") return "EB";
    if (key == "TG" || key == "ET") return "ET";
    if (key == "TC" || key == "BT") return "BT";
    if (key == "GC" || key == "BE") return "BE";
    return {};
}

}  // namespace zonal::io
