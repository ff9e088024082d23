#include "examples/train_reverse/task.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "framework/ops/creation.h"

namespace examples {

using gradus::Index;

namespace {

constexpr std::size_t kTrainSize = 20000;
constexpr std::size_t kHeldOutSize = 2000;
constexpr std::size_t kProbeSize = 250;

}  // namespace

std::span<const Sequence> Data::probe() const {
  return std::span(held_out).first(std::min(held_out.size(), kProbeSize));
}

Data draw_data(Index length, gradus::Generator& generator) {
  constexpr std::size_t kBoth = kTrainSize + kHeldOutSize;
  const double existing = std::pow(static_cast<double>(kDigits), static_cast<double>(length));
  const auto count = static_cast<std::size_t>(std::min(existing, static_cast<double>(kBoth)));
  const std::size_t held_out = count * kHeldOutSize / kBoth;

  Data data;
  std::set<Sequence> seen;
  while (seen.size() < count) {
    Sequence sequence(static_cast<std::size_t>(length));
    generator.fill_randint(sequence, 0, kDigits);
    if (!seen.insert(sequence).second) continue;
    (seen.size() <= held_out ? data.held_out : data.train).push_back(std::move(sequence));
  }
  return data;
}

gradus::Tensor stacked(std::span<const Sequence> sequences) {
  std::vector<Index> digits;
  for (const Sequence& sequence : sequences) {
    digits.insert(digits.end(), sequence.begin(), sequence.end());
  }
  return gradus::from_vector(digits).view({std::ssize(sequences), -1});
}

}  // namespace examples
