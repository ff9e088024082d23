// What all optimisers share, seen through the smallest one.
#include "framework/optim/optimizer.h"

#include "framework/autograd/no_grad.h"
#include "framework/core/error.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// Plain gradient descent.
class Descent : public Optimizer {
 public:
  Descent(const std::vector<Tensor>& parameters, double lr) : Optimizer(parameters), lr_(lr) {}
  void step() override {
    const NoGrad no_grad;
    for (Tensor& parameter : parameters_) {
      if (parameter.grad().defined()) parameter.add_(parameter.grad(), -lr_);
    }
  }

 private:
  double lr_;
};

}  // namespace

TEST_CASE("C096: a parameter listed twice is stepped once", "[optim][cases]") {
  Tensor theta = leaf({1});
  Tensor other = leaf({1});
  Descent descent({theta, other, theta}, 0.1);
  CHECK(descent.parameters().size() == 2);
  theta.sum().backward();
  descent.step();
  CHECK_THAT(theta, HasValues({0.9}));
  CHECK_THAT(other, HasValues({1}, exactly));
}

TEST_CASE("zero_grad drops the gradients of its parameters", "[optim]") {
  Tensor theta = leaf({1, 2});
  const Tensor bystander = leaf({1});
  const Descent descent({theta}, 0.1);
  (theta.sum() * bystander).sum().backward();
  REQUIRE(theta.grad().defined());
  descent.zero_grad();
  CHECK_FALSE(theta.grad().defined());
  CHECK(bystander.grad().defined());
}

TEST_CASE("an optimiser takes only leaves that require a gradient", "[optim][errors]") {
  CHECK(error_text<ValueError>([] { Descent({}, 0.1); }) == "optimizer: no parameters to step");
  const std::string want =
      "optimizer: a parameter must be a leaf that requires a gradient\n  got    ";
  CHECK(error_text<AutogradError>([] { Descent({ones({2, 3})}, 0.1); }) == want + "(2, 3) float32");
  CHECK(error_text<AutogradError>([] {
          Descent({leaf({1, 2}) * 2.0}, 0.1);
        }) == want + "(2,) float64");
}
