// Lets test_io_healpy.py read and write files through zonal_io.
//
//   zonal_io_tool dump  map|alm|cl|window|weights FILE     as text: a line of facts, then "name value value
//   ..." lines zonal_io_tool copy  map|alm|cl|window|weights IN OUT   read, write zonal_io_tool copy-double
//   map IN OUT                   the same with columns of doubles
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "zonal/io/alm.hpp"
#include "zonal/io/beam.hpp"
#include "zonal/io/map.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/io/weights.hpp"

namespace {

using namespace zonal;
using namespace zonal::io;

const char* name_of(FilePrecision precision) {
    return precision == FilePrecision::float32 ? "float32" : "float64";
}

template <class Values>
void print(const std::string& name, const Values& values) {
    std::string line = name;
    for (const auto value : values) line += fmt::format(" {}", value);
    std::cout << line << '\n';
}

void dump_map(const std::string& path) {
    const MapFile map = read_map(path);
    const auto& healpix = std::get<HealpixPixels>(map.pixelization);
    std::cout << fmt::format("nside={} nest={} coordinates={} partial={}\n", healpix.nside,
                             int(healpix.ordering == healpix::Order::nest), to_string(map.coordinates),
                             int(map.partial()));
    if (map.partial()) print("pixels", map.pixels);
    for (const auto& column : map.columns) {
        constexpr const char* stokes[] = {"none", "I", "Q", "U"};
        print(fmt::format("{}|{}|{}|{}", column.name, column.unit, name_of(column.precision),
                          stokes[int(column.stokes)]),
              column.values);
    }
}

void dump_alm(const std::string& path) {
    const AlmFile alm = read_alm(path);
    std::cout << fmt::format("lmax={} mmax={} precision={}\n", alm.layout.lmax(), alm.layout.mmax(),
                             name_of(alm.precision));
    for (const auto& component : alm.components) {
        std::vector<double> parts;
        for (const auto value : component) parts.insert(parts.end(), {value.real(), value.imag()});
        print("alm", parts);
    }
}

void dump(const std::string& kind, const std::string& path) {
    if (kind == "map") return dump_map(path);
    if (kind == "alm") return dump_alm(path);
    if (kind == "cl") {
        const SpectrumFile file = read_spectrum(path);
        std::cout << fmt::format("lmax={} precision={}\n", file.lmax(), name_of(file.precision));
        for (const auto& spectrum : file.spectra) print(spectrum.name, spectrum.values);
    } else if (kind == "window") {
        const BeamFile window = read_beam(path);
        std::cout << fmt::format("lmax={} columns={}\n", window.lmax(), window.columns);
        print("T", window.temperature);
        print("E", window.gradient);
        print("B", window.curl);
    } else if (kind == "weights") {
        const QuadratureWeights weights = read_weights(path);
        std::cout << fmt::format("nside={} lmax={}\n", weights.nside, weights.lmax);
        print(weights.kind == QuadratureWeights::Kind::ring ? "ring" : "pixel", weights.deviations);
    } else {
        throw std::invalid_argument("unknown kind " + kind);
    }
}

void copy(const std::string& kind, const std::string& in, const std::string& out) {
    if (kind == "map") return write_map(out, read_map(in));
    if (kind == "alm") return write_alm(out, read_alm(in));
    if (kind == "cl") return write_spectrum(out, read_spectrum(in));
    if (kind == "window") return write_beam(out, read_beam(in));
    if (kind == "weights") return write_weights(out, read_weights(in));
    throw std::invalid_argument("unknown kind " + kind);
}

void copy_double(const std::string& in, const std::string& out) {
    MapFile map = read_map(in);
    for (auto& column : map.columns) column.precision = FilePrecision::float64;
    write_map(out, map);
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    try {
        if (words.size() == 3 && words[0] == "dump") {
            dump(words[1], words[2]);
        } else if (words.size() == 4 && words[0] == "copy") {
            copy(words[1], words[2], words[3]);
        } else if (words.size() == 4 && words[0] == "copy-double") {
            copy_double(words[2], words[3]);
        } else {
            throw std::invalid_argument("usage: zonal_io_tool dump|copy|copy-double KIND FILE...");
        }
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
