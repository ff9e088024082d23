// KeyValueCache: what a decoder has read.
#include "layers/key_value_cache.h"

#include "framework/core/error.h"
#include "framework/ops/join.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("KeyValueCache holds the keys and values of each layer", "[cache]") {
  KeyValueCache cache(2);
  CHECK(cache.n_layers() == 2);
  CHECK(cache.length() == 0);
  const Tensor keys = random_normal({2, 1, 5, 3}, 1);
  const Tensor values = random_normal({2, 1, 5, 3}, 2);
  for (Index layer = 0; layer < 2; ++layer) {
    cache.layer(layer).append(keys.slice(2, 0, 4), values.slice(2, 0, 4));
    cache.layer(layer).append(keys.slice(2, 4), values.slice(2, 4));
  }
  CHECK(cache.length() == 5);
  CHECK_THAT(cache.layer(1).keys, IsCloseTo(keys, exactly));
  CHECK_THAT(cache.layer(1).values, IsCloseTo(values, exactly));
  cache.clear();
  CHECK(cache.length() == 0);
  CHECK_FALSE(cache.layer(0).keys.defined());
  CHECK(KeyValueCache(0).length() == 0);
}

TEST_CASE("KeyValueCache refuses what does not continue it, and stays as it was",
          "[cache][errors]") {
  KeyValueCache cache(1);
  const Tensor keys = random_normal({2, 1, 5, 3}, 1);
  cache.layer(0).append(keys, keys);
  const Tensor other = zeros({1, 1, 1, 3}, float64);
  CHECK(error_text<ShapeError>([&] { cache.layer(0).append(other, other); }) ==
        "KeyValueCache: the new keys do not continue those that were read\n"
        "  got    new keys (1, 1, 1, 3) float64, read (2, 1, 5, 3) float64\n"
        "  need   equal sizes of batch, heads and features\n"
        "  hint   clear() for another batch");
  CHECK_THROWS_AS(cache.layer(0).append(keys.to(float32), keys.to(float32)), DTypeError);
  CHECK_THAT(cache.layer(0).keys, IsCloseTo(keys, exactly));
  CHECK_THAT(cache.layer(0).values, IsCloseTo(keys, exactly));
}
