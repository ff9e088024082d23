// The look of pictures and pages: colours for light and for dark, which tell apart for the
// colour-blind, too (Okabe and Ito, 2008).
#pragma once

#include <cstddef>

namespace examples {

/// How many colours there are for curves: classes c0, c1, ...
inline constexpr std::size_t kCurveColors = 7;

/// The style sheet of a chart.
const char* chart_style();

/// The style sheet of a page around pictures.
const char* page_style();

}  // namespace examples
