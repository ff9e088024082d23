// Views of random tensors, and the ops that join, cut and rearrange them, as values and, through
// their rules, as gradients.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "framework/core/error.h"
#include "framework/ops/join.h"
#include "framework/ops/views.h"
#include "tests/properties/properties.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

using reference::Array;

/// A call that makes one tensor of one, in its dtype.
Instance one_to_one(const Input& x, const std::string& how,
                    const std::function<Tensor(const Tensor&)>& gradus, const Array& want) {
  Instance call;
  call.add(x);
  call.how = how;
  call.function = [gradus](const Tensors& in) { return Tensors{gradus(in[0])}; };
  call.expect(want, x.dtype());
  return call;
}

Input draw_input(Random& random, Index least_rank = 0) {
  return random.input(random.shape(least_rank), random.any_dtype());
}

/// Another shape of as many elements: neighbouring axes joined, or a 1 put in, or all split anew.
Shape draw_reshaped(Random& random, const Shape& shape) {
  Index left = std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
  if (left == 0) return random.chance(0.5) ? Shape{0} : Shape{3, 0, 2};
  Shape result;
  while (left > 1 && result.size() < 4) {
    std::vector<Index> divisors;
    for (Index d = 1; d <= left; ++d) {
      if (left % d == 0) divisors.push_back(d);
    }
    result.push_back(random.one_of(divisors));
    left /= result.back();
  }
  if (left > 1 || random.chance(0.2)) result.push_back(left);
  return result;
}

Instance draw_reshape(Random& random, bool view) {
  const Input drawn = draw_input(random);
  const Input x = view && !drawn.tensor.is_contiguous()
                      ? Input{drawn.array, drawn.tensor.contiguous(), drawn.tensor.contiguous()}
                      : drawn;
  const Shape shape = draw_reshaped(random, x.shape());
  Shape asked = shape;
  if (!shape.empty() && !shape.contains(0) && random.chance(0.3))
    asked[random.between(0, shape.size() - 1)] = -1;
  return one_to_one(
      x, text("to ", asked),
      [=](const Tensor& t) { return view ? t.view(asked) : t.reshape(asked); },
      reference::reshape(x.array, shape));
}

Instance draw_flatten(Random& random) {
  const Input x = draw_input(random);
  const Index rank = x.rank();
  const Index first = rank == 0 ? 0 : random.between(0, rank - 1);
  const Index last = rank == 0 ? 0 : random.between(first, rank - 1);
  Shape shape;
  Index joined = 1;
  for (Index axis = 0; axis < rank; ++axis) {
    if (axis < first || axis > last) shape.push_back(x.shape()[axis]);
    if (axis >= first && axis <= last) joined *= x.shape()[axis];
    if (axis == last) shape.push_back(joined);
  }
  if (rank == 0) shape = {1};
  const Index end = rank > 0 && random.chance(0.5) ? last - rank : last;
  return one_to_one(
      x, text("axes ", first, " to ", end), [=](const Tensor& t) { return t.flatten(first, end); },
      reference::reshape(x.array, shape));
}

Instance draw_transpose(Random& random) {
  const Input x = draw_input(random);
  const Index a = random.axis(x.rank());
  const Index b = random.axis(x.rank());
  return one_to_one(
      x, text("axes ", a, ", ", b), [=](const Tensor& t) { return t.transpose(a, b); },
      reference::transpose(x.array, a, b));
}

Instance draw_permute(Random& random) {
  const Input x = draw_input(random);
  Axes axes;
  for (const Index axis : random.permutation(x.rank()))
    axes.push_back(random.chance(0.3) ? axis - x.rank() : axis);
  return one_to_one(
      x, text("axes ", axes), [=](const Tensor& t) { return t.permute(axes); },
      reference::permute(x.array, axes));
}

Instance draw_movedim(Random& random) {
  const Input x = draw_input(random);
  const Index source = random.axis(x.rank());
  const Index destination = random.axis(x.rank());
  return one_to_one(
      x, text(source, " to ", destination),
      [=](const Tensor& t) { return movedim(t, source, destination); },
      reference::movedim(x.array, source, destination));
}

Instance draw_expand(Random& random) {
  const Shape full = random.shape();
  const Input x = random.input(random.narrowed(full), random.any_dtype());
  Shape asked = full;
  const Index added = full.size() - x.rank();
  for (Index axis = added; axis < full.size(); ++axis) {
    if (x.shape()[axis - added] == full[axis] && random.chance(0.3)) asked[axis] = -1;
  }
  return one_to_one(
      x, text("to ", asked), [=](const Tensor& t) { return t.expand(asked); },
      reference::expand(x.array, full));
}

Instance draw_squeeze(Random& random) {
  const Input x = draw_input(random);
  const bool of_all = random.chance(0.3);
  const Index axis = random.axis(x.rank());
  Shape shape;
  for (Index i = 0; i < x.rank(); ++i) {
    const bool goes = x.shape()[i] == 1 && (of_all || i == reference::counted(axis, x.rank()));
    if (!goes) shape.push_back(x.shape()[i]);
  }
  return one_to_one(
      x, of_all ? "all" : text("axis ", axis),
      [=](const Tensor& t) { return of_all ? t.squeeze() : t.squeeze(axis); },
      reference::reshape(x.array, shape));
}

Instance draw_unsqueeze(Random& random) {
  const Input x = draw_input(random);
  const Index axis = random.axis(x.rank() + 1);
  Shape shape = x.shape();
  shape.insert(reference::counted(axis, x.rank() + 1), 1);
  return one_to_one(
      x, text("axis ", axis), [=](const Tensor& t) { return t.unsqueeze(axis); },
      reference::reshape(x.array, shape));
}

Instance draw_slice(Random& random) {
  const Input x = draw_input(random, 1);
  const Index axis = random.axis(x.rank());
  const Index size = x.array.size(axis);
  std::optional<Index> start;
  std::optional<Index> end;
  if (random.chance(0.8)) start = random.between(-size - 2, size + 2);
  if (random.chance(0.8)) end = random.between(-size - 2, size + 2);
  const Index step = random.chance(0.5) ? 1 : random.between(1, 4);
  return one_to_one(
      x,
      text("axis ", axis, ", ", start ? text(*start) : "", ":", end ? text(*end) : "", ":", step),
      [=](const Tensor& t) { return t.slice(axis, start, end, step); },
      reference::slice(x.array, axis, start.value_or(0), end.value_or(size), step));
}

Instance draw_select(Random& random) {
  const Input x = random.input(random.filled_shape(1), random.any_dtype());
  const Index axis = random.axis(x.rank());
  const Index size = x.array.size(axis);
  const Index index = random.between(-size, size - 1);
  return one_to_one(
      x, text("axis ", axis, ", index ", index),
      [=](const Tensor& t) { return t.select(axis, index); },
      reference::select(x.array, axis, index));
}

/// Slices of slices, transposed: what a rule does with a gradient of a view of a view.
Instance draw_chain(Random& random) {
  const Input x = random.input(random.shape(2), random.any_dtype());
  const Index a = random.axis(x.rank());
  const Index b = random.axis(x.rank());
  const Index step = random.between(1, 3);
  const Array turned = reference::transpose(x.array, a, b);
  const Array first = reference::slice(turned, 0, 0, turned.size(0), step);
  return one_to_one(
      x, text("transpose ", a, ", ", b, ", step ", step, ", slice 1:"),
      [=](const Tensor& t) {
        return t.transpose(a, b).slice(0, 0, std::nullopt, step).slice(-1, 1);
      },
      reference::slice(first, -1, 1, first.size(-1), 1));
}

Instance draw_cat(Random& random) {
  Instance call;
  const Shape first = random.shape(1, 4);
  const Index axis = random.axis(first.size());
  const DType dtype = random.any_dtype();
  std::vector<Array> parts;
  for (Index n = random.between(1, 3); n > 0; --n) {
    Shape shape = first;
    shape[reference::counted(axis, first.size())] = random.size(3);
    parts.push_back(call.add(random.input(shape, dtype)).array);
  }
  call.how = text("axis ", axis);
  call.function = [=](const Tensors& in) { return Tensors{cat(in, axis)}; };
  call.expect(reference::cat(parts, axis), dtype);
  return call;
}

Instance draw_stack(Random& random) {
  Instance call;
  const Shape shape = random.shape(0, 4);
  const Index axis = random.axis(shape.size() + 1);
  const DType dtype = random.any_dtype();
  std::vector<Array> parts;
  for (Index n = random.between(1, 3); n > 0; --n)
    parts.push_back(call.add(random.input(shape, dtype)).array);
  call.how = text("axis ", axis);
  call.function = [=](const Tensors& in) { return Tensors{stack(in, axis)}; };
  call.expect(reference::stack(parts, axis), dtype);
  return call;
}

/// `sizes` are those of the pieces.
Instance pieces(const Input& x, Index axis, const std::vector<Index>& sizes, const std::string& how,
                const std::function<Tensors(const Tensor&)>& gradus) {
  Instance call;
  call.add(x);
  call.how = text("axis ", axis, ", ", how);
  call.function = [gradus](const Tensors& in) { return gradus(in[0]); };
  Index start = 0;
  for (const Index size : sizes) {
    call.expect(reference::slice(x.array, axis, start, start + size, 1), x.dtype());
    start += size;
  }
  return call;
}

std::vector<Index> sizes_of_pieces(Index size, Index piece) {
  std::vector<Index> sizes{std::min(size, piece)};
  for (Index left = size - piece; left > 0; left -= piece) sizes.push_back(std::min(left, piece));
  return sizes;
}

Instance draw_split(Random& random) {
  const Input x = draw_input(random, 1);
  const Index axis = random.axis(x.rank());
  const Index size = x.array.size(axis);
  if (random.chance(0.5)) {
    const Index piece = random.between(1, 4);
    return pieces(x, axis, sizes_of_pieces(size, piece), text("size ", piece),
                  [=](const Tensor& t) { return split(t, piece, axis); });
  }
  const Index first = random.between(0, size);
  const std::vector<Index> sizes{first, 0, size - first};
  return pieces(x, axis, sizes, text("sizes ", first, ", 0, ", size - first),
                [=](const Tensor& t) { return split(t, sizes, axis); });
}

Instance draw_chunk(Random& random) {
  const Input x = draw_input(random, 1);
  const Index axis = random.axis(x.rank());
  const Index size = x.array.size(axis);
  const Index chunks = random.between(1, 5);
  const Index piece = std::max<Index>(1, (size + chunks - 1) / chunks);
  return pieces(x, axis, sizes_of_pieces(size, piece), text(chunks, " chunks"),
                [=](const Tensor& t) { return chunk(t, chunks, axis); });
}

Instance draw_repeat(Random& random) {
  const Input x = random.input(random.shape(0, 3), random.any_dtype());
  Shape repeats;
  for (Index i = x.rank() + random.between(0, 1); i > 0; --i)
    repeats.push_back(random.chance(0.05) ? 0 : random.between(1, 3));
  return one_to_one(
      x, text("repeats ", repeats), [=](const Tensor& t) { return repeat(t, repeats); },
      reference::repeat(x.array, repeats));
}

Instance draw_flip(Random& random) {
  const Input x = draw_input(random);
  const Axes axes = random.axes(x.rank());
  return one_to_one(
      x, text("axes ", axes), [=](const Tensor& t) { return flip(t, axes); },
      reference::flip(x.array, axes));
}

Instance draw_triangle(Random& random, bool lower) {
  const Input x = draw_input(random, 2);
  const Index diagonal = random.between(-3, 3);
  return one_to_one(
      x, text("diagonal ", diagonal),
      [=](const Tensor& t) { return lower ? tril(t, diagonal) : triu(t, diagonal); },
      reference::band(x.array, [=](Index distance) {
        return lower ? distance <= diagonal : distance >= diagonal;
      }));
}

Instance draw_sum_to(Random& random) {
  const Shape full = random.shape();
  const Input x = random.input(full, random.number());
  const Shape shape = random.narrowed(full);
  Axes summed;
  for (Index axis = 0; axis < full.size(); ++axis) {
    const Index kept = axis - (full.size() - shape.size());
    if (kept < 0 || shape[kept] != full[axis]) summed.push_back(axis);
  }
  const Array sums =
      summed.empty() ? x.array : reference::reduce(x.array, summed, true, reference::sum);
  return one_to_one(
      x, text("to ", shape), [=](const Tensor& t) { return sum_to(t, shape); },
      reference::reshape(sums, shape));
}

Instance draw_copy(Random& random) {
  const Input x = draw_input(random);
  const DType dtype = random.any_dtype();
  Instance call;
  call.add(x);
  call.how = text("to ", dtype);
  call.smooth = dtype == float64;
  call.function = [=](const Tensors& in) {
    return Tensors{in[0].contiguous(), in[0].clone(), in[0].to(dtype)};
  };
  call.expect(x.array, x.dtype());
  call.expect(x.array, x.dtype());
  call.expect(reference::map(x.array,
                             [=](double value) {
                               if (dtype == boolean) return value != 0 ? 1.0 : 0.0;
                               return dtype == int64 ? std::trunc(value) : value;
                             }),
              dtype);
  return call;
}

const Family views("views", 2000,
                   {{"view", [](Random& random) { return draw_reshape(random, true); }},
                    {"reshape", [](Random& random) { return draw_reshape(random, false); }},
                    {"flatten", draw_flatten},
                    {"transpose", draw_transpose},
                    {"permute", draw_permute},
                    {"movedim", draw_movedim},
                    {"expand", draw_expand},
                    {"squeeze", draw_squeeze},
                    {"unsqueeze", draw_unsqueeze},
                    {"slice", draw_slice},
                    {"select", draw_select},
                    {"view of a view", draw_chain},
                    {"contiguous, clone, to", draw_copy}});

const Family joining("joining", 1500,
                     {{"cat", draw_cat},
                      {"stack", draw_stack},
                      {"split", draw_split},
                      {"chunk", draw_chunk},
                      {"repeat", draw_repeat},
                      {"flip", draw_flip},
                      {"tril", [](Random& random) { return draw_triangle(random, true); }},
                      {"triu", [](Random& random) { return draw_triangle(random, false); }},
                      {"sum_to", draw_sum_to}});

}  // namespace

TEST_CASE("properties: views") { views.check(); }
TEST_CASE("properties: joining, cutting and rearranging") { joining.check(); }
