#include "framework/ops/loss.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "framework/autograd/composed_internal.h"
#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/indexing.h"
#include "framework/ops/launch.h"
#include "framework/ops/masking.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"

namespace gradus {
namespace {

Index class_axis_of(const Tensor& input) { return input.dim() == 1 ? 0 : 1; }

void check_input(const char* op, const Tensor& input, const Tensor& weight) {
  check_floating(op, input);
  if (input.dim() == 0) {
    throw ShapeError(text(op, ": the input has no axis of classes"),
                     {.need = "input (N, C), (C) or (N, C, d...)"});
  }
  if (!weight.defined()) return;
  check_same_dtype(op, input, weight);
  const Index classes = input.shape()[class_axis_of(input)];
  if (!(weight.shape() == Shape{classes})) {
    throw ShapeError(text(op, ": needs one weight for each of the ", classes, " classes"),
                     {.got = text("weight ", described(weight), ", input ", described(input))});
  }
}

std::span<const Index> labels_of(const Tensor& packed) {
  return {packed.data<Index>(), static_cast<std::size_t>(packed.numel())};
}

void check_targets(const char* op, const Tensor& input, const Tensor& target, Index ignore_index) {
  check_dtype(op, "target", target, int64);
  Shape wanted = input.shape();
  wanted.erase(class_axis_of(input));
  if (!(target.shape() == wanted)) {
    throw ShapeError(text(op, ": the targets do not fit the input"),
                     {.got = text("input ", described(input), ", target ", described(target)),
                      .need = "input (N, C), (C) or (N, C, d...), target without the axis C"});
  }
  const Index classes = input.shape()[class_axis_of(input)];
  const Tensor packed = launch::packed(target);
  const std::span labels = labels_of(packed);
  const auto is_outside = [&](Index label) {
    return label != ignore_index && (label < 0 || label >= classes);
  };
  const auto first = std::find_if(labels.begin(), labels.end(), is_outside);
  if (first == labels.end()) return;
  throw ValueError(
      text(op, ": target ", *first, " is outside 0..", classes - 1),
      {.got = text("input ", input.shape(), " (", classes, " classes), target ", target.shape(),
                   ", first at ", unravel_index(first - labels.begin(), target.shape()), ", ",
                   std::count_if(first, labels.end(), is_outside), " of ", labels.size(),
                   " outside; ignore_index ", ignore_index)});
}

Index count_except(const Tensor& target, Index label) {
  const Tensor packed = launch::packed(target);
  const std::span labels = labels_of(packed);
  return std::ssize(labels) - std::count(labels.begin(), labels.end(), label);
}

Tensor reduced(const Tensor& loss, Reduction reduction) {
  switch (reduction) {
    case Reduction::none: return loss;
    case Reduction::sum: return sum(loss);
    case Reduction::mean: return mean(loss);
  }
  return loss;
}

/// The weights of the classes along the class axis, ready to broadcast against the input.
Tensor beside_classes(const Tensor& weight, const Tensor& input) {
  Shape shape = Shape::filled(input.dim(), 1);
  shape[class_axis_of(input)] = weight.numel();
  return weight.view(shape);
}

/// Targets that say where each item's class is, and which items count.
struct Labels {
  Tensor target;   ///< ignored ones as 0
  Tensor ignored;  ///< bool
  Tensor weight;   ///< of each item: its class' weight or 1, and 0 where ignored

  Labels(const Tensor& input, const Tensor& given, const Tensor& class_weight, Index ignore_index)
      : ignored(eq(given, static_cast<double>(ignore_index))) {
    target = masked_fill(given, ignored, 0.0);
    const Tensor full = class_weight.defined()
                            ? index_select(class_weight, 0, target.flatten()).view(target.shape())
                            : ones(target.shape(), input.dtype());
    weight = masked_fill(full, ignored, 0.0);
  }
};

/// x[target], along the class axis.
Tensor picked(const Tensor& x, const Tensor& target) {
  const Index axis = class_axis_of(x);
  return gather(x, axis, target.unsqueeze(axis)).squeeze(axis);
}

/// Losses of items, already weighted; the mean is over the weights.
Tensor reduced_by_weight(const Tensor& loss, const Tensor& weight, Reduction reduction) {
  if (reduction == Reduction::mean) return sum(loss) / sum(weight);
  return reduced(loss, reduction);
}

/// The losses of items by their classes alone: no weights, no smoothing.
Tensor composed_class_losses(const Tensor& input, const Tensor& target, Index ignore_index) {
  const Labels labels(input, target, {}, ignore_index);
  const Tensor counted = masked_fill(input, labels.ignored.unsqueeze(class_axis_of(input)), 0.0);
  const Tensor log_probability = log_softmax(counted, class_axis_of(input));
  return masked_fill(-picked(log_probability, labels.target), labels.ignored, 0.0);
}

Tensor class_losses_backward(const Vjp& v, Index ignore_index) {
  const Tensor input = launch::packed(v.input(0));
  const Tensor dx = empty_like(input);
  kernels::table().cross_entropy_backward(
      input.dtype(), launch::split_at(input.shape(), class_axis_of(input)), ignore_index, dx.raw(),
      launch::packed(v.grad()).raw(), input.raw(), launch::packed(v.input(1)).data<Index>());
  return dx;
}

// loss = log(sum(exp(x))) - x[label];  dx = g (softmax(x) - 1 at the label)
Tensor class_losses(const Tensor& input, const Tensor& target, Index ignore_index) {
  const Tensor loss = empty(target.shape(), input.dtype());
  kernels::table().cross_entropy(
      input.dtype(), launch::split_at(input.shape(), class_axis_of(input)), ignore_index,
      loss.raw(), launch::packed(input).raw(), launch::packed(target).data<Index>());
  return record("cross_entropy", loss, {input, target}, Saves::inputs,
                [ignore_index](const Vjp& v) -> Gradients {
                  if (!grad_enabled()) return {class_losses_backward(v, ignore_index), Tensor()};
                  return composed_gradients(v, [&](const std::vector<Tensor>& inputs) {
                    return composed_class_losses(inputs[0], inputs[1], ignore_index);
                  });
                });
}

// The target's distribution q, smoothed:  sum over the classes of -q log p
Tensor soft_cross_entropy(const Tensor& input, const Tensor& target,
                          const CrossEntropyOptions& options) {
  check_same_dtype("cross_entropy", input, target);
  const Index axis = class_axis_of(input);
  const double share = options.label_smoothing;
  const double classes = static_cast<double>(input.shape()[axis]);
  Tensor q = share > 0 ? target * (1 - share) + share / classes : target;
  if (options.weight.defined()) q = q * beside_classes(options.weight, input);
  // A class of probability 0 counts 0, also where its logarithm is -inf.
  const Tensor log_probability = log_softmax(input, axis);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor absent = logical_and(eq(q, 0.0), eq(log_probability, -infinity));
  const Tensor loss = -sum(q * masked_fill(log_probability, absent, 0.0), {axis});
  if (options.reduction != Reduction::mean) return reduced(loss, options.reduction);
  return sum(loss) / static_cast<double>(loss.numel());
}

}  // namespace

Tensor nll_loss(const Tensor& log_probability, const Tensor& target,
                const NllLossOptions& options) {
  check_input("nll_loss", log_probability, options.weight);
  check_targets("nll_loss", log_probability, target, options.ignore_index);
  const Labels labels(log_probability, target, options.weight, options.ignore_index);
  const Tensor loss = -picked(log_probability, labels.target) * labels.weight;
  return reduced_by_weight(masked_fill(loss, labels.ignored, 0.0), labels.weight,
                           options.reduction);
}

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyOptions& options) {
  check_input("cross_entropy", input, options.weight);
  const double share = options.label_smoothing;
  if (!(share >= 0 && share <= 1)) {
    throw ValueError(text("cross_entropy: label_smoothing ", share, " is outside 0..1"));
  }
  if (is_floating(target.dtype()) && target.shape() == input.shape()) {
    return soft_cross_entropy(input, target, options);
  }
  check_targets("cross_entropy", input, target, options.ignore_index);
  if (share == 0 && !options.weight.defined()) {
    const Tensor loss = class_losses(input, target, options.ignore_index);
    if (options.reduction != Reduction::mean) return reduced(loss, options.reduction);
    return sum(loss) / static_cast<double>(count_except(target, options.ignore_index));
  }
  const Labels labels(input, target, options.weight, options.ignore_index);
  const Index axis = class_axis_of(input);
  // The numbers of an ignored item, NaN perhaps, must not come back in its gradient.
  const bool cleaned = any(labels.ignored);
  const Tensor counted = cleaned ? masked_fill(input, labels.ignored.unsqueeze(axis), 0.0) : input;
  const Tensor log_probability = log_softmax(counted, axis);

  Tensor loss = -picked(log_probability, labels.target) * labels.weight;
  if (share > 0) {
    const Tensor weighted = options.weight.defined()
                                ? log_probability * beside_classes(options.weight, input)
                                : log_probability;
    const double classes = static_cast<double>(input.shape()[axis]);
    const Tensor spread = -sum(weighted, {axis}) * (share / classes);
    loss = share < 1 ? loss * (1 - share) + spread : spread;  // inf * 0 would be NaN
  }
  return reduced_by_weight(masked_fill(loss, labels.ignored, 0.0), labels.weight,
                           options.reduction);
}

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  check_floating("mse_loss", input);
  check_same_dtype("mse_loss", input, target);
  broadcast_shape("mse_loss", input.shape(), target.shape());
  return reduced(square(input - target), reduction);
}

// -log s = softplus(-x) and -log(1 - s) = softplus(x) = x + softplus(-x), so
// loss = (1 - t) x + (1 + (w - 1) t) softplus(-x),  w being the weight of the positive answers
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyOptions& options) {
  check_floating("binary_cross_entropy_with_logits", input);
  check_same_dtype("binary_cross_entropy_with_logits", input, target);
  if (!(input.shape() == target.shape())) {
    throw ShapeError("binary_cross_entropy_with_logits: the targets do not fit the input",
                     {.got = text("input ", described(input), ", target ", described(target))});
  }
  for (const Tensor& weight : {options.weight, options.pos_weight}) {
    if (!weight.defined()) continue;
    check_same_dtype("binary_cross_entropy_with_logits", input, weight);
    broadcast_shape("binary_cross_entropy_with_logits", input.shape(), weight.shape());
  }
  const Tensor miss = softplus(-input);
  Tensor loss = (1.0 - target) * input;
  loss = loss +
         (options.pos_weight.defined() ? (1.0 + (options.pos_weight - 1.0) * target) * miss : miss);
  if (options.weight.defined()) loss = loss * options.weight;
  return reduced(loss, options.reduction);
}

Tensor kl_div(const Tensor& input, const Tensor& target, Reduction reduction, bool log_target) {
  check_floating("kl_div", input);
  check_same_dtype("kl_div", input, target);
  broadcast_shape("kl_div", input.shape(), target.shape());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor empty_class = eq(target, log_target ? -infinity : 0.0);
  const Tensor safe = masked_fill(target, empty_class, log_target ? 0.0 : 1.0);
  const Tensor gap = masked_fill((log_target ? safe : log(safe)) - input, empty_class, 0.0);
  return reduced((log_target ? exp(safe) : target) * gap, reduction);
}

}  // namespace gradus
