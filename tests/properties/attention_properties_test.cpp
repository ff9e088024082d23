// scaled_dot_product_attention on random tensors, with every form of a mask and with several at
// once, grouped heads, and queries that see nothing.
#include <cmath>
#include <limits>
#include <optional>

#include "framework/core/error.h"
#include "framework/ops/attention.h"
#include "tests/properties/properties.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

using reference::Array;
using Hidden = std::function<bool(Index batch, Index head, Index query, Index key)>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sizes {
  Index batch;
  Index heads;
  Index queries;
  Index keys;
};

/// A mask as Gradus takes it, made of the call's inputs, and what it hides.
struct Mask {
  std::string name;
  std::function<AttentionMask(const Tensors&)> gradus;
  Hidden hidden;
};

/// Keys are hidden, or kept, where a tensor of two to four axes says so; any dtype may say it.
Mask draw_tensor_mask(Random& random, const Sizes& sizes, Instance& call) {
  const bool hide = random.chance(0.5);
  const Index rank = random.between(2, 4);
  Shape shape{sizes.batch, sizes.heads, sizes.queries, sizes.keys};
  for (Index& size : shape) size = random.chance(0.2) ? 1 : size;
  if (rank == 3) shape.erase(1);
  if (rank == 2) shape = Shape{shape[2], shape[3]};
  const DType dtype = random.one_of<DType>({boolean, boolean, int64, float32});
  const auto place_in_call = call.inputs().size();
  const Array mask = call.add(random.input(shape, dtype, Draw::few)).array;
  const auto make = [=](const Tensors& in) {
    const Tensor& given = in[place_in_call];
    return hide ? AttentionMask::hide_where(given) : AttentionMask::keep_where(given);
  };
  const auto hidden = [=](Index b, Index h, Index i, Index j) {
    const Shape place = rank == 2 ? Shape{i, j} : rank == 3 ? Shape{b, i, j} : Shape{b, h, i, j};
    return (reference::stretched(mask, place) != 0) == hide;
  };
  return {hide ? "hide_where" : "keep_where", make, hidden};
}

Mask draw_causal(Random& random, const Sizes& sizes) {
  const Index offset = random.chance(0.5) ? sizes.keys - sizes.queries : random.between(-2, 2);
  return {text("causal, offset ", offset),
          [=](const Tensors&) { return AttentionMask::causal(sizes.queries, sizes.keys, offset); },
          [=](Index, Index, Index i, Index j) { return j > i + offset; }};
}

Mask draw_padding(Random& random, const Sizes& sizes, Instance& call) {
  const auto place_in_call = call.inputs().size();
  const Array padding = call.add(random.input({sizes.batch, sizes.keys}, boolean)).array;
  return {"padding", [=](const Tensors& in) { return AttentionMask::padding(in[place_in_call]); },
          [=](Index b, Index, Index, Index j) {
            return padding[{b, j}] != 0;
          }};
}

Mask draw_lengths(Random& random, const Sizes& sizes) {
  std::vector<Index> lengths;
  for (Index b = 0; b < sizes.batch; ++b) lengths.push_back(random.between(0, sizes.keys));
  return {
      "padding by lengths",
      [=](const Tensors&) { return AttentionMask::padding(lengths, sizes.keys); },
      [=](Index b, Index, Index, Index j) { return j >= lengths[static_cast<std::size_t>(b)]; }};
}

Mask draw_mask(Random& random, const Sizes& sizes, Instance& call) {
  switch (random.between(0, 3)) {
    case 0: return draw_causal(random, sizes);
    case 1: return draw_padding(random, sizes, call);
    case 2: return draw_lengths(random, sizes);
    default: return draw_tensor_mask(random, sizes, call);
  }
}

/// None, one, or two masks at once.
Mask draw_masks(Random& random, const Sizes& sizes, Instance& call) {
  Mask all{"no mask", [](const Tensors&) { return AttentionMask(); },
           [](Index, Index, Index, Index) { return false; }};
  for (Index n = random.chance(0.2) ? 0 : random.between(1, 2); n > 0; --n) {
    const Mask next = draw_mask(random, sizes, call);
    const Mask before = all;
    all.name = before.name == "no mask" ? next.name : before.name + " | " + next.name;
    all.gradus = [=](const Tensors& in) { return before.gradus(in) | next.gradus(in); };
    all.hidden = [=](Index b, Index h, Index i, Index j) {
      return before.hidden(b, h, i, j) || next.hidden(b, h, i, j);
    };
  }
  return all;
}

Instance draw_attention(Random& random) {
  Instance call;
  const DType dtype = random.floating();
  const bool grouped = random.chance(0.3);
  const Index shared = random.between(1, 2);
  const Index group = grouped ? random.between(1, 3) : 1;
  const Sizes sizes{random.size(2), shared * group, random.size(3), random.size(4)};
  const Index width = random.between(1, 3);
  const Input query =
      call.add(random.input({sizes.batch, sizes.heads, sizes.queries, width}, dtype));
  const Input key = call.add(random.input({sizes.batch, shared, sizes.keys, width}, dtype));
  const Input value =
      call.add(random.input({sizes.batch, shared, sizes.keys, random.size(3)}, dtype));

  const Mask mask = draw_masks(random, sizes, call);
  const double fill = random.chance(0.2) ? -1.5 : -kInfinity;
  const bool is_causal = random.chance(0.2);
  std::optional<double> scale;
  if (random.chance(0.3)) scale = random.uniform(-1, 1);

  call.how = text(mask.name, is_causal ? ", is_causal" : "", ", fill ", fill,
                  scale ? text(", scale ", *scale) : "", grouped ? ", grouped" : "");
  call.function = [=](const Tensors& in) {
    AttentionOptions options;
    options.mask = mask.gradus(in).with_fill(fill);
    options.is_causal = is_causal;
    options.scale = scale;
    options.enable_gqa = grouped;
    return Tensors{scaled_dot_product_attention(in[0], in[1], in[2], options)};
  };
  reference::Attention how;
  how.scale = scale.value_or(1 / std::sqrt(static_cast<double>(width)));
  how.fill = [=](Index b, Index h, Index i, Index j) -> std::optional<double> {
    if (is_causal && j > i) return -kInfinity;
    if (mask.hidden(b, h, i, j)) return fill;
    return std::nullopt;
  };
  call.expect(reference::attention(query.array, key.array, value.array, how), dtype);
  return call;
}

const Family attention("attention", 1200, {{"scaled_dot_product_attention", draw_attention}});

}  // namespace

TEST_CASE("properties: attention") { attention.check(); }
