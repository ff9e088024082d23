// What layers and training are made of, on random tensors: normalisation, rotary positions,
// dropout, and losses with all their reductions.
#include <cmath>

#include "framework/core/error.h"
#include "framework/ops/creation.h"
#include "framework/ops/dropout.h"
#include "framework/ops/loss.h"
#include "framework/ops/normalization.h"
#include "framework/ops/rotary.h"
#include "tests/properties/properties.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

using reference::Array;
using reference::Slice;

// ---- normalisation ----

Instance draw_norm(Random& random, bool layer) {
  Instance call;
  const DType dtype = random.floating();
  const Input x = call.add(random.input(random.shape(1, 4), dtype));
  const Index axes = random.between(1, x.rank());
  Shape shape;
  for (Index axis = x.rank() - axes; axis < x.rank(); ++axis) shape.push_back(x.shape()[axis]);
  const double eps = random.one_of<double>({1e-5, 1e-3, 0.1});
  Array want =
      layer ? reference::layer_norm(x.array, axes, eps) : reference::rms_norm(x.array, axes, eps);
  const bool has_weight = random.chance(0.6);
  const bool has_bias = layer && random.chance(0.6);
  if (has_weight)
    want =
        reference::combine(want, call.add(random.input(shape, dtype)).array, std::multiplies<>());
  if (has_bias)
    want = reference::combine(want, call.add(random.input(shape, dtype)).array, std::plus<>());
  call.how =
      text("over ", shape, ", eps ", eps, has_weight ? ", weight" : "", has_bias ? ", bias" : "");
  call.function = [=](const Tensors& in) {
    const Tensor weight = has_weight ? in[1] : Tensor();
    const Tensor bias = has_bias ? in.back() : Tensor();
    return Tensors{layer ? layer_norm(in[0], shape, weight, bias, eps)
                         : rms_norm(in[0], shape, weight, eps)};
  };
  call.expect(want, dtype);
  return call;
}

// ---- rotary positions ----

Shape draw_rotary_shape(Random& random) {
  Shape shape = random.shape(0, 2);
  for (Index& size : shape) size = std::min<Index>(size, 3);
  shape.push_back(random.size());
  shape.push_back(2 * random.size(3));
  return shape;
}

Instance draw_rotary(Random& random) {
  Instance call;
  const DType dtype = random.floating();
  const Input x = call.add(random.input(draw_rotary_shape(random), dtype));
  Shape angles{x.array.size(-2), x.array.size(-1) / 2};
  if (random.chance(0.3)) angles[0] = 1;
  const Input cos = call.add(random.input(angles, dtype));
  const Input sin = call.add(random.input(angles, dtype));
  const bool interleaved = random.chance(0.5);
  const RotaryPairs pairs = interleaved ? RotaryPairs::interleaved : RotaryPairs::halves;
  call.how = interleaved ? "interleaved" : "halves";
  call.function = [=](const Tensors& in) {
    return Tensors{rotary_embedding(in[0], in[1], in[2], pairs)};
  };
  call.expect(reference::rotary(x.array, cos.array, sin.array, interleaved), dtype);
  return call;
}

Instance draw_rotary_positions(Random& random) {
  Instance call;
  const Input x = call.add(random.input(draw_rotary_shape(random), random.floating()));
  const Index first = random.between(0, 9);
  const double base = random.one_of<double>({10000, 100});
  const bool interleaved = random.chance(0.5);
  const RotaryPairs pairs = interleaved ? RotaryPairs::interleaved : RotaryPairs::halves;
  call.how = text("first ", first, ", base ", base, interleaved ? ", interleaved" : ", halves");
  call.function = [=](const Tensors& in) {
    return Tensors{rotary_embedding(in[0], first, base, pairs)};
  };
  const double width = static_cast<double>(x.array.size(-1));
  const Array angles =
      reference::make({x.array.size(-2), x.array.size(-1) / 2}, [=](const Shape& place) {
        return static_cast<double>(first + place[0]) *
               std::pow(base, -2 * static_cast<double>(place[1]) / width);
      });
  const auto cos = reference::map(angles, [](double angle) { return std::cos(angle); });
  const auto sin = reference::map(angles, [](double angle) { return std::sin(angle); });
  call.expect(reference::rotary(x.array, cos, sin, interleaved), x.dtype());
  return call;
}

// ---- dropout ----

/// Dropout is a product with a mask of 0 and 1 / (1 - p) that only the key and the place decide: so
/// it is linear, and alike for all dtypes and strides.
Instance draw_dropout(Random& random) {
  Instance call;
  const Input x = call.add(random.input(random.shape(), random.floating()));
  const double p =
      random.chance(0.1) ? static_cast<double>(random.between(0, 1)) : random.uniform(0.05, 0.95);
  const std::uint64_t key = random.raw();
  const double scale = p < 1 ? 1 / (1 - p) : 0.0;
  call.how = text("p ", p, ", key ", key);
  call.function = [=](const Tensors& in) { return Tensors{dropout_with_key(in[0], p, key)}; };
  const Array mask = read(dropout_with_key(ones(x.shape(), float64), p, key));
  call.expect(reference::combine(x.array, mask,
                                 [=](double v, double m) { return m != 0 ? v * scale : 0.0; }),
              x.dtype());
  return call;
}

// ---- losses ----

Reduction draw_reduction(Random& random) {
  return random.one_of<Reduction>({Reduction::none, Reduction::sum, Reduction::mean});
}

std::string name_of(Reduction reduction) {
  return reduction == Reduction::none ? "none" : reduction == Reduction::sum ? "sum" : "mean";
}

/// The sum, or the sum divided by `count`.
Array reduced(const Array& loss, Reduction reduction, double count) {
  if (reduction == Reduction::none) return loss;
  const double total = reference::sum(loss.values);
  return reference::full({}, reduction == Reduction::sum ? total : total / count);
}

Array reduced(const Array& loss, Reduction reduction) {
  return reduced(loss, reduction, static_cast<double>(loss.values.size()));
}

constexpr Index kIgnored = -100;

/// (C), (N, C) or (N, C, d...), with at least one class, and labels of which some are ignored.
struct Classes {
  Shape shape;
  Index axis;
  Index count;
  Input target;
};

Classes draw_classes(Random& random) {
  Classes classes;
  classes.shape = random.shape(1, 4);
  classes.axis = classes.shape.size() == 1 ? 0 : 1;
  Index& count = classes.shape[classes.axis];
  count = std::max<Index>(count, 1);
  classes.count = count;
  Shape items = classes.shape;
  items.erase(classes.axis);
  const double ignored = random.chance(0.3) ? 0.3 : 0.0;
  const auto label = [&](const Shape&) {
    return static_cast<double>(random.chance(ignored) ? kIgnored
                                                      : random.between(0, classes.count - 1));
  };
  classes.target = random.holding(reference::make(items, label), int64);
  return classes;
}

/// nll_loss, or cross_entropy of labels, with or without weights of the classes.
Instance draw_label_loss(Random& random, bool of_logits) {
  Instance call;
  const DType dtype = random.floating();
  const Classes classes = draw_classes(random);
  const Input input = call.add(random.input(classes.shape, dtype));
  call.add(classes.target);
  const bool weighted = random.chance(0.5);
  Array weight = reference::full({classes.count}, 1.0);
  if (weighted) weight = call.add(random.input({classes.count}, dtype, Draw::positive)).array;
  const Reduction reduction = draw_reduction(random);
  const double smoothing = of_logits && random.chance(0.5) ? random.uniform(0, 1) : 0.0;
  call.how = text(name_of(reduction), weighted ? ", weighted" : "", ", smoothing ", smoothing);
  call.function = [=](const Tensors& in) {
    const Tensor w = weighted ? in[2] : Tensor();
    if (!of_logits) return Tensors{nll_loss(in[0], in[1], {.weight = w, .reduction = reduction})};
    CrossEntropyOptions options;
    options.weight = w;
    options.reduction = reduction;
    options.label_smoothing = smoothing;
    return Tensors{cross_entropy(in[0], in[1], options)};
  };
  const Array log_probability =
      of_logits ? reference::along(input.array, classes.axis, reference::log_softmax) : input.array;
  const Array& target = classes.target.array;
  const Array distribution =
      reference::label_distribution(target, classes.shape, kIgnored, smoothing);
  const double count = reference::sum(reference::weight_of_items(target, weight, kIgnored).values);
  call.expect(reduced(reference::soft_nll(log_probability, distribution, weight), reduction, count),
              dtype);
  return call;
}

Instance draw_soft_cross_entropy(Random& random) {
  Instance call;
  const DType dtype = random.floating();
  const Classes classes = draw_classes(random);
  const Input input = call.add(random.input(classes.shape, dtype));
  const Input target = call.add(random.input(classes.shape, dtype, Draw::share));
  const bool weighted = random.chance(0.5);
  Array weight = reference::full({classes.count}, 1.0);
  if (weighted) weight = call.add(random.input({classes.count}, dtype, Draw::positive)).array;
  const Reduction reduction = draw_reduction(random);
  const double smoothing = random.chance(0.5) ? random.uniform(0, 1) : 0.0;
  call.how = text(name_of(reduction), weighted ? ", weighted" : "", ", smoothing ", smoothing);
  call.function = [=](const Tensors& in) {
    CrossEntropyOptions options;
    if (weighted) options.weight = in[2];
    options.reduction = reduction;
    options.label_smoothing = smoothing;
    return Tensors{cross_entropy(in[0], in[1], options)};
  };
  const Array log_probability = reference::along(input.array, classes.axis, reference::log_softmax);
  const Array smoothed = reference::map(target.array, [&](double q) {
    return q * (1 - smoothing) + smoothing / static_cast<double>(classes.count);
  });
  call.expect(reduced(reference::soft_nll(log_probability, smoothed, weight), reduction), dtype);
  return call;
}

Instance draw_mse(Random& random) {
  Instance call;
  const DType dtype = random.floating();
  const std::vector<Shape> shapes = random.broadcastable(2);
  const Input input = call.add(random.input(shapes[0], dtype));
  const Input target = call.add(random.input(shapes[1], dtype));
  const Reduction reduction = draw_reduction(random);
  call.how = name_of(reduction);
  call.function = [=](const Tensors& in) { return Tensors{mse_loss(in[0], in[1], reduction)}; };
  const Array loss = reference::combine(input.array, target.array,
                                        [](double x, double t) { return (x - t) * (x - t); });
  call.expect(reduced(loss, reduction), dtype);
  return call;
}

Instance draw_binary_cross_entropy(Random& random) {
  Instance call;
  const DType dtype = random.floating();
  const Shape shape = random.shape();
  const Input input = call.add(random.input(shape, dtype));
  const Input target = call.add(random.input(shape, dtype, Draw::share));
  const auto factor = [&](bool wanted) {
    return wanted ? call.add(random.input(random.narrowed(shape), dtype, Draw::positive)).array
                  : reference::full({}, 1.0);
  };
  const bool weighted = random.chance(0.4);
  const bool positive = random.chance(0.4);
  const Array weight = factor(weighted);
  const Array pos_weight = factor(positive);
  const Reduction reduction = draw_reduction(random);
  call.how = text(name_of(reduction), weighted ? ", weight" : "", positive ? ", pos_weight" : "");
  call.function = [=](const Tensors& in) {
    BinaryCrossEntropyOptions options;
    if (weighted) options.weight = in[2];
    options.reduction = reduction;
    if (positive) options.pos_weight = in.back();
    return Tensors{binary_cross_entropy_with_logits(in[0], in[1], options)};
  };
  const Array loss = reference::make(shape, [&](const Shape& place) {
    const double s = 1 / (1 + std::exp(-input.array[place]));
    const double t = target.array[place];
    const double hit = reference::stretched(pos_weight, place) * t * std::log(s);
    return -reference::stretched(weight, place) * (hit + (1 - t) * std::log(1 - s));
  });
  call.expect(reduced(loss, reduction), dtype);
  return call;
}

Instance draw_kl(Random& random) {
  Instance call;
  const DType dtype = random.floating();
  const std::vector<Shape> shapes = random.broadcastable(2);
  const bool log_target = random.chance(0.5);
  const Input input = call.add(random.input(shapes[0], dtype));
  const Input target =
      call.add(random.input(shapes[1], dtype, log_target ? Draw::normal : Draw::share));
  const Reduction reduction = draw_reduction(random);
  call.how = text(name_of(reduction), log_target ? ", log_target" : "");
  call.function = [=](const Tensors& in) {
    return Tensors{kl_div(in[0], in[1], reduction, log_target)};
  };
  const Array loss = reference::combine(input.array, target.array, [=](double x, double t) {
    return log_target ? std::exp(t) * (t - x) : t * (std::log(t) - x);
  });
  call.expect(reduced(loss, reduction), dtype);
  return call;
}

const Family normalisation("normalisation", 600,
                           {{"layer_norm", [](Random& random) { return draw_norm(random, true); }},
                            {"rms_norm", [](Random& random) { return draw_norm(random, false); }}});
const Family positions("rotary and dropout", 600,
                       {{"rotary_embedding", draw_rotary},
                        {"rotary_embedding at positions", draw_rotary_positions},
                        {"dropout_with_key", draw_dropout}});
const Family losses("losses", 1300,
                    {{"nll_loss", [](Random& random) { return draw_label_loss(random, false); }},
                     {"cross_entropy",
                      [](Random& random) { return draw_label_loss(random, true); }},
                     {"cross_entropy of a distribution", draw_soft_cross_entropy},
                     {"mse_loss", draw_mse},
                     {"binary_cross_entropy_with_logits", draw_binary_cross_entropy},
                     {"kl_div", draw_kl}});

}  // namespace

TEST_CASE("properties: normalisation") { normalisation.check(); }
TEST_CASE("properties: rotary positions and dropout") { positions.check(); }
TEST_CASE("properties: losses") { losses.check(); }
