#include "framework/core/shape.h"

#include <limits>
#include <sstream>
#include <vector>

#include "framework/core/error.h"
#include "tests/support/tensor_matchers.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("shape: a short list of sizes") {
  IndexList list{2, 3, 4};
  CHECK(list.size() == 3);
  CHECK(list[1] == 3);
  CHECK(list.back() == 4);
  CHECK(list.contains(4));
  CHECK_FALSE(list.contains(5));
  list.push_back(5);
  list.insert(0, 1);
  CHECK(list == IndexList{1, 2, 3, 4, 5});
  list.erase(2);
  CHECK(list == IndexList{1, 2, 4, 5});
  list.erase(3);
  CHECK(list == IndexList{1, 2, 4});
  list[0] = 9;
  CHECK(std::vector<Index>(list.begin(), list.end()) == std::vector<Index>{9, 2, 4});
  CHECK(IndexList{}.empty());
  CHECK(IndexList::filled(3, 7) == IndexList{7, 7, 7});
  CHECK_FALSE(IndexList{1, 2} == IndexList{1, 2, 3});
  CHECK_FALSE(IndexList{1, 2} == IndexList{1, 3});
}

TEST_CASE("shape: at most eight axes") {
  IndexList full = IndexList::filled(8, 1);
  CHECK(error_text<ShapeError>([&] { full.push_back(1); }) ==
        "shape: one more axis than the 8 that a tensor can have");
  CHECK_THROWS_AS(full.insert(0, 1), ShapeError);
  CHECK(full.size() == 8);
  const std::vector<Index> nine(9, 1);
  CHECK(error_text<ShapeError>([&] { IndexList list{std::span<const Index>(nine)}; }) ==
        "shape: 9 axes are more than the 8 that a tensor can have");
  CHECK_THROWS_AS(IndexList::filled(9, 1), ShapeError);
}

TEST_CASE("shape: prints as Python's tuples") {
  CHECK(text(Shape{}) == "()");
  CHECK(text(Shape{3}) == "(3,)");
  CHECK(text(Shape{2, 0, 8}) == "(2, 0, 8)");
}

TEST_CASE("shape: the index of an element counted in row-major order") {
  CHECK(unravel_index(0, {}) == IndexList{});
  CHECK(unravel_index(4, {5}) == IndexList{4});
  CHECK(unravel_index(0, {2, 3, 4}) == IndexList{0, 0, 0});
  CHECK(unravel_index(7, {2, 3, 4}) == IndexList{0, 1, 3});
  CHECK(unravel_index(23, {2, 3, 4}) == IndexList{1, 2, 3});
  CHECK_THROWS_AS(unravel_index(-1, {2, 3, 4}), ValueError);
  CHECK_THROWS_AS(unravel_index(24, {2, 3, 4}), ValueError);
  CHECK_THROWS_AS(unravel_index(0, {2, 0, 4}), ValueError);
}

TEST_CASE("shape: number of elements") {
  CHECK(element_count({}) == 1);
  CHECK(element_count({2, 3}) == 6);
  CHECK(element_count({2, 0, 3}) == 0);
  CHECK(error_text<ShapeError>([] {
          element_count({2, -3});
        }) == "shape: negative size -3 in (2, -3)");
  CHECK_THROWS_AS(element_count({0, -3}), ShapeError);
  // Neither the count nor its bytes may wrap around, a 0 among the sizes or not.
  const Index large = std::numeric_limits<Index>::max();
  CHECK(element_count({large / 8}) == large / 8);
  CHECK_THROWS_AS(element_count({large / 8 + 1}), ShapeError);
  CHECK_THROWS_AS(element_count({Index{1} << 32, Index{1} << 32}), ShapeError);
  CHECK_THROWS_AS(element_count({0, Index{1} << 32, Index{1} << 32}), ShapeError);
  CHECK_THROWS_AS(element_count({Index{1} << 32, Index{1} << 32, 0}), ShapeError);
}

TEST_CASE("shape: row-major strides") {
  CHECK(contiguous_strides({2, 3, 4}) == Strides{12, 4, 1});
  CHECK(contiguous_strides({}) == Strides{});
  CHECK(contiguous_strides({2, 0, 4}) == Strides{4, 4, 1});
}

TEST_CASE("shape: axes count from either end") {
  CHECK(checked_axis("op", 0, 3) == 0);
  CHECK(checked_axis("op", 2, 3) == 2);
  CHECK(checked_axis("op", -1, 3) == 2);
  CHECK(checked_axis("op", -3, 3) == 0);
  CHECK(checked_axis("op", 0, 0) == 0);
  CHECK(checked_axis("op", -1, 0) == 0);
  CHECK(error_text<ShapeError>([] { checked_axis("op", 3, 3); }) ==
        "op: axis 3 is outside -3..2 (rank 3)");
  CHECK(error_text<ShapeError>([] { checked_axis("op", -4, 3); }) ==
        "op: axis -4 is outside -3..2 (rank 3)");
  CHECK(error_text<ShapeError>([] { checked_axis("op", 1, 0); }) ==
        "op: axis 1 is outside -1..0 (rank 0)");
}

TEST_CASE("shape: broadcasting") {
  CHECK(broadcast_shape("op", {2, 3}, {2, 3}) == Shape{2, 3});
  CHECK(broadcast_shape("op", {2, 1, 3}, {4, 1}) == Shape{2, 4, 3});
  CHECK(broadcast_shape("op", {4, 1}, {2, 1, 3}) == Shape{2, 4, 3});
  CHECK(broadcast_shape("op", {}, {2}) == Shape{2});
  CHECK(broadcast_shape("op", {1}, {0}) == Shape{0});
  CHECK(broadcast_shape("op", {0, 1}, {1, 5}) == Shape{0, 5});
  CHECK(error_text<ShapeError>([] {
          broadcast_shape("op", {2, 3}, {7, 2, 4});
        }) ==
        "op: shapes do not broadcast (3 vs 4 on axis 2)\n"
        "  got    x (2, 3), other (7, 2, 4)\n"
        "  need   equal sizes on every axis, counted from the last, or a 1");
  CHECK_THROWS_AS(broadcast_shape("op", {0}, {2}), ShapeError);
}
