// The task: a sequence of digits goes in, the same digits in reverse order shall come out.
#pragma once

#include <span>
#include <vector>

#include "framework/core/random.h"
#include "framework/core/tensor.h"

namespace examples {

inline constexpr gradus::Index kDigits = 10;

using Sequence = std::vector<gradus::Index>;

inline Sequence reversed(const Sequence& sequence) { return {sequence.rbegin(), sequence.rend()}; }

struct Data {
  std::vector<Sequence> train;
  std::vector<Sequence> held_out;           ///< never trained on
  std::span<const Sequence> probe() const;  ///< the first held-out ones, for a quick look
};

/// Random sequences of this length, no two of them equal, so that none is in both parts: 20 000 and
/// 2 000, or, where so many do not exist, all there are.
Data draw_data(gradus::Index length, gradus::Generator& generator);

/// int64, (sequences, length).
gradus::Tensor stacked(std::span<const Sequence> sequences);

}  // namespace examples
