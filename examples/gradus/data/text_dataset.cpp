#include "examples/gradus/data/text_dataset.h"

#include <algorithm>

#include "examples/gradus/data/eval_mode.h"
#include "examples/support/exit_code.h"
#include "examples/support/format.h"
#include "examples/support/utf8.h"
#include "framework/core/error.h"
#include "framework/io/file.h"
#include "framework/ops/creation.h"
#include "framework/ops/loss.h"
#include "layers/generation.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr Index kTrainTenths = 9;
constexpr Index kQuickWindows = 240;   // 20 batches of 12
constexpr Index kEvaluateAtOnce = 24;  // windows
constexpr Index kWritten = 240;        // characters
constexpr Index kWrittenQuickly = 80;

/// A window needs one character more than the block: the last one's target.
void check_length(const std::string& part, Index characters, Index block) {
  if (characters > block) return;
  throw Failure(kData, text("train text: the part ", part, " has ", characters,
                            " characters, but a window of block ", block, " needs ", block + 1,
                            "\n  hint   a longer text, or a smaller --block"));
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string text = read_file(path);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

TextDataset::TextDataset(const std::string& text, Index block, std::uint64_t seed)
    : vocabulary_(text),
      tokens_(vocabulary_.encode(text)),
      train_size_(std::ssize(tokens_) * kTrainTenths / 10),
      block_(block),
      seed_(seed),
      generator_(seed) {
  if (text.empty()) throw Failure(kData, "train text: the file is empty");
  check_length("to train on", train_size(), block);
  check_length("held out", held_out_size(), block);
}

std::string TextDataset::sizes() const {
  return grouped(train_size()) + " characters to train on, " + grouped(held_out_size()) +
         " held out";
}

std::string TextDataset::state() const { return text(tokens_.size(), " ", generator_.state()); }

void TextDataset::set_state(const std::string& state) {
  const std::size_t blank = state.find(' ');
  const std::string length = state.substr(0, blank);
  if (blank == std::string::npos || length != text(tokens_.size())) {
    throw IoError(text("resume: the text has ", tokens_.size(),
                       " characters; when the run began it had ", valid_utf8(length)));
  }
  generator_.set_state(state.substr(blank + 1));
}

Batch TextDataset::windows(const std::vector<Index>& starts) const {
  std::vector<Index> inputs;
  std::vector<Index> targets;
  for (const Index start : starts) {
    const auto first = tokens_.begin() + start;
    inputs.insert(inputs.end(), first, first + block_);
    targets.insert(targets.end(), first + 1, first + block_ + 1);
  }
  const Shape shape{std::ssize(starts), block_};
  return {from_vector(inputs, shape), from_vector(targets, shape)};
}

// There are train_size - block starts: the last window ends at the last target.
Batch TextDataset::next_batch(Index size) {
  std::vector<Index> starts(static_cast<std::size_t>(size));
  generator_.fill_randint(starts, 0, train_size_ - block_);
  return windows(starts);
}

std::string TextDataset::written(const GPT& model, Index characters) const {
  Generator generator(seed_);
  std::vector<Index> tokens = generate(model, {0}, characters, {.temperature = 0.8}, generator);
  tokens.erase(tokens.begin());
  return vocabulary_.decode(tokens);
}

Evaluation TextDataset::evaluate(GPT& model, Look look) const {
  const EvalMode eval_mode(model);
  const Index all = (held_out_size() - 1) / block_;
  const Index count = look == Look::full ? all : std::min(all, kQuickWindows);
  double loss_sum = 0.0;
  std::vector<Index> starts;
  for (Index i = 0; i < count; ++i) {
    starts.push_back(train_size_ + (i * all / count) * block_);
    if (std::ssize(starts) < kEvaluateAtOnce && i + 1 < count) continue;
    const Batch batch = windows(starts);
    const Tensor logits = model(batch.inputs).view({-1, vocabulary_.size()});
    loss_sum +=
        cross_entropy(logits, batch.targets.view({-1})).item() * static_cast<double>(starts.size());
    starts.clear();
  }
  return {.loss = loss_sum / static_cast<double>(count),
          .writing = written(model, look == Look::full ? kWritten : kWrittenQuickly)};
}

}  // namespace examples
