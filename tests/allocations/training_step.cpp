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

constexpr Index kVocabulary = 16;
constexpr Index kLength = 12;
constexpr Index kBatch = 4;

/// Calls of malloc in a step of training, after a few to warm up.
long calls_in_a_step(const GPTOptions& options) {
  GPT model(options);
  const std::vector<Tensor> parameters = model.parameters();
  AdamW optimizer(parameters, {.lr = 1e-3});
  const Tensor tokens = randint(0, kVocabulary, {kBatch, kLength});
  const Tensor targets = randint(0, kVocabulary, {kBatch * kLength});
  constexpr int kSteps = 6;
  for (int step = 0; step < kSteps; ++step) {
    calls = 0;
    is_counting = true;
    optimizer.zero_grad();
    const Tensor logits = model(tokens).view({kBatch * kLength, kVocabulary});
    const Tensor loss = cross_entropy(logits, targets);
    loss.backward();
    clip_grad_norm_(parameters, 1.0);
    optimizer.step();
    is_counting = false;
  }
  return calls;
}

bool makes_none(const char* what, const GPTOptions& options) {
  const long counted = calls_in_a_step(options);
  std::printf("%-40s %ld calls of malloc in a step\n", what, counted);
  return counted == 0;
}

}  // namespace

int main() {
  GPTOptions options{.vocab_size = kVocabulary,
                     .block_size = kLength,
                     .n_layers = 2,
                     .n_heads = 2,
                     .d_model = 32,
                     .dropout = 0.1};
  bool good = makes_none("learned positions, layer norm, gelu", options);
  options.norm = Norm::rms;
  options.activation = Activation::swiglu;
  options.n_kv_heads = 1;
  good = makes_none("rms norm, swiglu, shared heads", options) && good;
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
