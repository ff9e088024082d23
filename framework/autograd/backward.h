// Backward: takes the steps reachable from a result, newest first, and carries gradients to where
// they are wanted. No recursion, so a chain of a million steps needs no more stack than one.
#pragma once

#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

struct BackwardOptions {
  /// dL/d(this tensor), of its shape and dtype; may be left out for a single number, and is then 1.
  Tensor gradient{};
  /// Keeps what the steps had saved, so that the tape can be used again.
  bool retain_graph = false;
};

/// Adds gradients into grad() of every leaf that `root` was computed from. Threads may do so at the
/// same time, into the same leaves, and over steps they share where retain_graph keeps these.
/// Throws AutogradError when root requires no gradient, needs a gradient of its own, or its tape
/// was used already.
void backward(const Tensor& root, const BackwardOptions& options = {});

struct GradientsOptions {
  /// dL/d(output) for each output; may be left out where all outputs are single numbers.
  std::vector<Tensor> grad_outputs{};
  /// Records the gradients' own computation, so that they can be differentiated again.
  bool create_graph = false;
  /// Keeps what the steps had saved; create_graph implies it.
  bool retain_graph = false;
  /// Zeros for an input that the outputs do not depend on, in place of an error.
  bool allow_unused = false;
};

/// Gradients of the outputs, weighted by grad_outputs and summed, by each input: same shapes as
/// `inputs`. Touches no grad(). Throws as backward() does.
std::vector<Tensor> gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const GradientsOptions& options = {});

}  // namespace gradus
