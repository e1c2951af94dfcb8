#pragma once

#include <vector>

#include "zonal/chebyshev/product.hpp"

namespace zonal::cli {

/// The 31 products of 12 fields in the 8 sums of a resistive MHD residual in two dimensions, in conservative
/// form, with three components of each vector. Fluxes in both directions are in one sum, as only the cost
/// matters here, and derivatives, which are linear, are left out.
inline std::vector<ChebyshevTerm> residual_terms() {
    enum Field {
        ux,
        uy,
        uz,
        bx,
        by,
        bz,
        p,
        rho,
        mx,
        my,
        mz,
        e
    };  // velocity, field, pressure, density,
        // momentum, energy
    return {
        {0, 1, {rho, ux}},  {0, 1, {rho, uy}},                                            // mass
        {1, 1, {mx, ux}},   {1, 1, {my, ux}},   {1, -0.5, {bx, bx}}, {1, 0.5, {by, by}},  // momentum, x
        {1, 0.5, {bz, bz}}, {1, -1, {bx, by}},                                            //
        {2, 1, {mx, uy}},   {2, 1, {my, uy}},   {2, -1, {bx, by}},   {2, 0.5, {bx, bx}},  // momentum, y
        {2, 0.5, {bz, bz}},                                                               //
        {3, 1, {mz, ux}},   {3, 1, {mz, uy}},   {3, -1, {bx, bz}},   {3, -1, {by, bz}},   // momentum, z
        {4, 1, {ux, by}},   {4, -1, {uy, bx}},                                            // field, x
        {5, -1, {ux, by}},  {5, 1, {uy, bx}},                                             // field, y
        {6, 1, {ux, bz}},   {6, -1, {uz, bx}},  {6, 1, {uy, bz}},    {6, -1, {uz, by}},   // field, z
        {7, 1, {e, ux}},    {7, 1, {e, uy}},    {7, 1, {p, ux}},     {7, 1, {p, uy}},     // energy
        {7, 0.5, {bx, bx}}, {7, 0.5, {by, by}},                                           //
    };
}
inline constexpr int residual_fields = 12, residual_sums = 8;

}  // namespace zonal::cli
