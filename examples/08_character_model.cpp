// Lesson 8: a GPT that reads characters. It learns a few lines by heart, which is what a model does
// with too little text; and so one can see whether it works.
//
//     before: 07_save_and_load    next: 09_encoder_decoder
#include <gradus/gradus.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr std::string_view kText =  // William Blake, 1794
    "Tyger Tyger, burning bright,\n"
    "In the forests of the night;\n"
    "What immortal hand or eye,\n"
    "Could frame thy fearful symmetry?\n";
constexpr Index kBlock = 24;
constexpr Index kBatch = 16;

/// The characters of the text, each with a number: its place in the alphabet.
class Alphabet {
 public:
  explicit Alphabet(std::string_view text) : letters_(text) {
    std::sort(letters_.begin(), letters_.end());
    letters_.erase(std::unique(letters_.begin(), letters_.end()), letters_.end());
  }
  Index size() const { return std::ssize(letters_); }

  std::vector<Index> encode(std::string_view text) const {
    std::vector<Index> ids;
    for (const char letter : text) ids.push_back(static_cast<Index>(letters_.find(letter)));
    return ids;
  }
  std::string decode(const std::vector<Index>& ids) const {
    std::string text;
    for (const Index id : ids) text += letters_[static_cast<std::size_t>(id)];
    return text;
  }

 private:
  std::string letters_;
};

struct Batch {
  Tensor input;   ///< (B, block)
  Tensor target;  ///< (B, block): at each position the character that follows
};

/// Pieces of the text, from random places.
Batch draw(const Tensor& text) {
  std::vector<Tensor> inputs, targets;
  const Tensor starts = randint(0, text.numel() - kBlock, {kBatch});
  for (const Index start : starts.to_vector<Index>()) {
    inputs.push_back(text.slice(0, start, start + kBlock));
    targets.push_back(text.slice(0, start + 1, start + kBlock + 1));
  }
  return {stack(inputs), stack(targets)};
}

Tensor loss_of(const GPT& model, const Batch& batch) {
  const Tensor logits = model(batch.input);  // (B, block, alphabet)
  return cross_entropy(logits.flatten(0, 1), batch.target.flatten());
}

void train(GPT& model, const Tensor& text, Index steps) {
  AdamW adam(model.parameters(), {.lr = 3e-3});
  const Schedule factor =
      schedule::then(schedule::linear_warmup(20), 20, schedule::cosine(steps - 20, 0.1));
  for (Index step = 0; step < steps; ++step) {
    const Tensor loss = loss_of(model, draw(text));
    if (step == 0) {
      const double nothing_known = std::log(static_cast<double>(model.options().vocab_size));
      std::printf("loss of knowing nothing %.2f\n", nothing_known);
      examples::require(std::abs(loss.item() - nothing_known) < 0.5, "a new model knows nothing");
    }
    if (step % 50 == 0) std::printf("step %3d  loss %.3f\n", static_cast<int>(step), loss.item());
    adam.zero_grad();
    loss.backward();
    clip_grad_norm_(model.parameters(), 1.0);
    adam.set_lr(3e-3 * factor(step));
    adam.step();
  }
}

void show() {
  manual_seed(1);
  const Alphabet alphabet(kText);
  const Tensor text = from_vector(alphabet.encode(kText));
  GPT model({.vocab_size = alphabet.size(),
             .block_size = kBlock,
             .n_layers = 2,
             .n_heads = 4,
             .d_model = 64});
  std::printf("%d characters, an alphabet of %d, %d parameters\n", static_cast<int>(text.numel()),
              static_cast<int>(alphabet.size()), static_cast<int>(model.parameter_count()));
  train(model, text, 250);
  model.eval();

  // The likeliest character each time: temperature 0.
  Generator generator(1);
  const std::string prompt = "Tyger Tyger,";
  const auto rest = static_cast<Index>(kText.size() - prompt.size());
  const std::string said = alphabet.decode(
      generate(model, alphabet.encode(prompt), rest, {.temperature = 0.0}, generator));
  std::cout << "\n" << said;
  examples::require(said == kText, "the poem is known by heart");

  // A little chance, and it loses its way in the poem.
  std::cout << "\nat temperature 1.5:\n"
            << alphabet.decode(generate(model, alphabet.encode(prompt), rest,
                                        {.temperature = 1.5, .top_k = 5}, generator))
            << "\n";
}

}  // namespace

int main() { return examples::run(show); }
