// Markup: text that people typed, made harmless in HTML, SVG and XML.
#pragma once

#include <string>
#include <string_view>

namespace examples {

/// The text for an element or a quoted attribute: & < > " ' as entities, and U+FFFD for what XML
/// cannot hold, control characters and bytes that are no UTF-8. Line ends and tabs stay.
std::string escaped(std::string_view text);

}  // namespace examples
