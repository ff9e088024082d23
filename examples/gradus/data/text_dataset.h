// TextDataset: a text, character by character; what comes next? The first nine tenths are trained
// on, in windows at random places; the last tenth is held out. Characters are code points of UTF-8
// (a byte that is none is a character of its own), and line ends are kept as they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "examples/gradus/data/dataset.h"
#include "framework/core/random.h"

namespace examples {

/// The contents of a file, without the byte-order mark that some begin with. Throws IoError.
std::string read_text(const std::filesystem::path& path);

class TextDataset : public Dataset {
 public:
  /// The vocabulary is that of the whole text: what is held out has no unknown character. Throws
  /// Failure unless both parts have a window of `block` characters and one more.
  TextDataset(const std::string& text, Index block, std::uint64_t seed);

  const Vocabulary& vocabulary() const override { return vocabulary_; }
  Index block_size() const override { return block_; }
  std::string sizes() const override;
  Batch next_batch(Index size) override;
  /// The length of the text, and the generator of windows.
  std::string state() const override;
  void set_state(const std::string& state) override;
  /// Over windows one after the other: all there are, or 240 evenly spread ones for a quick look.
  /// It writes at temperature 0.8, behind the first character of the vocabulary, which in most
  /// texts is a line's end.
  Evaluation evaluate(gradus::GPT& model, Look look) const override;

  /// Characters in each part.
  Index train_size() const { return train_size_; }
  Index held_out_size() const { return std::ssize(tokens_) - train_size_; }

 private:
  /// The windows that start at these characters.
  Batch windows(const std::vector<Index>& starts) const;
  std::string written(const gradus::GPT& model, Index characters) const;

  Vocabulary vocabulary_;
  std::vector<Index> tokens_;
  Index train_size_;
  Index block_;
  std::uint64_t seed_;
  gradus::Generator generator_;
};

}  // namespace examples
