// Typed exceptions in one grammar: a first line that leads with the op and says what is wrong, with
// the numbers; then, where they help, `got` (the operands), `need` (the rule) and `hint` (the
// cure).
#pragma once

#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>

namespace gradus {

/// The lines below the first one; an empty one is left out.
struct ErrorDetails {
  std::string got{};
  std::string need{};
  std::string hint{};
};

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& summary, const ErrorDetails& details = {});
};

/// Sizes, axes or ranks do not fit together.
class ShapeError : public Error {
  using Error::Error;
};
/// An element type that the operation does not take, or two that are not mixed silently.
class DTypeError : public Error {
  using Error::Error;
};
/// A number outside its range: an index, a probability, an option.
class ValueError : public Error {
  using Error::Error;
};
/// A question that the tape cannot answer: a freed tape, a saved tensor that was changed.
class AutogradError : public Error {
  using Error::Error;
};
/// A file that cannot be read or written, or does not hold what it promises.
class IoError : public Error {
  using Error::Error;
};

/// The parts, streamed one after another into a string: text("got ", 3, " of ", shape).
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());  // no grouping of digits, whatever the program's locale
  (out << ... << parts);
  return out.str();
}

}  // namespace gradus
