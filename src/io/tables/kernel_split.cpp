#include "zonal/io/kernel_split.hpp"

#include "io/fits/fits_writer.hpp"

namespace zonal::io {
namespace {

struct Column {
    WriteColumn description;
    const std::vector<double>* values;
};

void write_table(FitsWriter& writer, const std::string& name, const std::vector<Column>& columns,
                 const std::vector<HeaderCard>& cards = {}) {
    const auto rows = std::ssize(*columns[0].values);
    std::vector<WriteColumn> descriptions;
    descriptions.reserve(columns.size());
    for (const auto& column : columns) descriptions.push_back(column.description);
    writer.begin_table(name, rows, descriptions);
    writer.write_cards(cards);
    for (std::size_t i = 0; i < columns.size(); ++i)
        writer.write_column(static_cast<int>(i), 0, columns[i].values->data(), rows);
}

}  // namespace

void write_kernel_split(const std::string& path, const KernelSplitFile& file, const WriteOptions& options) {
    auto cards = file.cards;
    cards.insert(cards.begin(), {"MAX-LPOL", std::ssize(file.window) - 1, "largest l; row = l"});
    auto coefficients = file.coefficients;
    coefficients.resize(file.knots.size());
    FitsWriter writer(path, options);
    write_table(writer, "WINDOW", {{{"TEMPERATURE", "D", "", "window of the harmonic part"}, &file.window}},
                cards);
    write_table(writer, "PROFILE",
                {{{"THETA", "D", "rad", "distance"}, &file.theta},
                 {{"PROFILE", "D", "sr-1", "kernel of the pixel part"}, &file.profile}});
    write_table(writer, "SPLINE",
                {{{"KNOT", "D", "rad", "of an even spline of degree 5"}, &file.knots},
                 {{"COEFFICIENT", "D", "sr-1", "of its B-splines; three 0 at the end"}, &coefficients}});
    write_table(writer, "KERNEL",
                {{{"KERNEL", "D", "", "what was split"}, &file.kernel},
                 {{"PROFILE_WINDOW", "D", "", "window of the pixel part"}, &file.profile_window}});
    writer.commit();
}

}  // namespace zonal::io
