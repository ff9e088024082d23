// The rules below are facts about PyTorch and NumPy; tests/framework/core/random_test.cpp holds
// digits of theirs. Changing the order of two draws changes every stream.
#include "framework/core/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <locale>
#include <numbers>
#include <numeric>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "framework/core/error.h"

namespace gradus {
namespace {

constexpr std::size_t kBlock = 16;  // normals that PyTorch draws together

// A state is written as "mt19937 <words> normal <bits of the kept normal, or none>".
constexpr std::string_view kTitle = "mt19937 ";
constexpr std::string_view kDivider = " normal ";

// A number in [0, 1), with every bit of the fraction drawn.
template <class Float>
Float unit(Generator& generator) {
  if constexpr (std::is_same_v<Float, float>) {
    return static_cast<float>(generator.raw() & 0xFFFFFFU) * 0x1p-24F;
  } else {
    return static_cast<double>(generator.next_key() & ((1ULL << 53) - 1)) * 0x1p-53;
  }
}

// Fused, with one rounding, as PyTorch's compiled kernels are: digits differ without it.
template <class Float>
void fill_uniform_of(Generator& generator, std::span<Float> out, Float low, Float high) {
  const Float span = high - low;
  for (Float& number : out) number = std::fma(unit<Float>(generator), span, low);
}

// Box and Muller: numbers 0-7 give the radii, numbers 8-15 the angles.
template <class Float>
void to_normals(std::span<Float, kBlock> block) {
  for (std::size_t j = 0; j < kBlock / 2; ++j) {
    const Float radius = std::sqrt(Float{-2} * std::log(Float{1} - block[j]));
    const Float angle = Float{2} * std::numbers::pi_v<Float> * block[j + 8];
    block[j] = radius * std::cos(angle);
    block[j + 8] = radius * std::sin(angle);
  }
}

// Whether these can be the words of an engine: std::mt19937 does not check what it reads.
bool is_engine(std::span<const std::uint64_t> numbers) {
  constexpr std::size_t words = std::mt19937::state_size;
  const auto fits = [](std::uint64_t word) { return word <= std::mt19937::max(); };
  if (numbers.size() < words || !std::all_of(numbers.begin(), numbers.end(), fits)) return false;
  const auto is_zero = [](std::uint64_t word) { return word == 0; };  // it would draw 0 for ever
  if (std::all_of(numbers.begin(), numbers.begin() + words, is_zero)) return false;
  // libstdc++ adds the position of the next word; libc++ rotates the words instead.
  return numbers.size() == words || (numbers.size() == words + 1 && numbers.back() <= words);
}

// Reads what operator<< wrote; leaves the engine alone where the text is something else.
void read_engine(std::mt19937& engine, const std::string& words) {
  std::istringstream in(words);
  in.imbue(std::locale::classic());
  const std::vector<std::uint64_t> numbers{std::istream_iterator<std::uint64_t>(in), {}};
  if (!is_engine(numbers)) return;
  in.clear();
  in.seekg(0);
  in >> engine;
}

// Like the default generator never destroyed: threads may draw while the process ends.
std::recursive_mutex& default_generator_mutex() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

}  // namespace

void Generator::manual_seed(std::uint64_t seed) {
  engine_.seed(static_cast<std::uint32_t>(seed));
  second_normal_.reset();
}

std::uint64_t Generator::next_key() {
  const std::uint64_t high = raw();
  return high << 32 | raw();
}

void Generator::fill_uniform(std::span<float> out, float low, float high) {
  fill_uniform_of(*this, out, low, high);
}
void Generator::fill_uniform(std::span<double> out, double low, double high) {
  fill_uniform_of(*this, out, low, high);
}

void Generator::fill_normal(std::span<float> out) { fill_normal_of(out); }
void Generator::fill_normal(std::span<double> out) { fill_normal_of(out); }

double Generator::normal() {
  const std::optional<double> kept = std::exchange(second_normal_, std::nullopt);
  if (kept) return *kept;
  const double u1 = unit<double>(*this);
  const double u2 = unit<double>(*this);
  const double radius = std::sqrt(-2.0 * std::log1p(-u2));
  const double angle = 2.0 * std::numbers::pi * u1;
  second_normal_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

template <class Float>
void Generator::fill_normal_of(std::span<Float> out) {
  if (out.size() < kBlock) {
    for (Float& number : out) number = static_cast<Float>(normal());
    return;
  }
  fill_uniform(out);
  for (std::size_t i = 0; i + kBlock <= out.size(); i += kBlock) {
    to_normals(out.subspan(i).template first<kBlock>());
  }
  if (out.size() % kBlock != 0) {
    const auto last = out.template last<kBlock>();
    fill_uniform(last);
    to_normals(last);
  }
}

std::uint64_t Generator::random_below(std::uint64_t bound) {
  if (bound == 0) throw ValueError("random_below: no number is below 0");
  return (bound <= std::numeric_limits<std::uint32_t>::max() ? raw() : next_key()) % bound;
}

std::int64_t Generator::randint(std::int64_t low, std::int64_t high) {
  std::int64_t number = 0;
  fill_randint({&number, 1}, low, high);
  return number;
}

void Generator::fill_randint(std::span<std::int64_t> out, std::int64_t low, std::int64_t high) {
  if (low >= high) {
    throw ValueError(text("randint: low ", low, " is not below high ", high),
                     {.need = "low < high: the numbers drawn are low .. high - 1"});
  }
  // Unsigned, where a difference of any two signed numbers fits and sums wrap.
  const auto start = static_cast<std::uint64_t>(low);
  const std::uint64_t bound = static_cast<std::uint64_t>(high) - start;
  for (std::int64_t& number : out) {
    number = static_cast<std::int64_t>(start + random_below(bound));
  }
}

bool Generator::bernoulli(double p) {
  check_probability("bernoulli", p);
  return unit<double>(*this) < p;
}

void Generator::shuffle(std::span<std::int64_t> items) {
  for (std::size_t i = 0; i + 1 < items.size(); ++i) {
    std::swap(items[i], items[i + random_below(items.size() - i)]);
  }
}

std::vector<std::int64_t> Generator::permutation(std::int64_t n) {
  if (n < 0) throw ValueError(text("permutation: n ", n, " is negative"));
  element_count({n});  // throws where it is too large for any memory
  std::vector<std::int64_t> items(static_cast<std::size_t>(n));
  std::iota(items.begin(), items.end(), std::int64_t{0});
  shuffle(items);
  return items;
}

std::string Generator::state() const {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << kTitle << engine_ << kDivider;
  if (second_normal_) {
    out << std::bit_cast<std::uint64_t>(*second_normal_);
  } else {
    out << "none";
  }
  return out.str();
}

void Generator::set_state(const std::string& state) {
  Generator read;
  const std::size_t end = state.find(kDivider);
  if (state.starts_with(kTitle) && end != std::string::npos && end > kTitle.size()) {
    read_engine(read.engine_, state.substr(kTitle.size(), end - kTitle.size()));
    std::istringstream kept(state.substr(end + kDivider.size()));
    if (std::uint64_t bits = 0; kept >> bits) read.second_normal_ = std::bit_cast<double>(bits);
  }
  // What was read must say the same again: this finds whatever was skipped or misread above.
  if (read.state() != state || !std::isfinite(read.second_normal_.value_or(0.0))) {
    throw ValueError("set_state: this text is not the state of a Generator",
                     {.got = text(state.size(), " characters"),
                      .need = "what Generator::state() returned, unchanged"});
  }
  *this = read;
}

void check_probability(const char* op, double p) {
  if (!(p >= 0.0 && p <= 1.0)) throw ValueError(text(op, ": p ", p, " is outside 0..1"));
}

Generator& default_generator() {
  static auto* const generator = new Generator;
  return *generator;
}

LockedGenerator::LockedGenerator() : lock_(default_generator_mutex()) {}

void manual_seed(std::uint64_t seed) { LockedGenerator()->manual_seed(seed); }

namespace random {
namespace {

std::uint32_t checked_seed(std::int64_t seed) {
  constexpr std::int64_t limit = std::numeric_limits<std::uint32_t>::max();
  if (seed < 0 || seed > limit) {
    throw ValueError(text("random::Numpy: seed ", seed, " is outside 0..", limit));
  }
  return static_cast<std::uint32_t>(seed);
}

std::span<double> numbers(Tensor& tensor) {
  return {tensor.mutable_data<double>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

Numpy::Numpy(std::int64_t seed) : engine_(checked_seed(seed)) {}

Tensor Numpy::rand(const Shape& shape) {
  Tensor result(shape, float64);
  for (double& number : numbers(result)) number = unit();
  return result;
}

Tensor Numpy::randn(const Shape& shape) {
  Tensor result(shape, float64);
  for (double& number : numbers(result)) number = normal();
  return result;
}

double Numpy::unit() {
  const auto high = static_cast<double>(engine_() >> 5);
  const auto low = static_cast<double>(engine_() >> 6);
  return (high * 0x1p26 + low) * 0x1p-53;
}

// Marsaglia's polar method: a point in the unit circle gives two normals.
double Numpy::normal() {
  const std::optional<double> kept = std::exchange(second_normal_, std::nullopt);
  if (kept) return *kept;
  double x1 = 0.0;
  double x2 = 0.0;
  double square = 0.0;
  do {
    x1 = 2.0 * unit() - 1.0;
    x2 = 2.0 * unit() - 1.0;
    square = x1 * x1 + x2 * x2;
  } while (square >= 1.0 || square == 0.0);
  const double factor = std::sqrt(-2.0 * std::log(square) / square);
  second_normal_ = factor * x1;
  return factor * x2;
}

}  // namespace random
}  // namespace gradus
