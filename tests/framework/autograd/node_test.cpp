// Steps: what record() writes on the tape, what a rule is told, and when a tape is freed.
#include "framework/autograd/node.h"

#include <functional>

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/dropout.h"
#include "framework/ops/indexing.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/normalization.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "tests/support/op_table.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// An op of a user's own, as the header describes it.
Tensor cube(const Tensor& x) {
  Tensor y = (x * x * x).detach();
  return record("cube", y, {x}, Saves::input0,
                [](const Vjp& v) { return v.grad() * (v.input(0) * v.input(0)) * 3; });
}

/// Handles that keep the node of a leaf: its tensor, and the steps that have it as an input.
std::uint32_t holders(const Tensor& leaf) { return leaf.impl().node->ref_count(); }

}  // namespace

TEST_CASE("node: a step knows its name, inputs, shape and place") {
  const Tensor x = leaf({{1, 2, 3}});
  const Tensor constant = ones({1, 3}, float64);
  const Tensor y = x * constant;
  const Node& step = *y.impl().node;
  CHECK(std::string(step.name()) == "mul");
  CHECK(step.shape() == Shape{1, 3});
  CHECK(step.dtype() == float64);
  CHECK_FALSE(step.is_leaf());
  CHECK_FALSE(step.is_released());
  REQUIRE(step.inputs().size() == 2);
  CHECK(step.inputs()[0].node == x.impl().node);
  CHECK_FALSE(step.inputs()[1].node);  // wants no gradient
  CHECK(x.impl().node->is_leaf());
  CHECK(std::string(x.impl().node->name()) == "leaf");
  CHECK(x.impl().node->sequence() < step.sequence());
  CHECK(step.sequence() < (y + 1).impl().node->sequence());
}

TEST_CASE("node: an op of one's own, to any order") {
  const Tensor x = leaf(2);
  const Tensor y = cube(x);
  CHECK_THAT(y, HasValues(8));
  const Tensor first = gradients({y}, {x}, {.create_graph = true})[0];
  CHECK_THAT(first, HasValues(12));
  const Tensor second = gradients({first}, {x}, {.create_graph = true})[0];
  CHECK_THAT(second, HasValues(12));
  CHECK_THAT(gradients({second}, {x})[0], HasValues(6));
}

TEST_CASE("node: a rule asks for what the step did not save") {
  const Tensor x = leaf({1, 2});
  const Tensor no_input = record("forgetful", x.detach() * 2, {x}, Saves::nothing,
                                 [](const Vjp& v) { return v.input(0); });
  CHECK(error_text<AutogradError>([&] { no_input.sum().backward(); }) ==
        "forgetful backward: its rule asks for input 0, which the step did not save\n"
        "  hint   name it in the Saves that record() is given");
  const Tensor no_output = record("forgetful", x.detach() * 2, {x}, Saves::input0,
                                  [](const Vjp& v) { return v.output(); });
  CHECK(error_text<AutogradError>([&] { no_output.sum().backward(); }) ==
        "forgetful backward: its rule asks for the output, which the step did not save\n"
        "  hint   name it in the Saves that record() is given");
}

TEST_CASE("node: a rule returns what does not fit") {
  const Tensor x = leaf({1, 2});
  const Tensor other_shape = record("wrong", x.detach() * 2, {x}, Saves::nothing,
                                    [](const Vjp&) { return zeros({3}, float64); });
  CHECK(error_text<AutogradError>([&] { other_shape.sum().backward(); }) ==
        "wrong backward: its rule returned a gradient that does not fit input 0\n"
        "  got    (3,) float64\n"
        "  need   (2,) float64, as the input");
  const Tensor other_dtype = record("wrong", x.detach() * 2, {x}, Saves::nothing,
                                    [](const Vjp&) { return zeros({2}, float32); });
  CHECK_THROWS_AS(other_dtype.sum().backward(), AutogradError);
}

TEST_CASE("node: an undefined gradient counts as none, and a rule may serve all inputs at once") {
  const Tensor x = leaf({1, 2});
  const Tensor other = leaf({3, 4});
  const Tensor y =
      record("swap", (x + other).detach(), {x, other}, Saves::inputs, [](const Vjp& v) {
        CHECK(v.wants(0));
        return Gradients{v.input(1), Tensor()};
      });
  y.sum().backward();
  CHECK_THAT(x.grad(), HasValues({3, 4}));
  CHECK_FALSE(other.grad().defined());
}

TEST_CASE("node: only the rules that are wanted run") {
  const Tensor x = leaf({1, 2});
  const Tensor constant = ones({2}, float64);
  int calls = 0;
  const Tensor y = record(
      "pair", x.detach() * 1, {x, constant}, Saves::nothing, [](const Vjp& v) { return v.grad(); },
      [&calls](const Vjp& v) {
        ++calls;
        return v.grad();
      });
  y.sum().backward();
  CHECK(calls == 0);
}

// C073: the error names the op that saved, and the one that changed.
TEST_CASE("node: a saved value that was changed in place") {
  SECTION("an output") {
    const Tensor x = leaf({0});
    Tensor y = exp(x);
    {
      const NoGrad no_grad;
      y.add_(ones({1}, float64));
    }
    CHECK(error_text<AutogradError>([&] { y.backward(); }) ==
          "exp backward: its saved output was changed in place\n"
          "  got    (1,), saved at version 0, now version 1, changed by add_\n"
          "  hint   change a clone(), or change it after backward()");
  }
  SECTION("an input") {
    const Tensor x = leaf({1, 2});
    Tensor z = tensor({3, 4}, float64);
    const Tensor y = x * z;
    z.mul_(2);
    CHECK(error_text<AutogradError>([&] { y.sum().backward(); }) ==
          "mul backward: its saved input 1 was changed in place\n"
          "  got    (2,), saved at version 0, now version 1, changed by mul_\n"
          "  hint   change a clone(), or change it after backward()");
  }
  SECTION("through a view") {
    const Tensor x = leaf({1, 2});
    Tensor z = tensor({3, 4}, float64);
    const Tensor y = x * z;
    z[1].fill_(9);
    CHECK_THROWS_AS(y.sum().backward(), AutogradError);
  }
  SECTION("through a pointer, as far as that can be seen") {
    const Tensor x = leaf({1, 2});
    Tensor z = tensor({3, 4}, float64);
    const Tensor y = x * z;
    z.mutable_data<double>()[0] = 5;
    CHECK(error_text<AutogradError>([&] { y.sum().backward(); }) ==
          "mul backward: its saved input 1 was changed in place\n"
          "  got    (2,), saved at version 0, now version 1, changed by mutable_data\n"
          "  hint   change a clone(), or change it after backward()");
  }
  SECTION("indices and masks") {
    const Tensor weight = leaf({{1, 2}, {3, 4}});
    Tensor indices = tensor({0, 1}, int64);
    const Tensor y = embedding(indices, weight);
    indices.fill_(0);
    CHECK_THROWS_AS(y.sum().backward(), AutogradError);
    Tensor mask = tensor({0, 1}, boolean);
    const Tensor z = masked_fill(weight, mask, 0);
    mask.fill_(0);
    CHECK_THROWS_AS(z.sum().backward(), AutogradError);
  }
  SECTION("a parameter, updated between forward and backward") {
    Tensor weight = leaf({{1, 2}, {3, 4}});
    const Tensor y = matmul(leaf({{1, 1}}), weight);
    {
      const NoGrad no_grad;
      weight.mul_(2);
    }
    CHECK_THROWS_AS(y.sum().backward(), AutogradError);
  }
}

TEST_CASE("node: a value that no rule needs may be changed") {
  const Tensor x = leaf({1, 2});
  Tensor y = x + 1;
  Tensor z = y * 3;
  {
    const NoGrad no_grad;
    y.fill_(100);
    z.fill_(7);
  }
  z.sum().backward();
  CHECK_THAT(x.grad(), HasValues({3, 3}));
}

TEST_CASE("node: a saved value may be changed before it is saved, and after it was used") {
  const Tensor x = leaf({1, 2});
  Tensor z = tensor({3, 4}, float64);
  z.mul_(2);
  const Tensor y = x * z;
  y.sum().backward();
  z.mul_(2);
  CHECK_THAT(x.grad(), HasValues({6, 8}));
}

// C069: a step that owned its own output would keep itself, and all before it, alive for ever.
TEST_CASE("node: a tape that nobody holds is freed") {
  for (const OpRow& row : op_table()) {
    INFO(row.name << " " << row.how);
    std::vector<Tensor> inputs;
    for (const Tensor& sample : sample_inputs(row))
      inputs.push_back(sample.clone().requires_grad_());
    const auto check_freed = [&] {
      for (const Tensor& input : inputs) CHECK(holders(input) == 1);
    };
    row.function(inputs);  // dropped without backward
    check_freed();
    row.function(inputs).sum().backward();
    for (const Tensor& input : inputs) input.zero_grad();
    check_freed();
    {
      const Tensor y = row.function(inputs);
      const std::vector<Tensor> first =
          gradients({(y * y).sum()}, inputs, {.create_graph = true, .allow_unused = true});
      for (const Tensor& gradient : first) {
        if (gradient.requires_grad())
          gradients({gradient.sum()}, inputs, {.retain_graph = true, .allow_unused = true});
      }
    }
    check_freed();
  }
}

TEST_CASE("node: softmax of exp, 1000 times") {
  const Tensor x = random_normal({4, 5}, 1).requires_grad_();
  for (int i = 0; i < 1000; ++i) {
    const Tensor y = softmax(exp(x), 1);
    if (i % 2 == 0) y.sum().backward();
  }
  CHECK(holders(x) == 1);
}

TEST_CASE("node: saved values go with backward, the tape's shape stays") {
  const Tensor x = leaf({1, 2});
  const Tensor z = tensor({3, 4}, float64);
  const Ref<Storage> storage = z.impl().storage;
  const std::uint32_t before = storage->ref_count();
  const Tensor y = x * z;
  const Tensor loss = y.sum();
  loss.backward();
  CHECK(storage->ref_count() == before);
  CHECK(y.impl().node->is_released());
  CHECK(y.impl().node->inputs().size() == 2);
  CHECK(y.impl().node->inputs()[0].node == x.impl().node);
}

// Holding a value's memory, one sees whether a step still does.
TEST_CASE("node: nothing outlives its iteration, with backward or without") {
  const Tensor x = random_normal({4, 5}, 1).requires_grad_();
  const std::uint32_t of_x = x.impl().storage->ref_count();
  for (int i = 0; i < 1000; ++i) {
    Ref<Storage> memory[3];
    {
      const Tensor e = exp(x);
      const Tensor y = softmax(e, 1);
      const Tensor z = dropout(sqrt(y), 0.5);
      memory[0] = e.impl().storage;
      memory[1] = y.impl().storage;
      memory[2] = z.impl().storage;
      if (i % 3 == 1) z.sum().backward();
      if (i % 3 == 2) gradients({z.sum()}, {x}, {.create_graph = true});
    }
    x.zero_grad();
    bool all_freed = holders(x) == 1 && x.impl().storage->ref_count() == of_x;
    for (const Ref<Storage>& held : memory) all_freed = all_freed && held->ref_count() == 1;
    REQUIRE(all_freed);
  }
}
