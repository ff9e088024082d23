// Ops over random axes of random tensors: reductions, extremes and their positions, running sums
// and softmax.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "framework/core/error.h"
#include "framework/ops/extreme.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "tests/properties/properties.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

using reference::Array;
using reference::Slice;
using Dtypes = DType (Random::*)();

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Sums of integers and bools are int64.
DType dtype_of_sum(DType dtype) { return dtype == boolean ? int64 : dtype; }

struct Reduction {
  std::string op;
  std::function<Tensor(const Tensor&, const Axes&, bool)> gradus;
  std::function<double(const Slice&)> reference;
  Dtypes dtypes = &Random::floating;
  Draw draw = Draw::normal;
  bool of_nothing = true;  ///< axes may be of size 0
};

Property reduction(const Reduction& op) {
  return {op.op, [op](Random& random) {
            Instance call;
            const Shape shape = op.of_nothing ? random.shape() : random.filled_shape();
            const Input x = call.add(random.input(shape, (random.*op.dtypes)(), op.draw));
            const Axes axes = random.axes(x.rank());
            const bool keepdim = random.chance(0.5);
            call.how = text("axes ", axes, keepdim ? ", keepdim" : "");
            call.function = [=](const Tensors& in) {
              return Tensors{op.gradus(in[0], axes, keepdim)};
            };
            call.expect(reference::reduce(x.array, axes, keepdim, op.reference),
                        dtype_of_sum(x.dtype()));
            return call;
          }};
}

Instance draw_prod(Random& random) {
  Instance call;
  // Of few numbers, lest the products outgrow 2^53; with zeros, whose derivatives are a special
  // case.
  Shape shape = random.shape(0, 4);
  for (Index& size : shape) size = std::min<Index>(size, 4);
  const Draw draw = random.chance(0.5) ? Draw::few : Draw::away_from_zero;
  const Input x = call.add(random.input(shape, random.any_dtype(), draw));
  const bool of_all = random.chance(0.3) && x.array.values.size() <= 20;
  const Index axis = random.axis(x.rank());
  const bool keepdim = !of_all && random.chance(0.5);
  call.how = of_all ? "of all" : text("axis ", axis, keepdim ? ", keepdim" : "");
  call.function = [=](const Tensors& in) {
    return Tensors{of_all ? prod(in[0]) : prod(in[0], axis, keepdim)};
  };
  const Axes axes = of_all || x.rank() == 0 ? Axes{} : Axes{axis};
  call.expect(reference::reduce(x.array, axes, keepdim, reference::product),
              dtype_of_sum(x.dtype()));
  return call;
}

Instance draw_spread(Random& random, bool root) {
  Instance call;
  const double correction = random.one_of<double>({0, 1, 0.5});
  // Of numbers that lie apart, lest the root of a variance of 0 be differentiated.
  const Input x = call.add(random.input(random.shape(), random.floating(), Draw::apart));
  const Axes axes = random.axes(x.rank());
  const bool keepdim = random.chance(0.5);
  call.how = text("axes ", axes, ", correction ", correction, keepdim ? ", keepdim" : "");
  call.function = [=](const Tensors& in) {
    return Tensors{root ? gradus::std(in[0], axes, correction, keepdim)
                        : var(in[0], axes, correction, keepdim)};
  };
  const auto spread = [=](const Slice& slice) {
    const double variance = reference::variance(slice, correction);
    return root ? std::sqrt(variance) : variance;
  };
  const Array want = reference::reduce(x.array, axes, keepdim, spread);
  call.expect(want, x.dtype());
  for (const double value : want.values) call.smooth = call.smooth && (!root || value > 0.01);
  return call;
}

Instance draw_norm(Random& random) {
  Instance call;
  const double p = random.one_of<double>({1, 2, 3, 1.5, kInfinity});
  const Shape shape = std::isinf(p) ? random.filled_shape() : random.shape();
  const Input x = call.add(random.input(shape, random.floating(), Draw::away_from_zero));
  const Axes axes = random.axes(x.rank());
  const bool keepdim = random.chance(0.5);
  call.how = text("p ", p, ", axes ", axes, keepdim ? ", keepdim" : "");
  call.function = [=](const Tensors& in) { return Tensors{norm(in[0], p, axes, keepdim)}; };
  call.expect(reference::reduce(x.array, axes, keepdim,
                                [=](const Slice& slice) { return reference::norm(slice, p); }),
              x.dtype());
  return call;
}

/// An op along one axis that leaves the shape as it is.
Property along(const std::string& op, Tensor (*gradus)(const Tensor&, Index), Dtypes dtypes,
               Slice (*reference)(const Slice&)) {
  return {op, [=](Random& random) {
            Instance call;
            const Input x = call.add(random.input(random.shape(), (random.*dtypes)()));
            const Index axis = random.axis(x.rank());
            call.how = text("axis ", axis);
            call.function = [=](const Tensors& in) { return Tensors{gradus(in[0], axis)}; };
            call.expect(reference::along(x.array, axis, reference), dtype_of_sum(x.dtype()));
            return call;
          }};
}

// ---- extremes ----

/// Numbers that lie apart, and so can be differentiated; or equal ones, and NaN, which cannot.
Input draw_contest(Random& random, const Shape& shape, Instance& call) {
  const bool apart = random.chance(0.6);
  const DType dtype = apart ? random.floating() : random.number();
  call.smooth = apart;
  return call.add(random.input(
      shape, dtype, apart ? Draw::apart : random.one_of<Draw>({Draw::few, Draw::special})));
}

double best_value(const Slice& slice, bool largest) {
  return slice[static_cast<std::size_t>(reference::best(slice, largest))];
}

Instance draw_extreme(Random& random, bool largest) {
  Instance call;
  const Input x = draw_contest(random, random.filled_shape(), call);
  const Axes axes = random.axes(x.rank());
  const bool keepdim = random.chance(0.5);
  const bool plain = axes.empty() && !keepdim;  // then max(x) says the same
  call.how = text("axes ", axes, keepdim ? ", keepdim" : "");
  call.function = [=](const Tensors& in) {
    if (plain) return Tensors{largest ? gradus::max(in[0]) : gradus::min(in[0])};
    return Tensors{largest ? amax(in[0], axes, keepdim) : amin(in[0], axes, keepdim)};
  };
  call.expect(reference::reduce(x.array, axes, keepdim,
                                [=](const Slice& slice) { return best_value(slice, largest); }),
              x.dtype());
  return call;
}

Instance draw_extreme_along(Random& random, bool largest) {
  Instance call;
  const Input x = draw_contest(random, random.filled_shape(), call);
  const Index axis = random.axis(x.rank());
  const bool keepdim = random.chance(0.5);
  call.how = text("axis ", axis, keepdim ? ", keepdim" : "");
  call.function = [=](const Tensors& in) {
    const MaxResult result =
        largest ? gradus::max(in[0], axis, keepdim) : gradus::min(in[0], axis, keepdim);
    return Tensors{result.values, result.indices};
  };
  const Axes axes = x.rank() == 0 ? Axes{} : Axes{axis};
  call.expect(reference::reduce(x.array, axes, keepdim,
                                [=](const Slice& slice) { return best_value(slice, largest); }),
              x.dtype());
  call.expect(reference::reduce(x.array, axes, keepdim,
                                [=](const Slice& slice) {
                                  return static_cast<double>(reference::best(slice, largest));
                                }),
              int64);
  return call;
}

Instance draw_position(Random& random, bool largest) {
  Instance call;
  const Input x = draw_contest(random, random.filled_shape(), call);
  std::optional<Index> axis;
  if (random.chance(0.6)) axis = random.axis(x.rank());
  const bool keepdim = axis && random.chance(0.5);
  call.how = text(axis ? text("axis ", *axis) : "of all", keepdim ? ", keepdim" : "");
  call.function = [=](const Tensors& in) {
    return Tensors{largest ? argmax(in[0], axis, keepdim) : argmin(in[0], axis, keepdim)};
  };
  const Axes axes = x.rank() == 0 || !axis ? Axes{} : Axes{*axis};
  call.expect(reference::reduce(x.array, axes, keepdim,
                                [=](const Slice& slice) {
                                  return static_cast<double>(reference::best(slice, largest));
                                }),
              int64);
  return call;
}

Instance draw_topk(Random& random) {
  Instance call;
  const Input x = draw_contest(random, random.shape(), call);
  const Index axis = random.axis(x.rank());
  const Index k = random.between(0, x.rank() == 0 ? 1 : x.array.size(axis));
  const bool largest = random.chance(0.5);
  call.how = text("k ", k, ", axis ", axis, largest ? "" : ", smallest");
  call.function = [=](const Tensors& in) {
    const MaxResult result = topk(in[0], k, axis, largest);
    return Tensors{result.values, result.indices};
  };
  const auto positions = [=](const Slice& slice) {
    const std::vector<Index> best = reference::best_of(slice, k, largest);
    return Slice(best.begin(), best.end());
  };
  const auto values = [=](const Slice& slice) {
    Slice result;
    for (const double i : positions(slice)) result.push_back(slice[static_cast<std::size_t>(i)]);
    return result;
  };
  call.expect(reference::along(x.array, axis, values), x.dtype());
  call.expect(reference::along(x.array, axis, positions), int64);
  return call;
}

// ---- softmax ----

/// -inf for some, which are then 0, also in the gradients.
Instance draw_hidden_softmax(Random& random) {
  Instance call;
  const Input x = random.input(random.filled_shape(), random.floating());
  Array hidden = x.array;
  for (double& value : hidden.values) value = random.chance(0.4) ? -kInfinity : value;
  const Input scores = call.add(random.holding(hidden, x.dtype()));
  const Index axis = random.axis(x.rank());
  call.how = text("axis ", axis, ", some -inf");
  call.function = [=](const Tensors& in) {
    return Tensors{softmax(in[0], axis, WhenAllHidden::zero)};
  };
  call.expect(reference::along(scores.array, axis,
                               [](const Slice& slice) {
                                 const bool all = reference::logsumexp(slice) == -kInfinity;
                                 return all ? Slice(slice.size(), 0.0) : reference::softmax(slice);
                               }),
              x.dtype());
  return call;
}

const Family reductions(
    "reduce", 2000,
    {reduction({"sum",
                [](const Tensor& x, const Axes& axes, bool keep) { return sum(x, axes, keep); },
                reference::sum, &Random::any_dtype}),
     reduction({"mean",
                [](const Tensor& x, const Axes& axes, bool keep) { return mean(x, axes, keep); },
                reference::mean}),
     reduction({"logsumexp", logsumexp, reference::logsumexp}),
     {"prod", draw_prod},
     {"var", [](Random& random) { return draw_spread(random, false); }},
     {"std", [](Random& random) { return draw_spread(random, true); }},
     {"norm", draw_norm},
     along("cumsum", cumsum, &Random::any_dtype, reference::cumsum)});

const Family extremes(
    "extreme", 1500,
    {{"amax, max of all", [](Random& random) { return draw_extreme(random, true); }},
     {"amin, min of all", [](Random& random) { return draw_extreme(random, false); }},
     {"max", [](Random& random) { return draw_extreme_along(random, true); }},
     {"min", [](Random& random) { return draw_extreme_along(random, false); }},
     {"argmax", [](Random& random) { return draw_position(random, true); }},
     {"argmin", [](Random& random) { return draw_position(random, false); }},
     {"topk", draw_topk}});

const Family softmaxes("softmax", 700,
                       {along(
                            "softmax", [](const Tensor& x, Index axis) { return softmax(x, axis); },
                            &Random::floating, reference::softmax),
                        along("log_softmax", log_softmax, &Random::floating,
                              reference::log_softmax),
                        {"softmax of hidden scores", draw_hidden_softmax}});

}  // namespace

TEST_CASE("properties: reductions") { reductions.check(); }
TEST_CASE("properties: extremes") { extremes.check(); }
TEST_CASE("properties: softmax") { softmaxes.check(); }
