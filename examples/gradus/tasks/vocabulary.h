// Vocabulary: which characters there are, and the number of each: its token. A character is a code
// point of UTF-8, or a byte that is not part of one (support/utf8.h): decode(encode(text)) is the
// text, whatever its bytes.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/dtype.h"

namespace examples {

class Vocabulary {
 public:
  /// Every character of the text, numbered in the order of code points.
  explicit Vocabulary(std::string_view text);

  gradus::Index size() const { return static_cast<gradus::Index>(characters_.size()); }
  /// The token of each character. Throws ValueError that names the first one which is not in the
  /// vocabulary, and its position.
  std::vector<gradus::Index> encode(std::string_view text) const;
  /// The characters, as they were.
  std::string decode(std::span<const gradus::Index> tokens) const;
  /// One token's character.
  const std::string& operator[](gradus::Index token) const;

  /// A list in JSON, in which a number stands for a byte that is no UTF-8.
  std::string to_json() const;
  /// Throws IoError for anything that to_json() does not write.
  static Vocabulary from_json(const std::string& json);

 private:
  Vocabulary() = default;
  void add(const std::string& character);

  std::vector<std::string> characters_;
  std::map<std::string, gradus::Index, std::less<>> tokens_;
};

}  // namespace examples
