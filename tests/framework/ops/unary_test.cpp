// Functions of one variable: values, the ends of the range, digits in float32, derivatives at
// kinks, and dtypes that are refused.
#include "framework/ops/unary.h"

#include <cmath>
#include <functional>

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

Tensor exact_gelu(const Tensor& x) { return gelu(x, GeluForm::exact); }
Tensor tanh_gelu(const Tensor& x) { return gelu(x, GeluForm::tanh); }

Tensor derivative(const std::function<Tensor(const Tensor&)>& function, const Tensor& x) {
  const Tensor input = x.clone().requires_grad_();
  return gradients({function(input).sum()}, {input})[0];
}

/// How many float32 numbers lie between `got` and the true value.
double distance_in_ulp(float got, double want) {
  const auto rounded = static_cast<float>(want);
  const float next = std::nextafter(std::fabs(rounded), std::numeric_limits<float>::infinity());
  return std::fabs(static_cast<double>(got) - want) /
         (static_cast<double>(next) - static_cast<double>(std::fabs(rounded)));
}

}  // namespace

TEST_CASE("unary: values") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({-2, -0.5, 0, 0.25, 1, 3}, dtype);
  CHECK_THAT(exp(x), HasValues({0.1353352832366127, 0.6065306597126334, 1, 1.2840254166877414,
                                2.718281828459045, 20.085536923187668}));
  CHECK_THAT(tanh(x), HasValues({-0.9640275800758169, -0.46211715726000973, 0, 0.24491866240370913,
                                 0.7615941559557649, 0.9950547536867305}));
  CHECK_THAT(sigmoid(x), HasValues({0.11920292202211755, 0.3775406687981454, 0.5,
                                    0.5621765008857981, 0.7310585786300049, 0.9525741268224334}));
  CHECK_THAT(relu(x), HasValues({0, 0, 0, 0.25, 1, 3}));
  CHECK_THAT(erf(x), HasValues({-0.9953222650189527, -0.5204998778130465, 0, 0.2763263901682369,
                                0.8427007929497149, 0.9999779095030014}));
  CHECK_THAT(abs(x), HasValues({2, 0.5, 0, 0.25, 1, 3}, exactly));
  CHECK_THAT(sin(x), HasValues({-0.9092974268256817, -0.479425538604203, 0, 0.24740395925452294,
                                0.8414709848078965, 0.1411200080598672}));
  CHECK_THAT(cos(x), HasValues({-0.4161468365471424, 0.8775825618903728, 1, 0.9689124217106447,
                                0.5403023058681398, -0.9899924966004454}));
  CHECK_THAT(log(tensor({0.125, 1, 2, 1000}, dtype)),
             HasValues({-2.0794415416798357, 0, 0.6931471805599453, 6.907755278982137}));
  CHECK_THAT(sqrt(tensor({0, 0.25, 2, 1e6}, dtype)), HasValues({0, 0.5, 1.4142135623730951, 1000}));
}

TEST_CASE("unary: infinities, NaN and the ends of the range") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({-kInf, kInf, kNaN, 0}, dtype);
  CHECK_THAT(exp(x), HasValues({0, kInf, kNaN, 1}));
  CHECK_THAT(log(x), HasValues({kNaN, kInf, kNaN, -kInf}));
  CHECK_THAT(sqrt(x), HasValues({kNaN, kInf, kNaN, 0}));
  CHECK_THAT(tanh(x), HasValues({-1, 1, kNaN, 0}));
  CHECK_THAT(sigmoid(x), HasValues({0, 1, kNaN, 0.5}));
  CHECK_THAT(relu(x), HasValues({0, kInf, kNaN, 0}));
  CHECK_THAT(erf(x), HasValues({-1, 1, kNaN, 0}));
  CHECK_THAT(abs(x), HasValues({kInf, kInf, kNaN, 0}));
  CHECK_THAT(sin(x), HasValues({kNaN, kNaN, kNaN, 0}));
  CHECK_THAT(cos(x), HasValues({kNaN, kNaN, kNaN, 1}));
  CHECK_THAT(exp(tensor({-1000, 1000}, dtype)), HasValues({0, kInf}));
  CHECK_THAT(log(tensor({-1}, dtype)), HasValues({kNaN}));
  CHECK_THAT(tanh(tensor({-1000, 1000}, dtype)), HasValues({-1, 1}));
  CHECK_THAT(sigmoid(tensor({-1000, 1000}, dtype)), HasValues({0, 1}));
  CHECK_THAT(exact_gelu(tensor({-40, 40}, dtype)), HasValues({0, 40}));
  CHECK_THAT(tanh_gelu(tensor({-40, 40}, dtype)), HasValues({0, 40}));
}

// Every lane of a vector loop and its tail give the digits that the header promises.
TEST_CASE("unary: float32 is within 4 ulp of the true value") {
  struct Row {
    const char* name;
    std::function<Tensor(const Tensor&)> function;
    std::function<double(double)> truth;
    double from;
    double to;
  };
  const std::vector<Row> rows = {
      {"exp", [](const Tensor& x) { return exp(x); }, [](double v) { return std::exp(v); }, -87,
       88.7},
      {"log", [](const Tensor& x) { return log(x); }, [](double v) { return std::log(v); }, 1e-30,
       4},
      {"tanh", [](const Tensor& x) { return tanh(x); }, [](double v) { return std::tanh(v); }, -9,
       9},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); },
       [](double v) { return 1 / (1 + std::exp(-v)); }, -80, 20},
      {"erf", [](const Tensor& x) { return erf(x); }, [](double v) { return std::erf(v); }, -4, 4},
      {"sqrt", [](const Tensor& x) { return sqrt(x); }, [](double v) { return std::sqrt(v); }, 0,
       9},
      {"softplus", [](const Tensor& x) { return softplus(x); },
       [](double v) { return std::log1p(std::exp(v)); }, -80, 20},
      {"pow", [](const Tensor& x) { return pow(x, 2.5); },
       [](double v) { return std::pow(v, 2.5); }, 0, 9},
  };
  constexpr Index count = 20011;
  for (const Row& row : rows) {
    const Tensor x =
        (arange(count, float64) * ((row.to - row.from) / (count - 1)) + row.from).to(float32);
    const std::vector<float> inputs = x.to_vector<float>();
    const std::vector<float> outputs = row.function(x).to_vector<float>();
    double worst = 0;
    float where = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const double apart = distance_in_ulp(outputs[i], row.truth(static_cast<double>(inputs[i])));
      if (apart > worst) where = inputs[i];
      worst = std::max(worst, apart);
    }
    INFO(row.name << " at " << where);
    CHECK(worst <= 4);
  }
}

TEST_CASE("unary: exp of float64 is within 2 ulp of the true value, to the ends of its range") {
  constexpr Index count = 20011;
  const Tensor x = arange(count, float64) * (1454.5 / (count - 1)) - 744.8;
  const std::vector<double> inputs = x.to_vector<double>();
  const std::vector<double> outputs = exp(x).to_vector<double>();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const long double truth = std::exp(static_cast<long double>(inputs[i]));
    const auto rounded = static_cast<double>(truth);
    const long double ulp =
        static_cast<long double>(std::nextafter(rounded, kInf)) - static_cast<long double>(rounded);
    INFO("exp(" << inputs[i] << ") is " << outputs[i]);
    REQUIRE(std::fabs(static_cast<long double>(outputs[i]) - truth) <= 2 * ulp);
  }
}

TEST_CASE("unary: small arguments keep their digits") {
  const Tensor x = tensor({1e-3, -1e-5, 1e-12, 1e-30}, float32);
  CHECK_THAT(tanh(x) / x, HasValues({1 - 1e-6 / 3, 1, 1, 1}, Tolerance{0, 2e-7}));
  CHECK_THAT(erf(x) / x,
             HasValues({1.1283788, 1.1283792, 1.1283792, 1.1283792}, Tolerance{0, 4e-7}));
  CHECK_THAT(log(tensor(1 + 0x1p-20, float32)) * 0x1p20, HasValues(1 - 0x1p-21));
  CHECK_THAT(log(tensor(1e-40, float32)), HasValues(-92.10340371976183));  // a subnormal number
}

TEST_CASE("unary: derivatives") {
  const Tensor x = tensor({-2, -0.5, 0.25, 3}, float64);
  const Tensor positive = tensor({0.25, 1, 16}, float64);
  CHECK_THAT(derivative([](const Tensor& t) { return exp(t); }, x), IsCloseTo(exp(x)));
  CHECK_THAT(derivative([](const Tensor& t) { return log(t); }, positive),
             HasValues({4, 1, 1.0 / 16}));
  CHECK_THAT(derivative([](const Tensor& t) { return sqrt(t); }, positive),
             HasValues({1, 0.5, 0.125}));
  CHECK_THAT(derivative([](const Tensor& t) { return tanh(t); }, x),
             IsCloseTo(1 - tanh(x) * tanh(x)));
  CHECK_THAT(derivative([](const Tensor& t) { return sigmoid(t); }, x),
             IsCloseTo(sigmoid(x) * (1 - sigmoid(x))));
  CHECK_THAT(derivative([](const Tensor& t) { return relu(t); }, x), HasValues({0, 0, 1, 1}));
  CHECK_THAT(derivative([](const Tensor& t) { return sin(t); }, x), IsCloseTo(cos(x)));
  CHECK_THAT(derivative([](const Tensor& t) { return cos(t); }, x), IsCloseTo(-sin(x)));
  CHECK_THAT(derivative([](const Tensor& t) { return erf(t); }, tensor({0, 1}, float64)),
             HasValues({1.1283791670955126, 0.41510749742059466}));
}

// C048: a choice is documented for every kink.
TEST_CASE("unary: the derivatives of relu and abs at 0 are 0") {
  CHECK_THAT(
      derivative([](const Tensor& t) { return abs(t); }, tensor({0.0, -0.0, -2, 3}, float64)),
      HasValues({0, 0, -1, 1}));
  CHECK_THAT(
      derivative([](const Tensor& t) { return relu(t); }, tensor({0.0, -0.0, 1e-300}, float64)),
      HasValues({0, 0, 1}));
}

// C049: infinite is right for sqrt alone; an epsilon below the root keeps what follows finite.
TEST_CASE("unary: the derivative of sqrt at 0") {
  CHECK_THAT(derivative([](const Tensor& t) { return sqrt(t); }, zeros({1}, float64)),
             HasValues({kInf}));
  CHECK_THAT(
      derivative([](const Tensor& t) { return sqrt((t * t).sum() + 1e-12); }, zeros({2}, float64)),
      HasValues({0, 0}));
}

// C027: two forms, named.
TEST_CASE("unary: gelu by erf and by tanh") {
  const DType dtype = GENERATE(float32, float64);
  const Tolerance close{0, dtype == float32 ? 3e-7 : 5e-8};
  const Tensor one = tensor(1, dtype);
  CHECK_THAT(exact_gelu(one), HasValues(0.8413447, close));
  CHECK_THAT(tanh_gelu(one), HasValues(0.8411920, close));
  CHECK_THAT(gelu(one), IsCloseTo(exact_gelu(one), exactly));
  CHECK_THAT(derivative(exact_gelu, one), HasValues(1.0833155, close));
  CHECK_THAT(derivative(tanh_gelu, one), HasValues(1.0829641, close));
  CHECK_THAT(exact_gelu(tensor({0, -1}, dtype)), HasValues({0, -0.1586553}, close));
  CHECK_THAT(derivative(exact_gelu, tensor(0, dtype)), HasValues(0.5));
}

TEST_CASE("unary: gelu by erf and its derivative are close to the true ones for all float32") {
  constexpr Index count = 20011;
  const Tensor x = (arange(count, float64) * (24.0 / (count - 1)) - 12.0).to(float32);
  const std::vector<double> inputs = x.to_vector<double>();
  const std::vector<double> outputs = exact_gelu(x).to_vector<double>();
  const std::vector<double> slopes = derivative(exact_gelu, x).to_vector<double>();
  double of_output = 0;
  double of_slope = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double v = inputs[i];
    const double below = std::erfc(-v / std::sqrt(2.0)) / 2;
    const double density = std::exp(-v * v / 2) * 0.39894228040143268;
    of_output =
        std::max(of_output, std::fabs(outputs[i] - v * below) / std::max(1.0, std::fabs(v)));
    of_slope = std::max(of_slope, std::fabs(slopes[i] - (below + v * density)));
  }
  CHECK(of_output < 2e-7);
  CHECK(of_slope < 5e-7);
}

TEST_CASE("unary: needs a floating tensor") {
  const std::pair<const char*, std::function<Tensor(const Tensor&)>> rows[] = {
      {"exp", [](const Tensor& x) { return exp(x); }},
      {"log", [](const Tensor& x) { return log(x); }},
      {"sqrt", [](const Tensor& x) { return sqrt(x); }},
      {"tanh", [](const Tensor& x) { return tanh(x); }},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
      {"relu", [](const Tensor& x) { return relu(x); }},
      {"erf", [](const Tensor& x) { return erf(x); }},
      {"sin", [](const Tensor& x) { return sin(x); }},
      {"cos", [](const Tensor& x) { return cos(x); }},
      {"gelu", exact_gelu},
      {"gelu", tanh_gelu},
  };
  for (const auto& [name, function] : rows) {
    for (const DType dtype : {int64, boolean}) {
      CHECK(error_text<DTypeError>([&, &call = function] { call(zeros({2}, dtype)); }) ==
            text(name, ": needs a floating tensor, not ", dtype, "\n  got    x (2,) ", dtype,
                 "\n  hint   x.to(float32)"));
    }
  }
}

// ---- powers, rounding, clamping, and the younger activations ----

TEST_CASE("unary: powers, signs and whole numbers") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({-2, -0.5, 0.25, 4}, dtype);
  CHECK_THAT(pow(x, 3), HasValues({-8, -0.125, 0.015625, 64}));
  CHECK_THAT(pow(x, -2), HasValues({0.25, 4, 16, 0.0625}));
  CHECK_THAT(pow(x, 0), HasValues({1, 1, 1, 1}));
  CHECK_THAT(pow(x, 0.5), HasValues({kNaN, kNaN, 0.5, 2}));
  CHECK_THAT(pow(x, tensor({{2}, {-1}}, dtype)),
             HasValues({{4, 0.25, 0.0625, 16}, {-0.5, -2, 4, 0.25}}));
  CHECK_THAT(square(x), HasValues({4, 0.25, 0.0625, 16}));
  CHECK_THAT(reciprocal(x), HasValues({-0.5, -2, 4, 0.25}));
  CHECK_THAT(rsqrt(x), HasValues({kNaN, kNaN, 2, 0.5}));
  CHECK_THAT(sign(x), HasValues({-1, -1, 1, 1}, exactly));
  CHECK_THAT(floor(x), HasValues({-2, -1, 0, 4}, exactly));
  CHECK_THAT(ceil(x), HasValues({-2, 0, 1, 4}, exactly));
}

TEST_CASE("unary: powers and whole numbers at the ends of the range") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({-kInf, kInf, kNaN, 0}, dtype);
  CHECK_THAT(pow(x, 0), HasValues({1, 1, 1, 1}));  // as in C and PyTorch
  CHECK_THAT(pow(x, 2), HasValues({kInf, kInf, kNaN, 0}));
  CHECK_THAT(pow(x, -1), HasValues({0, 0, kNaN, kInf}));
  CHECK_THAT(pow(tensor({0, 1}, dtype), tensor({0, kNaN}, dtype)), HasValues({1, 1}));
  CHECK_THAT(reciprocal(x), HasValues({0, 0, kNaN, kInf}));
  CHECK_THAT(rsqrt(x), HasValues({kNaN, 0, kNaN, kInf}));
  CHECK_THAT(sign(x), HasValues({-1, 1, kNaN, 0}));
  CHECK_THAT(floor(x), HasValues({-kInf, kInf, kNaN, 0}));
  CHECK_THAT(ceil(x), HasValues({-kInf, kInf, kNaN, 0}));
  CHECK_THAT(floor(tensor({1e30, -1e30}, dtype)), IsCloseTo(tensor({1e30, -1e30}, dtype), exactly));
  CHECK_THAT(square(tensor({0x1p-60}, dtype)), HasValues({0x1p-120}, exactly));
}

TEST_CASE("unary: powers have derivatives at 0 where the function has") {
  const auto by_x = [](const NestedNumbers& x, double exponent) {
    return derivative([exponent](const Tensor& t) { return pow(t, exponent); }, tensor(x, float64));
  };
  CHECK_THAT(by_x({0, 2, -2}, 0), HasValues({0, 0, 0}));
  CHECK_THAT(by_x({0, 2, -2}, 1), HasValues({1, 1, 1}));
  CHECK_THAT(by_x({0, 2, -2}, 2), HasValues({0, 4, -4}));
  CHECK_THAT(by_x({0, 4}, 0.5), HasValues({kInf, 0.25}));
  CHECK_THAT(by_x({2}, -1), HasValues({-0.25}));

  const Tensor base = leaf({0, 0, 0, 2});
  const Tensor exponent = leaf({0, 1, 2, 3});
  pow(base, exponent).sum().backward();
  CHECK_THAT(base.grad(), HasValues({0, 1, 0, 12}));
  CHECK_THAT(exponent.grad(), HasValues({0, 0, 0, 8 * 0.6931471805599453}));
}

// C081
TEST_CASE("unary: the third derivative of a cube") {
  const Tensor x = leaf(2);
  const Tensor first = gradients({pow(x, 3)}, {x}, {.create_graph = true})[0];
  const Tensor second = gradients({first}, {x}, {.create_graph = true})[0];
  const Tensor third = gradients({second}, {x}, {.create_graph = true})[0];
  CHECK_THAT(first, HasValues(12));
  CHECK_THAT(second, HasValues(12));
  CHECK_THAT(third, HasValues(6));
  CHECK_THAT(gradients({third}, {x}, {.allow_unused = true})[0], HasValues(0));
}

TEST_CASE("unary: clamp") {
  const DType dtype = GENERATE(float32, float64, int64);
  const Tensor x = tensor({-3, 0, 2, 7}, dtype);
  CHECK_THAT(clamp(x, -1, 2), HasValues({-1, 0, 2, 2}, exactly));
  CHECK_THAT(clamp(x, 1), HasValues({1, 1, 2, 7}, exactly));
  CHECK_THAT(clamp(x, std::nullopt, 1), HasValues({-3, 0, 1, 1}, exactly));
  CHECK_THAT(clamp(x, 5, 1), HasValues({1, 1, 1, 1}, exactly));  // min > max: max
  CHECK_THAT(clamp(x, std::nullopt), IsCloseTo(x, exactly));
  CHECK_FALSE(clamp(x, std::nullopt).is_same(x));
  clamp(x, std::nullopt).fill_(9);  // memory of its own, also where no bound is given
  CHECK_THAT(x, HasValues({-3, 0, 2, 7}, exactly));
  CHECK(clamp(x, 0, 1).dtype() == dtype);
  CHECK(clamp(zeros({0, 2}, dtype), 0).shape() == Shape{0, 2});
}

// C048: the derivative at the bounds is 1.
TEST_CASE("unary: clamp passes NaN on, and has a derivative at its bounds") {
  CHECK_THAT(clamp(tensor({kNaN, -kInf, kInf}, float64), 0, 1), HasValues({kNaN, 0, 1}));
  const Tensor x = tensor({-1, 0, 0.5, 1, 2}, float64);
  CHECK_THAT(derivative([](const Tensor& t) { return clamp(t, 0, 1); }, x),
             HasValues({0, 1, 1, 1, 0}));
  CHECK_THAT(derivative([](const Tensor& t) { return clamp(t, 0); }, x),
             HasValues({0, 1, 1, 1, 1}));
  CHECK_THAT(derivative([](const Tensor& t) { return clamp(t, std::nullopt, 0); }, x),
             HasValues({1, 1, 0, 0, 0}));
  CHECK_THAT(derivative([](const Tensor& t) { return clamp(t, std::nullopt); }, x),
             HasValues({1, 1, 1, 1, 1}));
  CHECK_THAT(derivative([](const Tensor& t) { return clamp(t, 1, 0); }, tensor({0.5, 3}, float64)),
             HasValues({0, 0}));
}

TEST_CASE("unary: silu, softplus and leaky_relu") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({-2, 0, 1, 3}, dtype);
  CHECK_THAT(silu(x), HasValues({-0.2384058440442351, 0, 0.7310585786300049, 2.8577223804673}));
  CHECK_THAT(softplus(x), HasValues({0.12692801104297263, 0.6931471805599453, 1.3132616875182228,
                                     3.048587351573742}));
  CHECK_THAT(softplus(x, 2), HasValues({0.009074963958904869, 0.34657359027997264,
                                        1.0634640055214863, 3.001237842568865}));
  CHECK_THAT(leaky_relu(x), HasValues({-0.02, 0, 1, 3}));
  CHECK_THAT(leaky_relu(x, 0.5), HasValues({-1, 0, 1, 3}));
  CHECK_THAT(leaky_relu(x, 0), IsCloseTo(relu(x)));
  CHECK_THAT(silu(tensor({-1000, 1000, kInf, kNaN}, dtype)), HasValues({0, 1000, kInf, kNaN}));
  CHECK_THAT(softplus(tensor({-1000, 1000, -kInf, kInf, kNaN}, dtype)),
             HasValues({0, 1000, 0, kInf, kNaN}));
  CHECK_THAT(leaky_relu(tensor({-kInf, kInf, kNaN}, dtype)), HasValues({-kInf, kInf, kNaN}));
}

TEST_CASE("unary: derivatives of silu, softplus and leaky_relu") {
  const Tensor x = tensor({-1000, -2, 0, 3, 1000}, float64);
  CHECK_THAT(derivative([](const Tensor& t) { return softplus(t); }, x), IsCloseTo(sigmoid(x)));
  CHECK_THAT(derivative([](const Tensor& t) { return softplus(t, 3); }, x),
             IsCloseTo(sigmoid(x * 3.0)));
  CHECK_THAT(derivative([](const Tensor& t) { return silu(t); }, x),
             IsCloseTo(sigmoid(x) * (1.0 + x * (1.0 - sigmoid(x)))));
  CHECK_THAT(derivative([](const Tensor& t) { return leaky_relu(t, 0.1); }, x),
             HasValues({0.1, 0.1, 0.1, 1, 1}));  // C048: the slope at 0
}

TEST_CASE("unary: sign, floor and ceil are off the tape") {
  const Tensor x = leaf({-1.5, 0, 2.5});
  CHECK_FALSE(sign(x).requires_grad());
  CHECK_FALSE(floor(x).requires_grad());
  CHECK_FALSE(ceil(x).requires_grad());
  CHECK_THAT(gradients({(sign(x) * x).sum()}, {x})[0], HasValues({-1, 0, 1}));
}

TEST_CASE("unary: abs and square take integers") {
  CHECK_THAT(abs(tensor({-2, 0, 3}, int64)), IsCloseTo(tensor({2, 0, 3}, int64)));
  CHECK_THAT(square(tensor({-2, 0, 3}, int64)), IsCloseTo(tensor({4, 0, 9}, int64)));
}

TEST_CASE("unary: what the younger ones refuse") {
  const auto refused = [](const char* name, const std::function<Tensor(const Tensor&)>& call,
                          DType dtype) {
    INFO(name);
    CHECK(error_text<DTypeError>([&] { call(zeros({2}, dtype)); }) ==
          text(name, ": needs a floating tensor, not ", dtype, "\n  got    x (2,) ", dtype,
               "\n  hint   x.to(float32)"));
  };
  for (const DType dtype : {int64, boolean}) {
    refused(
        "sign", [](const Tensor& x) { return sign(x); }, dtype);
    refused(
        "floor", [](const Tensor& x) { return floor(x); }, dtype);
    refused(
        "ceil", [](const Tensor& x) { return ceil(x); }, dtype);
    refused(
        "pow", [](const Tensor& x) { return pow(x, 2); }, dtype);
    refused(
        "pow", [](const Tensor& x) { return pow(x, x); }, dtype);
    refused(
        "leaky_relu", [](const Tensor& x) { return leaky_relu(x); }, dtype);
    refused(
        "softplus", [](const Tensor& x) { return softplus(x); }, dtype);
    CHECK_THROWS_AS(silu(zeros({2}, dtype)), DTypeError);
    CHECK_THROWS_AS(rsqrt(zeros({2}, dtype)), DTypeError);
    CHECK_THROWS_AS(reciprocal(zeros({2}, dtype)), DTypeError);
  }
  refused(
      "clamp", [](const Tensor& x) { return clamp(x, 0); }, boolean);
  refused(
      "abs", [](const Tensor& x) { return abs(x); }, boolean);
  CHECK(error_text<DTypeError>([] {
          pow(zeros({1}), zeros({1}, float64));
        }).starts_with("pow: float32 and float64 are not mixed silently"));
  CHECK(error_text<ShapeError>([] {
          pow(zeros({2, 3}), zeros({4}));
        }).starts_with("pow: shapes do not broadcast (3 vs 4 on axis 1)"));
  for (const double beta : {0.0, -1.0, kNaN}) {
    CHECK(error_text<ValueError>([&] { softplus(zeros({1}), beta); }) ==
          text("softplus: beta must be above 0, not ", beta));
  }
}
