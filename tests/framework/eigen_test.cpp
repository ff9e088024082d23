// A tensor seen as an Eigen matrix.
#include "framework/eigen.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/creation.h"
#include "framework/ops/matmul.h"
#include "tests/support/catch.h"

using namespace gradus;

TEST_CASE("eigen: a transposed tensor is the transposed matrix, over the same memory") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, float64);
  const auto matrix = as_matrix<double>(x.transpose(0, 1));
  CHECK(matrix.rows() == 3);
  CHECK(matrix.cols() == 2);
  CHECK(matrix(2, 0) == 3.0);
  CHECK((as_matrix<double>(x) * matrix)(1, 0) == 32.0);
}

TEST_CASE("eigen: a write is seen by the tensor, and counts as a change in place") {
  Tensor x = zeros({2, 2});
  const auto before = x.impl().storage->version();
  as_mutable_matrix<float>(x)(1, 0) = 7.0F;
  CHECK(x.at({1, 0}) == 7.0);
  CHECK(x.impl().storage->version() == before + 1);
}

TEST_CASE("eigen: only two axes make a matrix, and only of the tensor's own type") {
  CHECK_THROWS_AS(as_matrix<float>(zeros({2})), ShapeError);
  CHECK_THROWS_AS(as_matrix<double>(zeros({2, 2})), DTypeError);
}

TEST_CASE("eigen: what is computed from temporary tensors is there when they are gone") {
  const Tensor a = tensor({{1, 2}, {3, 4}}, float64);
  const Tensor v = tensor({{1}, {1}}, float64);
  const EigenMatrix<double> product =
      as_matrix<double>((a + a).transpose(0, 1)) * as_matrix<double>(v * 2.0);
  const auto tensors = matmul((a + a).transpose(0, 1), v * 2.0);  // a Tensor, and no expression
  const Tensor elsewhere = full({64}, 9, float64);                // where the temporaries lay
  CHECK(product(0, 0) == 16.0);
  CHECK(product(1, 0) == 24.0);
  CHECK(tensors.at({0, 0}) == 16.0);
  CHECK(tensors.at({1, 0}) == 24.0);
  CHECK(elsewhere.at({0}) == 9.0);
}
