// Products of every build against a plain loop, over sizes around those of its tiles.
#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "framework/core/parallel.h"
#include "framework/kernels/table.h"
#include "tests/support/catch.h"
#include "tests/support/thread_count.h"

using namespace gradus;
using namespace gradus::testing;
using kernels::MatmulStart;
using kernels::Matrices;
using kernels::Table;

namespace {

constexpr Index kGap = 3;  // numbers between two rows or columns

struct Sizes {
  Index rows;
  Index columns;
  Index inner;
};

enum class Begin { zero, bias, out };

/// A stack of matrices in memory, with NaN where no number belongs.
template <class T>
struct Stack {
  std::vector<T> numbers;
  Index batch_stride;
  Index row_stride;
  Index column_stride;

  const T& at(Index n, Index i, Index j) const {
    return numbers[static_cast<std::size_t>(n * batch_stride + i * row_stride + j * column_stride)];
  }
  Matrices matrices() const {
    return {const_cast<T*>(numbers.data()), &batch_stride, row_stride, column_stride};
  }
};

/// A batch of 1 is broadcast.
template <class T, class Draw>
Stack<T> drawn(Index batch, Index rows, Index columns, bool by_rows, Index gap, Draw draw) {
  const Index lead = (by_rows ? columns : rows) + gap;
  const Index size = (by_rows ? rows : columns) * lead;
  Stack<T> x{std::vector<T>(static_cast<std::size_t>(batch * size + 1),
                            std::numeric_limits<T>::quiet_NaN()),
             batch == 1 ? 0 : size, by_rows ? lead : 1, by_rows ? 1 : lead};
  for (Index n = 0; n < batch; ++n) {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) const_cast<T&>(x.at(n, i, j)) = static_cast<T>(draw());
    }
  }
  return x;
}

/// Whole numbers so small that their sums are exact in any order.
auto whole_numbers() {
  return [state = std::minstd_rand(1)]() mutable { return static_cast<int>(state() % 9) - 4; };
}

auto normals() {
  return [state = std::mt19937(1), normal = std::normal_distribution<double>()]() mutable {
    return normal(state);
  };
}

template <class T>
constexpr DType dtype_of() {
  return sizeof(T) == sizeof(float) ? float32 : float64;
}

template <class T>
std::vector<T> product(const Table& table, Sizes s, Index batch, const Stack<T>& a,
                       const Stack<T>& b, Begin begin, const std::vector<T>& bias,
                       std::vector<T> out) {
  const MatmulStart start{begin == Begin::bias ? bias.data() : nullptr, begin == Begin::out};
  table.matmul(dtype_of<T>(), {1, &batch, s.rows, s.columns, s.inner}, out.data(), a.matrices(),
               b.matrices(), start);
  return out;
}

template <class T>
std::vector<T> by_definition(Sizes s, Index batch, const Stack<T>& a, const Stack<T>& b,
                             Begin begin, const std::vector<T>& bias, std::vector<T> out) {
  std::size_t place = 0;
  for (Index n = 0; n < batch; ++n) {
    for (Index i = 0; i < s.rows; ++i) {
      for (Index j = 0; j < s.columns; ++j, ++place) {
        double sum = begin == Begin::out ? double{out[place]} : 0.0;
        if (begin == Begin::bias) sum = double{bias[static_cast<std::size_t>(j)]};
        for (Index k = 0; k < s.inner; ++k) sum += double{a.at(n, i, k)} * double{b.at(n, k, j)};
        out[place] = static_cast<T>(sum);
      }
    }
  }
  return out;
}

/// Numbers that stand in out before the product, and one behind it that must remain.
template <class T, class Draw>
std::vector<T> before(Sizes s, Index batch, Draw draw) {
  std::vector<T> out(static_cast<std::size_t>(batch * s.rows * s.columns + 1));
  for (T& number : out) number = static_cast<T>(draw());
  return out;
}

/// Every build, layout and start, with and without gaps, exactly.
template <class T>
void check_product(Sizes s, Index a_batch = 1, Index b_batch = 1) {
  const Index batch = std::max(a_batch, b_batch);
  for (const bool a_rows : {true, false}) {
    for (const bool b_rows : {true, false}) {
      auto draw = whole_numbers();
      const Index gap = (s.rows + s.columns) % 2 ? kGap : 0;
      const Stack<T> a = drawn<T>(a_batch, s.rows, s.inner, a_rows, gap, draw);
      const Stack<T> b = drawn<T>(b_batch, s.inner, s.columns, b_rows, gap, draw);
      const std::vector<T> bias = before<T>({1, s.columns, 0}, 1, draw);
      const std::vector<T> out = before<T>(s, batch, draw);
      for (const Begin begin : {Begin::zero, Begin::bias, Begin::out}) {
        const std::vector<T> want = by_definition(s, batch, a, b, begin, bias, out);
        for (const Table* table : kernels::usable_tables()) {
          if (product(*table, s, batch, a, b, begin, bias, out) == want) continue;
          FAIL_CHECK(table->isa << ": (" << s.rows << ", " << s.inner << ") times (" << s.inner
                                << ", " << s.columns << "), batches " << a_batch << " and "
                                << b_batch << ", by rows " << a_rows << b_rows << ", start "
                                << static_cast<int>(begin));
        }
      }
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("matmul kernel: every size, layout and start is as defined", "", float, double) {
  for (const Index rows : {1, 2, 3, 4, 5, 6, 7, 13, 14, 15, 29, 47, 48, 61}) {
    for (const Index columns : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65}) {
      for (const Index inner : {0, 1, 2, 3, 4, 5, 8, 17, 33}) {
        check_product<TestType>({rows, columns, inner});
      }
    }
  }
  CHECK(true);
}

TEMPLATE_TEST_CASE("matmul kernel: sizes beyond those of its blocks", "", float, double) {
  check_product<TestType>({2, 900, 800});
  check_product<TestType>({50, 900, 17});
  check_product<TestType>({49, 70, 385});
  check_product<TestType>({200, 1, 800});
  check_product<TestType>({300, 333, 20});
  check_product<TestType>(
      {512, 300, 20});  // columns of a as far apart as a way of the cache is long
  check_product<TestType>({1024, 300, 5});
  CHECK(true);
}

TEMPLATE_TEST_CASE("matmul kernel: stacks, and one matrix for all", "", float, double) {
  for (const Sizes s : {Sizes{8, 16, 4}, {5, 3, 7}, {15, 33, 9}, {1, 20, 12}, {70, 130, 40}}) {
    check_product<TestType>(s, 5, 5);
    check_product<TestType>(s, 1, 5);
    check_product<TestType>(s, 5, 1);
  }
  check_product<TestType>({0, 3, 4}, 2, 2);
  check_product<TestType>({3, 0, 4}, 2, 2);
  check_product<TestType>({3, 4, 5}, 0, 0);
  CHECK(true);
}

TEMPLATE_TEST_CASE("matmul kernel: no digit depends on the number of threads", "", float, double) {
  struct Case {
    Sizes sizes;
    Index batch;
  };
  for (const auto& [s, batch] : {Case{{768, 65, 128}, 1},
                                 {{97, 1501, 300}, 1},
                                 {{3, 2000, 500}, 1},
                                 {{2000, 1, 600}, 1},
                                 {{390, 70, 800}, 1},
                                 {{33, 40, 50}, 70},
                                 {{130, 200, 60}, 3}}) {
    for (const bool b_rows : {true, false}) {
      auto draw = normals();
      const auto a = drawn<TestType>(batch, s.rows, s.inner, true, 0, draw);
      const auto b = drawn<TestType>(batch, s.inner, s.columns, b_rows, 0, draw);
      const auto bias = before<TestType>({1, s.columns, 0}, 1, draw);
      const auto out = before<TestType>(s, batch, draw);
      for (const Table* table : kernels::usable_tables()) {
        for (const Begin begin : {Begin::bias, Begin::out}) {
          const ThreadCount one(1);
          const auto want = product(*table, s, batch, a, b, begin, bias, out);
          for (const int count : {2, 3, 8}) {
            const ThreadCount threads(count);
            INFO(table->isa << " with " << count << " threads: " << s.rows << " " << s.columns);
            CHECK((product(*table, s, batch, a, b, begin, bias, out) == want));
          }
        }
      }
    }
  }
}
