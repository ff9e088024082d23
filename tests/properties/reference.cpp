// The reference of every op. Speed is of no concern here; each op is its definition in loops.
#include "tests/properties/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gradus::testing::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

std::size_t position(const Shape& place, const Shape& shape) {
  Index n = 0;
  for (Index axis = 0; axis < shape.size(); ++axis) n = n * shape[axis] + place[axis];
  return static_cast<std::size_t>(n);
}

Index count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
}

Shape with(Shape place, Index axis, Index value) {
  place[axis] = value;
  return place;
}

Shape inserted(Shape place, Index axis, Index value) {
  place.insert(axis, value);
  return place;
}

Shape erased(Shape place, Index axis) {
  place.erase(axis);
  return place;
}

Index as_index(double value) { return static_cast<Index>(value); }

}  // namespace

Index counted(Index axis, Index rank) { return axis < 0 ? axis + rank : axis; }
Index Array::size(Index axis) const { return shape[counted(axis, rank())]; }
double Array::operator[](const Shape& place) const { return values.at(position(place, shape)); }
double& Array::operator[](const Shape& place) { return values.at(position(place, shape)); }

std::vector<Shape> places(const Shape& shape) {
  std::vector<Shape> all;
  Shape place = Shape::filled(shape.size(), 0);
  for (Index n = count(shape); n > 0; --n) {
    all.push_back(place);
    for (Index axis = shape.size() - 1; axis >= 0; --axis) {
      if (++place[axis] < shape[axis]) break;
      place[axis] = 0;
    }
  }
  return all;
}

Array make(const Shape& shape, const Element& element) {
  Array result{shape, {}};
  for (const Shape& place : places(shape)) result.values.push_back(element(place));
  return result;
}

Array full(const Shape& shape, double value) {
  return make(shape, [value](const Shape&) { return value; });
}

// ---- elementwise ----

Shape broadcast(const Shape& a, const Shape& b) {
  if (a.size() < b.size()) return broadcast(b, a);
  Shape shape = a;
  for (Index i = 1; i <= b.size(); ++i) {
    Index& size = shape[a.size() - i];
    if (size == 1) size = b[b.size() - i];
  }
  return shape;
}

double stretched(const Array& x, const Shape& place) {
  Shape own = x.shape;
  const Index added = place.size() - x.rank();
  for (Index axis = 0; axis < x.rank(); ++axis)
    own[axis] = x.shape[axis] == 1 ? 0 : place[axis + added];
  return x[own];
}

Array map(const Array& x, const std::function<double(double)>& f) {
  return make(x.shape, [&](const Shape& place) { return f(x[place]); });
}

Array combine(const Array& x, const Array& y, const std::function<double(double, double)>& f) {
  return make(broadcast(x.shape, y.shape),
              [&](const Shape& place) { return f(stretched(x, place), stretched(y, place)); });
}

Array where(const Array& condition, const Array& a, const Array& b) {
  const Shape shape = broadcast(condition.shape, broadcast(a.shape, b.shape));
  return make(shape, [&](const Shape& place) {
    return stretched(condition, place) != 0 ? stretched(a, place) : stretched(b, place);
  });
}

// ---- views ----

Array reshape(const Array& x, const Shape& shape) { return {shape, x.values}; }

Array permute(const Array& x, const Axes& axes) {
  Shape shape = x.shape;
  for (Index i = 0; i < x.rank(); ++i) shape[i] = x.size(axes[i]);
  return make(shape, [&](const Shape& place) {
    Shape from = place;
    for (Index i = 0; i < x.rank(); ++i) from[counted(axes[i], x.rank())] = place[i];
    return x[from];
  });
}

Array transpose(const Array& x, Index axis0, Index axis1) {
  if (x.rank() == 0) return x;
  const auto swapped = [&](Shape list) {
    std::swap(list[counted(axis0, x.rank())], list[counted(axis1, x.rank())]);
    return list;
  };
  return make(swapped(x.shape), [&](const Shape& place) { return x[swapped(place)]; });
}

Array movedim(const Array& x, Index source, Index destination) {
  if (x.rank() == 0) return x;
  const Index from = counted(source, x.rank());
  const Index to = counted(destination, x.rank());
  return make(inserted(erased(x.shape, from), to, x.shape[from]),
              [&](const Shape& place) { return x[inserted(erased(place, to), from, place[to])]; });
}

Array expand(const Array& x, const Shape& shape) {
  return make(shape, [&](const Shape& place) { return stretched(x, place); });
}

Array slice(const Array& x, Index axis, Index start, Index end, Index step) {
  const Index a = counted(axis, x.rank());
  const Index size = x.shape[a];
  const auto bound = [size](Index i) { return std::clamp(i < 0 ? i + size : i, Index{0}, size); };
  std::vector<Index> kept;
  for (Index i = bound(start); i < bound(end); i += step) kept.push_back(i);
  return make(with(x.shape, a, static_cast<Index>(kept.size())), [&](const Shape& place) {
    return x[with(place, a, kept[static_cast<std::size_t>(place[a])])];
  });
}

Array select(const Array& x, Index axis, Index index) {
  const Index a = counted(axis, x.rank());
  const Index i = counted(index, x.shape[a]);
  return make(erased(x.shape, a), [&](const Shape& place) { return x[inserted(place, a, i)]; });
}

Array cat(const std::vector<Array>& parts, Index axis) {
  const Index a = counted(axis, parts[0].rank());
  std::vector<std::pair<const Array*, Index>> origin;  // of each slice along the axis
  for (const Array& part : parts) {
    for (Index i = 0; i < part.shape[a]; ++i) origin.emplace_back(&part, i);
  }
  const Shape shape = with(parts[0].shape, a, static_cast<Index>(origin.size()));
  return make(shape, [&](const Shape& place) {
    const auto [part, i] = origin[static_cast<std::size_t>(place[a])];
    return (*part)[with(place, a, i)];
  });
}

Array stack(const std::vector<Array>& parts, Index axis) {
  const Index a = counted(axis, parts[0].rank() + 1);
  const Shape shape = inserted(parts[0].shape, a, static_cast<Index>(parts.size()));
  return make(shape, [&](const Shape& place) {
    return parts[static_cast<std::size_t>(place[a])][erased(place, a)];
  });
}

Array repeat(const Array& x, const Shape& repeats) {
  const Index added = repeats.size() - x.rank();
  Shape sizes = x.shape;
  for (Index i = 0; i < added; ++i) sizes.insert(0, 1);
  Shape shape = repeats;
  for (Index axis = 0; axis < shape.size(); ++axis) shape[axis] *= sizes[axis];
  return make(shape, [&](const Shape& place) {
    Shape from = x.shape;
    for (Index axis = 0; axis < x.rank(); ++axis) from[axis] = place[axis + added] % x.shape[axis];
    return x[from];
  });
}

Array flip(const Array& x, const Axes& axes) {
  return make(x.shape, [&](Shape place) {
    for (const Index axis : axes) {
      Index& i = place[counted(axis, x.rank())];
      i = x.size(axis) - 1 - i;
    }
    return x[place];
  });
}

Array band(const Array& x, const std::function<bool(Index)>& wanted) {
  return make(x.shape, [&](const Shape& place) {
    return wanted(place[x.rank() - 1] - place[x.rank() - 2]) ? x[place] : 0.0;
  });
}

// ---- over axes ----

Array reduce(const Array& x, const Axes& axes, bool keepdim,
             const std::function<double(const Slice&)>& f) {
  std::vector<bool> gone(static_cast<std::size_t>(x.rank()), axes.empty());
  for (const Index axis : axes) gone[static_cast<std::size_t>(counted(axis, x.rank()))] = true;
  Shape ones = x.shape;
  Shape dropped;
  for (Index axis = 0; axis < x.rank(); ++axis) {
    if (gone[static_cast<std::size_t>(axis)]) {
      ones[axis] = 1;
    } else {
      dropped.push_back(x.shape[axis]);
    }
  }
  std::map<std::size_t, Slice> groups;
  for (Shape place : places(x.shape)) {
    const double value = x[place];
    for (Index axis = 0; axis < x.rank(); ++axis) {
      if (ones[axis] == 1) place[axis] = 0;
    }
    groups[position(place, ones)].push_back(value);
  }
  Array result = full(ones, 0.0);
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] = f(groups[i]);
  return keepdim ? result : reshape(result, dropped);
}

Array along(const Array& x, Index axis, const std::function<Slice(const Slice&)>& f) {
  if (x.rank() == 0) return {f(x.values).size() == 1 ? Shape{} : Shape{0}, f(x.values)};
  const Index a = counted(axis, x.rank());
  const Index length =
      static_cast<Index>(f(Slice(static_cast<std::size_t>(x.shape[a]), 0.0)).size());
  Array result = full(with(x.shape, a, length), 0.0);
  for (const Shape& start : places(with(x.shape, a, 1))) {
    Slice numbers;
    for (Index i = 0; i < x.shape[a]; ++i) numbers.push_back(x[with(start, a, i)]);
    const Slice changed = f(numbers);
    for (Index i = 0; i < length; ++i)
      result[with(start, a, i)] = changed[static_cast<std::size_t>(i)];
  }
  return result;
}

double sum(const Slice& x) { return std::accumulate(x.begin(), x.end(), 0.0); }
double mean(const Slice& x) { return sum(x) / static_cast<double>(x.size()); }
double product(const Slice& x) {
  return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>());
}

double variance(const Slice& x, double correction) {
  const double centre = mean(x);
  double squares = 0.0;
  for (const double value : x) squares += (value - centre) * (value - centre);
  const double freedom = static_cast<double>(x.size()) - correction;
  return freedom > 0 ? squares / freedom : kNotANumber;
}

double norm(const Slice& x, double p) {
  double result = 0.0;
  for (const double value : x) {
    result =
        std::isinf(p) ? std::max(result, std::fabs(value)) : result + std::pow(std::fabs(value), p);
  }
  return std::isinf(p) ? result : std::pow(result, 1 / p);
}

double logsumexp(const Slice& x) {
  double total = 0.0;
  for (const double value : x) total += std::exp(value);
  return std::log(total);
}

std::vector<Index> best_of(const Slice& x, Index k, bool largest) {
  const auto key = [&](Index i) {
    const double value = x[static_cast<std::size_t>(i)];
    const auto number = std::isnan(value) ? std::pair(1, 0.0) : std::pair(0, value);
    return largest ? std::pair(-number.first, -number.second) : number;
  };
  std::vector<Index> order(x.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return key(a) < key(b); });
  order.resize(static_cast<std::size_t>(k));
  return order;
}

Index best(const Slice& x, bool largest) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) return static_cast<Index>(i);
  }
  return best_of(x, 1, largest)[0];
}

Slice cumsum(const Slice& x) {
  Slice result;
  for (const double value : x) result.push_back((result.empty() ? 0.0 : result.back()) + value);
  return result;
}

Slice softmax(const Slice& x) {
  Slice result;
  for (const double value : x) result.push_back(std::exp(value - logsumexp(x)));
  return result;
}

Slice log_softmax(const Slice& x) {
  Slice result;
  for (const double value : x) result.push_back(value - logsumexp(x));
  return result;
}

// ---- products ----

Array matmul(const Array& x, const Array& y) {
  if (x.rank() == 1) {
    const Array product = matmul(reshape(x, {1, x.shape[0]}), y);
    return reshape(product, erased(product.shape, std::max<Index>(0, product.rank() - 2)));
  }
  if (y.rank() == 1) {
    const Array product = matmul(x, reshape(y, {y.shape[0], 1}));
    return reshape(product, erased(product.shape, product.rank() - 1));
  }
  const auto batch = [](const Array& a) {
    return erased(erased(a.shape, a.rank() - 1), a.rank() - 2);
  };
  Shape shape = broadcast(batch(x), batch(y));
  const Index batch_axes = shape.size();
  shape.push_back(x.size(-2));
  shape.push_back(y.size(-1));
  const auto element = [&](const Array& a, const Shape& place, Index row, Index column) {
    Shape from = a.shape;
    const Index added = batch_axes - (a.rank() - 2);
    for (Index axis = 0; axis < a.rank() - 2; ++axis)
      from[axis] = a.shape[axis] == 1 ? 0 : place[axis + added];
    from[a.rank() - 2] = row;
    from[a.rank() - 1] = column;
    return a[from];
  };
  return make(shape, [&](const Shape& place) {
    double total = 0.0;
    for (Index k = 0; k < x.size(-1); ++k) {
      total +=
          element(x, place, place[batch_axes], k) * element(y, place, k, place[batch_axes + 1]);
    }
    return total;
  });
}

Array einsum(const std::string& equation, const std::vector<Array>& operands) {
  const std::size_t arrow = equation.find("->");
  const std::string inputs = equation.substr(0, arrow);
  const std::size_t comma = std::min(inputs.find(','), inputs.size());
  const std::vector<std::string> terms{inputs.substr(0, comma),
                                       inputs.substr(std::min(comma + 1, inputs.size()))};
  std::string letters = equation.substr(arrow + 2);
  const Index kept = static_cast<Index>(letters.size());
  std::map<char, Index> sizes;
  for (std::size_t n = 0; n < operands.size(); ++n) {
    for (std::size_t i = 0; i < terms[n].size(); ++i) {
      const Index size = operands[n].shape[static_cast<Index>(i)];
      const auto known = sizes.emplace(terms[n][i], size).first;
      if (size != 1) known->second = size;
      if (letters.find(terms[n][i]) == std::string::npos) letters += terms[n][i];
    }
  }
  Shape all;
  Shape shape;
  for (const char letter : letters) {
    all.push_back(sizes.at(letter));
    if (shape.size() < kept) shape.push_back(sizes.at(letter));
  }
  Array result = full(shape, 0.0);
  for (const Shape& place : places(all)) {
    double term = 1.0;
    for (std::size_t n = 0; n < operands.size(); ++n) {
      Shape from = operands[n].shape;
      for (std::size_t i = 0; i < terms[n].size(); ++i) {
        const Index axis = static_cast<Index>(i);
        const Index letter = static_cast<Index>(letters.find(terms[n][i]));
        from[axis] = operands[n].shape[axis] == 1 ? 0 : place[letter];
      }
      term *= operands[n][from];
    }
    Shape to = shape;
    for (Index axis = 0; axis < kept; ++axis) to[axis] = place[axis];
    result[to] += term;
  }
  return result;
}

// ---- by index ----

Array gather(const Array& x, Index axis, const Array& index) {
  if (x.rank() == 0) return x;
  const Index a = counted(axis, x.rank());
  return make(index.shape,
              [&](const Shape& place) { return x[with(place, a, as_index(index[place]))]; });
}

Array scatter_add(const Array& x, Index axis, const Array& index, const Array& source) {
  Array result = x;
  for (const Shape& place : places(index.shape)) {
    const Shape to =
        x.rank() == 0 ? place : with(place, counted(axis, x.rank()), as_index(index[place]));
    result[to] += source[place];
  }
  return result;
}

Array index_select(const Array& x, Index axis, const Array& index) {
  const Index a = counted(axis, x.rank());
  return make(with(x.shape, a, index.shape[0]),
              [&](const Shape& place) { return x[with(place, a, as_index(index[{place[a]}]))]; });
}

Array embedding(const Array& indices, const Array& weight) {
  return make(inserted(indices.shape, indices.rank(), weight.shape[1]), [&](const Shape& place) {
    const Index row = as_index(indices[erased(place, indices.rank())]);
    return weight[{row, place[indices.rank()]}];
  });
}

Array one_hot(const Array& index, Index classes) {
  return make(inserted(index.shape, index.rank(), classes), [&](const Shape& place) {
    const Index label = as_index(index[erased(place, index.rank())]);
    return label == place[index.rank()] ? 1.0 : 0.0;
  });
}

// ---- normalisation, positions ----

namespace {

/// f of every block of the last `axes` axes.
Array of_last_axes(const Array& x, Index axes, const std::function<Slice(const Slice&)>& f) {
  Shape rows;
  Index width = 1;
  for (Index axis = 0; axis < x.rank(); ++axis) {
    if (axis < x.rank() - axes) {
      rows.push_back(x.shape[axis]);
    } else {
      width *= x.shape[axis];
    }
  }
  rows.push_back(width);
  return reshape(along(reshape(x, rows), -1, f), x.shape);
}

}  // namespace

Array layer_norm(const Array& x, Index axes, double eps) {
  return of_last_axes(x, axes, [eps](const Slice& row) {
    Slice result;
    for (const double value : row)
      result.push_back((value - mean(row)) / std::sqrt(variance(row, 0) + eps));
    return result;
  });
}

Array rms_norm(const Array& x, Index axes, double eps) {
  return of_last_axes(x, axes, [eps](const Slice& row) {
    const double square = std::pow(norm(row, 2), 2) / static_cast<double>(row.size());
    Slice result;
    for (const double value : row) result.push_back(value / std::sqrt(square + eps));
    return result;
  });
}

Array rotary(const Array& x, const Array& cos, const Array& sin, bool interleaved) {
  const Index last = x.rank() - 1;
  const Index half = x.size(-1) / 2;
  return make(x.shape, [&](const Shape& place) {
    const Index i = place[last];
    const Index pair = interleaved ? i / 2 : i % half;
    const bool is_first = interleaved ? i % 2 == 0 : i < half;
    const double a = x[with(place, last, interleaved ? 2 * pair : pair)];
    const double b = x[with(place, last, interleaved ? 2 * pair + 1 : pair + half)];
    const double c = stretched(cos, with(place, last, pair));
    const double s = stretched(sin, with(place, last, pair));
    return is_first ? a * c - b * s : a * s + b * c;
  });
}

// ---- losses ----

namespace {

Index class_axis(const Shape& shape) { return shape.size() == 1 ? 0 : 1; }

}  // namespace

Array soft_nll(const Array& log_probability, const Array& probability, const Array& weight) {
  const Index axis = class_axis(log_probability.shape);
  const Array products = make(log_probability.shape, [&](const Shape& place) {
    return -weight[{place[axis]}] * probability[place] * log_probability[place];
  });
  return reduce(products, {axis}, false, sum);
}

Array label_distribution(const Array& target, const Shape& shape, Index ignored, double smoothing) {
  const Index axis = class_axis(shape);
  return make(shape, [&](const Shape& place) {
    const Index label = as_index(target[erased(place, axis)]);
    if (label == ignored) return 0.0;
    return (label == place[axis] ? 1 - smoothing : 0.0) +
           smoothing / static_cast<double>(shape[axis]);
  });
}

Array weight_of_items(const Array& target, const Array& weight, Index ignored) {
  return map(target, [&](double label) {
    return as_index(label) == ignored ? 0.0 : weight[{as_index(label)}];
  });
}

// ---- attention ----

Array attention(const Array& query, const Array& key, const Array& value, const Attention& how) {
  const Index group = key.shape[1] == 0 ? 1 : query.shape[1] / key.shape[1];
  const Shape shape{query.shape[0], query.shape[1], query.shape[2], value.shape[3]};
  return make(shape, [&](const Shape& place) {
    const Index b = place[0];
    const Index h = place[1];
    const Index i = place[2];
    Slice scores;
    for (Index j = 0; j < key.shape[2]; ++j) {
      double score = 0.0;
      for (Index d = 0; d < query.shape[3]; ++d)
        score += query[{b, h, i, d}] * key[{b, h / group, j, d}];
      scores.push_back(how.fill(b, h, i, j).value_or(score * how.scale));
    }
    // A query that sees nothing gets zeros.
    if (std::all_of(scores.begin(), scores.end(), [](double s) { return s == -kInfinity; }))
      return 0.0;
    const double top = *std::max_element(scores.begin(), scores.end());
    for (double& score : scores) score -= top;
    const Slice weights = softmax(scores);
    double total = 0.0;
    for (Index j = 0; j < key.shape[2]; ++j)
      total += weights[static_cast<std::size_t>(j)] * value[{b, h / group, j, place[3]}];
    return total;
  });
}

}  // namespace gradus::testing::reference
