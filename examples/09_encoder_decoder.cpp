// Lesson 9: an encoder and a decoder. A word goes in, and comes out letter by letter, reversed: the
// shape of translation, in a language that one learns in a minute. Words differ in length, so the
// batch is padded, and masks keep the padding out of sight.
//
//     before: 08_character_model
#include <gradus/gradus.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

enum Symbol : Index { kPad, kStart, kEnd, kFirstLetter };
constexpr Index kLetters = 8;
constexpr Index kSymbols = kFirstLetter + kLetters;
constexpr Index kShortest = 3;
constexpr Index kLongest = 6;
constexpr Index kWidth = 32;
constexpr Index kSteps = 800;

using Word = std::vector<Index>;

Word draw_word(Generator& generator) {
  Word word(static_cast<std::size_t>(generator.randint(kShortest, kLongest + 1)));
  generator.fill_randint(word, kFirstLetter, kSymbols);
  return word;
}

std::string spelled(const Word& word) {
  std::string letters;
  for (const Index symbol : word) letters += static_cast<char>('a' + symbol - kFirstLetter);
  return letters;
}

/// The words as rows, filled up with padding: (B, length).
Tensor padded(const std::vector<Word>& words, Index length) {
  std::vector<Index> rows;
  for (Word word : words) {
    word.resize(static_cast<std::size_t>(length), kPad);
    rows.insert(rows.end(), word.begin(), word.end());
  }
  return from_vector(rows, {std::ssize(words), length});
}

class Translator : public Module {
 public:
  Embedding symbol{kSymbols, kWidth};
  LearnedPositions position{{.max_len = kLongest + 1, .d_model = kWidth}};
  Transformer transformer{{.d_model = kWidth,
                           .n_heads = 4,
                           .num_encoder_layers = 1,
                           .num_decoder_layers = 1,
                           .dim_feedforward = 4 * kWidth,
                           .dropout = 0.0,
                           .norm_first = true}};
  Linear head{kWidth, kSymbols};

  /// source (B, its length) and what was said so far, (B, length), to logits (B, length, symbols).
  Tensor operator()(const Tensor& source, const Tensor& said) const {
    const AttentionMask no_padding = AttentionMask::padding(eq(source, kPad));
    const AttentionMask no_future = AttentionMask::causal(said.size(1), said.size(1));
    const Tensor decoded = transformer(position(symbol(source)), position(symbol(said)),
                                       {.src = no_padding, .tgt = no_future, .memory = no_padding});
    return head(decoded);
  }
  void visit(Visitor& v) override {
    v("symbol", symbol);
    v("position", position);
    v("transformer", transformer);
    v("head", head);
  }
  std::string description() const override { return "Translator"; }
};

/// The decoder is given the right beginning, and asked for what comes next; padding counts nowhere.
Tensor loss_of(const Translator& model, const std::vector<Word>& words) {
  std::vector<Word> said, wanted;
  for (const Word& word : words) {
    said.emplace_back(1, kStart).insert(said.back().end(), word.rbegin(), word.rend());
    wanted.emplace_back(word.rbegin(), word.rend()).push_back(kEnd);
  }
  const Tensor logits = model(padded(words, kLongest), padded(said, kLongest + 1));
  return cross_entropy(logits.flatten(0, 1), padded(wanted, kLongest + 1).flatten(),
                       {.ignore_index = kPad});
}

/// Now it has nobody to give it the beginning but itself.
Word translated(const Translator& model, const Word& word) {
  Word said{kStart};
  while (std::ssize(said) <= kLongest) {
    const Tensor logits = model(padded({word}, kLongest), padded({said}, std::ssize(said)));
    const auto next = static_cast<Index>(argmax(logits[0][-1]).item());
    if (next == kEnd) break;
    said.push_back(next);
  }
  said.erase(said.begin());
  return said;
}

void show() {
  manual_seed(1);
  Translator model;
  Adam adam(model.parameters());
  Generator generator(1);
  const Schedule factor = schedule::cosine(kSteps);
  for (Index step = 0; step < kSteps; ++step) {
    std::vector<Word> words;
    for (int i = 0; i < 32; ++i) words.push_back(draw_word(generator));
    const Tensor loss = loss_of(model, words);
    if (step % 100 == 0) std::printf("step %3d  loss %.4f\n", static_cast<int>(step), loss.item());
    adam.zero_grad();
    loss.backward();
    adam.set_lr(5e-3 * factor(step));
    adam.step();
  }

  const NoGrad no_grad;
  int right = 0;
  for (int i = 0; i < 100; ++i) {
    const Word word = draw_word(generator);
    const Word result = translated(model, word);
    right += result == Word(word.rbegin(), word.rend()) ? 1 : 0;
    if (i < 4) std::cout << spelled(word) << " -> " << spelled(result) << "\n";
  }
  std::cout << right << " of 100 words reversed\n";
  examples::require(right >= 95, "95 of 100 words come out right");
}

}  // namespace

int main() { return examples::run(show); }
