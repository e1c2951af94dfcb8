#include <algorithm>

#include "plot/canvas.hpp"
#include "zonal/error.hpp"

namespace zonal::plot {
namespace {

struct Size {
    int width = 0, height = 0;
};

Size size_of(const std::vector<Image>& row) {
    Size size;
    for (const auto& image : row) {
        size.width += image.width();
        size.height = std::max(size.height, image.height());
    }
    return size;
}

}  // namespace

Image arrange(const std::vector<std::vector<Image>>& rows) {
    if (rows.empty() || rows[0].empty()) throw InvalidArgument("rows", "must hold at least one picture");
    Size sheet;
    for (const auto& row : rows) {
        sheet.width = std::max(sheet.width, size_of(row).width);
        sheet.height += size_of(row).height;
    }
    ImageOptions options{sheet.width, sheet.height, rows[0][0].dpi_};
    const Canvas canvas(options);
    int y = 0;
    for (const auto& row : rows) {
        int x = (sheet.width - size_of(row).width) / 2;
        for (const auto& image : row) {
            cairo_set_source_surface(canvas.cairo(), image.surface_.get(), x, y);
            cairo_paint(canvas.cairo());
            x += image.width();
        }
        y += size_of(row).height;
    }
    return canvas.image();
}

}  // namespace zonal::plot
