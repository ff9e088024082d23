// SVG shapes: the few that charts are made of, with classes of chart_style.h.
#pragma once

#include <cstddef>
#include <string>

namespace examples {

/// A place in pixels.
std::string pixel(double place);

/// Words, made harmless.
std::string svg_text(double x, double y, const std::string& style, const std::string& words);

std::string svg_line(double x1, double y1, double x2, double y2, const std::string& style);

/// The classes of curve number 0, 1, ...
std::string curve_style(std::size_t number, bool dashed);

}  // namespace examples
