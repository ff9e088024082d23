// StateMatch: holds tensors that are to be filled against a state, strictly and by name, and says
// everything that is wrong at once. Modules and optimisers load through it.
#pragma once

#include <string>
#include <vector>

#include "framework/io/state_dict.h"

namespace gradus {

class StateMatch {
 public:
  /// `targets` are handles to what is to be filled. One that has several names may stand in the
  /// state under any of them, or under several, with the same numbers. Undefined tensors of the
  /// state are not there.
  StateMatch(const StateList& targets, const StateDict& state, const LoadOptions& options = {});

  /// Whether every target has its tensor, of its shape and dtype, and no name is left over.
  bool is_complete() const { return faults_.empty(); }
  /// What is wrong, to follow "the state does not match the module" in an error: how many names
  /// are missing, unexpected, and so on; a line for each (the first of each kind, where there are
  /// many), with those side by side that look renamed; and as a hint LoadOptions that would mend
  /// all names, where there are any. `given` and `wanted` are what lines call the two sides.
  std::string report(const std::string& given, const std::string& wanted) const;
  /// Fills the targets in place, off the tape. Only where is_complete().
  void copy() const;

 private:
  enum class Kind { missing, unexpected, shape, dtype, clash };
  struct Fault {
    Kind kind;
    std::string name;
    Tensor given{};   // undefined where missing
    Tensor wanted{};  // undefined where unexpected
    std::string other{};
  };
  struct Filling {
    std::string name;
    Tensor target;
    Tensor source{};
  };
  class Report;

  StateDict renamed_state();
  void fill(Filling& filling, const std::string& name, const Tensor& given);
  bool has(Kind kind) const;
  StateList all(Kind kind) const;

  StateList targets_;
  StateDict state_;
  LoadOptions options_;
  std::vector<Filling> fillings_;
  std::vector<Fault> faults_;
};

}  // namespace gradus
