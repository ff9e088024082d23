#include "examples/support/chart_style.h"

namespace examples {

const char* chart_style() {
  return R"(
.paper { fill: #fff }
text { font: 13px system-ui, sans-serif; fill: #222 }
.title { font-size: 15px; font-weight: 600 }
.mark { font-size: 12px; fill: #555 }
.middle { text-anchor: middle }
.end { text-anchor: end }
.grid { stroke: #ddd }
.axis { stroke: #888 }
.curve { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round }
.dashed { stroke-dasharray: 5 4 }
.c0 { stroke: #0072b2 } .c1 { stroke: #d55e00 } .c2 { stroke: #009e73 } .c3 { stroke: #cc79a7 }
.c4 { stroke: #a57f00 } .c5 { stroke: #56b4e9 } .c6 { stroke: #444 }
@media (prefers-color-scheme: dark) {
  .paper { fill: #16181c }
  text { fill: #eee }
  .mark { fill: #aaa }
  .grid { stroke: #33363c }
  .c0 { stroke: #4aa8e0 } .c1 { stroke: #ff8a3c } .c2 { stroke: #2bc79a } .c3 { stroke: #e79cc4 }
  .c4 { stroke: #e6c84f } .c5 { stroke: #8fd0f5 } .c6 { stroke: #ccc }
}
)";
}

const char* page_style() {
  return R"(
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
h1 { font-size: 1.3rem }
svg { max-width: 100%; height: auto }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #eee } }
)";
}

}  // namespace examples
