// Comparing tensors in one line of a test:
//
//     CHECK_THAT(y, IsCloseTo(want));                    // another tensor: shape, dtype, numbers
//     CHECK_THAT(y, HasValues({{1, 2}, {3, 4}}));        // numbers as braces: shape, numbers
//     CHECK_THAT(y, HasValues({1, 2}, exactly));
//
// Both fail with the largest difference and its place. The rule is that of the golden data: NaN
// exactly where NaN is wanted, the same infinities, and everywhere else
//
//     |got - want| <= atol + rtol * max|want|            (over the finite elements of the tensor)
//
// Integers and bools must be equal; signed zeros are.
#pragma once

#include <optional>
#include <string>
#include <typeinfo>
#include <utility>

#include "framework/core/error.h"
#include "framework/core/tensor.h"
#include "tests/support/catch.h"

namespace gradus::testing {

struct Tolerance {
  double rtol = 0.0;
  double atol = 0.0;
};

inline constexpr Tolerance exactly{};
/// float64: 1e-10 and 1e-12; float32: 1e-5 and 1e-6; nothing for the others.
Tolerance usual_tolerance(DType dtype);

/// What is wrong with `got`, in a line or two; empty where it is close.
std::string difference(const Tensor& got, const Tensor& want,
                       std::optional<Tolerance> tolerance = {});

class CloseTensor : public Catch::Matchers::MatcherBase<Tensor> {
 public:
  CloseTensor(Tensor want, bool of_any_dtype, std::optional<Tolerance> tolerance)
      : want_(std::move(want)), of_any_dtype_(of_any_dtype), tolerance_(tolerance) {}
  bool match(const Tensor& got) const override;
  std::string describe() const override;

 private:
  Tensor want_;
  bool of_any_dtype_;
  std::optional<Tolerance> tolerance_;
  mutable std::string difference_;
};

CloseTensor IsCloseTo(const Tensor& want, std::optional<Tolerance> tolerance = {});
/// The same numbers in whatever dtype.
CloseTensor HasValues(const NestedNumbers& want, std::optional<Tolerance> tolerance = {});

/// The text of the E, and of no other type, that `call` throws:
/// CHECK(error_text<ShapeError>([&] { x + y; }) == "add: ...").
template <class E, class Call>
std::string error_text(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return typeid(error) == typeid(E) ? error.what()
                                      : std::string("another type of error: ") + error.what();
  }
  return "no error";
}

}  // namespace gradus::testing
