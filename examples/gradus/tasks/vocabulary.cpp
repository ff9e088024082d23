#include "examples/gradus/tasks/vocabulary.h"

#include <nlohmann/json.hpp>
#include <set>

#include "examples/support/utf8.h"
#include "examples/support/visible.h"
#include "framework/core/error.h"

namespace examples {

using gradus::Index;

namespace {

constexpr std::size_t kShownCharacters = 60;

/// As an error shows it: what is no letter of its own by its number.
std::string named(std::string_view character) {
  const char32_t point = code_point(character);
  if (is_stray_byte(character)) {
    return gradus::text("byte ", static_cast<int>(static_cast<unsigned char>(character.front())));
  }
  if (point < 0x20 || point == 0x7F) return gradus::text("character ", static_cast<long>(point));
  return "'" + std::string(character) + "'";
}

}  // namespace

Vocabulary::Vocabulary(std::string_view text) {
  std::set<std::string, std::less<>> found;  // byte order is the order of code points
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    if (found.find(character) == found.end()) found.emplace(character);
    text.remove_prefix(character.size());
  }
  for (const std::string& character : found) add(character);
}

void Vocabulary::add(const std::string& character) {
  tokens_.emplace(character, size());
  characters_.push_back(character);
}

std::vector<Index> Vocabulary::encode(std::string_view text) const {
  std::vector<Index> tokens;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    const auto found = tokens_.find(character);
    if (found == tokens_.end()) {
      std::string known;
      for (const std::string& each : characters_) known += each;
      throw gradus::ValueError(
          gradus::text("vocabulary: ", named(character), " at position ", tokens.size(),
                       " is none of the ", size(), " characters that the model knows"),
          {.need = known.size() <= kShownCharacters ? visible(known) : ""});
    }
    tokens.push_back(found->second);
    text.remove_prefix(character.size());
  }
  return tokens;
}

std::string Vocabulary::decode(std::span<const Index> tokens) const {
  std::string text;
  for (const Index token : tokens) text += (*this)[token];
  return text;
}

const std::string& Vocabulary::operator[](Index token) const {
  if (token < 0 || token >= size()) {
    throw gradus::ValueError(
        gradus::text("vocabulary: token ", token, " is outside 0..", size() - 1));
  }
  return characters_[static_cast<std::size_t>(token)];
}

std::string Vocabulary::to_json() const {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& character : characters_) {
    if (is_stray_byte(character)) {
      list.push_back(static_cast<unsigned char>(character.front()));
    } else {
      list.push_back(character);
    }
  }
  return list.dump();
}

Vocabulary Vocabulary::from_json(const std::string& json) {
  const nlohmann::json list = nlohmann::json::parse(json, nullptr, false);
  Vocabulary vocabulary;
  bool is_valid = list.is_array() && !list.empty();
  for (std::size_t i = 0; is_valid && i < list.size(); ++i) {
    const nlohmann::json& item = list[i];
    std::string character;
    if (item.is_string()) character = item.get<std::string>();
    const bool is_byte = item.is_number_unsigned() && item >= 0x80U && item <= 0xFFU;
    if (is_byte) character = std::string(1, static_cast<char>(item.get<unsigned>()));
    is_valid = !character.empty() && first_character(character) == character &&
               !vocabulary.tokens_.contains(character);
    vocabulary.add(character);
  }
  if (!is_valid) {
    throw gradus::IoError("vocabulary: needs a JSON list of characters, not '" +
                          valid_utf8(json.substr(0, kShownCharacters)) + "'");
  }
  return vocabulary;
}

}  // namespace examples
