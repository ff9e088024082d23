// Embedding: a table of vectors, one per symbol.
#include "layers/embedding.h"

#include <sstream>

#include "framework/core/error.h"
#include "framework/optim/adam.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("Embedding picks rows of its table", "[embedding]") {
  Embedding embedding(3, 2);
  embedding.load_state_dict({{"weight", tensor({{1, 2}, {3, 4}, {5, 6}})}});
  CHECK_THAT(embedding(tensor({2, 0, 2}, int64)), HasValues({{5, 6}, {1, 2}, {5, 6}}, exactly));
  CHECK_THAT(embedding(tensor({{1}, {0}}, int64)), HasValues({{{3, 4}}, {{1, 2}}}, exactly));
  CHECK_THAT(embedding(tensor(1, int64)), HasValues({3, 4}, exactly));
  const Tensor strided = tensor({{0, 1, 2}, {2, 2, 1}}, int64).transpose(0, 1);
  CHECK_THAT(embedding(strided),
             HasValues({{{1, 2}, {5, 6}}, {{3, 4}, {5, 6}}, {{5, 6}, {3, 4}}}, exactly));
}

TEST_CASE("Embedding gives a row the gradients of all its uses", "[embedding][gradcheck]") {
  Embedding table({.num_embeddings = 4, .embedding_dim = 3});
  table(tensor({{1, 1}, {3, 1}}, int64)).sum().backward();
  CHECK_THAT(table.weight.grad(), HasValues({{0, 0, 0}, {3, 3, 3}, {0, 0, 0}, {1, 1, 1}}, exactly));

  table.to(float64);
  check_layer_gradients(table, tensor({{1, 1}, {3, 0}, {1, 2}}, int64));
  check_layer_gradients(table, tensor({{1, 1, 0}, {3, 0, 2}}, int64).transpose(0, 1));
}

TEST_CASE("Embedding leaves its padding row at 0", "[embedding][gradcheck]") {
  manual_seed(1);
  Embedding table({.num_embeddings = 4, .embedding_dim = 3, .padding_idx = 2});
  CHECK_THAT(table.weight[2], HasValues({0, 0, 0}, exactly));
  const Tensor indices = tensor({{1, 2}, {2, 3}}, int64);
  Adam adam(table.parameters(), {.lr = 0.1});
  table(indices).sum().backward();
  CHECK_THAT(table.weight.grad(), HasValues({{0, 0, 0}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}}, exactly));
  adam.step();
  CHECK_THAT(table.weight[2], HasValues({0, 0, 0}, exactly));

  table.to(float64);
  const Tensor padding =
      tensor({{0, 0, 0}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}}, boolean);  // its gradient is 0 by intent
  check_layer_gradients(table, indices, {.frozen = {Tensor(), padding}});
}

TEST_CASE("Embedding takes no indices at all", "[embedding]") {
  const Embedding embedding(3, 2);
  const Tensor rows = embedding(zeros({0, 5}, int64));
  CHECK(rows.shape() == Shape{0, 5, 2});
  rows.sum().backward();
  CHECK_THAT(embedding.weight.grad(), IsCloseTo(zeros({3, 2}), exactly));
}

TEST_CASE("Embedding starts with PyTorch's numbers", "[embedding]") {
  manual_seed(42);  // torch.nn.Embedding(1, 3).weight
  const Embedding embedding(1, 3);
  CHECK_THAT(embedding.weight,
             HasValues({{0.336690366, 0.128809407, 0.234462366}}, Tolerance{0, 3e-7}));
  CHECK(embedding.weight.requires_grad());
  manual_seed(42);
  const Embedding padded({.num_embeddings = 3, .embedding_dim = 1, .padding_idx = 1});
  CHECK_THAT(padded.weight, HasValues({{0.336690366}, {0}, {0.234462366}}, Tolerance{0, 3e-7}));
  CHECK(padded.weight.requires_grad());
}

TEST_CASE("Embedding names an index outside its table", "[embedding][errors]") {
  const Embedding embedding(65, 4);
  CHECK(error_text<ValueError>([&] {
          embedding(tensor({{0, 64}, {65, 70}}, int64));
        }) ==
        "embedding: index 65 is outside 0..64\n"
        "  got    indices (2, 2), first at (1, 0), 2 of 4 outside; weight (65, 4)");
  CHECK(error_text<ValueError>([&] { embedding(tensor({-1}, int64)); }) ==
        "embedding: index -1 is outside 0..64\n"
        "  got    indices (1,), first at (0,), 1 of 1 outside; weight (65, 4)");
  CHECK(error_text<DTypeError>([&] { embedding(ones({2})); }) ==
        "embedding: indices must be int64, not float32\n"
        "  got    indices (2,) float32\n"
        "  hint   indices.to(int64)");
  CHECK(error_text<ValueError>([] { Embedding(0, 4); }) ==
        "Embedding: needs at least one row and one column, not 0 and 4");
  CHECK(error_text<ValueError>([] { Embedding(4, 0); }) ==
        "Embedding: needs at least one row and one column, not 4 and 0");
  CHECK(error_text<ValueError>([] {
          Embedding({.num_embeddings = 4, .embedding_dim = 2, .padding_idx = 4});
        }) == "Embedding: padding_idx 4 is outside 0..3");
  std::ostringstream out;
  out << embedding;
  CHECK(out.str() == "Embedding(65, 4)");
}
