#include "layers/key_value_cache.h"

#include "framework/ops/checks.h"
#include "framework/ops/join.h"

namespace gradus {

void KeysAndValues::append(const Tensor& more_keys, const Tensor& more_values) {
  if (!keys.defined()) {
    keys = more_keys;
    values = more_values;
    return;
  }
  check_same_dtype("KeyValueCache", keys, more_keys);
  if (keys.size(0) != more_keys.size(0) || keys.size(1) != more_keys.size(1) ||
      keys.size(3) != more_keys.size(3)) {
    throw ShapeError("KeyValueCache: the new keys do not continue those that were read",
                     {.got = text("new keys ", described(more_keys), ", read ", described(keys)),
                      .need = "equal sizes of batch, heads and features",
                      .hint = "clear() for another batch"});
  }
  const Tensor all_values = cat({values, more_values}, 2);
  keys = cat({keys, more_keys}, 2);
  values = all_values;
}

KeyValueCache::KeyValueCache(Index n_layers) {
  if (n_layers < 0) {
    throw ValueError(text("KeyValueCache: n_layers ", n_layers, " must not be negative"));
  }
  layers_.resize(static_cast<std::size_t>(n_layers));
}

KeysAndValues& KeyValueCache::layer(Index i) {
  if (i < 0 || i >= n_layers()) {
    throw ValueError(text("KeyValueCache: no layer ", i, " among ", n_layers()));
  }
  return layers_[static_cast<std::size_t>(i)];
}

void KeyValueCache::clear() {
  for (KeysAndValues& layer : layers_) layer = {};
}

}  // namespace gradus
