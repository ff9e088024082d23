// Leaves of the tape, and what Tensor says of its place there.
#include <functional>
#include <utility>
#include <vector>

#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/join.h"
#include "framework/ops/reduce.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("requires_grad_: makes a leaf, and unmakes it") {
  Tensor x = tensor({1, 2}, float64);
  CHECK_FALSE(x.requires_grad());
  CHECK(x.is_leaf());
  CHECK_FALSE(x.grad().defined());
  x.requires_grad_();
  CHECK(x.requires_grad());
  CHECK(x.is_leaf());
  (x * x).sum().backward();
  CHECK_THAT(x.grad(), HasValues({2, 4}));
  x.requires_grad_();  // again changes nothing
  CHECK_THAT(x.grad(), HasValues({2, 4}));
  x.requires_grad_(false);
  CHECK_FALSE(x.requires_grad());
  CHECK_FALSE(x.grad().defined());
  CHECK_FALSE((x * 2).requires_grad());
}

TEST_CASE("requires_grad_: what cannot be a leaf") {
  Tensor integers = tensor({1, 2}, int64);
  CHECK(error_text<DTypeError>([&] { integers.requires_grad_(); }) ==
        "requires_grad_: int64 has no gradient\n  need   float32 or float64");
  Tensor bools = zeros({2}, boolean);
  CHECK_THROWS_AS(bools.requires_grad_(), DTypeError);
  CHECK_NOTHROW(integers.requires_grad_(false));
  Tensor y = leaf({1, 2}) * 2;
  const std::string refused =
      "requires_grad_: this tensor is the result of mul\n"
      "  hint   detach() first, to start a new tape from its numbers";
  CHECK(error_text<AutogradError>([&] { y.requires_grad_(); }) == refused);
  CHECK(error_text<AutogradError>([&] { y.requires_grad_(false); }) == refused);
  Tensor again = y.detach();
  CHECK_NOTHROW(again.requires_grad_());
}

TEST_CASE("detach: the same numbers off the tape") {
  const Tensor x = leaf({1, 2});
  Tensor y = (x * 3).detach();
  CHECK_FALSE(y.requires_grad());
  CHECK(y.impl().storage == y.detach().impl().storage);
  const Tensor z = x * y;
  z.sum().backward();
  CHECK_THAT(x.grad(), HasValues({3, 6}));  // nothing through y
}

TEST_CASE("set_grad: replaces and clears") {
  const Tensor x = leaf({1, 2});
  x.set_grad(tensor({5, 6}, float64));
  CHECK_THAT(x.grad(), HasValues({5, 6}));
  (x * 2).sum().backward();
  CHECK_THAT(x.grad(), HasValues({7, 8}));
  x.zero_grad();
  CHECK_FALSE(x.grad().defined());
  x.set_grad(Tensor());
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("set_grad: a gradient given is not changed by the next backward") {
  const Tensor x = leaf({1, 2});
  const Tensor given = tensor({5, 6}, float64);
  x.set_grad(given);
  (x * 2).sum().backward();
  CHECK_THAT(given, HasValues({5, 6}));
}

TEST_CASE("set_grad: what does not fit") {
  const Tensor x = leaf({1, 2});
  CHECK(error_text<ShapeError>([&] { x.set_grad(zeros({3}, float64)); }) ==
        "set_grad: the gradient does not fit the tensor\n  got    gradient (3,), tensor (2,)");
  CHECK(error_text<DTypeError>([&] { x.set_grad(zeros({2}, float32)); }) ==
        "set_grad: a float32 gradient for a float64 tensor");
  CHECK(error_text<AutogradError>([] { zeros({2}).set_grad(zeros({2})); }) ==
        "set_grad: this tensor requires no gradient\n"
        "  got    (2,) float32\n"
        "  hint   requires_grad_() before it is used");
}

TEST_CASE("retain_grad: an intermediate result keeps its gradient, too") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  const Tensor& same = y.retain_grad();
  CHECK(&same == &y);
  const Tensor z = (y * y).sum();
  z.backward({.retain_graph = true});
  CHECK_THAT(y.grad(), HasValues({6, 12}));
  z.backward();
  CHECK_THAT(y.grad(), HasValues({12, 24}));  // adds up, as in a leaf
  CHECK_FALSE(z.grad().defined());
  CHECK(error_text<AutogradError>([] { zeros({2}).retain_grad(); }) ==
        "retain_grad: this tensor requires no gradient\n"
        "  got    (2,) float32\n"
        "  hint   requires_grad_() before it is used");
}

// C079: a gradient that a user changes is nobody else's.
TEST_CASE("grad: two leaves never share the memory of a gradient") {
  const Tensor x = leaf(1);
  const Tensor y = leaf(1);
  const Tensor z = x + y;
  (z + 5 * x).backward();
  CHECK_THAT(x.grad(), HasValues(6));
  CHECK_THAT(y.grad(), HasValues(1));
  Tensor gradient = x.grad();
  gradient.mul_(0.5);
  CHECK_THAT(x.grad(), HasValues(3));
  CHECK_THAT(y.grad(), HasValues(1));

  const Tensor a = leaf({1, 2});
  const Tensor b = leaf({1, 2});
  (a + b).sum().backward();
  Tensor of_a = a.grad();
  of_a.zero_();
  CHECK_THAT(b.grad(), HasValues({1, 1}));
  of_a.fill_(1);
  (a.view({2, 1}) + b.view({2, 1})).retain_grad().backward({.gradient = ones({2, 1}, float64)});
  CHECK_THAT(a.grad(), HasValues({2, 2}));
}

TEST_CASE("grad: the gradient handed to backward is not taken over") {
  const Tensor x = leaf({1, 2});
  Tensor given = tensor({3, 4}, float64);
  x.backward({.gradient = given});
  (x + 0).backward({.gradient = given});
  CHECK_THAT(given, HasValues({3, 4}));
  CHECK_THAT(x.grad(), HasValues({6, 8}));
  given.zero_();
  CHECK_THAT(x.grad(), HasValues({6, 8}));
}

TEST_CASE("grad: copies of a handle are one leaf, other tensors are not") {
  const Tensor x = leaf({1, 2});
  const Tensor same = x;
  (same * 2).sum().backward();
  CHECK_THAT(x.grad(), HasValues({2, 2}));
  CHECK_FALSE(x.detach().grad().defined());
}

TEST_CASE("grad: no op hands one gradient to two leaves, by backward or by gradients()") {
  using Op = std::function<Tensor(const Tensor&, const Tensor&)>;
  const std::pair<const char*, Op> ops[] = {
      {"add", [](const Tensor& a, const Tensor& b) { return a + b; }},
      {"sub of a negative", [](const Tensor& a, const Tensor& b) { return a - (-b); }},
      {"views",
       [](const Tensor& a, const Tensor& b) {
         return a.view({2, 1}) + b.unsqueeze(1);
       }},
      {"transposes",
       [](const Tensor& a, const Tensor& b) {
         return a.view({1, 2}).transpose(0, 1) + b.view({1, 2}).transpose(0, 1);
       }},
      {"clones", [](const Tensor& a, const Tensor& b) { return a.clone() + b.clone(); }},
      {"sums, spread out again",
       [](const Tensor& a, const Tensor& b) { return a.sum() + b.sum(); }},
      {"cat",
       [](const Tensor& a, const Tensor& b) {
         return cat({a, b});
       }},
      {"stack",
       [](const Tensor& a, const Tensor& b) {
         return stack({a, b});
       }},
      {"expand", [](const Tensor& a, const Tensor& b) {
         return a.expand({3, 2}) + b;
       }}};
  for (const auto& [name, op] : ops) {
    INFO(name);
    const Tensor a = leaf({1, 2});
    const Tensor b = leaf({3, 4});
    const Tensor y = op(a, b);
    const Tensor g = ones(y.shape(), float64);
    std::vector<Tensor> found = gradients({y}, {a, b}, {.grad_outputs = {g}, .retain_graph = true});
    const Tensor untouched = found[1].clone();
    found[0].mul_(0.5);
    CHECK_THAT(found[1], IsCloseTo(untouched, exactly));
    y.backward({.gradient = g});
    Tensor of_a = a.grad();
    of_a.mul_(0.5);
    CHECK_THAT(b.grad(), IsCloseTo(untouched, exactly));
    CHECK_THAT(a.grad(), IsCloseTo(of_a, exactly));
    CHECK_THAT(g, IsCloseTo(ones(y.shape(), float64), exactly));
  }
}
