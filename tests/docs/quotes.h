// Quotes: excerpts of source files in the documentation, held against the files.
//
//     <!-- quoted from examples/02_autograd.cpp, one_number -->
//     ```cpp
//     y.backward();
//     ```
//
// The excerpt must stand in the file as it is, but for indentation, behind the first line in which
// the anchor ("one_number") occurs.
#pragma once

#include <string>
#include <vector>

namespace gradus::testing {

struct Quote {
  std::string file{};  ///< empty for a block of C++ that says not where it is from
  std::string anchor{};
  std::string excerpt{};
  std::size_t line = 0;  ///< of the document, where the block starts
};

/// All blocks of C++ in a document.
std::vector<Quote> quotes_in(const std::string& document);

/// Whether the source holds the excerpt behind the anchor.
bool stands_in(const Quote& quote, const std::string& source);

}  // namespace gradus::testing
