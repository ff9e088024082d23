#include "framework/core/tensor.h"

#include <cstdint>

#include "framework/ops/arithmetic.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("tensor: what it is") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, float64);
  CHECK(x.defined());
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.strides() == Strides{3, 1});
  CHECK(x.dtype() == float64);
  CHECK(x.dim() == 2);
  CHECK(x.numel() == 6);
  CHECK(x.size(0) == 2);
  CHECK(x.size(-1) == 3);
  CHECK(x.itemsize() == 8);
  CHECK(x.is_contiguous());
  CHECK_FALSE(x.transpose(0, 1).is_contiguous());
  CHECK(x.slice(0, 1).is_contiguous());
  CHECK_FALSE(x.slice(1, 1).is_contiguous());
  CHECK(x.slice(1, 0, 1).transpose(0, 1).is_contiguous() == false);
  CHECK(zeros({0, 3}).transpose(0, 1).is_contiguous());
  CHECK(error_text<ShapeError>([&] { x.size(2); }) == "size: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([] { tensor(1).size(0); }) ==
        "size: a tensor without axes has no sizes");
}

TEST_CASE("tensor: copies of a handle name the same numbers") {
  const Tensor x = tensor({1, 2});
  Tensor y = x;
  CHECK(y.is_same(x));
  CHECK_FALSE(x.clone().is_same(x));
  CHECK_FALSE(x.detach().is_same(x));
  y.fill_(9);
  CHECK_THAT(x, HasValues({9, 9}));
}

TEST_CASE("tensor: an undefined one says so") {
  const Tensor none;
  CHECK_FALSE(none.defined());
  CHECK_FALSE(none.requires_grad());
  const std::string said =
      "tensor: this tensor is undefined\n"
      "  hint   Tensor() holds nothing; zeros(shape) makes one with numbers";
  CHECK(error_text<ValueError>([&] { none.shape(); }) == said);
  CHECK(error_text<ValueError>([&] { none.item(); }) == said);
  CHECK(error_text<ValueError>([&] { none.sum(); }) == said);
  CHECK(error_text<ValueError>([&] { none.view({1}); }) == said);
  CHECK(error_text<ValueError>([&] { none.clone(); }) == said);
  CHECK(error_text<ValueError>([&] { none + none; }) == said);
  CHECK(error_text<ValueError>([&] { none.retain_grad(); }) == said);
  CHECK(error_text<ValueError>([&] { none.backward(); }) == said);
}

TEST_CASE("tensor: item and at read one number of any dtype") {
  CHECK(tensor(2.5).item() == 2.5);
  CHECK(tensor({{-3}}, int64).item() == -3);
  CHECK(from_vector<bool>({true}).item() == 1);
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, int64);
  CHECK(x.at({1, 2}) == 6);
  CHECK(x.at({-1, -3}) == 4);
  CHECK(x.transpose(0, 1).at({2, 0}) == 3);
  CHECK(tensor(7).at({}) == 7);
  CHECK(error_text<ShapeError>([&] { x.item(); }) ==
        "item: needs a single number, this tensor has 6\n  got    (2, 3) int64");
  CHECK(error_text<ShapeError>([] { zeros({0}).item(); }) ==
        "item: needs a single number, this tensor has 0\n  got    (0,) float32");
  CHECK(error_text<ShapeError>([&] { x.at({1}); }) ==
        "at: 1 indices for 2 axes\n  got    index (1,), tensor (2, 3)");
  CHECK(error_text<ValueError>([&] {
          x.at({1, 3});
        }) == "at: index 3 is outside -3..2 on axis 1\n  got    index (1, 3), tensor (2, 3)");
  CHECK(error_text<ValueError>([&] {
          x.at({-3, 0});
        }) == "at: index -3 is outside -2..1 on axis 0\n  got    index (-3, 0), tensor (2, 3)");
}

TEST_CASE("tensor: to_vector reads in row-major order, whatever lies in memory") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  CHECK(x.transpose(0, 1).to_vector<double>() == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(x.slice(1, 0, 3, 2).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 3, 4, 6});
  CHECK(tensor({0, 2}).to_vector<bool>() == std::vector<bool>{false, true});
  CHECK(tensor({1, 2}).unsqueeze(1).expand({2, 2}).to_vector<float>() ==
        std::vector<float>{1, 1, 2, 2});
  CHECK(tensor(4).to_vector<float>() == std::vector<float>{4});
  CHECK(zeros({2, 0}).to_vector<float>().empty());
}

TEST_CASE("tensor: data of the right type only") {
  Tensor x = tensor({1, 2}, float32);
  CHECK(x.data<float>()[1] == 2);
  CHECK(x.slice(0, 1).data<float>()[0] == 2);
  x.mutable_data<float>()[0] = 5;
  CHECK_THAT(x, HasValues({5, 2}));
  CHECK(error_text<DTypeError>([&] { x.data<double>(); }) ==
        "data: this tensor holds float32, not float64");
  CHECK(error_text<DTypeError>([&] { x.mutable_data<std::int64_t>(); }) ==
        "data: this tensor holds float32, not int64");
  CHECK_THROWS_AS(x.data<bool>(), DTypeError);
}

TEST_CASE("tensor: memory is aligned for vectors") {
  for (const Index size : {1, 3, 17, 100}) {
    const Tensor x = empty({size});
    CHECK(reinterpret_cast<std::uintptr_t>(x.raw()) % 64 == 0);
  }
}
