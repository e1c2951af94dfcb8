#include "shell/program.hpp"
#include "tool/subcommands.hpp"

namespace zonal::cli {
namespace {

int run_zonal_bench(int argc, char** argv) {
    return run_program(
        {.name = "zonal-bench",
         .description =
             "measurements of what zonal does: times on this machine, and true errors beside predicted ones",
         .remark = "Records of such measurements are in bench/results.",
         .subcommands = {add_bench_sht, add_bench_distributed, add_bench_radial, add_bench_chebyshev,
                         add_bench_plan, add_bench_split}},
        argc, argv);
}

}  // namespace
}  // namespace zonal::cli

int main(int argc, char** argv) {
    return zonal::cli::run_zonal_bench(argc, argv);
}
