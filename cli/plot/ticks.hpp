#pragma once

#include <string>
#include <vector>

namespace zonal::plot {

struct Tick {
    double value;
    std::string label;  ///< markup (see text.hpp); empty for a minor tick
};

/// Ticks from low to high, all within the range asked for.
struct Ticks {
    std::vector<Tick> ticks;
    int exponent = 0;  ///< labels are value / 10^exponent; the axis must say so
};

/// Multiples of 1, 2 or 5 times a power of ten, at most max_count (>= 2) of them; minimum < maximum.
Ticks linear_ticks(double minimum, double maximum, int max_count);

/// Decades, with 2 and 5 (or all) between them where there is room, minor ticks at 2..9; below a decade or so
/// linear ticks. 0 < minimum < maximum.
Ticks log_ticks(double minimum, double maximum, int max_count);

/// Zero and +-decades from linear_threshold on; minimum < maximum, linear_threshold > 0.
Ticks symlog_ticks(double minimum, double maximum, double linear_threshold, int max_count);

/// Multiples of `step` in [minimum, maximum].
std::vector<double> multiples(double minimum, double maximum, double step);

/// The smallest of 1, 2, 5 times a power of ten that is at least `step`.
double nice_step(double step);

/// A number in few characters with a true minus sign, "0.25", "−40"; powers of ten as "10^{-5}".
std::string format_number(double value, int decimals);
std::string format_power_of_ten(int exponent);
/// At most `digits` significant digits, "1.5×10^{-5}" where the plain number would be long.
std::string format_significant(double value, int digits);
/// Decimals needed to write multiples of `step` exactly, for step = 1, 2, 2.5, 5 times a power of ten.
int decimals_for(double step);

}  // namespace zonal::plot
