// Optimizer: what all optimisers share: parameters, a learning rate, a step that changes the
// parameters in place, off the tape, and what is remembered from step to step.
//
// A batch that is too large for one pass is given in parts. Gradients add up until zero_grad(), so
// each part counts its share of the whole, however ragged the parts are:
//
//     optimizer.zero_grad();
//     for (const Part& part : parts) {  // total: the targets of all parts together
//       (cross_entropy(model(part.x), part.y, {.reduction = Reduction::sum}) / total).backward();
//     }
//     optimizer.step();
#pragma once

#include <span>
#include <string>
#include <vector>

#include "framework/core/tensor.h"
#include "framework/io/state_dict.h"
#include "framework/optim/parameter_groups.h"

namespace gradus {

class Optimizer {
 public:
  /// A parameter listed twice is stepped once; groups must not share one, and may be empty, but not
  /// all. Throws ValueError for that, and for a rate, a factor or a decay below 0, and
  /// AutogradError for a tensor that is no leaf that requires a gradient.
  Optimizer(const ParameterGroups& groups, double lr);
  virtual ~Optimizer() = default;

  /// Changes every parameter that has a gradient.
  void step();
  /// Drops every gradient; call it before backward().
  void zero_grad() const;
  /// Those of all groups, one after the other.
  const std::vector<Tensor>& parameters() const { return parameters_; }

  double lr() const { return lr_; }
  /// The rate of all groups, each times its factor. Throws ValueError for a rate below 0.
  void set_lr(double lr);

  /// What is remembered of each parameter, by its number and PyTorch's names, as "0.exp_avg":
  /// handles, which the next step changes. The rate and other options are not among it.
  StateDict state_dict() const;
  /// Goes on from where state_dict() was taken, given the same parameters in the same order. Counts
  /// of steps may be floating, as PyTorch's are. Throws ValueError that lists all that is missing,
  /// unexpected or of another shape or dtype, and then changes nothing.
  void load_state_dict(const StateDict& state);

 protected:
  /// Something that is remembered of a parameter from step to step.
  struct Memory {
    std::string name;  ///< PyTorch's
    /// Undefined where it begins with the first gradient, which has not come.
    Tensor tensor{};
    bool begins_late = false;
  };

  /// A parameter that has a gradient, by its number. Both are row-major without gaps: a parameter
  /// with gaps is copied before and back.
  struct Update {
    std::size_t i;
    Tensor parameter;
    Tensor gradient;
  };

  /// Changes all these parameters.
  virtual void step_all(std::span<const Update> updates) = 0;
  virtual std::vector<Memory> memory_of(std::size_t /*i*/) const { return {}; }
  /// Takes other tensors in place of those of memory_of, in its order.
  virtual void remember(std::size_t /*i*/, const std::vector<Tensor>& /*memory*/) {}

  /// The rate of parameter i.
  double lr_of(std::size_t i) const { return lr_ * group_of(i).lr_factor; }
  /// The decay of parameter i, which is `usual` unless its group has its own.
  double weight_decay_of(std::size_t i, double usual) const {
    return group_of(i).weight_decay.value_or(usual);
  }

 private:
  struct Settings {
    double lr_factor;
    std::optional<double> weight_decay;
  };

  void add_group(const ParameterGroup& group);
  const Settings& group_of(std::size_t i) const { return groups_[group_numbers_[i]]; }

  std::vector<Tensor> parameters_;
  std::vector<Settings> groups_;
  std::vector<std::size_t> group_numbers_;  // one per parameter
  double lr_ = 0.0;
};

}  // namespace gradus
