// Elementwise ops on random tensors: arithmetic and comparisons with broadcasting, functions of one
// variable, powers, clamping, and choosing by a mask.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/masking.h"
#include "framework/ops/unary.h"
#include "tests/properties/properties.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

using Number = std::function<double(double)>;
using Numbers = std::function<double(double, double)>;
using Dtypes = DType (Random::*)();

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- of two tensors ----

struct Binary {
  std::string op;
  std::function<Tensor(const Tensor&, const Tensor&)> gradus;
  Numbers reference;
  Draw left = Draw::normal;
  Draw right = Draw::normal;
  Dtypes dtypes = &Random::number;
};

Property binary(const Binary& op) {
  return {op.op, [op](Random& random) {
            Instance call;
            const DType dtype = (random.*op.dtypes)();
            const std::vector<Shape> shapes = random.broadcastable(2);
            const Input a = call.add(random.input(shapes[0], dtype, op.left));
            const bool twice = op.left == op.right && random.chance(0.1);
            const Input b = twice ? a : call.add(random.input(shapes[1], dtype, op.right));
            call.how = twice ? "of x and x" : "";
            call.function = [op](const Tensors& in) {
              return Tensors{op.gradus(in.front(), in.back())};
            };
            call.expect(reference::combine(a.array, b.array, op.reference), dtype);
            call.smooth = op.left != Draw::special;
            return call;
          }};
}

Instance draw_add(Random& random, bool subtract) {
  Instance call;
  const DType dtype = random.number();
  const double alpha = static_cast<double>(random.between(-2, 3));
  const std::vector<Shape> shapes = random.broadcastable(2);
  const Input a = call.add(random.input(shapes[0], dtype));
  const Input b = call.add(random.input(shapes[1], dtype));
  call.how = text("alpha ", alpha);
  call.function = [=](const Tensors& in) {
    return Tensors{subtract ? sub(in[0], in[1], alpha) : add(in[0], in[1], alpha)};
  };
  const double factor = subtract ? -alpha : alpha;
  call.expect(
      reference::combine(a.array, b.array, [=](double x, double y) { return x + factor * y; }),
      dtype);
  return call;
}

/// The larger of two, where NaN wins.
double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b);
}
double smaller(double a, double b) { return -larger(-a, -b); }

// ---- of a tensor and a number ----

struct WithNumber {
  std::string op;
  std::function<Tensor(const Tensor&, double)> gradus;
  Numbers reference;
  Draw draw = Draw::normal;
  Dtypes dtypes = &Random::number;
};

Property with_number(const WithNumber& op) {
  return {op.op, [op](Random& random) {
            Instance call;
            const Input x = call.add(random.input(random.shape(), (random.*op.dtypes)(), op.draw));
            const double number = x.dtype() == int64 ? static_cast<double>(random.between(-4, 4))
                                                     : random.uniform(0.5, 2.0);
            call.how = text("number ", number);
            call.function = [=](const Tensors& in) { return Tensors{op.gradus(in[0], number)}; };
            call.expect(
                reference::map(x.array, [=](double value) { return op.reference(value, number); }),
                x.dtype());
            return call;
          }};
}

// ---- of one tensor ----

struct Unary {
  std::string op;
  Tensor (*gradus)(const Tensor&);
  Number reference;
  Draw draw = Draw::normal;
  Dtypes dtypes = &Random::floating;
  bool smooth = true;
};

Property unary(const Unary& op) {
  return {op.op, [op](Random& random) {
            Instance call;
            const Input x = call.add(random.input(random.shape(), (random.*op.dtypes)(), op.draw));
            call.function = [op](const Tensors& in) { return Tensors{op.gradus(in[0])}; };
            call.expect(reference::map(x.array, op.reference), x.dtype());
            call.smooth = op.smooth;
            return call;
          }};
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

Instance draw_leaky_relu(Random& random) {
  Instance call;
  const double slope = random.uniform(-0.5, 0.5);
  const Input x = call.add(random.input(random.shape(), random.floating(), Draw::away_from_zero));
  call.how = text("negative_slope ", slope);
  call.function = [=](const Tensors& in) { return Tensors{leaky_relu(in[0], slope)}; };
  call.expect(reference::map(x.array, [=](double v) { return v > 0 ? v : slope * v; }), x.dtype());
  return call;
}

Instance draw_softplus(Random& random) {
  Instance call;
  const double beta = random.chance(0.5) ? 1.0 : random.uniform(0.3, 3.0);
  const Input x = call.add(random.input(random.shape(), random.floating()));
  call.how = text("beta ", beta);
  call.function = [=](const Tensors& in) { return Tensors{softplus(in[0], beta)}; };
  call.expect(
      reference::map(x.array, [=](double v) { return std::log(1 + std::exp(beta * v)) / beta; }),
      x.dtype());
  return call;
}

Instance draw_clamp(Random& random) {
  Instance call;
  const Input x = call.add(random.input(random.shape(), random.number()));
  const bool whole = x.dtype() == int64;
  const auto bound = [&] {
    return whole ? static_cast<double>(random.between(-4, 4)) : random.uniform(-2.0, 2.0);
  };
  std::optional<double> low;
  std::optional<double> high;
  if (random.chance(0.7)) low = bound();
  if (!low || random.chance(0.7)) high = bound();
  call.how = text("min ", low.value_or(-kInfinity), ", max ", high.value_or(kInfinity));
  call.function = [=](const Tensors& in) { return Tensors{clamp(in[0], low, high)}; };
  call.expect(reference::map(x.array,
                             [=](double v) {
                               return std::min(std::max(v, low.value_or(-kInfinity)),
                                               high.value_or(kInfinity));
                             }),
              x.dtype());
  return call;
}

/// A whole number may have a negative base; others are of positive ones.
Instance draw_pow_number(Random& random) {
  Instance call;
  const bool whole = random.chance(0.5);
  const double exponent =
      whole ? static_cast<double>(random.between(-2, 3)) : random.uniform(-2.0, 3.0);
  const Input x = call.add(random.input(random.shape(), random.floating(),
                                        whole ? Draw::away_from_zero : Draw::positive));
  call.how = text("exponent ", exponent);
  call.function = [=](const Tensors& in) { return Tensors{pow(in[0], exponent)}; };
  call.expect(reference::map(x.array, [=](double v) { return std::pow(v, exponent); }), x.dtype());
  return call;
}

// ---- comparisons and logic ----

struct Comparison {
  std::string op;
  Tensor (*of_tensors)(const Tensor&, const Tensor&);
  Tensor (*of_number)(const Tensor&, double);
  std::function<bool(double, double)> reference;
};

Property comparison(const Comparison& op) {
  return {
      op.op, [op](Random& random) {
        Instance call;
        const DType dtype = random.any_dtype();
        const std::vector<Shape> shapes = random.broadcastable(2);
        const Input a = call.add(random.input(shapes[0], dtype, Draw::special));
        const auto compared = [op](double x, double y) { return op.reference(x, y) ? 1.0 : 0.0; };
        call.smooth = false;
        if (random.chance(0.3)) {
          const double number = random.one_of<double>({-1, 0, 0.5, 1, 2});
          call.how = text("number ", number);
          call.function = [=](const Tensors& in) { return Tensors{op.of_number(in[0], number)}; };
          call.expect(reference::map(a.array, [=](double x) { return compared(x, number); }),
                      boolean);
        } else {
          const Input b = call.add(random.input(shapes[1], dtype, Draw::special));
          call.function = [=](const Tensors& in) { return Tensors{op.of_tensors(in[0], in[1])}; };
          call.expect(reference::combine(a.array, b.array, compared), boolean);
        }
        return call;
      }};
}

Property logic(const std::string& op, Tensor (*gradus)(const Tensor&, const Tensor&),
               const Numbers& reference) {
  return {op, [=](Random& random) {
            Instance call;
            const std::vector<Shape> shapes = random.broadcastable(2);
            const Input a = call.add(random.input(shapes[0], boolean));
            const Input b = call.add(random.input(shapes[1], boolean));
            call.function = [=](const Tensors& in) { return Tensors{gradus(in[0], in[1])}; };
            call.expect(reference::combine(a.array, b.array, reference), boolean);
            return call;
          }};
}

/// A question to every element, answered by a bool.
Property question(const std::string& op, Tensor (*gradus)(const Tensor&), Dtypes dtypes,
                  const Number& reference) {
  return {op, [=](Random& random) {
            Instance call;
            const Input x =
                call.add(random.input(random.shape(), (random.*dtypes)(), Draw::special));
            call.function = [=](const Tensors& in) { return Tensors{gradus(in[0])}; };
            call.expect(reference::map(x.array, reference), boolean);
            call.smooth = false;
            return call;
          }};
}

double truth(bool value) { return value ? 1.0 : 0.0; }

// ---- choosing ----

Instance draw_masked_fill(Random& random) {
  Instance call;
  const std::vector<Shape> shapes = random.broadcastable(2);
  const Input x = call.add(random.input(shapes[0], random.any_dtype()));
  const Input mask = call.add(random.input(shapes[1], boolean));
  const double value = is_floating(x.dtype()) && random.chance(0.2) ? -kInfinity
                       : x.dtype() == boolean                       ? 1.0
                                              : static_cast<double>(random.between(-3, 3));
  call.how = text("value ", value);
  call.function = [=](const Tensors& in) { return Tensors{masked_fill(in[0], in[1], value)}; };
  call.expect(reference::where(mask.array, reference::full({}, value), x.array), x.dtype());
  return call;
}

Instance draw_where(Random& random) {
  Instance call;
  const std::vector<Shape> shapes = random.broadcastable(3);
  const DType dtype = random.any_dtype();
  const Input condition = call.add(random.input(shapes[0], boolean));
  const Input a = call.add(random.input(shapes[1], dtype));
  const Input b = call.add(random.input(shapes[2], dtype));
  call.function = [](const Tensors& in) { return Tensors{where(in[0], in[1], in[2])}; };
  call.expect(reference::where(condition.array, a.array, b.array), dtype);
  return call;
}

const Family arithmetic(
    "arithmetic", 2000,
    {{"add", [](Random& random) { return draw_add(random, false); }},
     {"sub", [](Random& random) { return draw_add(random, true); }},
     binary({"mul", mul, std::multiplies<>()}),
     binary({"div", gradus::div, std::divides<>(), Draw::normal, Draw::away_from_zero,
             &Random::floating}),
     binary({"maximum", maximum, larger}),
     binary({"minimum", minimum, smaller}),
     binary({"maximum of special numbers", maximum, larger, Draw::special, Draw::special}),
     binary({"minimum of special numbers", minimum, smaller, Draw::special, Draw::special}),
     binary({"pow", [](const Tensor& x, const Tensor& y) { return pow(x, y); },
             [](double x, double y) { return std::pow(x, y); }, Draw::positive, Draw::normal,
             &Random::floating}),
     with_number({"x + number", [](const Tensor& x, double y) { return x + y; }, std::plus<>()}),
     with_number({"number + x", [](const Tensor& x, double y) { return y + x; }, std::plus<>()}),
     with_number({"x - number", [](const Tensor& x, double y) { return x - y; }, std::minus<>()}),
     with_number({"number - x", [](const Tensor& x, double y) { return y - x; },
                  [](double x, double y) { return y - x; }}),
     with_number({"x * number", [](const Tensor& x, double y) { return x * y; },
                  std::multiplies<>()}),
     with_number({"number * x", [](const Tensor& x, double y) { return y * x; },
                  std::multiplies<>()}),
     with_number({"x / number", [](const Tensor& x, double y) { return x / y; }, std::divides<>(),
                  Draw::normal, &Random::floating}),
     with_number({"number / x", [](const Tensor& x, double y) { return y / x; },
                  [](double x, double y) { return y / x; }, Draw::away_from_zero,
                  &Random::floating})});

const Family functions(
    "functions", 2200,
    {unary({"neg", neg, std::negate<>(), Draw::normal, &Random::number}),
     unary({"exp", gradus::exp, [](double x) { return std::exp(x); }}),
     unary({"log", gradus::log, [](double x) { return std::log(x); }, Draw::positive}),
     unary({"sqrt", gradus::sqrt, [](double x) { return std::sqrt(x); }, Draw::positive}),
     unary({"rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, Draw::positive}),
     unary({"reciprocal", reciprocal, [](double x) { return 1 / x; }, Draw::away_from_zero}),
     unary({"square", square, [](double x) { return x * x; }}),
     unary({"sin", gradus::sin, [](double x) { return std::sin(x); }}),
     unary({"cos", gradus::cos, [](double x) { return std::cos(x); }}),
     unary({"abs", gradus::abs, [](double x) { return std::fabs(x); }, Draw::away_from_zero,
            &Random::number}),
     unary({"sign", sign, [](double x) { return x > 0   ? 1.0
                                                : x < 0 ? -1.0
                                                        : x; }, Draw::special,
            &Random::floating, false}),
     unary({"floor", gradus::floor, [](double x) { return std::floor(x); }, Draw::normal,
            &Random::floating, false}),
     unary({"ceil", gradus::ceil, [](double x) { return std::ceil(x); }, Draw::normal,
            &Random::floating, false}),
     unary({"erf", gradus::erf, [](double x) { return std::erf(x); }}),
     unary({"tanh", gradus::tanh, [](double x) { return std::tanh(x); }}),
     unary({"sigmoid", sigmoid, sigmoid_of}),
     unary({"relu", relu, [](double x) { return std::max(x, 0.0); }, Draw::away_from_zero}),
     unary({"silu", silu, [](double x) { return x * sigmoid_of(x); }}),
     unary({"gelu, exact", [](const Tensor& x) { return gelu(x); },
            [](double x) { return x * 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); }}),
     unary({"gelu, tanh", [](const Tensor& x) { return gelu(x, GeluForm::tanh); },
            [](double x) {
              const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
              return 0.5 * x * (1 + std::tanh(inner));
            }}),
     {"leaky_relu", draw_leaky_relu},
     {"softplus", draw_softplus},
     {"clamp", draw_clamp},
     {"pow by a number", draw_pow_number}});

const Family comparisons(
    "comparisons", 700,
    {comparison({"eq", eq, eq, std::equal_to<>()}),
     comparison({"ne", ne, ne, std::not_equal_to<>()}),
     comparison({"lt", lt, lt, std::less<>()}),
     comparison({"le", le, le, std::less_equal<>()}),
     comparison({"gt", gt, gt, std::greater<>()}),
     comparison({"ge", ge, ge, std::greater_equal<>()}),
     logic("logical_or", logical_or, [](double a, double b) { return truth(a + b > 0); }),
     logic("logical_and", logical_and, [](double a, double b) { return truth(a + b > 1); }),
     logic("logical_xor", logical_xor, [](double a, double b) { return truth(a != b); }),
     question("isnan", gradus::isnan, &Random::floating,
              [](double x) { return truth(std::isnan(x)); }),
     question("isinf", gradus::isinf, &Random::floating,
              [](double x) { return truth(std::isinf(x)); }),
     {"logical_not", [](Random& random) {
        Instance call;
        const Input x = call.add(random.input(random.shape(), boolean));
        call.function = [](const Tensors& in) { return Tensors{logical_not(in[0])}; };
        call.expect(reference::map(x.array, [](double v) { return 1 - v; }), boolean);
        return call;
      }}});

const Family choosing("choosing", 500, {{"masked_fill", draw_masked_fill}, {"where", draw_where}});

}  // namespace

TEST_CASE("properties: arithmetic") { arithmetic.check(); }
TEST_CASE("properties: functions of one variable") { functions.check(); }
TEST_CASE("properties: comparisons and logic") { comparisons.check(); }
TEST_CASE("properties: choosing by a mask") { choosing.check(); }
