// Gradcheck: sets the gradients that backward computes beside finite differences of the function.
//
//     const GradcheckReport report =
//         gradcheck([](const Tensor& q, const Tensor& k) { return matmul(q, k); }, {q, k});
//     if (!report) std::cerr << report;
//
// It sees copies of the inputs, and leaves the default generator's stream where it was.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "framework/core/tensor.h"
#include "framework/gradcheck/diagnosis.h"
#include "framework/gradcheck/gradcheck_function.h"

namespace gradus {

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
  /// An input of more elements than this is moved along random directions, in all its elements at
  /// once; a smaller one element by element.
  Index max_elements = 5000;
  /// How many directions: each has length 1, so that its slope is of the size of an element's.
  Index directions = 32;
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
  Index directions = 0;  ///< random ones it was moved along; 0 where element by element
  Index checked = 0;     ///< elements compared, or moved together
  Index wrong = 0;       ///< elements beyond the limit, or directions
  Index kinks = 0;       ///< elements, or directions, at a kink: see gradcheck()

  double max_abs_error = 0.0;  ///< largest |analytic - numeric|; NaN if one of them is not finite
  double max_rel_error = 0.0;  ///< the same as a share of `scale`
  double scale = 0.0;          ///< largest |numeric|, kinks aside
  double rounding = 0.0;       ///< what the outputs' rounding leaves uncertain in numeric
  double limit = 0.0;          ///< what max_abs_error may be: atol + rtol * scale + rounding

  /// The element with the largest error; or the direction, and then no element.
  IndexList worst{};
  Index worst_direction = -1;
  double worst_analytic = 0.0;
  double worst_numeric = 0.0;
  double worst_uncertainty = 0.0;  ///< how far the slopes of two step sizes disagree

  std::string note{};     ///< "all zero, as it must", "no elements" ...
  Diagnosis diagnosis{};  ///< of a gradient that is wrong
  /// Both gradients in full, of the input's shape; undefined where the input was not checked, and
  /// numeric where it was checked along directions.
  Tensor analytic{};
  Tensor numeric{};
};

struct GradcheckReport {
  std::vector<GradcheckInput> inputs{};
  /// What is wrong beside single elements: random results, NaN in an output, a vacuous check.
  std::vector<std::string> failures{};
  std::vector<std::string> remarks{};
  /// Which of several wrong inputs to mend first: "x is downstream of w: fix that first".
  std::string advice{};
  /// The steps that all wrong gradients passed through, by rules that no right one did, if few:
  /// "scores and matmul (its input 0)".
  std::string suspects{};
  std::uint64_t seed = 0;
  double step = 0.0;
  double rtol = 0.0;
  double atol = 0.0;
  Index max_elements = 0;
  Index evaluations = 0;       ///< calls of the function
  bool bit_identical = false;  ///< two runs were compared, and agreed

  bool passed() const;
  explicit operator bool() const { return passed(); }
};

/// A table of the inputs, and PASS, or FAIL with the worst element of each wrong input and, where
/// there is a pattern over the whole tensor, what kind of fault it shows.
std::ostream& operator<<(std::ostream& out, const GradcheckReport& report);

/// The same as one line of JSON; NaN and infinity are the strings "nan", "inf" and "-inf".
std::string to_json(const GradcheckReport& report);

/// Compares dL/d(element) for every element of every float64 input, or the slope of L along random
/// directions of a large one, with L's central differences at two step sizes, extrapolated
/// (Richardson). L is the sum of the outputs weighted by random cotangents. An output that is off
/// the tape counts, too: its slope must be 0.
///
/// - Integer, bool and undefined inputs are handed on as they are.
/// - Strided inputs keep their strides, and lie among NaN.
/// - A tensor given twice is two inputs, each moved by itself: the derivative of f(x, x) is the
///   sum of their two gradients.
/// - At a kink, such as relu at 0, a gradient between the slopes on the two sides is accepted.
///   Directions that meet one are drawn again.
/// - NaN and infinity fail. A step that leaves the function's domain (log near 0) is shortened.
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
