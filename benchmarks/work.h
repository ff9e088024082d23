// The work that is timed, by name and size. Every program measures the same rows; what differs is
// who does the work: each framework defines the functions below once (gradus/, peers/), and links
// those of the *_benchmark.cpp files whose work it knows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace work {

using Index = std::int64_t;

/// One unit of work on data that is ready; empty where a framework does not offer it.
using Step = std::function<void()>;

/// Who works, with all that explains the numbers: versions, instruction set, BLAS.
std::string description();
/// Threads of the steps that follow.
void set_threads(int count);

/// c (m, n) = a (m, k) b (k, n), `batch` times; an operand may be stored transposed.
struct Product {
  Index batch, m, n, k;
  bool a_transposed = false;
  bool b_transposed = false;
  bool float64 = false;
};
Step product_step(const Product& work);

/// An op on float32 (rows, columns), off the tape.
enum class Op { add, multiply, exp, gelu, softmax, layer_norm };
Step op_step(Op op, Index rows, Index columns);

/// `length` ops on 2x2, each on the result of the one before: nothing but overhead.
enum class TinyOp { add, multiply, matmul, softmax };
struct TinyChain {
  TinyOp op;
  Index length;
  bool with_gradient;  ///< recorded, and differentiated
};
Step tiny_chain_step(const TinyChain& work);

/// Causal multi-head self-attention on (batch, length, width), forward and backward of the sum; x
/// and all parameters want their gradient, which each step makes anew.
struct Attention {
  Index batch, length, width, heads;
  bool float64 = false;
  double dropout = 0.0;      ///< of the attention weights
  bool need_weights = true;  ///< composed, so that the weights are there to be looked at
};
Step attention_step(const Attention& work);

/// A recurrent network (Elman), forward and backward: a sequence (batch, length, width) taken apart
/// position by position, h = tanh(W h + b + x[:, t]), to the sum of the last h.
struct Recurrence {
  Index batch, length, width;
};
Step recurrence_step(const Recurrence& work);

/// A training step of GPT-2: blocks with biases, a tied head, erf GELU, learned positions; forward,
/// cross entropy, backward, AdamW.
struct Gpt {
  Index layers, heads, width, block, batch, vocabulary;
};
Step gpt_step(const Gpt& work);

inline constexpr Gpt kToy{2, 2, 32, 16, 8, 16};
inline constexpr Gpt kNano{4, 4, 128, 64, 12, 65};
inline constexpr Gpt kBaby{6, 6, 384, 256, 8, 65};

}  // namespace work
