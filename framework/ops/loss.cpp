#include "framework/ops/loss.h"

#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/indexing.h"
#include "framework/ops/masking.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"

namespace gradus {
namespace {

void check_cross_entropy(const Tensor& input, const Tensor& target, Index class_axis,
                         const CrossEntropyOptions& options) {
  check_floating("cross_entropy", input);
  check_dtype("cross_entropy", "target", target, int64);
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1)) {
    throw ValueError(
        text("cross_entropy: label_smoothing ", options.label_smoothing, " is outside 0..1"));
  }
  Shape wanted = input.shape();
  if (input.dim() > 0) wanted.erase(class_axis);
  if (input.dim() == 0 || !(target.shape() == wanted)) {
    throw ShapeError("cross_entropy: the targets do not fit the input",
                     {.got = text("input ", described(input), ", target ", described(target)),
                      .need = "input (N, C), (C) or (N, C, d...), target without the axis C"});
  }
  const Index classes = input.shape()[class_axis];
  for (const Index label : target.to_vector<Index>()) {
    if (label != options.ignore_index && (label < 0 || label >= classes)) {
      throw ValueError(text("cross_entropy: target ", label, " is outside 0..", classes - 1),
                       {.got = text("input ", input.shape(), " (", classes, " classes), target ",
                                    target.shape(), ", ignore_index ", options.ignore_index)});
    }
  }
}

}  // namespace

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyOptions& options) {
  const Index class_axis = input.dim() == 1 ? 0 : 1;
  check_cross_entropy(input, target, class_axis, options);
  const Tensor ignored = eq(target, static_cast<double>(options.ignore_index));
  const Tensor counted_target = masked_fill(target, ignored, 0.0);

  const Tensor log_probability = log_softmax(input, class_axis);
  const Tensor picked =
      gather(log_probability, class_axis, counted_target.unsqueeze(class_axis)).squeeze(class_axis);
  Tensor loss = -picked;
  if (const double share = options.label_smoothing; share > 0) {
    const double classes = static_cast<double>(input.shape()[class_axis]);
    loss = loss * (1 - share) - log_probability.sum({class_axis}) * (share / classes);
  }
  loss = masked_fill(loss, ignored, 0.0);

  if (options.reduction == Reduction::none) return loss;
  if (options.reduction == Reduction::sum) return loss.sum();
  return loss.sum() / logical_not(ignored).sum().item();
}

}  // namespace gradus
