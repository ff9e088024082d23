// The builds of the kernels for different processors compute the same.
#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "framework/core/error.h"
#include "framework/kernels/table.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/unary.h"
#include "tests/support/catch.h"
#include "tests/support/child.h"
#include "tests/support/tensors.h"

// Weak: a build for another processor has not all of them.
namespace gradus::kernels::baseline {
const Table& table();
}
namespace gradus::kernels::avx2 {
const Table& table() __attribute__((weak));
}
namespace gradus::kernels::avx512 {
const Table& table() __attribute__((weak));
}

using namespace gradus;
using namespace gradus::testing;
using kernels::AxisSplit;
using kernels::Binary;
using kernels::Compare;
using kernels::Extreme;
using kernels::Loop;
using kernels::Matrices;
using kernels::Operand;
using kernels::Reduce;
using kernels::Table;
using kernels::Unary;

namespace {

/// The tables that this processor can run, the baseline first.
std::vector<const Table*> tables() {
  std::vector<const Table*> all = {&kernels::baseline::table()};
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2 && &kernels::avx2::table) all.push_back(&kernels::avx2::table());
  if (avx2 && avx512 && &kernels::avx512::table) all.push_back(&kernels::avx512::table());
#endif
  return all;
}

Loop loop_over(const Tensor& x) { return {x.dim(), x.shape().data()}; }
Operand operand(const Tensor& x) { return {x.raw(), x.strides().data()}; }

Tensor drawn(const Shape& shape, std::uint64_t seed, DType dtype) {
  const Tensor x = random_normal(shape, seed) * 2;
  return dtype == boolean ? gt(x, 0) : x.to(dtype);
}

/// One-axis and two-axis operands with n elements along the one: packed, every second or third
/// element, transposed, the second one a single number or a row for all.
struct Layout {
  Tensor out;
  Tensor a;
  Tensor b;
};

std::vector<Layout> layouts(Index n, DType out, DType in) {
  const auto every = [](const Tensor& x, Index step) { return x.slice(0, 0, std::nullopt, step); };
  return {
      {zeros({n}, out), drawn({n}, 1, in), drawn({n}, 2, in)},
      {every(zeros({2 * n}, out), 2), every(drawn({3 * n}, 1, in), 3),
       every(drawn({2 * n}, 2, in), 2)},
      {zeros({n}, out), drawn({n}, 1, in), drawn({1}, 2, in).expand({n})},
      {zeros({n}, out), drawn({1}, 1, in).expand({n}), drawn({n}, 2, in)},
      {zeros({n, 3}, out), drawn({3, n}, 1, in).transpose(0, 1), drawn({n, 3}, 2, in)},
      {zeros({3, n}, out).transpose(0, 1), drawn({n, 3}, 1, in),
       drawn({1, 3}, 2, in).expand({n, 3})},
      {zeros({}, out), drawn({}, 1, in), drawn({}, 2, in)},
  };
}

/// How many units of the last place (of the element, and of 1) two builds may differ by: they round
/// a * b + c once or twice, and add in another order.
struct Slack {
  double relative = 0;
  double absolute = 0;
};
constexpr Slack kNone{};
constexpr Slack kFunction{16, 4};
constexpr Slack kSum{64, 512};

using Numbers = std::vector<double>;

/// What a table computes for the n-th case.
using Run = std::function<Numbers(const Table&, Index n)>;

bool close(double got, double want, double epsilon, Slack slack) {
  if (std::isnan(want)) return std::isnan(got);
  if (got == want) return true;
  return std::fabs(got - want) <= epsilon * (slack.relative * std::fabs(want) + slack.absolute);
}

/// Runs a kernel of every table for n = 1 .. 130, so that each vector width has its body and tail.
void check_builds(const std::string& what, DType dtype, Slack slack, const Run& run) {
  const double epsilon = dtype == float32 ? 0x1p-23 : 0x1p-52;
  const std::vector<const Table*> all = tables();
  for (Index n = 1; n <= 130; ++n) {
    const Numbers want = run(*all.front(), n);
    for (std::size_t t = 1; t < all.size(); ++t) {
      const Numbers got = run(*all[t], n);
      REQUIRE(got.size() == want.size());
      std::size_t wrong = 0;
      while (wrong < want.size() && close(got[wrong], want[wrong], epsilon, slack)) ++wrong;
      if (wrong == want.size()) continue;
      FAIL_CHECK(what << " of " << dtype << " by " << all[t]->isa << ", n = " << n << ": element "
                      << wrong << " is " << got[wrong] << ", by " << all.front()->isa << " "
                      << want[wrong]);
    }
  }
  SUCCEED(what);
}

void append(Numbers& numbers, const Tensor& x) {
  for (const double value : x.to_vector<double>()) numbers.push_back(value);
}

Run over_layouts(DType out, DType in, std::function<void(const Table&, const Layout&)> call) {
  return [=](const Table& table, Index n) {
    Numbers numbers;
    for (const Layout& layout : layouts(n, out, in)) {
      call(table, layout);
      append(numbers, layout.out);
    }
    return numbers;
  };
}

/// The array of n elements seen as (outer, n, inner), in several ways.
std::vector<AxisSplit> splits(Index n) {
  return {{1, n, 1}, {3, n, 1}, {2, n, 3}, {1, n, 17}, {1, 3, n}, {n, 2, 1}};
}
Index count_of(AxisSplit split) { return split.outer * split.size * split.inner; }

Run over_splits(std::function<void(const Table&, AxisSplit, Numbers&)> call) {
  return [=](const Table& table, Index n) {
    Numbers numbers;
    for (const AxisSplit& split : splits(n)) call(table, split, numbers);
    return numbers;
  };
}

}  // namespace

TEST_CASE("isa: every table is complete") {
  for (const Table* table : tables()) {
    std::vector<void*> entries(sizeof(Table) / sizeof(void*));
    std::memcpy(entries.data(), static_cast<const void*>(table), sizeof(Table));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      INFO(table->isa << ", entry " << i);
      CHECK(entries[i] != nullptr);
    }
  }
}

TEST_CASE("isa: elementwise functions agree") {
  const DType dtype = GENERATE(float32, float64);
  const std::tuple<const char*, Unary, Slack> rows[] = {{"exp", Unary::exp, kFunction},
                                                        {"tanh", Unary::tanh, kFunction},
                                                        {"sigmoid", Unary::sigmoid, kFunction},
                                                        {"erf", Unary::erf, kFunction},
                                                        {"sin", Unary::sin, kFunction},
                                                        {"cos", Unary::cos, kFunction},
                                                        {"log", Unary::log, kFunction},
                                                        {"sqrt", Unary::sqrt, kNone},
                                                        {"relu", Unary::relu, kNone},
                                                        {"negate", Unary::negate, kNone},
                                                        {"abs", Unary::abs, kNone}};
  for (const auto& [name, op, slack] : rows) {
    check_builds(name, dtype, slack,
                 over_layouts(dtype, dtype, [&, op = op](const Table& table, const Layout& l) {
                   table.unary(op, dtype, loop_over(l.out), operand(l.out), operand(l.a));
                 }));
  }
}

TEST_CASE("isa: elementwise functions agree on what is not a usual number") {
  const DType dtype = GENERATE(float32, float64);
  const double large = dtype == float32 ? 3e38 : 1e308;
  const double tiny = dtype == float32 ? 1e-40 : 1e-310;
  const Tensor specials = tensor({kInf, -kInf, kNaN, 0.0, -0.0, large, -large, tiny, -tiny, 88.7,
                                  -87.3, -103.0, 0.3, 0.65, 1.0},
                                 dtype);
  for (const Unary op : {Unary::exp, Unary::log, Unary::sqrt, Unary::tanh, Unary::sigmoid,
                         Unary::relu, Unary::erf, Unary::negate, Unary::abs}) {
    check_builds(text("function ", static_cast<int>(op)), dtype, kFunction,
                 [&](const Table& table, Index n) {
                   // Each at every place of a vector.
                   const Tensor x = ones({n}, dtype);
                   Numbers numbers;
                   for (Index i = 0; i < specials.numel(); ++i) {
                     x.slice(0, n - 1, n).copy_(specials.slice(0, i, i + 1));
                     const Tensor out = zeros({n}, dtype);
                     table.unary(op, dtype, loop_over(x), operand(out), operand(x));
                     append(numbers, out);
                   }
                   return numbers;
                 });
  }
}

TEST_CASE("isa: arithmetic and comparisons agree to the bit") {
  const DType dtype = GENERATE(float32, float64, int64);
  for (const Binary op : {Binary::add, Binary::subtract, Binary::multiply, Binary::divide,
                          Binary::maximum, Binary::minimum}) {
    if (op == Binary::divide && dtype == int64) continue;
    check_builds(text("binary ", static_cast<int>(op)), dtype, kNone,
                 over_layouts(dtype, dtype, [&](const Table& table, const Layout& l) {
                   table.binary(op, dtype, loop_over(l.out), operand(l.out), operand(l.a),
                                operand(l.b));
                 }));
  }
  for (const Compare op : {Compare::equal, Compare::not_equal, Compare::less, Compare::less_equal,
                           Compare::greater, Compare::greater_equal}) {
    check_builds(text("compare ", static_cast<int>(op)), dtype, kNone,
                 over_layouts(boolean, dtype, [&](const Table& table, const Layout& l) {
                   table.compare(op, dtype, loop_over(l.out), operand(l.out), operand(l.a),
                                 operand(l.b));
                 }));
  }
  check_builds("add_scaled", dtype, kFunction,
               over_layouts(dtype, dtype, [&](const Table& table, const Layout& l) {
                 table.convert(dtype, dtype, loop_over(l.out), operand(l.out), operand(l.b));
                 table.add_scaled(dtype, loop_over(l.out), operand(l.out), operand(l.a), 3.0);
               }));
}

TEST_CASE("isa: selection and conversion agree to the bit") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  check_builds("select", dtype, kNone,
               over_layouts(dtype, dtype, [&](const Table& table, const Layout& l) {
                 const Tensor condition = drawn(l.out.shape(), 3, boolean);
                 table.select(dtype, loop_over(l.out), operand(l.out), operand(condition),
                              operand(l.a), operand(l.b));
               }));
  for (const DType to : {float32, float64, int64, boolean}) {
    check_builds(text("conversion to ", to), dtype, kNone,
                 over_layouts(to, dtype, [&](const Table& table, const Layout& l) {
                   table.convert(to, dtype, loop_over(l.out), operand(l.out), operand(l.a));
                 }));
  }
}

TEST_CASE("isa: reductions agree") {
  const DType dtype = GENERATE(float32, float64, int64);
  for (const Reduce op : {Reduce::sum, Reduce::mean}) {
    if (op == Reduce::mean && dtype == int64) continue;
    check_builds(text("reduce ", static_cast<int>(op)), dtype, dtype == int64 ? kNone : kSum,
                 over_splits([&](const Table& table, AxisSplit split, Numbers& numbers) {
                   const Tensor x = drawn({count_of(split)}, 4, dtype);
                   const Tensor out = zeros({split.outer * split.inner}, dtype);
                   table.reduce(op, dtype, split, out.raw(), x.raw());
                   append(numbers, out);
                 }));
  }
  for (const Extreme which : {Extreme::largest, Extreme::smallest}) {
    check_builds(text("extreme ", static_cast<int>(which)), dtype, kNone,
                 over_splits([&](const Table& table, AxisSplit split, Numbers& numbers) {
                   const Tensor x = drawn({count_of(split)}, 4, dtype);
                   const Tensor values = zeros({split.outer * split.inner}, dtype);
                   Tensor indices = zeros({split.outer * split.inner}, int64);
                   table.extreme(which, dtype, split, values.raw(), indices.mutable_data<Index>(),
                                 x.raw());
                   append(numbers, values);
                   append(numbers, indices);
                   table.extreme(which, dtype, split, values.raw(), nullptr, x.raw());
                   append(numbers, values);
                 }));
  }
  for (const bool reversed : {false, true}) {
    check_builds(text("cumsum ", reversed), dtype, dtype == int64 ? kNone : kSum,
                 over_splits([&](const Table& table, AxisSplit split, Numbers& numbers) {
                   const Tensor x = drawn({count_of(split)}, 4, dtype);
                   const Tensor out = zeros({count_of(split)}, dtype);
                   table.cumsum(dtype, split, out.raw(), x.raw(), reversed);
                   append(numbers, out);
                 }));
  }
}

TEST_CASE("isa: softmax and its kin agree, with masks as well") {
  const DType dtype = GENERATE(float32, float64);
  const bool masked = GENERATE(false, true);
  const auto scores = [&](AxisSplit split) {
    Tensor x = drawn({count_of(split)}, 5, dtype);
    if (masked) x.masked_fill_(drawn(x.shape(), 6, boolean), -kInf);
    return x;
  };
  for (const bool hidden_is_zero : {false, true}) {
    check_builds("softmax", dtype, kFunction,
                 over_splits([&](const Table& table, AxisSplit split, Numbers& numbers) {
                   const Tensor x = scores(split);
                   const Tensor y = zeros(x.shape(), dtype);
                   table.softmax(dtype, split, y.raw(), x.raw(), hidden_is_zero);
                   append(numbers, y);
                 }));
  }
  check_builds("log_softmax", dtype, kFunction,
               over_splits([&](const Table& table, AxisSplit split, Numbers& numbers) {
                 const Tensor x = scores(split);
                 const Tensor y = zeros(x.shape(), dtype);
                 table.log_softmax(dtype, split, y.raw(), x.raw());
                 append(numbers, y);
               }));
  const auto labels_of = [](AxisSplit split) {
    Generator generator(16);
    return randint(0, split.size, {split.outer * split.inner}, &generator);
  };
  check_builds("cross_entropy", dtype, kFunction,
               over_splits([&](const Table& table, AxisSplit split, Numbers& numbers) {
                 const Tensor x = drawn({count_of(split)}, 5, dtype);
                 const Tensor labels = labels_of(split);
                 const Tensor loss = zeros(labels.shape(), dtype);
                 table.cross_entropy(dtype, split, 1, loss.raw(), x.raw(), labels.data<Index>());
                 append(numbers, loss);
                 const Tensor dx = zeros(x.shape(), dtype);
                 const Tensor g = drawn(labels.shape(), 7, dtype);
                 table.cross_entropy_backward(dtype, split, 1, dx.raw(), g.raw(), x.raw(),
                                              labels.data<Index>());
                 append(numbers, dx);
               }));
  check_builds("softmax_backward", dtype, kSum,
               over_splits([&](const Table& table, AxisSplit split, Numbers& numbers) {
                 const Tensor g = drawn({count_of(split)}, 7, dtype);
                 const Tensor y =
                     drawn({count_of(split)}, 8, dtype) / static_cast<double>(split.size);
                 const Tensor dx = zeros(y.shape(), dtype);
                 table.softmax_backward(dtype, split, dx.raw(), g.raw(), y.raw());
                 append(numbers, dx);
               }));
}

TEST_CASE("isa: attention agrees, forward and backward") {
  const DType dtype = GENERATE(float32, float64);
  const double dropout = GENERATE(0.0, 0.3);
  check_builds("attention", dtype, kSum, [&](const Table& table, Index n) {
    const Index queries = 131 - n;
    const Tensor q = drawn({2, 2, queries, 5}, 1, dtype);
    const Tensor k = drawn({2, 1, n, 5}, 2, dtype);
    const Tensor v = drawn({2, 1, n, 3}, 3, dtype);
    const Tensor g = drawn({2, 2, queries, 3}, 4, dtype);
    const Tensor hidden = drawn({n}, 5, boolean);
    const Tensor out = zeros_like(g);
    const Tensor log_sums = zeros({2, 2, queries}, dtype);
    const Tensor dq = zeros_like(q);
    const Tensor dk = zeros_like(k);
    const Tensor dv = zeros_like(v);
    const auto rows = [](const Tensor& x) {
      return kernels::HeadRows{x.raw(), x.strides()[0], x.strides()[1], x.strides()[2]};
    };
    const kernels::AttentionCall call{.batch = 2,
                                      .heads = 2,
                                      .shared_heads = 1,
                                      .queries = queries,
                                      .keys = n,
                                      .width = 5,
                                      .value_width = 3,
                                      .scale = 0.3,
                                      .causal_offset = 2,
                                      .hidden = hidden.data<bool>(),
                                      .hidden_strides = {0, 0, 0, 1},
                                      .dropout_p = dropout,
                                      .dropout_key = 42};
    const kernels::AttentionOperands x{rows(q), rows(k), rows(v), rows(out), log_sums.raw()};
    table.attention(dtype, call, x);
    table.attention_backward(dtype, call, {rows(dq), rows(dk), rows(dv)}, x, rows(g));
    Numbers numbers;
    for (const Tensor& made : {out, log_sums, dq, dk, dv}) append(numbers, made);
    return numbers;
  });
}

TEST_CASE("isa: normalisation agrees") {
  const DType dtype = GENERATE(float32, float64);
  const bool affine = GENERATE(false, true);
  check_builds("layer_norm", dtype, kSum, [&](const Table& table, Index n) {
    const Tensor x = drawn({3, n}, 9, dtype);
    const Tensor g = drawn({3, n}, 10, dtype);
    const Tensor weight = drawn({n}, 11, dtype);
    const Tensor bias = drawn({n}, 12, dtype);
    const Tensor moments = zeros({3, 2}, float64);
    const Tensor y = zeros({3, n}, dtype);
    const Tensor dx = zeros({3, n}, dtype);
    const Tensor dweight = zeros({2, n}, dtype);  // of two blocks: of two rows, and of one
    const Tensor dbias = zeros({2, n}, dtype);
    const kernels::NormRows rows{3, n, static_cast<kernels::RowMoments*>(moments.raw())};
    table.layer_norm(dtype, rows, 1e-2, y.raw(), x.raw(), affine ? weight.raw() : nullptr,
                     affine ? bias.raw() : nullptr);
    table.layer_norm_backward(dtype, rows, 2, dx.raw(), dweight.raw(), dbias.raw(), g.raw(),
                              x.raw(), affine ? weight.raw() : nullptr);
    Numbers numbers;
    for (const Tensor& result : {moments, y, dx, dweight, dbias}) append(numbers, result);
    return numbers;
  });
}

TEST_CASE("isa: picking and adding by index agree to the bit") {
  const DType dtype = GENERATE(float32, float64);
  check_builds("gather, scatter_add", dtype, kNone,
               over_splits([&](const Table& table, AxisSplit split, Numbers& numbers) {
                 constexpr Index picked = 4;
                 const Tensor x = drawn({count_of(split)}, 11, dtype);
                 Generator generator(12);
                 const Tensor index =
                     randint(0, split.size, {split.outer * picked * split.inner}, &generator);
                 const Tensor out = zeros(index.shape(), dtype);
                 table.gather(dtype, split, picked, out.raw(), x.raw(), index.data<Index>());
                 append(numbers, out);
                 table.scatter_add(dtype, split, picked, x.raw(), out.raw(), index.data<Index>());
                 append(numbers, x);
               }));
  check_builds("gather_rows, scatter_add_rows", dtype, kNone, [&](const Table& table, Index n) {
    const Tensor rows = drawn({7, n}, 13, dtype);
    const Tensor index = tensor({3, 6, 0, 3, 2}, int64);
    const Tensor out = zeros({5, n}, dtype);
    table.gather_rows(dtype, 5, n, out.raw(), rows.raw(), index.data<Index>());
    Numbers numbers;
    append(numbers, out);
    table.scatter_add_rows(dtype, 5, n, rows.raw(), out.raw(), index.data<Index>(), 6);
    append(numbers, rows);
    return numbers;
  });
}

TEST_CASE("isa: matrix products agree, in every layout") {
  const DType dtype = GENERATE(float32, float64);
  check_builds("matmul", dtype, kSum, [&](const Table& table, Index n) {
    Numbers numbers;
    const Index sizes[][3] = {{n, 5, 3}, {3, n, 5}, {4, 3, n}, {1, n, 1}, {n, 7, n % 11 + 1}};
    for (const auto& [rows, inner, columns] : sizes) {
      for (const bool left_transposed : {false, true}) {
        for (const bool right_transposed : {false, true}) {
          const Tensor a = drawn({2 * rows * inner}, 14, dtype);
          const Tensor b = drawn({2 * inner * columns}, 15, dtype);
          const Tensor out = zeros({2, rows, columns}, dtype);
          const Index batch[] = {2};
          const Index a_batch[] = {rows * inner};
          const Index b_batch[] = {inner * columns};
          const Matrices left{a.raw(), a_batch, left_transposed ? 1 : inner,
                              left_transposed ? rows : 1};
          const Matrices right{b.raw(), b_batch, right_transposed ? 1 : columns,
                               right_transposed ? inner : 1};
          table.matmul(dtype, {1, batch, rows, columns, inner}, out.raw(), left, right, {});
          append(numbers, out);
        }
      }
    }
    return numbers;
  });
}

TEST_CASE("isa: dropout drops the same elements") {
  const DType dtype = GENERATE(float32, float64);
  check_builds("dropout", dtype, kNone, [&](const Table& table, Index n) {
    const Tensor x = drawn({n}, 16, dtype);
    const Tensor y = zeros({n}, dtype);
    table.dropout(dtype, n, 0.3, 0x123456789ABCDEF0, y.raw(), x.raw());
    Numbers numbers;
    append(numbers, y);
    return numbers;
  });
}

TEST_CASE("isa: a step of Adam agrees") {
  const DType dtype = GENERATE(float32, float64);
  check_builds("adam", dtype, kFunction, [&](const Table& table, Index n) {
    const Tensor p = drawn({n}, 17, dtype);
    const Tensor g = drawn({n}, 18, dtype);
    const Tensor m = drawn({n}, 19, dtype);
    const Tensor v = abs(drawn({n}, 20, dtype));
    kernels::AdamStep step{};
    step.rate = 0.1;
    step.beta1 = 0.9;
    step.beta2 = 0.99;
    step.second_scale = 1.5;
    step.eps = 1e-8;
    step.gradient_decay = 0.01;
    step.shrinkage = 0.001;
    const Tensor largest = abs(drawn({n}, 21, dtype));
    kernels::AdamUpdate update{dtype, n, step, p.raw(), g.raw(), m.raw(), v.raw(), largest.raw()};
    table.adam(&update, 1);
    Numbers numbers;
    append(numbers, p);
    append(numbers, m);
    append(numbers, v);
    append(numbers, largest);
    update.largest = nullptr;
    table.adam(&update, 1);
    append(numbers, p);
    return numbers;
  });
}

TEST_CASE("isa: a step of gradient descent agrees") {
  const DType dtype = GENERATE(float32, float64);
  const bool nesterov = GENERATE(false, true);
  check_builds("sgd", dtype, kFunction, [&](const Table& table, Index n) {
    const Tensor p = drawn({n}, 17, dtype);
    const Tensor g = drawn({n}, 18, dtype);
    const Tensor momentum = drawn({n}, 19, dtype);
    const kernels::SgdStep step{
        .rate = 0.1, .momentum = 0.9, .new_share = 0.7, .weight_decay = 0.01, .nesterov = nesterov};
    const kernels::SgdUpdate update{dtype, n, step, p.raw(), g.raw(), momentum.raw()};
    table.sgd(&update, 1);
    Numbers numbers;
    append(numbers, p);
    append(numbers, momentum);
    return numbers;
  });
}

TEST_CASE("isa: sums of squares agree") {
  check_builds("sum_squares", float32, kFunction, [&](const Table& table, Index n) {
    const Tensor a = drawn({n}, 22, float32);
    const Tensor b = drawn({7}, 23, float32);
    const kernels::Floats arrays[] = {{n, a.data<float>()}, {7, b.data<float>()}};
    std::vector<double> sums(static_cast<std::size_t>((n + 7) / kernels::kShare + 1));
    table.sum_squares(arrays, 2, sums.data());
    return sums;
  });
}

// Run by the test below in processes of its own.
TEST_CASE("isa: prints what was chosen", "[.isa-child]") {
  if (!is_child()) return;
  try {
    std::cout << "chosen " << kernels::table().isa << "\n";
  } catch (const ValueError& error) {
    std::cout << "refused " << error.what() << "\n";
  }
}

TEST_CASE("isa: GRADUS_ISA chooses the table") {
  using Catch::Matchers::ContainsSubstring;
  std::string usable;
  for (const Table* table : tables()) {
    const ChildResult child = run_child(text("GRADUS_ISA=", table->isa), "[.isa-child]");
    CHECK_THAT(child.output, ContainsSubstring(text("chosen ", table->isa, "\n")));
    usable = usable.empty() ? table->isa : text(table->isa, ", ", usable);
  }
  const std::string best = text("chosen ", tables().back()->isa, "\n");
  CHECK_THAT(run_child("-u GRADUS_ISA", "[.isa-child]").output, ContainsSubstring(best));
  CHECK_THAT(run_child("GRADUS_ISA=", "[.isa-child]").output, ContainsSubstring(best));
  CHECK_THAT(
      run_child("GRADUS_ISA=mmx", "[.isa-child]").output,
      ContainsSubstring("refused GRADUS_ISA: 'mmx' cannot run here\n  need   one of " + usable));
}
