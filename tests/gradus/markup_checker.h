// A checker of markup, for tests: whether every element is closed in its turn, every attribute
// quoted, and every & an entity, as XML wants it.
#pragma once

#include <string>

namespace gradus::testing {

/// What is wrong first, and where; empty for nothing.
std::string markup_fault(const std::string& text);

/// How many elements of this name there are.
std::size_t element_count(const std::string& text, const std::string& name);

}  // namespace gradus::testing
