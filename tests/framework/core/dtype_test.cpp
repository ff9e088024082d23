#include "framework/core/dtype.h"

#include "framework/core/error.h"
#include "tests/support/catch.h"

using namespace gradus;

TEST_CASE("dtype: sizes and PyTorch's names") {
  const std::tuple<DType, std::size_t, const char*, bool> rows[] = {{float32, 4, "float32", true},
                                                                    {float64, 8, "float64", true},
                                                                    {int64, 8, "int64", false},
                                                                    {boolean, 1, "bool", false}};
  for (const auto& [dtype, bytes, spelled, floating] : rows) {
    CHECK(item_size(dtype) == bytes);
    CHECK(name(dtype) == spelled);
    CHECK(text(dtype) == spelled);
    CHECK(is_floating(dtype) == floating);
  }
  CHECK(dtype_of<float> == float32);
  CHECK(dtype_of<double> == float64);
  CHECK(dtype_of<std::int64_t> == int64);
  CHECK(dtype_of<bool> == boolean);
}
