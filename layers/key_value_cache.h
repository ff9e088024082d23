// KeyValueCache: the keys and values of the tokens that a decoder has read, so that the next ones
// need not read them again.
//
// It has no size of its own: the model refuses tokens beyond its block_size, and leaves a full
// cache as it is. Whoever goes on must clear() it and read the last tokens anew, at positions from
// 0; so does generate(). Gradients flow through it while they are recorded: keep it in a NoGrad
// scope for anything but training.
#pragma once

#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

/// What one layer has read: t tokens.
struct KeysAndValues {
  Tensor keys;    ///< (B, H_kv, t, d_head), turned if positions are rotary; undefined while t is 0
  Tensor values;  ///< (B, H_kv, t, d_head)

  Index length() const { return keys.defined() ? keys.size(2) : 0; }
  /// Adds those of more tokens at the end. Throws ShapeError where all but the length differ,
  /// DTypeError, and then changes nothing.
  void append(const Tensor& more_keys, const Tensor& more_values);
};

class KeyValueCache {
 public:
  /// Empty. Throws ValueError for a negative n_layers.
  explicit KeyValueCache(Index n_layers);

  Index n_layers() const { return static_cast<Index>(layers_.size()); }
  /// How many tokens were read.
  Index length() const { return layers_.empty() ? 0 : layers_.front().length(); }
  /// Throws ValueError for a layer outside 0..n_layers() - 1.
  KeysAndValues& layer(Index i);
  /// Forgets all tokens.
  void clear();

 private:
  std::vector<KeysAndValues> layers_;
};

}  // namespace gradus
