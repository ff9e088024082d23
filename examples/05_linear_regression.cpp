// Lesson 5: the loop that all training is. Predict, measure, walk back, take a step; here for two
// weights and a bias that are known beforehand, so that one sees them being found.
//
//     before: 04_gradcheck_your_own_op    next: 06_attention_by_hand
#include <gradus/gradus.h>

#include <cstdio>
#include <iostream>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr Index kPoints = 256;
constexpr double kNoise = 0.1;

struct Data {
  Tensor x;  ///< (points, 2)
  Tensor y;  ///< (points, 1)
};

/// y = 2 x0 - 3 x1 + 0.5, and a little noise.
Data measure() {
  const Tensor x = randn({kPoints, 2});
  const Tensor y = matmul(x, tensor({{2}, {-3}})) + 0.5;
  return {x, y + kNoise * randn({kPoints, 1})};
}

void show() {
  manual_seed(1);
  const Data data = measure();
  const Linear model(2, 1);
  SGD sgd(model.parameters(), {.lr = 0.1});

  std::puts("step  loss      weights           bias");
  for (int step = 0; step <= 100; ++step) {
    const Tensor loss = mse_loss(model(data.x), data.y);  // predict and measure
    sgd.zero_grad();
    loss.backward();  // what would make it smaller?
    if (step % 20 == 0) {
      std::printf("%4d  %.5f  %+.3f  %+.3f  %+.3f\n", step, loss.item(), model.weight.at({0, 0}),
                  model.weight.at({0, 1}), model.bias.at({0}));
    }
    sgd.step();  // a little of that
  }

  examples::require(allclose(model.weight.detach(), tensor({{2, -3}}), 0.0, 0.03),
                    "the weights are found to be 2 and -3");
  examples::require(allclose(model.bias.detach(), tensor({0.5}), 0.0, 0.03), "and the bias 0.5");

  // What is left is the noise: no line can predict it, and it is uncorrelated with x.
  const NoGrad no_grad;
  const Tensor rest = model(data.x) - data.y;
  const Tensor slope = matmul(rest.transpose(0, 1), data.x) / static_cast<double>(kPoints);
  std::printf("\nwhat is left: deviation %.3f (the noise is %.3f)\n", gradus::std(rest).item(),
              kNoise);
  examples::require(abs(slope).max().item() < 1e-4, "no other line would fit better");
}

}  // namespace

int main() { return examples::run(show); }
