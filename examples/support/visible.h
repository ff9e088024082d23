// Visible: tokens as they can be seen, whatever they are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace examples {

/// The token with a mark for every character that shows nothing: a space as "␣", a line's end as
/// "⏎", other control characters as their pictures ("␀"), a byte that is no UTF-8 as "\xFF", and
/// marks that turn, join or sit on their neighbours by their numbers ("\u200F"). In ASCII a space
/// is "_", and all that is not printable ASCII has its number or its usual escape ("\n").
std::string visible(std::string_view token, bool unicode = true);
std::vector<std::string> visible(const std::vector<std::string>& tokens, bool unicode = true);

/// A text of several lines that is safe to print: line ends and tabs as they are, other control
/// characters, which could command a terminal, as their marks, and bytes that are no UTF-8 as
/// U+FFFD.
std::string printable(std::string_view text);

}  // namespace examples
