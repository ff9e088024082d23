// Trial: the check of one function at one point. It makes leaves of the inputs (trial_inputs.cpp),
// runs the function twice forwards and backwards (trial.cpp), moves its inputs to take slopes
// (trial_slopes.cpp), and looks for the kind of fault where it finds one (trial_diagnosis.cpp). A
// second order is a second Trial, of the gradients seen as a function. Internal to gradcheck.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/gradcheck/judgement_internal.h"
#include "framework/gradcheck/routes_internal.h"

namespace gradus {
class Generator;
}

namespace gradus::checking {

std::string name_of(const GradcheckOptions& options, std::size_t number);

/// Numbers of size 0.5 to 1.5 and of either sign: none so small that it would hide its output.
Tensor random_cotangent(const Tensor& output, Generator& generator);

/// An input under check.
struct Variable {
  std::size_t number = 0;
  Tensor leaf{};
  std::vector<Index> positions{};
  std::vector<bool> frozen{};  ///< for each element
};

class Trial {
 public:
  /// Throws where an input cannot be checked.
  Trial(GradcheckFunction function, const std::vector<Tensor>& inputs,
        const GradcheckOptions& options, int order, GradcheckReport& report);

  /// Adds rows, failures and what they suggest to the report.
  void run();

  /// What the function returns for the inputs. Throws where that cannot be checked.
  std::vector<Tensor> outputs();

 private:
  struct Run {
    std::vector<Tensor> outputs;
    std::vector<Tensor> gradients;  ///< by each variable
  };

  // ---- trial_inputs.cpp ----
  Variable made_variable(std::size_t number, const Tensor& input) const;

  // ---- trial.cpp ----
  Run forward_and_backward();
  void check_sizes(const std::vector<Tensor>& outputs) const;
  void fail(const std::string& summary, const ErrorDetails& details);
  std::string subject() const { return order_ == 1 ? "the function" : "the gradient function"; }
  bool has_nan(const Run& run);
  bool repeats(const Run& first);
  GradcheckInput passed_through(std::size_t number) const;
  GradcheckInput row_for(std::size_t number, const Shape& shape) const;
  void look_for_vacuity();

  // ---- trial_slopes.cpp ----
  /// A way to move one variable: by how much each element, in row-major order.
  using Direction = Numbers;
  struct Examined {
    GradcheckInput row;
    std::vector<Pair> pairs;
  };
  Examined examine(Variable& variable, const Tensor& gradient, bool connected);
  std::vector<Pair> pairs_by_element(Variable& variable, const Numbers& gradient);
  std::vector<Pair> pairs_by_direction(GradcheckInput& row, Variable& variable,
                                       const Numbers& gradient);
  std::optional<Slope> slope_along(Variable& variable, const Direction& direction, double limit);
  Neighbourhood around_element(Variable& variable, std::size_t element);
  template <class Move>
  Neighbourhood around(double start, double step, Move move);

  // ---- trial_diagnosis.cpp ----
  void diagnose_rows(const std::vector<std::vector<Pair>>& pairs, const Run& run);
  Evidence evidence_of(const GradcheckInput& row, const std::vector<Pair>& pairs,
                       Variable& variable);

  GradcheckFunction function_;
  const GradcheckOptions& options_;
  int order_;
  GradcheckReport& report_;
  std::vector<Tensor> arguments_;
  std::vector<Variable> variables_;
  std::vector<Tensor> cotangents_;
  Numbers weights_;  ///< the numbers of the cotangents
  Numbers base_;     ///< the values of the outputs where nothing is moved
  double rounding_ = 0.0;
  std::vector<GradcheckInput> rows_;
};

}  // namespace gradus::checking
