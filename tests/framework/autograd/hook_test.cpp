// Hooks: seeing and replacing a gradient on its way.
#include <optional>
#include <vector>

#include "framework/autograd/backward.h"
#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("hook: sees the whole gradient of a leaf, once for each backward") {
  const Tensor x = leaf({1, 2});
  std::vector<Tensor> seen;
  x.register_hook([&](const Tensor& gradient) {
    seen.push_back(gradient.clone());
    return Tensor();
  });
  (x * 2 + x * 3).sum().backward();
  REQUIRE(seen.size() == 1);
  CHECK_THAT(seen[0], HasValues({5, 5}));
  CHECK_THAT(x.grad(), HasValues({5, 5}));
}

TEST_CASE("hook: what it returns goes on in place of the gradient") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  y.register_hook([](const Tensor& gradient) { return gradient * 10; });
  y.register_hook([](const Tensor& gradient) { return gradient + 1; });
  CHECK_THAT(gradients({y.sum()}, {x}, {.retain_graph = true})[0], HasValues({22, 22}));
  CHECK_THAT(gradients({y.sum()}, {y})[0], HasValues({11, 11}));
}

TEST_CASE("hook: stays when its handle is dropped, and goes when it is removed") {
  const Tensor x = leaf({1, 2});
  const HookHandle handle = x.register_hook([](const Tensor& gradient) { return gradient * 2; });
  x.sum().backward();
  handle.remove();
  x.sum().backward();
  CHECK_THAT(x.grad(), HasValues({3, 3}));
}

TEST_CASE("hook: may remove itself, and runs to its end") {
  const Tensor x = leaf({1, 2});
  std::optional<HookHandle> handle;
  // Enough to be on the heap, where a hook that was freed as it ran would be seen.
  const std::vector<double> factors(100, 5.0);
  handle = x.register_hook([&handle, factors](const Tensor& gradient) {
    handle->remove();
    return gradient * factors[0];
  });
  x.sum().backward();
  CHECK_THAT(x.grad(), HasValues({5, 5}));
  x.sum().backward();
  CHECK_THAT(x.grad(), HasValues({6, 6}));
}

TEST_CASE("hook: may add others to its tensor, which see the next gradient") {
  const Tensor x = leaf({1, 2});
  int seen = 0;
  for (int i = 0; i < 3; ++i) {
    x.register_hook([&](const Tensor& gradient) {
      for (int k = 0; k < 20; ++k) {
        x.register_hook([&seen](const Tensor& other) {
          ++seen;
          return other;
        });
      }
      return gradient * 2.0;
    });
  }
  x.sum().backward();
  CHECK_THAT(x.grad(), HasValues({8, 8}));
  CHECK(seen == 0);
  x.sum().backward();
  CHECK(seen == 60);
}

TEST_CASE("hook: a gradient that does not fit, and a tensor that has none") {
  const Tensor x = leaf({1, 2});
  x.register_hook([](const Tensor&) { return zeros({3}, float64); });
  CHECK(error_text<AutogradError>([&] { x.sum().backward(); }) ==
        "hook on leaf: returned a gradient that does not fit\n"
        "  got    (3,) float64\n"
        "  need   (2,) float64");
  CHECK_THROWS_AS(zeros({1}).register_hook([](const Tensor& g) { return g; }), AutogradError);
}

TEST_CASE("record: refuses an output that is on the tape, and the wrong number of gradients") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  const auto same = [](const Vjp& v) { return v.grad(); };
  CHECK(error_text<AutogradError>([&] { record("same", y, {x}, Saves::nothing, same); }) ==
        "same: its output is on the tape already\n"
        "  got    (2,) float64, from mul\n"
        "  hint   compute it off the tape: from detach(), or under NoGrad");
  const Tensor z = record("many", x.detach(), {x}, Saves::nothing, [](const Vjp& v) {
    return Gradients{v.grad(), v.grad()};
  });
  CHECK(error_text<AutogradError>([&] { z.sum().backward(); }) ==
        "many backward: its rule returned 2 gradients for 1 input");
  const Tensor w =
      record("far", x.detach(), {x}, Saves::nothing, [](const Vjp& v) { return v.input(1); });
  CHECK(error_text<AutogradError>([&] { w.sum().backward(); }) ==
        "far backward: its rule asks for input 1 of 1");
}

TEST_CASE("gradients: the same input twice gives two tensors") {
  const Tensor x = leaf({1, 2});
  std::vector<Tensor> both = gradients({(x * x).sum()}, {x, x});
  both[0].fill_(0);
  CHECK_THAT(both[1], HasValues({2, 4}));
}

// The two leaves of a sum are handed one gradient.
TEST_CASE("hook: a gradient changed in place is an error, for others may share it") {
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({3, 4});
  const Tensor g = tensor({1, 2}, float64);
  const auto halve = [](const Tensor& gradient) {
    Tensor same = gradient;
    return same.mul_(0.5);
  };
  const HookHandle hook = x.register_hook(halve);
  CHECK(error_text<AutogradError>([&] { (x + y).backward({.gradient = g}); }) ==
        "hook on leaf: changed a gradient in place\n"
        "  got    (2,), which other tensors may share\n"
        "  hint   return another, as in gradient * 0.5");
  hook.remove();
  const Tensor z = record("halved", x.detach() * 0.5, {x}, Saves::nothing,
                          [&](const Vjp& v) { return halve(v.grad()); });
  CHECK(error_text<AutogradError>([&] { (z + y).backward({.gradient = g}); }) ==
        "halved backward: its rule changed a gradient in place\n"
        "  got    (2,), which other tensors may share\n"
        "  hint   return another, as in v.grad() * 0.5");
}
