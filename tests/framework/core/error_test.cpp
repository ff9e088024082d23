#include "framework/core/error.h"

#include <stdexcept>
#include <type_traits>

#include "tests/support/catch.h"

using namespace gradus;

TEST_CASE("error: one grammar") {
  CHECK(std::string(Error("op: wrong").what()) == "op: wrong");
  CHECK(std::string(
            ShapeError("op: wrong", {.got = "x (2,)", .need = "x (3,)", .hint = "try"}).what()) ==
        "op: wrong\n  got    x (2,)\n  need   x (3,)\n  hint   try");
  CHECK(std::string(ValueError("op: wrong", {.hint = "try"}).what()) == "op: wrong\n  hint   try");
}

TEST_CASE("error: all kinds can be caught as one, or as a std::runtime_error") {
  CHECK_THROWS_AS(throw ShapeError("x"), Error);
  CHECK_THROWS_AS(throw DTypeError("x"), Error);
  CHECK_THROWS_AS(throw ValueError("x"), Error);
  CHECK_THROWS_AS(throw AutogradError("x"), Error);
  CHECK_THROWS_AS(throw IoError("x"), std::runtime_error);
}

TEST_CASE("error: text joins its parts") {
  CHECK(text("a ", 1, ' ', 2.5, " ", true) == "a 1 2.5 1");
}
