#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <vector>

#include "core/aligned.hpp"

/// Discrete Fourier transforms of one complex sequence, for lengths that are used only once or twice, as
/// those of a HEALPix map's polar rings: making ready for a length costs less than one transform of it.
namespace zonal::fft {

/// Tables for sequences of vectors of a length that has only small prime factors.
struct MixedRadixTable {
    std::int64_t length = 0;
    std::vector<std::int64_t> radices;  ///< their product is the length
    /// exp(2 pi i k / length), k < length: re, im.
    core::AlignedVector<double> roots;
    /// eights: with 8 among the radices.
    void prepare(std::int64_t new_length, bool eights);
};

/// A transform of any length >= 1, on one thread. Not shared between threads.
class ComplexFft {
  public:
    /// Makes ready for sequences of this length; costs nothing when it is the present one.
    void prepare(std::int64_t length);
    std::int64_t length() const { return length_; }

    /// x_k = sum_j x_j exp(+2 pi i j k / length), in place, not normalised.
    void backward(std::complex<double>* x);
    /// x_k = sum_j x_j exp(-2 pi i j k / length).
    void forward(std::complex<double>* x);

    struct Tables {
        std::int64_t length = 0;                ///< of the sequence
        std::int64_t lanes = 0;                 ///< sequences that it is taken apart into: x[lanes k + lane]
        std::int64_t part = 0;                  ///< length / lanes
        MixedRadixTable direct;                 ///< for length `part`, when its prime factors are small
        std::int64_t padded = 0;                ///< else Bluestein's convolution length, 0 when direct
        core::AlignedVector<double> chirp;      ///< exp(pi i j^2 / part): re, im
        core::AlignedVector<double> kernel;     ///< transform of the conjugate chirp / padded: re, im
        core::AlignedVector<double> combining;  ///< exp(2 pi i q / length), q < part: re part, then im part
        core::AlignedVector<double> work[2];
        std::map<std::int64_t, MixedRadixTable> padded_tables;  ///< few lengths, kept
    };

  private:
    std::int64_t length_ = 0;
    Tables tables_;
};

/// Backward transforms of eight sequences of one length at once, any length >= 1, in place. Not shared
/// between threads.
class RowFft {
  public:
    static constexpr std::int64_t row = 8;

    /// Makes ready for sequences of this length; costs nothing when it is the present one.
    void prepare(std::int64_t length);
    std::int64_t length() const { return tables_.length; }
    /// [length][2][row]: element k of all sequences, their real parts and then their imaginary ones. To be
    /// asked for anew after each call; contents are unspecified after prepare().
    double* data() { return tables_.work[0].data(); }
    /// As ComplexFft::backward.
    void backward();

  private:
    ComplexFft::Tables tables_;
};

/// Fills re, im pairs with exp(2 pi i k / length), k < count, to 2 units in the last place.
void write_roots(std::int64_t length, std::int64_t count, double* roots);

/// 4 as often as it divides the length, then the prime factors of the rest, ascending.
std::vector<std::int64_t> radices(std::int64_t length);

/// Largest prime that is transformed by its sums of products.
inline constexpr std::int64_t largest_direct_prime = 199;

/// Whether a sequence of this length is transformed through a convolution of length `padded`.
bool bluestein_is_cheaper(std::int64_t length, std::int64_t padded);

/// Floating point operations, about, of a transform of this length: the same on all machines. Fitted to the
/// time of the rings of HEALPix maps, making ready for a length included.
double cost(std::int64_t length);

/// Smallest 2^a 3^b 5^c >= minimum that is a multiple of 4.
std::int64_t good_length(std::int64_t minimum);

}  // namespace zonal::fft
