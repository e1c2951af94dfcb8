// Any bytes, read as any kind of file: every reader must return or throw zonal::Error, within bounded memory.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "zonal/error.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/io/band_powers.hpp"
#include "zonal/io/beam.hpp"
#include "zonal/io/events.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/io/map.hpp"
#include "zonal/io/positions.hpp"
#include "zonal/io/psf.hpp"
#include "zonal/io/solution.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/io/weights.hpp"

namespace {

using namespace zonal::io;

/// A file in memory where there is /dev/shm, overwritten by each input.
class InputFile {
  public:
    InputFile() {
        descriptor_ = mkstemp(name_.data());
        if (descriptor_ < 0) {
            name_ = "/tmp/zonal-fuzz-XXXXXX";
            descriptor_ = mkstemp(name_.data());
        }
        if (descriptor_ < 0) std::abort();
    }
    ~InputFile() {
        close(descriptor_);
        unlink(name_.c_str());
    }
    const std::string& fill(const std::uint8_t* bytes, std::size_t size) {
        if (ftruncate(descriptor_, 0) != 0) std::abort();
        for (std::size_t done = 0; done < size;) {
            const auto written = pwrite(descriptor_, bytes + done, size - done, static_cast<off_t>(done));
            if (written <= 0) std::abort();
            done += static_cast<std::size_t>(written);
        }
        return name_;
    }

  private:
    std::string name_ = "/dev/shm/zonal-fuzz-XXXXXX";
    int descriptor_ = -1;
};

void read_map_in_every_way(const std::string& path) {
    MapFile map = read_map(path);
    // A partial sky of a few pixels may stand for a map of any size.
    if (full_sky_size(map.pixelization) < 100'000) expand_to_full_sky(map);
    read_map(path, {.fields = {"0"}, .polarized = false});
}

/// Every reader gets every input: what is an error for one is a file for the next.
template <class Read>
void attempt(Read&& read) {
    try {
        read();
    } catch (const zonal::Error&) {
        // The expected end of a file that is not what it claims.
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static InputFile input;
    const std::string& path = input.fill(data, size);
    attempt([&] { read_map_in_every_way(path); });
    attempt([&] { read_map(path, {.hdu = "2"}); });
    attempt([&] { read_alm(path); });
    attempt([&] { read_spectrum(path, {.order = ClOrder::healpy, .dl = true}); });
    attempt([&] { read_band_powers(path); });
    attempt([&] { read_beam(path); });
    attempt([&] { read_pixel_window(path); });
    attempt([&] { read_weights(path); });
    attempt([&] {
        const PsfTable psf = read_psf(path);
        psf_at_energy(psf, psf.energy.back());
    });
    attempt([&] { read_energy_bands(path); });
    attempt([&] { read_events(path, {.energy = "ENERGY"}); });
    attempt([&] { read_positions(path, {.unit = "deg"}); });
    attempt([&] {
        const auto solution = read_solution(path).solution;
        solution(0, {solution.t1(), 0, 0});
    });
    attempt([&] { inspect(path); });
    return 0;
}
