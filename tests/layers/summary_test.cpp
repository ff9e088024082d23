// Summary: a model as a table.
#include "layers/summary.h"

#include "layers/activation.h"
#include "layers/gpt.h"
#include "layers/linear.h"
#include "layers/sequential.h"
#include "tests/support/catch.h"

using namespace gradus;

TEST_CASE("summary counts the parameters of each module", "[summary]") {
  Sequential net{Linear(30, 40), ReLU(), Linear(40, 1, false)};
  net[2].requires_grad_(false);
  CHECK(summary(net) ==
        "module                       shape     parameters\n"
        "Sequential                                  1 280\n"
        "  0: Linear(30, 40)                         1 240\n"
        "    weight                   (40, 30)       1 200\n"
        "    bias                     (40,)             40\n"
        "  1: ReLU                                       0\n"
        "  2: Linear(40, 1, no bias)                    40\n"
        "    weight                   (1, 40)           40  frozen\n"
        "total                                       1 280\n"
        "trainable                                   1 240\n"
        "bytes                                       5 120\n");
}

TEST_CASE("summary counts a tied parameter once", "[summary]") {
  GPT model({.vocab_size = 5,
             .block_size = 6,
             .n_layers = 1,
             .n_heads = 2,
             .d_model = 4,
             .bias = false,
             .norm = Norm::rms});
  model.to(float64);
  CHECK(model.parameter_count() == 248);
  CHECK(summary(model) ==
        "module                                                  shape    parameters\n"
        "GPT(vocab_size 5, block_size 6)                                         248\n"
        "  token: Embedding(5, 4)                                                 20\n"
        "    weight                                              (5, 4)           20\n"
        "  position: LearnedPositions(6, 4)                                       24\n"
        "    weight                                              (6, 4)           24\n"
        "  dropout: Dropout(0)                                                     0\n"
        "  layers.0: GPTBlock                                                    200\n"
        "    norm1: RMSNorm((4,))                                                  4\n"
        "      weight                                            (4,)              4\n"
        "    self_attn: CausalSelfAttention(d_model 4, 2 heads)                   64\n"
        "      q_linear: Linear(4, 4, no bias)                                    16\n"
        "        weight                                          (4, 4)           16\n"
        "      k_linear: Linear(4, 4, no bias)                                    16\n"
        "        weight                                          (4, 4)           16\n"
        "      v_linear: Linear(4, 4, no bias)                                    16\n"
        "        weight                                          (4, 4)           16\n"
        "      out_linear: Linear(4, 4, no bias)                                  16\n"
        "        weight                                          (4, 4)           16\n"
        "      dropout: Dropout(0)                                                 0\n"
        "    norm2: RMSNorm((4,))                                                  4\n"
        "      weight                                            (4,)              4\n"
        "    feed_forward: FeedForward(gelu)                                     128\n"
        "      linear1: Linear(4, 16, no bias)                                    64\n"
        "        weight                                          (16, 4)          64\n"
        "      dropout: Dropout(0)                                                 0\n"
        "      linear2: Linear(16, 4, no bias)                                    64\n"
        "        weight                                          (4, 16)          64\n"
        "    dropout: Dropout(0)                                                   0\n"
        "  norm: RMSNorm((4,))                                                     4\n"
        "    weight                                              (4,)              4\n"
        "  head: Linear(4, 5, no bias)                                             0\n"
        "    weight                                              (5, 4)            -  is "
        "token.weight\n"
        "total                                                                   248\n"
        "trainable                                                               248\n"
        "bytes                                                                 1 984\n");
}
