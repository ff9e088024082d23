// How a tensor reads when printed: every expected text is what PyTorch's repr shows, but for the
// names of dtypes (no "torch.") and of grad_fn (the op's own name).
#include <cmath>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>
#include <string>

#include "framework/autograd/node.h"
#include "framework/core/tensor.h"
#include "framework/ops/creation.h"
#include "tests/support/catch.h"

using namespace gradus;
using Catch::Matchers::Message;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string printed(const Tensor& tensor) {
  std::ostringstream out;
  out << tensor;
  return out.str();
}

// x as the input of a recorded op of that name.
Tensor recorded(const char* op, const Tensor& x) {
  return record(op, x.detach(), {x}, Saves::nothing, [](const Vjp& v) { return v.grad(); });
}

struct DecimalComma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("fractions print with four decimals and one width", "[print]") {
  CHECK(printed(tensor({{1, 2}, {3, 4.5}})) ==
        "tensor([[1.0000, 2.0000],\n"
        "        [3.0000, 4.5000]])");
  CHECK(printed(tensor({1, -20.25, 300.125})) == "tensor([  1.0000, -20.2500, 300.1250])");
  CHECK(printed(tensor({0, 0.5})) == "tensor([0.0000, 0.5000])");
  CHECK(printed(tensor({0.00005, 1.5}, float64)) ==
        "tensor([5.0000e-05, 1.5000e+00], dtype=float64)");
  CHECK(printed(tensor({0.99999, 0.5})) == "tensor([1.0000, 0.5000])");
}

TEST_CASE("whole floats print with a bare point", "[print]") {
  CHECK(printed(tensor({{1, 2}, {3, 4}})) ==
        "tensor([[1., 2.],\n"
        "        [3., 4.]])");
  CHECK(printed(tensor({1, -20, 300})) == "tensor([  1., -20., 300.])");
  CHECK(printed(zeros({3})) == "tensor([0., 0., 0.])");
  CHECK(printed(tensor({1, 1000})) == "tensor([   1., 1000.])");
  CHECK(printed(tensor({0, 1000000})) == "tensor([      0., 1000000.])");
  CHECK(printed(tensor(1e8)) == "tensor(100000000.)");
}

TEST_CASE("numbers of very different sizes print in scientific notation", "[print]") {
  CHECK(printed(tensor({1, 2000})) == "tensor([1.0000e+00, 2.0000e+03])");
  CHECK(printed(tensor({0.5, -2000})) == "tensor([ 5.0000e-01, -2.0000e+03])");
  CHECK(printed(tensor({2e8})) == "tensor([2.0000e+08])");
  CHECK(printed(tensor({0.00001, 0, 0.001})) == "tensor([1.0000e-05, 0.0000e+00, 1.0000e-03])");
  CHECK(printed(tensor({0.00001, kNan, -kInfinity})) ==
        "tensor([1.0000e-05,        nan,       -inf])");
  CHECK(printed(tensor({1e-300, 1}, float64)) ==
        "tensor([1.0000e-300,  1.0000e+00], dtype=float64)");
  // 0.0001 as a float is a little less than that, as a double it is not.
  CHECK(printed(tensor(0.0001)) == "tensor(1.0000e-04)");
  CHECK(printed(tensor(0.0001, float64)) == "tensor(0.0001, dtype=float64)");
}

TEST_CASE("nan and infinities do not decide about the notation", "[print]") {
  CHECK(printed(tensor({kNan, 1.5, kInfinity})) == "tensor([   nan, 1.5000,    inf])");
  CHECK(printed(tensor({-kInfinity, 10, 200})) == "tensor([-inf,  10., 200.])");
  CHECK(printed(tensor({kInfinity, 1})) == "tensor([inf, 1.])");  // out of line in PyTorch, too
  CHECK(printed(tensor(std::copysign(kNan, -1.0))) == "tensor(nan)");
  CHECK(printed(tensor({kNan, kNan})) == "tensor([nan, nan])");
  CHECK(printed(tensor(-0.0)) == "tensor(-0.)");
}

TEST_CASE("whole numbers and bools print as such", "[print]") {
  CHECK(printed(tensor({1, -20, 3}, int64)) == "tensor([  1, -20,   3])");
  CHECK(printed(from_vector<std::int64_t>({std::numeric_limits<std::int64_t>::min()})) ==
        "tensor([-9223372036854775808])");
  CHECK(printed(tensor({1, 0}, boolean)) == "tensor([ True, False])");
  CHECK(printed(tensor({1, 1}, boolean)) == "tensor([True, True])");
}

TEST_CASE("a scalar prints without brackets", "[print]") {
  CHECK(printed(tensor(3)) == "tensor(3.)");
  CHECK(printed(tensor(3.5)) == "tensor(3.5000)");
  CHECK(printed(tensor(0)) == "tensor(0.)");
  CHECK(printed(tensor(-7, int64)) == "tensor(-7)");
  CHECK(printed(tensor(0, boolean)) == "tensor(False)");
  CHECK(printed(tensor(2, float64)) == "tensor(2., dtype=float64)");
}

TEST_CASE("matrices are set apart by a blank line for every further axis", "[print]") {
  CHECK(printed(tensor({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}})) ==
        "tensor([[[1., 2.],\n"
        "         [3., 4.]],\n"
        "\n"
        "        [[5., 6.],\n"
        "         [7., 8.]]])");
  CHECK(printed(tensor({{{{1}, {2}}}, {{{3}, {4}}}})) ==
        "tensor([[[[1.],\n"
        "          [2.]]],\n"
        "\n"
        "\n"
        "        [[[3.],\n"
        "          [4.]]]])");
  CHECK(printed(tensor({{{{{{{{1, 2}, {3, 4}}}}}}}})) ==
        "tensor([[[[[[[[1., 2.],\n"
        "              [3., 4.]]]]]]]])");
}

TEST_CASE("an empty tensor tells its size and dtype", "[print]") {
  CHECK(printed(zeros({0})) == "tensor([])");
  CHECK(printed(zeros({0, 3})) == "tensor([], size=(0, 3))");
  CHECK(printed(zeros({2, 0, 3})) == "tensor([], size=(2, 0, 3))");
  CHECK(printed(zeros({0}, int64)) == "tensor([], dtype=int64)");
  CHECK(printed(zeros({0}, boolean)) == "tensor([], dtype=bool)");
  CHECK(printed(zeros({2, 0}, float64)) == "tensor([], size=(2, 0), dtype=float64)");
}

TEST_CASE("an undefined tensor prints, too", "[print]") {
  CHECK(printed(Tensor()) == "tensor(undefined)");
}

TEST_CASE("a long row goes on in the next line before column 80", "[print]") {
  CHECK(printed(arange(30)) ==
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])");
  CHECK(printed(full({2, 10}, 0.5)) ==
        "tensor([[0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000,\n"
        "         0.5000],\n"
        "        [0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000,\n"
        "         0.5000]])");
}

TEST_CASE("more than 1000 elements show three at either end of each axis", "[print]") {
  CHECK(printed(arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
  CHECK(printed(arange(1000)).find("...") == std::string::npos);
  CHECK(printed(ones({40, 40})) ==
        "tensor([[1., 1., 1.,  ..., 1., 1., 1.],\n"
        "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
        "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
        "        ...,\n"
        "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
        "        [1., 1., 1.,  ..., 1., 1., 1.],\n"
        "        [1., 1., 1.,  ..., 1., 1., 1.]])");
  CHECK(printed(ones({600, 1, 2})) ==
        "tensor([[[1., 1.]],\n"
        "\n"
        "        [[1., 1.]],\n"
        "\n"
        "        [[1., 1.]],\n"
        "\n"
        "        ...,\n"
        "\n"
        "        [[1., 1.]],\n"
        "\n"
        "        [[1., 1.]],\n"
        "\n"
        "        [[1., 1.]]])");
  // 6 are shown as they are.
  CHECK(printed(ones({6, 1, 200})).find("\n        ...") == std::string::npos);
  CHECK(printed(ones({7, 1, 200})).find("\n        ...") != std::string::npos);
  CHECK(printed(ones({200, 6})).substr(0, 35) == "tensor([[1., 1., 1., 1., 1., 1.],\n ");
}

TEST_CASE("elements that are not shown do not decide about the notation", "[print]") {
  Tensor numbers = ones({2000});
  numbers.mutable_data<float>()[1000] = 1e10F;
  CHECK(printed(numbers) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])");
  numbers.mutable_data<float>()[1997] = 0.5F;
  CHECK(printed(numbers) == "tensor([1.0000, 1.0000, 1.0000,  ..., 0.5000, 1.0000, 1.0000])");
}

TEST_CASE("views print the elements that they show", "[print]") {
  const Tensor numbers = arange(6).view({2, 3});
  CHECK(printed(numbers.transpose(0, 1)) ==
        "tensor([[0, 3],\n"
        "        [1, 4],\n"
        "        [2, 5]])");
  CHECK(printed(numbers.slice(1, 1, 3)) ==
        "tensor([[1, 2],\n"
        "        [4, 5]])");
  // A million million elements, of which 36 are read.
  const std::string huge = printed(tensor({{7}}).expand({1000000, 1000000}));
  CHECK(huge.substr(0, huge.find('\n')) == "tensor([[7., 7., 7.,  ..., 7., 7., 7.],");
}

TEST_CASE("the place on the tape is shown", "[print]") {
  Tensor x = tensor({1, 2});
  x.requires_grad_();
  CHECK(printed(x) == "tensor([1., 2.], requires_grad=True)");
  CHECK(printed(recorded("softmax", x)) == "tensor([1., 2.], grad_fn=<softmax>)");
  CHECK(printed(x.detach()) == "tensor([1., 2.])");
  Tensor empty = zeros({0, 2}, float64);
  empty.requires_grad_();
  CHECK(printed(empty) == "tensor([], size=(0, 2), dtype=float64, requires_grad=True)");
}

TEST_CASE("a suffix without room goes on a line of its own", "[print]") {
  Tensor row = full({8}, 0.5, float64);
  const std::string numbers =
      "tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000]";
  CHECK(printed(row) == numbers + ",\n       dtype=float64)");
  row.requires_grad_();
  CHECK(printed(row) == numbers + ",\n       dtype=float64, requires_grad=True)");
  Tensor rows = full({2, 6}, 0.5);
  rows.requires_grad_();  // only the last line counts
  CHECK(printed(rows) ==
        "tensor([[0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000],\n"
        "        [0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000]], requires_grad=True)");
  // To the column: one that just has room, and one that just has none.
  CHECK(printed(ones({14}, float64)) ==
        "tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.], dtype=float64)");
  CHECK(printed(full({2, 11}, 10, float64)) ==
        "tensor([[10., 10., 10., 10., 10., 10., 10., 10., 10., 10., 10.],\n"
        "        [10., 10., 10., 10., 10., 10., 10., 10., 10., 10., 10.]],\n"
        "       dtype=float64)");
}

TEST_CASE("flags of the stream neither matter nor change", "[print]") {
  std::ostringstream out;
  out << std::hex << std::showpos << std::scientific << std::setprecision(2) << std::setfill('*');
  const auto flags = out.flags();
  out << std::setw(40) << tensor({10, 255}, int64) << tensor(0.5) << 255;
  CHECK(out.str() == "tensor([ 10, 255])tensor(0.5000)ff");
  CHECK(out.flags() == flags);
  CHECK(out.precision() == 2);
  CHECK(out.fill() == '*');
}

TEST_CASE("numbers print the same in every locale", "[print]") {
  const std::locale before = std::locale::global(std::locale(std::locale(), new DecimalComma));
  const std::string fraction = printed(tensor(1234.5));
  const std::string whole = printed(tensor(123456, int64));
  std::locale::global(before);
  CHECK(fraction == "tensor(1234.5000)");
  CHECK(whole == "tensor(123456)");
}
