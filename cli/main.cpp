#include "commands/subcommands.hpp"
#include "shell/program.hpp"

namespace zonal::cli {
namespace {

int run_zonal(int argc, char** argv) {
    return run_program(
        {.name = "zonal",
         .description = "spectral work on sky maps: smooth, simulate, analyse, rotate, convert and draw them",
         .remark =
             "synfast, alm2map, map2alm, anafast\n"
             "and udgrade do what healpy's functions of these names do, smooth what healpy.smoothing does.\n"
             "mpirun -n P zonal ... divides these and convert among P processes "
             "(docs/guide/several-machines.md).",
         .subcommands = {add_smooth,  add_synfast, add_alm2map, add_map2alm,  add_anafast, add_rotate,
                         add_udgrade, add_convert, add_bin,     add_evaluate, add_lens,    add_scan,
                         add_mask,    add_wavelet, add_weights, add_split,    add_plan,    add_calibrate,
                         add_solve,   add_info,    add_compare, add_plot}},
        argc, argv);
}

}  // namespace
}  // namespace zonal::cli

int main(int argc, char** argv) {
    return zonal::cli::run_zonal(argc, argv);
}
