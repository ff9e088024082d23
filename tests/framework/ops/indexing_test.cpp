// Picking by indices: values, gradients of what is picked twice, and indices out of range.
#include "framework/ops/indexing.h"

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("embedding: picks rows") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor weight = tensor({{1, 2}, {3, 4}, {5, 6}}, dtype);
  CHECK_THAT(embedding(tensor({2, 0, 2}, int64), weight), HasValues({{5, 6}, {1, 2}, {5, 6}}));
  CHECK_THAT(embedding(tensor({{0, 1}}, int64), weight), HasValues({{{1, 2}, {3, 4}}}));
  CHECK_THAT(embedding(tensor(1, int64), weight), HasValues({3, 4}));
  CHECK_THAT(embedding(tensor({{0, 1}, {2, 0}}, int64).transpose(0, 1), weight),
             HasValues({{{1, 2}, {5, 6}}, {{3, 4}, {1, 2}}}));
  CHECK_THAT(embedding(tensor({2}, int64), weight.transpose(0, 1).contiguous().transpose(0, 1)),
             HasValues({{5, 6}}));
  CHECK(embedding(zeros({0, 3}, int64), weight).shape() == Shape{0, 3, 2});
  CHECK(embedding(tensor({1}, int64), zeros({3, 0})).shape() == Shape{1, 0});
}

TEST_CASE("embedding: rows that are picked twice add up their gradients") {
  const Tensor weight = leaf({{1, 2}, {3, 4}, {5, 6}});
  embedding(tensor({2, 0, 2}, int64), weight)
      .backward({.gradient = tensor({{1, 2}, {3, 4}, {5, 6}}, float64)});
  CHECK_THAT(weight.grad(), HasValues({{3, 4}, {0, 0}, {6, 8}}));
}

// C043: numerically the derivative of row 0 is 2, but a padding row is frozen.
TEST_CASE("embedding: the padding row gets no gradient") {
  const Tensor weight = leaf({{1}, {2}, {3}});
  embedding(tensor({0, 1, 0}, int64), weight, 0).sum().backward();
  CHECK_THAT(weight.grad(), HasValues({{0}, {1}, {0}}));
  weight.zero_grad();
  embedding(tensor({0, 1, 0}, int64), weight).sum().backward();
  CHECK_THAT(weight.grad(), HasValues({{2}, {1}, {0}}));
}

// C042: checked in every build, the last legal index included.
TEST_CASE("embedding: indices out of range") {
  const Tensor weight = zeros({3, 2});
  CHECK_NOTHROW(embedding(tensor({2}, int64), weight));
  CHECK(error_text<ValueError>([&] {
          embedding(tensor({{0, 3}, {1, -1}}, int64), weight);
        }) ==
        "embedding: index 3 is outside 0..2\n"
        "  got    indices (2, 2), first at (0, 1), 2 of 4 outside; weight (3, 2)");
  CHECK(error_text<ValueError>([&] {
          embedding(tensor({0, -1}, int64), weight);
        }) ==
        "embedding: index -1 is outside 0..2\n"
        "  got    indices (2,), first at (1,), 1 of 2 outside; weight (3, 2)");
  CHECK_THROWS_AS(embedding(tensor({0}, int64), zeros({0, 2})), ValueError);
  CHECK(error_text<DTypeError>([&] { embedding(tensor({0}), weight); }) ==
        "embedding: indices must be int64, not float32\n"
        "  got    indices (1,) float32\n"
        "  hint   indices.to(int64)");
  CHECK(error_text<ShapeError>([&] { embedding(tensor({0}, int64), zeros({3})); }) ==
        "embedding: weight must have two axes (rows, width), not 1\n"
        "  got    weight (3,) float32");
  CHECK_THROWS_AS(embedding(tensor({0}, int64), zeros({3, 2}, int64)), DTypeError);
}

TEST_CASE("gather: picks along an axis") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, float64);
  CHECK_THAT(gather(x, 1, tensor({{2, 0}, {1, 1}}, int64)), HasValues({{3, 1}, {5, 5}}));
  CHECK_THAT(gather(x, -1, tensor({{2}, {0}}, int64)), HasValues({{3}, {4}}));
  CHECK_THAT(gather(x, 0, tensor({{1, 0, 1}}, int64)), HasValues({{4, 2, 6}}));
  CHECK_THAT(gather(x, 0, tensor({{1, 0}, {0, 0}, {1, 1}}, int64)),
             HasValues({{4, 2}, {1, 2}, {4, 5}}));
  CHECK_THAT(gather(x, 1, tensor({{2, 1}}, int64)), HasValues({{3, 2}}));
  CHECK_THAT(gather(x.transpose(0, 1), 0, tensor({{2, 0}}, int64)), HasValues({{3, 4}}));
  CHECK_THAT(gather(x, 1, tensor({{2, 1}, {0, 1}}, int64).transpose(0, 1)),
             HasValues({{3, 1}, {5, 5}}));
  CHECK_THAT(gather(tensor(7, float64), 0, tensor(0, int64)), HasValues(7));
  CHECK_THAT(gather(tensor({5, 6}, int64), 0, tensor({1}, int64)), IsCloseTo(tensor({6}, int64)));
  CHECK_THAT(gather(from_vector<bool>({true, false}), 0, tensor({1, 0}, int64)), HasValues({0, 1}));
  CHECK(gather(x, 1, zeros({2, 0}, int64)).shape() == Shape{2, 0});
  CHECK(gather(x, 1, zeros({0, 2}, int64)).shape() == Shape{0, 2});
}

TEST_CASE("gather: its gradient is scattered back, equal places adding up") {
  const Tensor x = leaf({{1, 2, 3}, {4, 5, 6}});
  gather(x, 1, tensor({{2, 2}, {0, 1}}, int64))
      .backward({.gradient = tensor({{1, 2}, {3, 4}}, float64)});
  CHECK_THAT(x.grad(), HasValues({{0, 0, 3}, {3, 4, 0}}));
  const Tensor y = leaf({{1, 2, 3}, {4, 5, 6}});
  gather(y, 1, tensor({{1}}, int64)).sum().backward();  // an index that covers only a part
  CHECK_THAT(y.grad(), HasValues({{0, 1, 0}, {0, 0, 0}}));
}

TEST_CASE("scatter_add: adds where the index points") {
  const Tensor x = tensor({{1, 1, 1}, {2, 2, 2}}, float64);
  const Tensor index = tensor({{0, 0}, {2, 1}}, int64);
  const Tensor source = tensor({{10, 20}, {30, 40}}, float64);
  CHECK_THAT(scatter_add(x, 1, index, source), HasValues({{31, 1, 1}, {2, 42, 32}}));
  CHECK_THAT(x, HasValues({{1, 1, 1}, {2, 2, 2}}));
  CHECK_THAT(scatter_add(x, 0, tensor({{1, 1}}, int64), tensor({{5, 6}}, float64)),
             HasValues({{1, 1, 1}, {7, 8, 2}}));
  CHECK_THAT(scatter_add(x.transpose(0, 1), 0, tensor({{2, 0}}, int64), tensor({{5, 6}}, float64)),
             HasValues({{1, 8}, {1, 2}, {6, 2}}));
  CHECK_THAT(scatter_add(tensor(1, float64), 0, tensor(0, int64), tensor(4, float64)),
             HasValues(5));
  CHECK_THAT(scatter_add(tensor({1, 2}, int64), 0, tensor({1, 1}, int64), tensor({3, 4}, int64)),
             IsCloseTo(tensor({1, 9}, int64)));
  CHECK_THAT(scatter_add(x, 1, zeros({2, 0}, int64), zeros({2, 0}, float64)), IsCloseTo(x));
}

TEST_CASE("scatter_add: gradients") {
  const Tensor x = leaf({{1, 1, 1}, {2, 2, 2}});
  const Tensor source = leaf({{10, 20}});
  const Tensor y = scatter_add(x, 1, tensor({{0, 0}}, int64), source);
  y.backward({.gradient = tensor({{1, 2, 3}, {4, 5, 6}}, float64)});
  CHECK_THAT(x.grad(), HasValues({{1, 2, 3}, {4, 5, 6}}));
  CHECK_THAT(source.grad(), HasValues({{1, 1}}));
}

TEST_CASE("gather and scatter_add: what does not fit") {
  const Tensor x = zeros({2, 3});
  CHECK(error_text<ValueError>([&] {
          gather(x, 1, tensor({{0, 3}}, int64));
        }) ==
        "gather: index 3 is outside 0..2\n"
        "  got    indices (1, 2), first at (0, 1), 1 of 2 outside; x (2, 3), axis 1");
  CHECK(error_text<ValueError>([&] { gather(x, 0, tensor({{-1}}, int64)); }) ==
        "gather: index -1 is outside 0..1\n"
        "  got    indices (1, 1), first at (0, 0), 1 of 1 outside; x (2, 3), axis 0");
  CHECK(error_text<ShapeError>([&] {
          gather(x, 1, zeros({3, 1}, int64));
        }) ==
        "gather: the index does not fit x along axis 1\n"
        "  got    x (2, 3) float32, index (3, 1) int64\n"
        "  need   the rank of x, and no larger sizes on the other axes");
  CHECK_THROWS_AS(gather(x, 1, zeros({2}, int64)), ShapeError);
  CHECK(error_text<DTypeError>([&] {
          gather(x, 1, zeros({2, 1}));
        }) ==
        "gather: index must be int64, not float32\n"
        "  got    index (2, 1) float32\n"
        "  hint   index.to(int64)");
  CHECK(error_text<ShapeError>([&] {
          gather(x, 2, zeros({2, 1}, int64));
        }) == "gather: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([&] {
          scatter_add(x, 1, zeros({2, 1}, int64), zeros({2, 2}));
        }) ==
        "scatter_add: index and source differ in shape\n"
        "  got    index (2, 1), source (2, 2)");
  CHECK(error_text<ValueError>([&] {
          scatter_add(x, 1, tensor({{3}}, int64), zeros({1, 1}));
        }) ==
        "scatter_add: index 3 is outside 0..2\n"
        "  got    indices (1, 1), first at (0, 0), 1 of 1 outside; x (2, 3), axis 1");
  CHECK_THROWS_AS(scatter_add(x, 1, zeros({2, 1}, int64), zeros({2, 1}, float64)), DTypeError);
  CHECK_THROWS_AS(scatter_add(zeros({2}, boolean), 0, zeros({2}, int64), zeros({2}, boolean)),
                  DTypeError);
}

TEST_CASE("index_select: slices in the order of the list") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  const Tensor x = tensor({{1, 0, 1}, {0, 0, 1}}, dtype);
  CHECK_THAT(index_select(x, 0, tensor({1, 1, 0}, int64)),
             IsCloseTo(tensor({{0, 0, 1}, {0, 0, 1}, {1, 0, 1}}, dtype)));
  CHECK_THAT(index_select(x, -1, tensor({2, 1}, int64)),
             IsCloseTo(tensor({{1, 0}, {1, 0}}, dtype)));
  CHECK_THAT(index_select(x.transpose(0, 1), 0, tensor({2}, int64)),
             IsCloseTo(tensor({{1, 1}}, dtype)));
  CHECK(index_select(x, 1, zeros({0}, int64)).shape() == Shape{2, 0});
  CHECK(index_select(zeros({0, 3}, dtype), 1, tensor({2, 2}, int64)).shape() == Shape{0, 2});
}

TEST_CASE("index_select: gradients of a slice taken twice add up") {
  const Tensor x = leaf({{1, 2}, {3, 4}, {5, 6}});
  index_select(x, 0, tensor({2, 0, 2}, int64))
      .backward({.gradient = tensor({{1, 2}, {3, 4}, {10, 20}}, float64)});
  CHECK_THAT(x.grad(), HasValues({{3, 4}, {0, 0}, {11, 22}}));
}

// C042
TEST_CASE("index_select: what does not fit") {
  const Tensor x = zeros({2, 3});
  for (const Index index : {-1, 3}) {
    CHECK_THROWS_AS(index_select(x, 1, from_vector<std::int64_t>({0, index})), ValueError);
  }
  CHECK_THROWS_AS(index_select(zeros({0, 3}), 0, tensor({0}, int64)), ValueError);
  CHECK(error_text<ShapeError>([&] {
          index_select(x, 1, zeros({1, 1}, int64));
        }) ==
        "index_select: needs a list of indices, and an axis to select from\n"
        "  got    x (2, 3) float32, index (1, 1) int64");
  CHECK(error_text<ShapeError>([] { index_select(tensor(1), 0, zeros({1}, int64)); }) ==
        "index_select: needs a list of indices, and an axis to select from\n"
        "  got    x () float32, index (1,) int64");
  CHECK(error_text<DTypeError>([&] { index_select(x, 1, zeros({1})); }) ==
        "index_select: index must be int64, not float32\n"
        "  got    index (1,) float32\n"
        "  hint   index.to(int64)");
  CHECK(error_text<ShapeError>([&] { index_select(x, 2, zeros({1}, int64)); }) ==
        "index_select: axis 2 is outside -2..1 (rank 2)");
}

TEST_CASE("one_hot: a new last axis of classes") {
  CHECK_THAT(one_hot(tensor({0, 2, 0}, int64)),
             IsCloseTo(tensor({{1, 0, 0}, {0, 0, 1}, {1, 0, 0}}, int64)));
  CHECK_THAT(one_hot(tensor({{1}, {0}}, int64), 3),
             IsCloseTo(tensor({{{0, 1, 0}}, {{1, 0, 0}}}, int64)));
  CHECK_THAT(one_hot(tensor(1, int64), 2), IsCloseTo(tensor({0, 1}, int64)));
  CHECK_THAT(one_hot(tensor({{0, 1}, {1, 1}}, int64).transpose(0, 1)),
             HasValues({{{1, 0}, {0, 1}}, {{0, 1}, {0, 1}}}));
  CHECK(one_hot(zeros({0}, int64), 3).shape() == Shape{0, 3});
}

TEST_CASE("one_hot: what does not fit") {
  CHECK_THROWS_AS(one_hot(tensor({0, 3}, int64), 3), ValueError);
  CHECK_THROWS_AS(one_hot(tensor({0, -1}, int64), 3), ValueError);
  CHECK_THROWS_AS(one_hot(tensor({0, -1}, int64)), ValueError);
  CHECK(error_text<ValueError>([] { one_hot(tensor({0}, int64), 0); }) ==
        "one_hot: needs at least 1 class, not 0");
  CHECK(error_text<ValueError>([] { one_hot(tensor({0}, int64), -2); }) ==
        "one_hot: needs at least 1 class, not -2");
  CHECK(error_text<ValueError>([] { one_hot(zeros({0}, int64)); }) ==
        "one_hot: no index to count the classes by\n  hint   give num_classes");
  CHECK(error_text<DTypeError>([] { one_hot(zeros({1})); }) ==
        "one_hot: index must be int64, not float32\n"
        "  got    index (1,) float32\n"
        "  hint   index.to(int64)");
}
