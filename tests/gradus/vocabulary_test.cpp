#include "examples/gradus/tasks/vocabulary.h"

#include "examples/support/utf8.h"
#include "framework/core/error.h"
#include "tests/support/catch.h"

using namespace gradus;
using examples::Vocabulary;

namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("characters are code points, numbered in their order", "[gradus][vocabulary]") {
  const Vocabulary vocabulary("h\xC3\xA9llo");  // é is two bytes
  CHECK(vocabulary.size() == 4);
  CHECK(vocabulary.encode("h\xC3\xA9llo") == std::vector<Index>{0, 3, 1, 1, 2});
  CHECK(vocabulary[3] == "\xC3\xA9");
}

TEST_CASE("decoding gives back any bytes", "[gradus][vocabulary]") {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const std::vector<std::string> texts{every_byte,
                                       "h\xC3\xA9llo",
                                       "e\xCC\x81 as two code points",
                                       "\xFF alone",
                                       "cut short \xE2\x82",
                                       "too long \xC0\x80",
                                       "half a pair \xED\xA0\x80",
                                       "\xF0\x9F\x98\x80\r\n"};
  for (const std::string& text : texts) {
    const Vocabulary vocabulary(text);
    CHECK(vocabulary.decode(vocabulary.encode(text)) == text);
    const Vocabulary again = Vocabulary::from_json(vocabulary.to_json());
    CHECK(again.encode(text) == vocabulary.encode(text));
  }
}

TEST_CASE("bytes that are no UTF-8 are shown as U+FFFD", "[gradus][vocabulary]") {
  CHECK(examples::valid_utf8("a\xFF"
                             "b") ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(examples::valid_utf8("\xE2\x82") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(examples::valid_utf8("\xE2\x82\xAC") == "\xE2\x82\xAC");
}

TEST_CASE("an unknown character is named with its position", "[gradus][vocabulary]") {
  const Vocabulary vocabulary("abc");
  CHECK(error_of([&] { vocabulary.encode("abz"); }) ==
        "vocabulary: 'z' at position 2 is none of the 3 characters that the model knows\n"
        "  need   abc");
  CHECK_THAT(error_of([&] { vocabulary.encode("a\n"); }),
             Catch::Matchers::ContainsSubstring("character 10 at position 1"));
  CHECK_THAT(error_of([&] { Vocabulary("\n\x1b\xFF").encode("a"); }),
             Catch::Matchers::EndsWith("need   ⏎␛\\xFF"));
  CHECK_THAT(error_of([&] { vocabulary.encode("\xE9"); }),
             Catch::Matchers::ContainsSubstring("byte 233 at position 0"));
  CHECK(error_of([&] { vocabulary.decode(std::vector<Index>{3}); }) ==
        "vocabulary: token 3 is outside 0..2");
  CHECK(vocabulary.encode("").empty());
}

TEST_CASE("a vocabulary is read with distrust", "[gradus][vocabulary]") {
  for (const char* json : {"", "{}", "[", "[]", "[\"ab\"]", "[\"a\", \"a\"]", "[\"\"]", "[3]",
                           "[300]", "[\"a\", null]"}) {
    INFO(json);
    CHECK_THROWS_AS(Vocabulary::from_json(json), IoError);
  }
}
