// A steady training step takes all its memory from what the steps before it gave back: it makes no
// call to malloc. Counts them, the C++ library's included, over one step of each of some models.
#include <cstdio>
#include <cstdlib>

#include <gradus/gradus.h>

namespace {

bool is_counting = false;
long calls = 0;

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

// In place of glibc's own, on whose other entrances all operators new are built.
void* malloc(std::size_t bytes) {
  if (is_counting) ++calls;
  return __libc_malloc(bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (is_counting) ++calls;
  return __libc_memalign(alignment, bytes);
}
}

namespace {

using namespace gradus;

constexpr Index kVocabulary = 100;
constexpr Index kLength = 12;
constexpr Index kBatch = 4;

/// Whether a step of training makes no call of malloc, after a few to warm up.
template <class Loss>
bool makes_none(const char* what, const std::vector<Tensor>& parameters, const Loss& loss) {
  AdamW optimizer(parameters, {.lr = 1e-3});
  constexpr int kSteps = 6;
  for (int step = 0; step < kSteps; ++step) {
    calls = 0;
    is_counting = true;
    optimizer.zero_grad();
    loss().backward();
    clip_grad_norm_(parameters, 1.0);
    optimizer.step();
    is_counting = false;
  }
  std::printf("%-40s %ld calls of malloc in a step\n", what, calls);
  return calls == 0;
}

bool gpt_makes_none(const char* what, const GPTOptions& options) {
  GPT model(options);
  const Tensor tokens = randint(0, kVocabulary, {kBatch, kLength});
  const Tensor targets = randint(0, kVocabulary, {kBatch * kLength});
  return makes_none(what, model.parameters(), [&] {
    return cross_entropy(model(tokens).view({kBatch * kLength, kVocabulary}), targets);
  });
}

bool attention_makes_none(const char* what, bool need_weights) {
  MultiHeadAttention attention({.d_model = 128, .n_heads = 4, .dropout = 0.1});
  const Tensor x = randn({kBatch, kLength, 128}).requires_grad_();
  const Tensor memory = randn({kBatch, 100, 128});
  const AttentionMask padding = AttentionMask::padding({100, 90, 7, 1}, 100);
  return makes_none(what, attention.parameters(), [&] {
    const AttentionMask causal = AttentionMask::causal(kLength, kLength);
    const Tensor y = attention(x, x, x, causal, need_weights).output;
    return sum(attention(y, memory, memory, padding, need_weights).output);
  });
}

}  // namespace

int main() {
  // Wide enough that words made of its shapes, which only errors should make, would take memory.
  GPTOptions options{.vocab_size = kVocabulary,
                     .block_size = kLength,
                     .n_layers = 2,
                     .n_heads = 2,
                     .d_model = 128,
                     .dropout = 0.1};
  bool good = gpt_makes_none("learned positions, layer norm, gelu", options);
  options.norm = Norm::rms;
  options.activation = Activation::swiglu;
  options.n_kv_heads = 1;
  good = gpt_makes_none("rms norm, swiglu, shared heads", options) && good;
  good = attention_makes_none("attention, with its weights", true) && good;
  good = attention_makes_none("attention, without", false) && good;
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
