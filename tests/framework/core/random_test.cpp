// Digits that PyTorch 1.13 (CPU) and NumPy 1.24 print for the same seeds, the state of a generator
// through a checkpoint, and the default generator under several threads.
#include "framework/core/random.h"

#include <chrono>
#include <cmath>
#include <future>
#include <limits>
#include <locale>
#include <numeric>
#include <vector>

#include "framework/core/error.h"
#include "tests/support/catch.h"

using namespace gradus;
using Catch::Matchers::Message;

namespace {

constexpr double kFloatNormal = 3e-7;  // how far float normals may be from PyTorch's

template <class T>
std::vector<T> uniforms(Generator& generator, std::size_t count) {
  std::vector<T> out(count);
  generator.fill_uniform(out);
  return out;
}

template <class T>
std::vector<T> normals(Generator& generator, std::size_t count) {
  std::vector<T> out(count);
  generator.fill_normal(out);
  return out;
}

template <class T>
std::vector<T> normals(std::uint64_t seed, std::size_t count) {
  Generator generator(seed);
  return normals<T>(generator, count);
}

template <class T>
void check_close(const std::vector<T>& got, const std::vector<T>& want, double tolerance) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i << ": got " << got[i] << ", want " << want[i]);
    CHECK(std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])) <= tolerance);
  }
}

// Every word with separators, as a German or French global locale would write it.
struct Grouped : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("a generator's raw numbers are MT19937's", "[random]") {
  Generator generator(7);
  CHECK(generator.raw() == 327741615U);
  CHECK(generator.raw() == 976413892U);
  CHECK(generator.raw() == 3349725721U);
}

TEST_CASE("only the low 32 bits of a seed count, as in PyTorch", "[random]") {
  CHECK(Generator((1ULL << 32) + 7).raw() == 327741615U);
}

TEST_CASE("a generator that nobody seeded starts like torch.Generator()", "[random]") {
  CHECK(Generator().raw() == 2353294710U);
}

TEST_CASE("a key is two raw numbers, the high half first", "[random]") {
  CHECK(Generator(42).next_key() == 6909045637428952499ULL);
}

TEST_CASE("uniform numbers equal PyTorch's", "[random]") {
  Generator generator(42);
  SECTION("float: torch.rand(3)") {
    CHECK(uniforms<float>(generator, 3) ==
          std::vector<float>{0.882269263F, 0.915003955F, 0.38286376F});
  }
  SECTION("double: torch.rand(3, dtype=torch.float64)") {
    CHECK(uniforms<double>(generator, 3) ==
          std::vector<double>{0.058154485961429692, 0.062910167424577557, 0.12358607277440903});
  }
  SECTION("float: uniform_(-1/sqrt(8), 1/sqrt(8)), as nn.Linear(8, 8) draws its weight") {
    std::vector<float> out(64);
    const auto bound = static_cast<float>(1.0 / std::sqrt(8.0));
    generator.fill_uniform(out, -bound, bound);
    CHECK(std::vector<float>(out.begin(), out.begin() + 4) ==
          std::vector<float>{0.270305187F, 0.293452114F, -0.0828278288F, 0.32477814F});
    CHECK(std::vector<float>(out.end() - 3, out.end()) ==
          std::vector<float>{-0.241314396F, 0.109018892F, -0.121757522F});
  }
  SECTION("double: uniform_(-2, 3)") {
    std::vector<double> out(3);
    generator.fill_uniform(out, -2.0, 3.0);
    CHECK(out ==
          std::vector<double>{-1.7092275701928514, -1.6854491628771122, -1.3820696361279547});
  }
  SECTION("none at all draw nothing") {
    CHECK(uniforms<float>(generator, 0).empty());
    CHECK(generator == Generator(42));
  }
}

TEST_CASE("fewer than 16 normals come in pairs", "[random]") {
  check_close(normals<float>(42, 15),
              {0.336690366F, 0.128809407F, 0.234462366F, 0.23033303F, -1.12285638F, -0.186328292F,
               2.20820141F, -0.637997031F, 0.461657226F, 0.267350882F, 0.534904659F, 0.809357226F,
               1.11029029F, -1.68979895F, -0.988959908F},
              kFloatNormal);
  check_close(normals<double>(42, 5),
              {0.33669035438385886, 0.1288094051365897, 0.23446236336153173, 0.23033302791461191,
               -1.1228563767381703},
              1e-15);
}

TEST_CASE("the second normal of an odd pair is kept for the next call", "[random]") {
  Generator generator(42);
  check_close(normals<float>(generator, 3), {0.336690366F, 0.128809407F, 0.234462366F},
              kFloatNormal);
  SECTION("of either type") {
    check_close(normals<double>(generator, 2), {0.23033302791461191, -1.1228563767381703}, 1e-15);
  }
  SECTION("until the generator is seeded") {
    generator.manual_seed(42);
    check_close(normals<float>(generator, 1), {0.336690366F}, kFloatNormal);
  }
}

TEST_CASE("16 normals and more neither use nor lose a kept one", "[random]") {
  Generator generator(42);
  normals<float>(generator, 1);
  check_close(normals<float>(generator, 16),
              {0.678418458F, -1.23454487F, -0.0430674814F, -1.60466695F, 1.78778934F, -0.478045255F,
               -0.242858633F, -0.934163153F, -0.727881253F, -0.559430182F, -0.768838942F,
               0.76244539F, -1.56732666F, -0.239445806F, 2.32280588F, -0.963365853F},
              kFloatNormal);
  check_close(normals<double>(generator, 1), {0.1288094051365897}, 1e-15);
}

TEST_CASE("a block of 16 normals", "[random]") {
  check_close(normals<float>(42, 16),
              {1.92691541F, 1.48728406F, 0.900717199F, -2.10552096F, 0.678418458F, -1.23454487F,
               -0.0430674814F, -1.60466695F, -0.752135277F, 1.64872301F, -0.392478645F,
               -1.40360725F, -0.727881253F, -0.559430182F, -0.768838942F, 0.76244539F},
              kFloatNormal);
  check_close(normals<double>(42, 16),
              {0.29955628775026372, 0.24237779080894106, 0.28320739441795323, -0.23294220898382634,
               0.67115322119230025, 0.78176737425469756, -1.7903080050220619, -1.748402801489203,
               0.17347640142361004, 0.26684314514213736, 0.42851736454334621, 0.2318702888580676,
               -1.0214571469180447, -0.82726322923810214, 1.7342104609172728, -1.4920727283504345},
              1e-15);
}

TEST_CASE("when the last block is not full, the last 16 normals are drawn afresh", "[random]") {
  check_close(normals<float>(42, 17),
              {1.92691541F, -0.159597471F, -0.497397482F, 0.439589232F, -0.758131146F, 1.07831764F,
               0.800800502F, 1.68062055F, 0.355859905F, 1.29642284F, 0.61046648F, 1.33473778F,
               -0.23162432F, 0.041759491F, -0.251575291F, 0.859858513F, -0.309726775F},
              kFloatNormal);
  check_close(normals<float>(42, 20),
              {1.92691541F,   1.48728406F,   0.900717199F,  -2.10552096F, -0.758131146F,
               1.07831764F,   0.800800502F,  1.68062055F,   0.355859905F, -0.686622977F,
               -0.493356347F, 0.241487801F,  -0.23162432F,  0.041759491F, -0.251575291F,
               0.859858513F,  -0.309726775F, -0.395710498F, 0.803409338F, -0.621595383F},
              kFloatNormal);
  check_close(
      normals<double>(42, 20),
      {0.29955628775026372,   0.24237779080894106,  0.28320739441795323,   -0.23294220898382634,
       -0.037203007270524932, 1.0352472972512925,   -0.010085521702337353, 0.089480160465603573,
       0.038435238263354446,  -0.11824373914203358, -1.7445566610842109,   -0.46946014308389283,
       0.39238484373268534,   1.1084611814514329,   0.86517346471190737,   0.85521596147228696,
       0.24941187969157649,   0.26158369071129589,  -1.5265439234108249,   -0.33113931395169954},
      1e-15);
}

TEST_CASE("many normals have mean 0 and variance 1", "[random]") {
  const std::vector<double> numbers = normals<double>(1, 100000);
  const double count = static_cast<double>(numbers.size());
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
  const double squares =
      std::inner_product(numbers.begin(), numbers.end(), numbers.begin(), 0.0) / count;
  CHECK(std::abs(mean) < 0.015);
  CHECK(std::abs(squares - 1.0) < 0.02);
}

TEST_CASE("whole numbers equal torch.randint's", "[random]") {
  Generator generator(42);
  std::vector<std::int64_t> out(10);
  SECTION("below 2^32 from 32 bits") {
    generator.fill_randint(out, 0, 10);
    CHECK(out == std::vector<std::int64_t>{2, 7, 6, 4, 6, 5, 0, 4, 0, 3});
  }
  SECTION("one by one") {
    CHECK(generator.randint(-3, 7) == -1);
    CHECK(generator.randint(-3, 7) == 4);
    CHECK(generator.random_below(10) == 6);
  }
  SECTION("wider ranges from 64 bits") {
    out.resize(3);
    generator.fill_randint(out, -5000000000, 5000000000);
    CHECK(out == std::vector<std::int64_t>{2428952499, -1606146290, 2239337031});
  }
  SECTION("from the smallest number to the largest") {
    using Limits = std::numeric_limits<std::int64_t>;
    const auto wrapped = static_cast<std::int64_t>(6909045637428952499ULL + (1ULL << 63));
    CHECK(generator.randint(Limits::min(), Limits::max()) == wrapped);
  }
}

TEST_CASE("permutations equal torch.randperm's", "[random]") {
  CHECK(Generator(42).permutation(10) == std::vector<std::int64_t>{2, 6, 1, 8, 4, 5, 0, 9, 3, 7});
  CHECK(Generator(0).permutation(10) == std::vector<std::int64_t>{4, 1, 7, 5, 3, 9, 0, 8, 6, 2});
  CHECK(Generator(0).permutation(1) == std::vector<std::int64_t>{0});
  CHECK(Generator(0).permutation(0).empty());
  std::vector<std::int64_t> items{10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
  Generator(42).shuffle(items);
  CHECK(items == std::vector<std::int64_t>{30, 70, 20, 90, 50, 60, 10, 100, 40, 80});
}

TEST_CASE("coins equal Tensor.bernoulli_", "[random]") {
  Generator generator(42);
  std::vector<bool> coins;
  for (int i = 0; i < 12; ++i) coins.push_back(generator.bernoulli(0.3));
  CHECK(coins == std::vector<bool>{1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0});
  CHECK(generator.bernoulli(1.0));
  CHECK_FALSE(generator.bernoulli(0.0));
}

TEST_CASE("arguments out of range are errors, and draw nothing", "[random]") {
  Generator generator(42);
  std::vector<std::int64_t> nothing;
  CHECK_THROWS_MATCHES(generator.random_below(0), ValueError,
                       Message("random_below: no number is below 0"));
  const char* text =
      "randint: low 5 is not below high 5\n"
      "  need   low < high: the numbers drawn are low .. high - 1";
  CHECK_THROWS_MATCHES(generator.randint(5, 5), ValueError, Message(text));
  CHECK_THROWS_MATCHES(generator.fill_randint(nothing, 5, 5), ValueError, Message(text));
  CHECK_THROWS_MATCHES(generator.permutation(-1), ValueError,
                       Message("permutation: n -1 is negative"));
  CHECK_THROWS_MATCHES(generator.bernoulli(1.5), ValueError,
                       Message("bernoulli: p 1.5 is outside 0..1"));
  CHECK_THROWS_MATCHES(generator.bernoulli(-0.25), ValueError,
                       Message("bernoulli: p -0.25 is outside 0..1"));
  CHECK_THROWS_MATCHES(check_probability("dropout", std::numeric_limits<double>::quiet_NaN()),
                       ValueError, Message("dropout: p nan is outside 0..1"));
  CHECK_NOTHROW(check_probability("dropout", 0.0));
  CHECK_NOTHROW(check_probability("dropout", 1.0));
  CHECK(generator == Generator(42));
}

TEST_CASE("a generator goes on where its state was taken", "[random]") {
  Generator generator(3);
  normals<float>(generator, 3);      // keeps a normal
  uniforms<float>(generator, 1000);  // and is past the first 624 words
  const Generator copy = generator;
  const std::string state = generator.state();
  const std::vector<float> want = normals<float>(generator, 5);

  Generator restored;
  restored.set_state(state);
  CHECK(restored == copy);
  CHECK(restored.state() == state);
  CHECK(normals<float>(restored, 5) == want);
  CHECK(restored == generator);

  Generator unkept(3);
  restored.set_state(unkept.state());  // forgets what it had kept
  CHECK(restored == unkept);
}

TEST_CASE("a state does not depend on the locale", "[random]") {
  const Generator generator(5);
  const std::string state = generator.state();
  const std::locale before = std::locale::global(std::locale(std::locale(), new Grouped));
  Generator restored;
  CHECK(generator.state() == state);
  CHECK_NOTHROW(restored.set_state(state));
  std::locale::global(before);
  CHECK(restored == generator);
}

TEST_CASE("a text that is no state is an error, and changes nothing", "[random]") {
  Generator kept(3);
  normals<float>(kept, 1);
  const std::string state = kept.state();
  const std::string bare = Generator(3).state();
  const std::size_t normal = state.rfind(' ') + 1;
  const std::size_t position = bare.find(" normal");
  const auto words_of = [](const std::string& word) {
    std::string words = "mt19937";
    for (int i = 0; i < 624; ++i) words += " " + word;
    return words;
  };
  const std::vector<std::string> texts{
      "",
      "mt19937",
      "mt19937 normal none",
      "mt19937  normal none",
      "nonsense",
      "MT" + state.substr(2),
      state + " ",
      state + "1",
      " " + state,
      state.substr(0, normal),
      state.substr(0, normal) + "nothing",
      state.substr(0, normal) + "-5",
      state.substr(0, normal) + "9221120237041090560",  // the bits of NaN
      bare.substr(0, 2000),
      bare.substr(0, 2000) + " normal none",
      bare.substr(0, position) + " 5" + bare.substr(position),
      "mt19937 4294967296" + bare.substr(bare.find(' ', 8)),
      "mt19937 -1" + bare.substr(bare.find(' ', 8)),
      words_of("1") + " 625 normal none",         // a position past the words
      words_of("1") + " 4294967295 normal none",  // likewise
      words_of("0") + " 624 normal none",         // an engine that draws nothing but 0
  };
  for (const std::string& text : texts) {
    INFO(text);
    Generator generator(9);
    CHECK_THROWS_MATCHES(generator.set_state(text), ValueError,
                         Message("set_state: this text is not the state of a Generator\n"
                                 "  got    " +
                                 std::to_string(text.size()) +
                                 " characters\n"
                                 "  need   what Generator::state() returned, unchanged"));
    CHECK(generator == Generator(9));
  }
}

TEST_CASE("manual_seed seeds the default generator", "[random]") {
  manual_seed(7);
  CHECK(LockedGenerator()->raw() == 327741615U);
  CHECK(default_generator().raw() == 976413892U);
  CHECK(&*LockedGenerator() == &default_generator());
}

TEST_CASE("a locked generator keeps other threads waiting, not its own", "[random]") {
  std::future<std::uint32_t> other;
  {
    const LockedGenerator locked;
    manual_seed(7);  // locks again
    other = std::async(std::launch::async, [] { return LockedGenerator()->raw(); });
    CHECK(other.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
    CHECK(locked->raw() == 327741615U);
  }
  CHECK(other.get() == 976413892U);
}

TEST_CASE("random::Numpy draws numpy.random's numbers", "[random]") {
  random::Numpy numpy(42);
  SECTION("rand") {
    const Tensor numbers = numpy.rand({3, 1});
    CHECK(numbers.shape() == Shape{3, 1});
    CHECK(numbers.dtype() == float64);
    check_close(numbers.to_vector<double>(),
                {0.37454011884736249, 0.95071430640991617, 0.73199394181140509}, 0.0);
  }
  SECTION("randn, the second normal kept across calls, but not by rand") {
    const Tensor numbers = numpy.randn({1, 5});
    CHECK(numbers.shape() == Shape{1, 5});
    CHECK(numbers.dtype() == float64);
    check_close(numbers.to_vector<double>(),
                {0.49671415301123267, -0.13826430117118466, 0.64768853810069249, 1.5230298564080254,
                 -0.23415337472333597},
                1e-15);
    check_close(numpy.randn({2}).to_vector<double>(), {-0.23413695694918055, 1.5792128155073915},
                1e-15);
    check_close(numpy.rand({1}).to_vector<double>(), {0.020584494295802447}, 0.0);
    check_close(numpy.randn({}).to_vector<double>(), {0.76743472915290878}, 1e-15);
  }
  SECTION("every seed of 32 bits, and no other") {
    CHECK_NOTHROW(random::Numpy(0));
    CHECK_NOTHROW(random::Numpy(4294967295));
    CHECK_THROWS_MATCHES(random::Numpy(-1), ValueError,
                         Message("random::Numpy: seed -1 is outside 0..4294967295"));
    CHECK_THROWS_MATCHES(random::Numpy(4294967296), ValueError,
                         Message("random::Numpy: seed 4294967296 is outside 0..4294967295"));
  }
  SECTION("negative sizes are errors") {
    CHECK_THROWS_MATCHES(numpy.randn({2, -1}), ShapeError,
                         Message("shape: negative size -1 in (2, -1)"));
  }
}
