#include "examples/support/chart.h"

#include "examples/support/chart_panel.h"
#include "examples/support/chart_style.h"
#include "examples/support/markup.h"
#include "examples/support/svg_shapes.h"
#include "framework/core/error.h"

namespace examples {
namespace {

using gradus::text;

constexpr int kWidth = 860;
constexpr int kLeft = 76;  // of the drawings within the picture
constexpr int kRight = 828;
constexpr int kTop = 40;             // of the first panel
constexpr int kPanelHeight = 260;    // of the drawing
constexpr int kPanelDistance = 330;  // from one panel to the next
constexpr int kLineHeight = 22;

Extent extent_of_x(const Chart& chart) {
  Extent extent;
  for (const Panel& panel : chart.panels) {
    for (const Curve& curve : panel.curves) {
      for (const Point& point : curve.points) extent.add(point.x);
    }
  }
  return extent;
}

std::string legend(const Chart& chart, double y) {
  std::string picture;
  for (std::size_t i = 0; i < chart.legend.size(); ++i, y += kLineHeight) {
    const std::string number = chart.legend.size() > 1 ? std::to_string(i + 1) + "  " : "";
    picture += svg_line(kLeft, y - 4, kLeft + 28, y - 4, curve_style(i, false));
    picture += svg_text(kLeft + 38, y, "name", number + chart.legend[i]);
  }
  return picture + (chart.note.empty() ? "" : svg_text(kLeft, y, "mark", chart.note));
}

}  // namespace

std::string svg(const Chart& chart) {
  PanelFrame frame{.left = kLeft,
                   .right = kRight,
                   .top = kTop,
                   .bottom = kTop + kPanelHeight,
                   .x = extent_of_x(chart),
                   .x_title = chart.x_title,
                   .numbered = chart.legend.size() > 1};
  std::string picture;
  for (const Panel& panel : chart.panels) {
    picture += svg(panel, frame);
    frame.top += kPanelDistance;
    frame.bottom += kPanelDistance;
  }
  const double height = frame.top + static_cast<double>(chart.legend.size() + 1) * kLineHeight;
  return text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", kWidth, " ", height,
              "\" width=\"", kWidth, "\" height=\"", height, "\" role=\"img\">\n<title>",
              escaped(chart.title), "</title>\n<style>", chart_style(), "</style>\n",
              "<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n", picture,
              legend(chart, frame.top), "</svg>\n");
}

std::string html(const Chart& chart) {
  return text("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>",
              escaped(chart.title), "</title>\n<style>", page_style(),
              "</style>\n</head>\n<body>\n", "<h1>", escaped(chart.title), "</h1>\n", svg(chart),
              "</body>\n</html>\n");
}

}  // namespace examples
