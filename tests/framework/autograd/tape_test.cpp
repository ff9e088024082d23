// Tape: the steps behind a result, in order, as a table and as a graph.
#include "framework/autograd/tape.h"

#include <sstream>

#include "framework/autograd/trace.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

std::vector<std::string> names_of(const Tape& tape) {
  std::vector<std::string> names;
  for (const Ref<Node>& step : tape) names.push_back(step->name());
  return names;
}

std::string printed(const Tape& tape) {
  std::ostringstream out;
  out << tape;
  return out.str();
}

}  // namespace

TEST_CASE("tape: lists each step once, in the order in which they were taken") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x;
  const Tensor loss = (exp(y) + y).sum();
  const Tape tape(loss);
  CHECK(names_of(tape) == std::vector<std::string>{"leaf", "mul", "exp", "add", "sum"});
  CHECK(std::string((*tape.rbegin())->name()) == "sum");
  CHECK(tape.position(*y.impl().node) == 1);
  CHECK_THROWS_AS(tape.position(*leaf({1}).impl().node), ValueError);
}

TEST_CASE("tape: several results share what they share, and one off the tape adds nothing") {
  const Tensor x = leaf({1, 2});
  const Tensor y = exp(x);
  CHECK(Tape({y * 2, y * 3, zeros({2})}).size() == 4);
  CHECK(Tape(zeros({2})).size() == 0);
}

TEST_CASE("tape: prints what each step saved, and what backward left there") {
  const Tensor x = leaf({3, 4});
  const Tensor loss = (x * x).sum();
  const Tape tape(loss);
  CHECK(saved_bytes(tape[1]) == 32);
  CHECK(printed(tape) ==
        "step  op    inputs  shape  saves  bytes\n"
        "0     leaf          (2,)\n"
        "1     mul   0 0     (2,)   x0 x1  32\n"
        "2     sum   1       ()\n");
  tape.retain_gradients();
  loss.backward();
  CHECK(printed(tape) ==
        "step  op    inputs  shape  saves     |grad|\n"
        "0     leaf          (2,)             10\n"
        "1     mul   0 0     (2,)   released  1.414\n"
        "2     sum   1       ()     released  1\n");
}

TEST_CASE("tape: inside a trace steps keep their value") {
  const Tensor x = leaf({3, 4});
  {
    const TapeTrace trace;
    CHECK(printed(Tape(x * 2)) ==
          "step  op    inputs  shape  |value|\n"
          "0     leaf          (2,)\n"
          "1     mul   0       (2,)   10\n");
  }
  CHECK_FALSE((x * 2).impl().node->value().defined());
}

TEST_CASE("tape: draws itself for Graphviz") {
  const Tensor x = leaf({1, 2});
  CHECK(to_dot(Tape(exp(x))) ==
        "digraph tape {\n"
        "  rankdir=BT;\n"
        "  node [shape=box, fontname=\"monospace\"];\n"
        "  s0 [label=\"leaf\\n(2,)\", style=filled];\n"
        "  s1 [label=\"exp\\n(2,)\"];\n"
        "  s0 -> s1;\n"
        "}\n");
}

TEST_CASE("tape: reductions go by their own names") {
  const Tensor x = leaf({1, 2});
  CHECK(std::string(x.sum().impl().node->name()) == "sum");
  CHECK(std::string(x.mean().impl().node->name()) == "mean");
  CHECK(std::string(x.max().impl().node->name()) == "max");
  CHECK(std::string(x.max(0).values.impl().node->name()) == "max");
}
