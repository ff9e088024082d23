#include "examples/support/svg_shapes.h"

#include "examples/support/chart_style.h"
#include "examples/support/format.h"
#include "examples/support/markup.h"
#include "framework/core/error.h"

namespace examples {

using gradus::text;

std::string pixel(double place) { return format("%.1f", place); }

std::string svg_text(double x, double y, const std::string& style, const std::string& words) {
  return text("<text x=\"", pixel(x), "\" y=\"", pixel(y), "\" class=\"", style, "\">",
              escaped(words), "</text>\n");
}

std::string svg_line(double x1, double y1, double x2, double y2, const std::string& style) {
  return text("<line x1=\"", pixel(x1), "\" y1=\"", pixel(y1), "\" x2=\"", pixel(x2), "\" y2=\"",
              pixel(y2), "\" class=\"", style, "\"/>\n");
}

std::string curve_style(std::size_t number, bool dashed) {
  return text("curve c", number % kCurveColors, dashed ? " dashed" : "");
}

}  // namespace examples
