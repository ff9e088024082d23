#include "framework/ops/einsum.h"

#include <algorithm>
#include <map>
#include <string>

#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"

namespace gradus {
namespace {

[[noreturn]] void fail(std::string_view equation, const std::string& why) {
  throw ValueError(text("einsum: ", why),
                   {.got = text("equation '", equation, "'"),
                    .need = "letters for axes, as in \"bik,bkj->bij\", for one or two operands"});
}

/// One character per axis. The axes behind "..." are named by characters that no user can write,
/// counted from the last, so that they line up as broadcasting wants them.
std::string named_axes(std::string_view equation, std::string_view term, Index hidden_axes) {
  std::string names;
  for (std::size_t i = 0; i < term.size(); ++i) {
    const char c = term[i];
    if (c == ' ') continue;
    if (term.substr(i, 3) == "...") {
      for (Index axis = hidden_axes; axis > 0; --axis) names += static_cast<char>(axis);
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      names += c;
    } else {
      fail(equation, text("'", c, "' is no name of an axis"));
    }
  }
  return names;
}

/// An axis as errors name it.
std::string shown(char name) { return name <= kMaxRank ? "..." : std::string(1, name); }

Index letters_in(std::string_view term) {
  return std::count_if(term.begin(), term.end(), [](char c) { return c != ' ' && c != '.'; });
}

/// A tensor whose axes have names.
struct Named {
  Tensor tensor;
  std::string names;

  bool has(char name) const { return names.find(name) != std::string::npos; }
  Index axis(char name) const { return static_cast<Index>(names.find(name)); }
};

/// x with the later of two equal names' axes gone: only the elements where both indices agree stay.
Named diagonals_taken(Named x) {
  for (std::size_t i = 0; i < x.names.size(); ++i) {
    const std::size_t j = x.names.find(x.names[i], i + 1);
    if (j == std::string::npos) continue;
    const Index a = static_cast<Index>(i);
    const Index b = static_cast<Index>(j);
    const Index size = x.tensor.shape()[a];
    if (size != x.tensor.shape()[b]) {
      throw ShapeError(text("einsum: '", x.names[i], "' names axes of sizes ", size, " and ",
                            x.tensor.shape()[b]));
    }
    Shape along_a = Shape::filled(x.tensor.dim(), 1);
    Shape along_b = along_a;
    along_a[a] = size;
    along_b[b] = size;
    const Tensor index = arange(static_cast<double>(size));
    const Tensor apart = ne(index.view(along_a), index.view(along_b));
    x.tensor = masked_fill(x.tensor, apart, 0.0).sum({b});
    x.names.erase(j, 1);
    --i;
  }
  return x;
}

/// x summed over the axes that `kept` does not name.
Named summed_to(const Named& x, const std::string& kept) {
  Axes gone;
  std::string names;
  for (const char name : x.names) {
    if (kept.find(name) == std::string::npos) {
      gone.push_back(x.axis(name));
    } else {
      names += name;
    }
  }
  return gone.empty() ? x : Named{sum(x.tensor, gone), names};
}

/// x with its axes in the order of `names`.
Tensor in_order(const Named& x, const std::string& names) {
  Axes order;
  for (const char name : names) order.push_back(x.axis(name));
  return x.tensor.permute(order);
}

using Sizes = std::map<char, Index>;

void add_sizes(const Named& x, Sizes& sizes) {
  for (const char name : x.names) {
    const Index size = x.tensor.shape()[x.axis(name)];
    const auto [place, fresh] = sizes.emplace(name, size);
    if (fresh || place->second == size || size == 1) continue;
    if (place->second != 1) {
      throw ShapeError(
          text("einsum: '", shown(name), "' names axes of sizes ", place->second, " and ", size));
    }
    place->second = size;
  }
}

Index elements_of(const std::string& names, const Sizes& sizes) {
  Index count = 1;
  for (const char name : names) count *= sizes.at(name);
  return count;
}

Tensor stretched(const Named& x, const std::string& names, const Sizes& sizes) {
  Shape shape;
  for (const char name : names) shape.push_back(sizes.at(name));
  return in_order(x, names).expand(shape);
}

/// Two operands as one stack of matrix products: (shared, left, summed) times (shared, summed,
/// right).
Named contracted(const Named& a, const Named& b, const std::string& kept, const Sizes& sizes) {
  std::string shared;
  std::string left;
  std::string summed;
  std::string right;
  for (const char name : a.names) {
    const bool wanted = kept.find(name) != std::string::npos;
    (!b.has(name) ? left : wanted ? shared : summed) += name;
  }
  for (const char name : b.names) {
    if (!a.has(name)) right += name;
  }
  const Index stack = elements_of(shared, sizes);
  const Index inner = elements_of(summed, sizes);
  const Index rows = elements_of(left, sizes);
  const Index columns = elements_of(right, sizes);
  const Tensor l = stretched(a, shared + left + summed, sizes).reshape({stack, rows, inner});
  const Tensor r = stretched(b, shared + summed + right, sizes).reshape({stack, inner, columns});
  Shape shape;
  for (const char name : shared + left + right) shape.push_back(sizes.at(name));
  return {matmul(l, r).view(shape), shared + left + right};
}

/// The letters that occur once, in alphabetical order, behind the axes of "...".
std::string implied_result(const std::vector<std::string>& terms) {
  std::map<char, int> counts;
  for (const std::string& term : terms) {
    for (const char name : term) ++counts[name];
  }
  std::string hidden;
  std::string letters;
  for (const auto& [name, count] : counts) {
    if (name <= kMaxRank) {
      hidden.insert(hidden.begin(), name);
    } else if (count == 1) {
      letters += name;
    }
  }
  return hidden + letters;
}

void check_result(std::string_view equation, const std::string& result, const Sizes& sizes) {
  for (const char name : result) {
    if (!sizes.contains(name)) fail(equation, text("no operand has the axis '", name, "'"));
    if (std::count(result.begin(), result.end(), name) > 1) {
      fail(equation, text("the result names '", name, "' twice"));
    }
  }
}

}  // namespace

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands) {
  const std::size_t arrow = equation.find("->");
  const std::string_view inputs = equation.substr(0, arrow);
  const std::size_t comma = inputs.find(',');
  std::vector<std::string_view> terms{inputs.substr(0, comma)};
  if (comma != std::string_view::npos) terms.push_back(inputs.substr(comma + 1));
  if (terms.size() != operands.size()) {
    fail(equation, text(terms.size(), " terms for ", operands.size(), " operands"));
  }

  std::vector<Named> named;
  std::vector<std::string> names;
  Sizes sizes;
  Index hidden_axes = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const bool open = terms[i].find("...") != std::string_view::npos;
    const Index hidden = open ? operands[i].dim() - letters_in(terms[i]) : 0;
    const std::string axes = named_axes(equation, terms[i], hidden);
    if (hidden < 0 || static_cast<Index>(axes.size()) != operands[i].dim()) {
      fail(equation, text("term '", terms[i], "' does not name the axes of ", operands[i].shape()));
    }
    hidden_axes = std::max(hidden_axes, hidden);
    names.push_back(axes);
    named.push_back(diagonals_taken({operands[i], axes}));
    add_sizes(named.back(), sizes);
  }
  const std::string result = arrow == std::string_view::npos
                                 ? implied_result(names)
                                 : named_axes(equation, equation.substr(arrow + 2), hidden_axes);
  check_result(equation, result, sizes);

  if (named.size() == 1) return in_order(summed_to(named[0], result), result);
  check_floating("einsum", operands[0]);
  check_same_dtype("einsum", operands[0], operands[1]);
  const Named a = summed_to(named[0], result + named[1].names);
  const Named b = summed_to(named[1], result + named[0].names);
  return in_order(contracted(a, b, result, sizes), result);
}

}  // namespace gradus
