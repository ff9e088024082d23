// The documentation quotes the sources as they are.
#include "tests/docs/quotes.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/catch.h"

using namespace gradus::testing;

namespace {

const std::filesystem::path sources = GRADUS_TEST_SOURCES;

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Checks all quotes of a document, and says how many there are.
std::size_t check_quotes(const std::filesystem::path& document) {
  std::size_t checked = 0;
  for (const Quote& quote : quotes_in(contents(document))) {
    if (quote.file.empty()) continue;
    INFO(document.string() << ":" << quote.line << " quotes " << quote.file << ", " << quote.anchor
                           << "\n"
                           << quote.excerpt);
    CHECK(stands_in(quote, contents(sources / quote.file)));
    ++checked;
  }
  return checked;
}

constexpr const char* kSource =
    "void other() {\n  a();\n}\nvoid anchor() {\n  if (x) {\n    a();\n    b();\n  }\n}\n";

bool stands(const std::string& anchor, const std::string& excerpt) {
  return stands_in({.file = "f", .anchor = anchor, .excerpt = excerpt}, kSource);
}

}  // namespace

TEST_CASE("the documentation quotes the sources as they are", "[docs]") {
  check_quotes(sources / "README.md");
  for (const auto& entry : std::filesystem::directory_iterator(sources / "docs")) {
    if (entry.path().extension() == ".md") check_quotes(entry.path());
  }
}

TEST_CASE("the lessons are quoted, and nothing in them is pasted", "[docs]") {
  const std::string lessons = contents(sources / "docs" / "lessons.md");
  for (const Quote& quote : quotes_in(lessons)) {
    INFO("line " << quote.line);
    CHECK_FALSE(quote.file.empty());
  }
  for (const auto& entry : std::filesystem::directory_iterator(sources / "examples")) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    const bool is_lesson = name.size() > 3 && std::isdigit(static_cast<unsigned char>(name[0]));
    if (is_lesson) CHECK(lessons.find("](../examples/" + name + ")") != std::string::npos);
  }
}

TEST_CASE("an excerpt may be indented otherwise, and nothing else", "[docs]") {
  CHECK(stands("anchor", "a();\nb();\n"));
  CHECK(stands("anchor", "if (x) {\n  a();\n  b();\n}\n"));
  CHECK_FALSE(stands("anchor", "a();\nc();\n"));
  CHECK_FALSE(stands("anchor", "b();\na();\n"));
  CHECK_FALSE(stands("anchor", "if (x) {\na();\n"));
  CHECK_FALSE(stands("no such anchor", "a();\n"));
  CHECK_FALSE(stands("b();", "a();\n"));  // before the anchor
}

TEST_CASE("blocks of C++ are found, with their source or without", "[docs]") {
  const auto quotes = quotes_in(
      "text\n<!-- quoted from a/b.cpp, some words -->\n```cpp\nx;\n```\n```\noutput\n```\n"
      "```cpp\ny;\n```\n");
  REQUIRE(quotes.size() == 2);
  CHECK(quotes[0].file == "a/b.cpp");
  CHECK(quotes[0].anchor == "some words");
  CHECK(quotes[0].excerpt == "x;\n");
  CHECK(quotes[1].file.empty());
  CHECK(quotes[1].line == 9);
}
