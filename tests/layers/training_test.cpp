// A tiny attention model in training: its loss falls, and a step leaves no memory behind.
#include <malloc.h>

#include "framework/ops/arithmetic.h"
#include "framework/ops/loss.h"
#include "framework/ops/random.h"
#include "framework/optim/adam.h"
#include "layers/attention.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/positional_encoding.h"
#include "tests/support/catch.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// Reads symbols, and says for every place which symbol stands at the mirrored one.
class Mirror : public Module {
 public:
  Embedding symbols{5, 8};
  LearnedPositions positions{{.max_len = 4, .d_model = 8}};
  MultiHeadAttention attention{{.d_model = 8, .n_heads = 2, .dropout = 0.05}};
  Linear logits{8, 5};

  Tensor operator()(const Tensor& sequence) const {
    const Tensor x = positions(symbols(sequence));
    const AttentionMask nothing_hidden = AttentionMask::padding({4, 4}, 4);
    return logits(x + attention(x, x, x, nothing_hidden).output);
  }
  void visit(Visitor& v) override {
    v("symbols", symbols);
    v("positions", positions);
    v("attention", attention);
    v("logits", logits);
  }
  std::string description() const override { return "Mirror"; }
};

/// Bytes that the program has asked for and not given back.
std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace

TEST_CASE("1000 steps of training leave memory where the 10th left it, and the loss falls",
          "[training]") {
  manual_seed(42);
  Mirror model;
  Adam adam(model.parameters(), {.lr = 0.01, .weight_decay = 1e-6});
  const Tensor sequences = tensor({{0, 1, 2, 3}, {4, 2, 0, 1}}, int64);
  const Tensor mirrored = tensor({3, 2, 1, 0, 1, 0, 2, 4}, int64);
  double first = 0.0;
  double last = 0.0;
  std::size_t after_ten = 0;
  for (int step = 1; step <= 1000; ++step) {
    adam.zero_grad();
    const Tensor loss = cross_entropy(model(sequences).view({8, 5}), mirrored);
    loss.backward();
    adam.step();
    last = loss.item();
    if (step == 1) first = last;
    if (step == 10) after_ten = bytes_in_use();
  }
  const std::size_t after_all = bytes_in_use();
  CHECK(first > 1.0);
  CHECK(last < 0.05);
  // 990 leaks of the smallest block would be 31 kB.
  CHECK(after_all < after_ten + 16384);
}

TEST_CASE("a loss that is never run backward is freed with its tape", "[training]") {
  manual_seed(42);
  const Mirror model;
  const Tensor sequences = tensor({{0, 1, 2, 3}, {4, 2, 0, 1}}, int64);
  std::size_t after_ten = 0;
  for (int step = 1; step <= 1000; ++step) {
    model(sequences).sum();
    if (step == 10) after_ten = bytes_in_use();
  }
  CHECK(bytes_in_use() < after_ten + 16384);  // 990 leaks of the smallest block would be 31 kB
}
