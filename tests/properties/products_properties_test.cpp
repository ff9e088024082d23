// Products of random tensors: matmul of all ranks, linear, and einsum by common and by random
// equations.
#include <algorithm>
#include <cctype>
#include <map>

#include "framework/core/error.h"
#include "framework/ops/einsum.h"
#include "framework/ops/linear.h"
#include "framework/ops/matmul.h"
#include "tests/properties/properties.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

using reference::Array;

/// (..., rows, columns), or a vector of `inner` where there are no rows or columns to speak of.
Instance draw_matmul(Random& random) {
  Instance call;
  const DType dtype = random.floating();
  const Index inner = random.size();
  Shape batch = random.shape(0, 3);
  for (Index& size : batch) size = std::min<Index>(size, 5);
  const auto operand = [&](bool left) {
    if (random.chance(0.15)) return Shape{inner};
    Shape shape = random.narrowed(batch);
    shape.push_back(left ? random.size() : inner);
    shape.push_back(left ? inner : random.size());
    return shape;
  };
  const Input x = call.add(random.input(operand(true), dtype));
  const Input y = call.add(random.input(operand(false), dtype));
  call.function = [](const Tensors& in) { return Tensors{matmul(in[0], in[1])}; };
  call.expect(reference::matmul(x.array, y.array), dtype);
  return call;
}

/// One long product: the kernels work in blocks.
Instance draw_long_matmul(Random& random) {
  Instance call;
  const DType dtype = random.floating();
  const Index inner = random.between(1, 70);
  const Input x = call.add(random.input({random.between(1, 19), inner}, dtype));
  const Input y = call.add(random.input({inner, random.between(1, 35)}, dtype));
  call.function = [](const Tensors& in) { return Tensors{matmul(in[0], in[1])}; };
  call.expect(reference::matmul(x.array, y.array), dtype);
  return call;
}

Instance draw_linear(Random& random) {
  Instance call;
  const DType dtype = random.floating();
  const Index in_features = random.size();
  const Index out_features = random.size();
  Shape shape = random.shape(0, 3);
  shape.push_back(in_features);
  const Input x = call.add(random.input(shape, dtype));
  const Input weight = call.add(random.input({out_features, in_features}, dtype));
  Array want = reference::matmul(x.array, reference::transpose(weight.array, 0, 1));
  if (random.chance(0.7)) {
    const Input bias = call.add(random.input({out_features}, dtype));
    call.function = [](const Tensors& in) { return Tensors{linear(in[0], in[1], in[2])}; };
    want = reference::combine(want, bias.array, std::plus<>());
  } else {
    call.how = "no bias";
    call.function = [](const Tensors& in) { return Tensors{linear(in[0], in[1])}; };
  }
  call.expect(want, dtype);
  return call;
}

// ---- einsum ----

/// "..." stands for axes that the reference calls X, Y and Z, counted from the last.
std::string spelled_out(std::string equation, Index hidden_left, Index hidden_right) {
  const std::string names = "XYZ";
  const auto last = [&](Index n) {
    return names.substr(names.size() - static_cast<std::size_t>(n));
  };
  const std::vector<Index> counts{hidden_left, hidden_right, std::max(hidden_left, hidden_right)};
  for (const Index n : counts) {
    const std::size_t at = equation.find("...");
    if (at != std::string::npos) equation.replace(at, 3, last(n));
  }
  return equation;
}

/// The equation of the reference tells the ranks; both must have an arrow.
Instance einsum_of(Random& random, const std::string& equation, const std::string& spelled) {
  Instance call;
  const DType dtype = random.floating();
  std::map<char, Index> sizes;
  std::vector<Array> operands;
  std::string inputs = spelled.substr(0, spelled.find("->")) + ",";
  for (std::size_t comma = inputs.find(','); comma != std::string::npos; comma = inputs.find(',')) {
    Shape shape;
    for (const char letter : inputs.substr(0, comma)) {
      const Index size = sizes.emplace(letter, random.size(3)).first->second;
      const bool broadcasts =
          std::isupper(static_cast<unsigned char>(letter)) && random.chance(0.2);
      shape.push_back(broadcasts ? 1 : size);
    }
    operands.push_back(call.add(random.input(shape, dtype)).array);
    inputs.erase(0, comma + 1);
  }
  call.how = equation;
  call.function = [=](const Tensors& in) { return Tensors{einsum(equation, in)}; };
  call.expect(reference::einsum(spelled, operands), dtype);
  return call;
}

Instance draw_common_einsum(Random& random) {
  const std::string equation =
      random.one_of<std::string>({"ij,jk->ik", "bij,bjk->bik", "bhqd,bhkd->bhqk", "bhqk,bhkd->bhqd",
                                  "i,j->ij",   "i,i->",        "ij->ji",          "ii->i",
                                  "ii->",      "ij->j",        "ijk->",           "ij,ij->",
                                  "ij,ij->ij", "bij,kj->bik",  "bi,bj->bij",      "bi,ij->b",
                                  "abc->cab",  "iij->j",       "ij,j->i",         "bn,anm->bam"});
  return einsum_of(random, equation, equation);
}

Instance draw_open_einsum(Random& random) {
  const Index left = random.between(0, 2);
  const Index right = random.between(0, 2);
  const std::string equation = random.one_of<std::string>(
      {"...ij,...jk->...ik", "...i,...i->...", "...id,...jd->...ij", "...i,...j->j...i"});
  return einsum_of(random, equation, spelled_out(equation, left, right));
}

/// Letters a to d, in any order, in each of two operands; some of them in the result. Without an
/// arrow the result has those that occur once.
Instance draw_random_einsum(Random& random) {
  const auto some = [&](const std::string& letters, double probability) {
    std::string chosen;
    for (const Index i : random.permutation(static_cast<Index>(letters.size()))) {
      if (random.chance(probability)) chosen += letters[static_cast<std::size_t>(i)];
    }
    return chosen;
  };
  const std::string a = some("abcd", 0.6);
  const std::string b = some("abcd", 0.6);
  std::string both;
  std::string once;
  for (const char letter : std::string("abcd")) {
    const int count = (a.find(letter) != a.npos ? 1 : 0) + (b.find(letter) != b.npos ? 1 : 0);
    if (count > 0) both += letter;
    if (count == 1) once += letter;
  }
  if (random.chance(0.2)) return einsum_of(random, a + "," + b, a + "," + b + "->" + once);
  const std::string equation = a + "," + b + "->" + some(both, 0.6);
  return einsum_of(random, equation, equation);
}

const Family products("products", 1200,
                      {{"matmul", draw_matmul},
                       {"matmul", draw_matmul},
                       {"matmul", draw_matmul},
                       {"linear", draw_linear},
                       {"matmul, long", draw_long_matmul}});
const Family einsums("einsum", 800,
                     {{"einsum, common", draw_common_einsum},
                      {"einsum, ...", draw_open_einsum},
                      {"einsum, random", draw_random_einsum}});

}  // namespace

TEST_CASE("properties: matrix products") { products.check(); }
TEST_CASE("properties: einsum") { einsums.check(); }
