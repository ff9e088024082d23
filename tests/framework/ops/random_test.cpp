// Tensors of random numbers: PyTorch's digits, the generator they are drawn from, and errors. What
// a Generator draws is tested in tests/framework/core/random_test.cpp.
#include "framework/ops/random.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <future>
#include <limits>
#include <utility>
#include <vector>

#include "framework/core/error.h"
#include "framework/ops/compare.h"
#include "tests/support/catch.h"

using namespace gradus;
using Catch::Matchers::Message;

namespace {

void check_numbers(const Tensor& got, const Shape& shape, const std::vector<double>& want,
                   double tolerance) {
  CHECK(got.shape() == shape);
  CHECK_FALSE(got.requires_grad());
  const std::vector<double> numbers = got.to_vector<double>();
  REQUIRE(numbers.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    INFO("element " << i << ": got " << numbers[i] << ", want " << want[i]);
    CHECK(std::abs(numbers[i] - want[i]) <= tolerance);
  }
}

// The ends of a long tensor; the middle follows.
std::vector<float> ends(const Tensor& tensor, std::ptrdiff_t count) {
  const std::vector<float> all = tensor.to_vector<float>();
  std::vector<float> picked(all.begin(), all.begin() + count);
  picked.insert(picked.end(), all.end() - count, all.end());
  return picked;
}

void check_ends(const Tensor& tensor, const std::vector<float>& want, float tolerance) {
  const std::vector<float> got = ends(tensor, 3);
  for (std::size_t i = 0; i < want.size(); ++i) {
    INFO("element " << i << ": got " << got[i] << ", want " << want[i]);
    CHECK(std::abs(got[i] - want[i]) <= tolerance);
  }
}

}  // namespace

TEST_CASE("rand equals torch.rand", "[random]") {
  manual_seed(42);
  const Tensor floats = rand({3, 1});
  CHECK(floats.dtype() == float32);
  CHECK(floats.to_vector<float>() == std::vector<float>{0.882269263F, 0.915003955F, 0.38286376F});
  manual_seed(42);
  const Tensor doubles = rand({3}, float64);
  CHECK(doubles.dtype() == float64);
  check_numbers(doubles, {3}, {0.058154485961429692, 0.062910167424577557, 0.12358607277440903},
                0.0);
}

TEST_CASE("randn equals torch.randn", "[random]") {
  manual_seed(42);
  const Tensor floats = randn({3});
  CHECK(floats.dtype() == float32);
  check_numbers(floats, {3}, {0.336690366, 0.128809407, 0.234462366}, 3e-7);
  check_numbers(randn({}, float64), {}, {0.23033302791461191}, 1e-15);  // kept from before
  manual_seed(0);
  check_ends(randn({5, 5}),
             {-1.12583983F, -1.1523602F, -0.250578582F, -0.841064811F, -2.31604195F, -0.102309652F},
             3e-7F);
}

TEST_CASE("the draws of seed program 000 come out as in PyTorch", "[random]") {
  manual_seed(0);
  const double bound = 1.0 / std::sqrt(8.0);
  const Tensor q_weight = uniform({8, 8}, -bound, bound);
  const Tensor q_bias = uniform({8}, -bound, bound);
  for (int i = 0; i < 3; ++i) {  // the layers k, v, out
    uniform({8, 8}, -bound, bound);
    uniform({8}, -bound, bound);
  }
  const Tensor query = randn({2, 4, 8});
  randn({2, 4, 8});
  const Tensor value = randn({2, 4, 8});

  check_ends(
      q_weight,
      {-0.00264699059F, 0.189661443F, -0.290990382F, 0.142185166F, -0.209428236F, 0.106810987F},
      0.0F);
  check_ends(
      q_bias,
      {0.194090918F, -0.0446245782F, 0.0134992143F, 0.339479864F, -0.272456557F, -0.12956661F},
      0.0F);
  check_ends(query,
             {0.55880332F, 0.791758478F, -0.184675768F, -0.694620073F, 1.95945716F, -1.10382783F},
             3e-7F);
  check_ends(value,
             {-0.0118402261F, 0.979667127F, -1.06605148F, -0.916079998F, 1.55985129F, -3.15372443F},
             3e-7F);
}

TEST_CASE("uniform is evenly between its bounds", "[random]") {
  Generator generator(42);
  SECTION("float64 equals torch's uniform_(-2, 3)") {
    check_numbers(uniform({1, 3}, -2.0, 3.0, float64, &generator), {1, 3},
                  {-1.7092275701928514, -1.6854491628771122, -1.3820696361279547}, 0.0);
  }
  SECTION("never outside them") {
    const std::vector<float> numbers =
        uniform({10000}, -0.25, 0.5, float32, &generator).to_vector<float>();
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    CHECK(*least >= -0.25F);
    CHECK(*least < -0.24F);
    CHECK(*most > 0.49F);
    CHECK(*most <= 0.5F);
  }
  SECTION("equal bounds leave one number") {
    check_numbers(uniform({2}, 1.5, 1.5, float32, &generator), {2}, {1.5, 1.5}, 0.0);
  }
  SECTION("as wide as a float can say") {
    const double most = std::numeric_limits<float>::max();
    CHECK(std::isfinite(uniform({}, 0.0, most, float32, &generator).item()));
  }
}

TEST_CASE("randint equals torch.randint", "[random]") {
  manual_seed(42);
  const Tensor numbers = randint(0, 10, {2, 5});
  CHECK(numbers.dtype() == int64);
  check_numbers(numbers, {2, 5}, {2, 7, 6, 4, 6, 5, 0, 4, 0, 3}, 0.0);
}

TEST_CASE("randperm equals torch.randperm", "[random]") {
  manual_seed(42);
  const Tensor numbers = randperm(10);
  CHECK(numbers.dtype() == int64);
  check_numbers(numbers, {10}, {2, 6, 1, 8, 4, 5, 0, 9, 3, 7}, 0.0);
  check_numbers(randperm(0), {0}, {}, 0.0);
}

TEST_CASE("bernoulli equals Tensor.bernoulli_, in every dtype", "[random]") {
  for (const DType dtype : {float32, float64, int64, boolean}) {
    Generator generator(42);
    const Tensor coins = bernoulli({3, 4}, 0.3, dtype, &generator);
    CHECK(coins.dtype() == dtype);
    check_numbers(coins, {3, 4}, {1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0}, 0.0);
  }
  CHECK(bernoulli({2}, 0.5).dtype() == float32);
  check_numbers(bernoulli({3}, 1.0), {3}, {1, 1, 1}, 0.0);
  check_numbers(bernoulli({3}, 0.0), {3}, {0, 0, 0}, 0.0);
}

TEST_CASE("a chosen generator leaves the default one alone, and is used alone", "[random]") {
  const std::vector<std::function<Tensor(Generator*)>> ops{
      [](Generator* generator) { return rand({5}, float32, generator); },
      [](Generator* generator) { return randn({5}, float32, generator); },
      [](Generator* generator) { return uniform({5}, -1, 1, float32, generator); },
      [](Generator* generator) { return randint(0, 1000000, {5}, generator); },
      [](Generator* generator) { return randperm(50, generator); },
      [](Generator* generator) { return bernoulli({64}, 0.5, boolean, generator); },
  };
  for (const auto& op : ops) {
    manual_seed(7);
    Generator chosen(42);
    const std::vector<double> numbers = op(&chosen).to_vector<double>();
    CHECK(default_generator() == Generator(7));
    CHECK_FALSE(chosen == Generator(42));
    manual_seed(42);
    CHECK(op(nullptr).to_vector<double>() == numbers);
    manual_seed(42);
    CHECK(op(&default_generator()).to_vector<double>() == numbers);
    const LockedGenerator locked;
    locked->manual_seed(42);
    CHECK(op(nullptr).to_vector<double>() == numbers);  // locking twice is no deadlock
  }
}

TEST_CASE("random ops wait for a default generator that another thread has locked", "[random]") {
  for (Generator* chosen : {static_cast<Generator*>(nullptr), &default_generator()}) {
    std::future<Tensor> other;
    std::vector<float> first;
    {
      const LockedGenerator locked;
      manual_seed(42);
      other = std::async(std::launch::async, [&] { return rand({1}, float32, chosen); });
      CHECK(other.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
      first = rand({2}).to_vector<float>();
    }
    CHECK(first == std::vector<float>{0.882269263F, 0.915003955F});
    CHECK(other.get().to_vector<float>() == std::vector<float>{0.38286376F});
  }
}

TEST_CASE("random tensors may be empty", "[random]") {
  Generator generator(42);
  check_numbers(rand({0, 3}, float32, &generator), {0, 3}, {}, 0.0);
  check_numbers(randn({2, 0}, float64, &generator), {2, 0}, {}, 0.0);
  check_numbers(uniform({0}, 0, 1, float32, &generator), {0}, {}, 0.0);
  check_numbers(randint(0, 1, {0}, &generator), {0}, {}, 0.0);
  check_numbers(bernoulli({0}, 0.5, float32, &generator), {0}, {}, 0.0);
  CHECK(generator == Generator(42));
}

TEST_CASE("fractions want a floating dtype", "[random]") {
  const std::string rule =
      "\n  need   float32 or float64"
      "\n  hint   randint(low, high, shape) draws whole numbers";
  CHECK_THROWS_MATCHES(rand({2}, int64), DTypeError,
                       Message("rand: draws fractions, which int64 cannot hold" + rule));
  CHECK_THROWS_MATCHES(randn({2}, boolean), DTypeError,
                       Message("randn: draws fractions, which bool cannot hold" + rule));
  CHECK_THROWS_MATCHES(uniform({2}, 0, 1, int64), DTypeError,
                       Message("uniform: draws fractions, which int64 cannot hold" + rule));
}

TEST_CASE("uniform takes the longest intervals that its dtype allows", "[random]") {
  const DType dtype = GENERATE(float32, float64);
  const double most = dtype == float32 ? double{std::numeric_limits<float>::max()}
                                       : std::numeric_limits<double>::max();
  const std::pair<double, double> intervals[] = {
      {-most, 0}, {0, most}, {-most / 2, most / 2}, {-most, -most}, {most, most}};
  for (const auto& [low, high] : intervals) {
    Generator generator(1);
    const Tensor x = uniform({100}, low, high, dtype, &generator);
    CHECK(all(ge(x, low)));
    CHECK(all(le(x, high)));
  }
}

TEST_CASE("arguments of random ops out of range are errors, and draw nothing", "[random]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  manual_seed(42);

  const std::string interval = " is no interval\n  need   low <= high";
  CHECK_THROWS_MATCHES(uniform({2}, 2, 1), ValueError,
                       Message("uniform: low 2 to high 1" + interval));
  CHECK_THROWS_MATCHES(uniform({2}, 0, nan), ValueError,
                       Message("uniform: low 0 to high nan" + interval));
  CHECK_THROWS_MATCHES(uniform({2}, nan, 0), ValueError,
                       Message("uniform: low nan to high 0" + interval));
  const std::string most = "\n  need   low, high and high - low of at most 3.40282e+38";
  CHECK_THROWS_MATCHES(
      uniform({2}, -3e38, 3e38), ValueError,
      Message("uniform: low -3e+38 and high 3e+38 are too far for float32" + most));
  CHECK_THROWS_MATCHES(uniform({2}, 1e40, 1e40), ValueError,
                       Message("uniform: low 1e+40 and high 1e+40 are too far for float32" + most));
  CHECK_THROWS_MATCHES(uniform({2}, -infinity, 0, float64), ValueError,
                       Message("uniform: low -inf and high 0 are too far for float64\n"
                               "  need   low, high and high - low of at most 1.79769e+308"));

  const char* empty_range =
      "randint: low 3 is not below high 3\n"
      "  need   low < high: the numbers drawn are low .. high - 1";
  CHECK_THROWS_MATCHES(randint(3, 3, {2}), ValueError, Message(empty_range));
  CHECK_THROWS_MATCHES(randint(3, 3, {0}), ValueError, Message(empty_range));
  CHECK_THROWS_MATCHES(bernoulli({2}, 1.5), ValueError,
                       Message("bernoulli: p 1.5 is outside 0..1"));
  CHECK_THROWS_MATCHES(bernoulli({0}, nan), ValueError,
                       Message("bernoulli: p nan is outside 0..1"));

  const char* negative = "shape: negative size -2 in (3, -2)";
  CHECK_THROWS_MATCHES(rand({3, -2}), ShapeError, Message(negative));
  CHECK_THROWS_MATCHES(randn({3, -2}), ShapeError, Message(negative));
  CHECK_THROWS_MATCHES(uniform({3, -2}, 0, 1), ShapeError, Message(negative));
  CHECK_THROWS_MATCHES(randint(0, 5, {3, -2}), ShapeError, Message(negative));
  CHECK_THROWS_MATCHES(bernoulli({3, -2}, 0.5), ShapeError, Message(negative));
  CHECK_THROWS_MATCHES(randperm(-2), ShapeError, Message("shape: negative size -2 in (-2,)"));
  CHECK(default_generator() == Generator(42));
}
