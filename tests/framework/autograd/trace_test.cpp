// NanTrace, and the path of modules.
#include "framework/autograd/trace.h"

#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/masking.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "layers/transformer_layer.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("nan trace: names the op whose result is the first that is not finite") {
  const Tensor x = leaf({{1, 0}, {2, 3}});
  const NanTrace trace;
  CHECK(error_text<AutogradError>([&] { exp(log(x)); }) ==
        "log: its result turned infinite at (0, 1)\n"
        "  got    (2, 2) float64 from inputs (2, 2), all finite");
  CHECK(error_text<AutogradError>([&] { sqrt(x - 2.5); }) ==
        "sqrt: its result turned NaN at (0, 0)\n"
        "  got    (2, 2) float64 from inputs (2, 2), all finite");
}

TEST_CASE("nan trace: names the op whose gradient is the first that is not finite") {
  const Tensor x = leaf({4, 0});
  const NanTrace trace;
  const Tensor loss = sqrt(x).sum();
  CHECK(error_text<AutogradError>([&] { loss.backward(); }) ==
        "sqrt backward: the gradient of its input 0 turned infinite at (1,)\n"
        "  got    (2,) float64 from a gradient (2,), all finite");
}

TEST_CASE("nan trace: a rule that makes NaN of a finite gradient is named with its input") {
  const Tensor x = leaf({1, 2});
  const NanTrace trace;
  const Tensor y = record("faulty", x.detach(), {x}, Saves::nothing, [](const Vjp& v) {
    return full(v.grad().shape(), std::numeric_limits<double>::quiet_NaN(), float64);
  });
  CHECK(error_text<AutogradError>([&] { y.sum().backward(); }) ==
        "faulty backward: the gradient of its input 0 turned NaN at (0,)\n"
        "  got    (2,) float64 from a gradient (2,), all finite");
}

TEST_CASE("nan trace: what a mask writes, and what was infinite before, is no fault") {
  const Tensor x = leaf({1, 2});
  const NanTrace trace;
  const Tensor hidden = masked_fill(x, tensor({0, 1}, boolean), -kInf);
  CHECK_NOTHROW(softmax(hidden, 0).sum().backward());
  CHECK_NOTHROW(hidden * 2.0);
}

TEST_CASE("nan trace: ends with its scope, and belongs to its thread") {
  {
    const NanTrace trace;
    CHECK(NanTrace::is_active());
    CHECK(TapeTrace::is_active());
  }
  CHECK_FALSE(NanTrace::is_active());
  CHECK_NOTHROW(log(zeros({1})));
}

TEST_CASE("trace: steps know the path of their module, and the error says it") {
  manual_seed(1);
  const TransformerEncoderLayer block({.d_model = 4, .n_heads = 2, .dim_feedforward = 8});
  const Tensor x = random_normal({1, 2, 4}, 1).to(float32).requires_grad_();
  CHECK(std::string(block(x).output.impl().node->path()).empty());
  {
    const TapeTrace trace;
    const Tensor q = block.self_attn.q_linear(x);
    CHECK(std::string(q.impl().node->path()).empty());  // called by itself it has no parent
    std::vector<std::string> paths;
    const Tensor weights = block(x, {}, true).weights;
    CHECK(std::string(weights.impl().node->path()) == "self_attn.softmax");
    CHECK(std::string(current_path()).empty());
  }
  const NanTrace trace;
  Tensor weight = block.feed_forward.linear1.weight;
  {
    const NoGrad no_grad;
    weight.fill_(kInf);
  }
  CHECK_THAT(error_text<AutogradError>([&] { block(x); }),
             Catch::Matchers::ContainsSubstring("in module linear1"));
}
