// Gradcheck: sets the gradients that backward computes beside finite differences of the function.
//
//     const GradcheckReport report =
//         gradcheck([](const Tensor& q, const Tensor& k) { return matmul(q, k); }, {q, k});
//     if (!report) std::cerr << report;
//
// It sees copies of the inputs, and leaves the default generator's stream where it was.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/core/error.h"
#include "framework/core/tensor.h"

namespace gradus {

namespace detail {

inline std::vector<Tensor> listed(Tensor output) { return {std::move(output)}; }
inline std::vector<Tensor> listed(std::vector<Tensor> outputs) { return outputs; }

template <class F, std::size_t... I>
constexpr bool takes_tensors(std::index_sequence<I...>) {
  return std::is_invocable_v<F&, decltype((void(I), std::declval<const Tensor&>()))...>;
}

/// How many Tensors, 1 to 8, F is called with; 0 where it takes none.
template <class F, std::size_t N = 1>
constexpr std::size_t tensors_taken() {
  if constexpr (takes_tensors<F>(std::make_index_sequence<N>{})) {
    return N;
  } else if constexpr (N < 8) {
    return tensors_taken<F, N + 1>();
  } else {
    return 0;
  }
}

}  // namespace detail

/// What can be checked: a callable of a `const std::vector<Tensor>&`, or of one to eight Tensors,
/// that returns a Tensor or a std::vector of them.
class GradcheckFunction {
 public:
  template <class F>
  requires(!std::is_same_v<F, GradcheckFunction>)
      GradcheckFunction(F function) {  // NOLINT: reads as a function
    constexpr std::size_t count = detail::tensors_taken<F>();
    call_ = [function = std::move(function)](const std::vector<Tensor>& inputs) mutable {
      if constexpr (count == 0) {
        static_assert(std::is_invocable_v<F&, const std::vector<Tensor>&>,
                      "gradcheck takes a function of Tensors, or of a vector of them");
        return detail::listed(function(inputs));
      } else {
        check_count(count, inputs.size());
        return spread(function, inputs, std::make_index_sequence<count>{});
      }
    };
  }

  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const { return call_(inputs); }

 private:
  template <class F, std::size_t... I>
  static std::vector<Tensor> spread(F& function, const std::vector<Tensor>& inputs,
                                    std::index_sequence<I...>) {
    return detail::listed(function(inputs[I]...));
  }
  static void check_count(std::size_t takes, std::size_t given) {
    if (takes == given) return;
    throw ValueError(
        text("gradcheck: the function takes ", takes, " tensors, ", given, " are given"));
  }

  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> call_;
};

struct GradcheckOptions {
  /// How far an element is moved each way, and then twice as far; 0 means 6e-6 * max(1, |element|).
  double step = 0.0;
  /// An element is right when |analytic - numeric| <= atol + rtol * scale + rounding: scale is the
  /// largest |numeric| of its input, and rounding what outputs of this size leave uncertain in a
  /// difference, 64 * 2^-52 * |outputs| / step, that is 2e-9 * |outputs|.
  double rtol = 1e-6;
  double atol = 1e-8;
  /// Of the random cotangents, each of size 0.5 to 1.5 and of either sign.
  std::uint64_t seed = 1;
  /// The inputs' names in the report; "input 0", "input 1" ... where there are none.
  std::vector<std::string> names{};
  /// 2 checks the gradients' own gradients as well, as gradgradcheck does.
  int order = 1;
  /// Runs everything twice, and fails unless all bits are equal.
  bool check_determinism = true;
  /// For each input a bool mask of its shape, or an undefined tensor: where true, the gradient is 0
  /// by intent whatever the slope (the padding row of an embedding), and must be 0.
  std::vector<Tensor> frozen{};
};

/// What was found for one input.
struct GradcheckInput {
  std::string name;
  Shape shape{};
  std::size_t number = 0;  ///< its place among the inputs
  int order = 1;           ///< 2: a row about the gradients' own gradients
  bool passed = true;
  Index checked = 0;  ///< elements compared
  Index wrong = 0;    ///< of these, beyond the limit
  Index kinks = 0;    ///< of these, at a kink: see gradcheck()

  double max_abs_error = 0.0;  ///< largest |analytic - numeric|; NaN if one of them is not finite
  double max_rel_error = 0.0;  ///< the same as a share of `scale`
  double scale = 0.0;          ///< largest |numeric|, kinks aside
  double rounding = 0.0;       ///< what the outputs' rounding leaves uncertain in numeric
  double limit = 0.0;          ///< what max_abs_error may be: atol + rtol * scale + rounding

  /// The element with the largest error.
  IndexList worst{};
  double worst_analytic = 0.0;
  double worst_numeric = 0.0;
  double worst_uncertainty = 0.0;  ///< how far the slopes of two step sizes disagree

  std::string note{};  ///< "all zero, as it must", "no elements" ...
  /// Both gradients in full, of the input's shape; undefined where the input was not checked.
  Tensor analytic{};
  Tensor numeric{};
};

struct GradcheckReport {
  std::vector<GradcheckInput> inputs{};
  /// What is wrong beside single elements: random results, NaN in an output, a vacuous check.
  std::vector<std::string> failures{};
  std::vector<std::string> remarks{};
  std::uint64_t seed = 0;
  double step = 0.0;
  double rtol = 0.0;
  double atol = 0.0;
  Index evaluations = 0;       ///< calls of the function
  bool bit_identical = false;  ///< two runs were compared, and agreed

  bool passed() const;
  explicit operator bool() const { return passed(); }
};

/// A table of the inputs, and PASS, or FAIL with the worst element of each wrong input.
std::ostream& operator<<(std::ostream& out, const GradcheckReport& report);

/// Compares dL/d(element) for every element of every float64 input, where L is the sum of the
/// outputs weighted by random cotangents, with L's central differences at two step sizes,
/// extrapolated (Richardson). An output that is off the tape counts, too: its slope must be 0.
///
/// - Integer, bool and undefined inputs are handed on as they are.
/// - Strided inputs keep their strides, and lie among NaN.
/// - A tensor given twice is two inputs, each moved by itself: the derivative of f(x, x) is the
///   sum of their two gradients.
/// - At a kink, such as relu at 0, a gradient between the slopes on the two sides is accepted.
/// - NaN and infinity fail.
/// - A vacuous check fails, one that gradients of zero would pass because the function does not
///   change with any input, such as sum(softmax(x)).
///
/// Throws DTypeError for float32, in which no step is small enough; ValueError for an input that
/// overlaps itself (expand), for no floating input or output, and for options out of range.
GradcheckReport gradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options = {});

/// The same for the gradients, seen as a function of the inputs and of the cotangents. That they
/// are right in the first place is for gradcheck to say; gradcheck with {.order = 2} does both.
GradcheckReport gradgradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options = {});

}  // namespace gradus
