// Lesson 2: autograd. Whatever is computed from a tensor that requires a gradient is written down,
// step by step, on a tape; backward() walks the tape from its end and applies the chain rule.
//
//     before: 01_tensors    next: 03_higher_order
#include <gradus/gradus.h>

#include <cmath>
#include <iostream>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

void one_number() {
  const Tensor x = tensor(3.0).requires_grad_();
  const Tensor y = x * x + 2.0 * x;
  y.backward();
  std::cout << "1. y = x^2 + 2x at x = 3 is " << y.item() << ", and dy/dx = 2x + 2 is "
            << x.grad().item() << "\n";
  examples::require(x.grad().item() == 8.0, "2 * 3 + 2 = 8");
}

// A neuron: p = tanh(w x + b), and how far it is from what was wanted: loss = (p - t)^2.
void a_neuron_by_hand_and_by_tape() {
  const double x = 0.5, w = 2.0, b = -0.25, t = 1.0;

  // By hand, from the loss backwards: each line is one rule times what came from the line above.
  const double p = std::tanh(w * x + b);
  const double d_p = 2.0 * (p - t);           // of the square
  const double d_sum = d_p * (1.0 - p * p);   // of tanh
  const double d_w = d_sum * x, d_b = d_sum;  // of the product and of the sum

  const Tensor weight = tensor(w, float64).requires_grad_();
  const Tensor bias = tensor(b, float64).requires_grad_();
  const Tensor loss = square(tanh(weight * x + bias) - t);
  const Tape tape(loss);
  tape.retain_gradients();
  loss.backward({.retain_graph = true});  // keeps the steps whole, to be shown
  std::cout << "\n2. The steps of a neuron, with the gradient that reached each:\n\n" << tape;

  std::cout << "\n   by hand  d_w " << d_w << "  d_b " << d_b << "\n   by tape  d_w "
            << weight.grad().item() << "  d_b " << bias.grad().item() << "\n";
  examples::require(std::abs(weight.grad().item() - d_w) < 1e-15, "d_w is the one found by hand");
  examples::require(std::abs(bias.grad().item() - d_b) < 1e-15, "d_b is the one found by hand");
}

void roads_add_up() {
  const Tensor x = tensor(2.0).requires_grad_();
  (x * x * x).backward();  // x is used three times: three roads lead to it
  const double once = x.grad().item();
  (x * x * x).backward();  // and a second backward() adds to the first
  std::cout << "\n3. Gradients add up over all roads to a tensor: " << once
            << ", and over calls of backward(): " << x.grad().item() << "\n";
  examples::require(once == 12.0, "3 x^2 is 12");
  examples::require(x.grad().item() == 24.0, "which is why zero_grad() comes before backward()");
}

void a_whole_table() {
  const Tensor weights = tensor({{1, -2}, {3, 4}}).requires_grad_();
  const Tensor loss = relu(matmul(weights, tensor({1, 1}))).sum();
  loss.backward();
  std::cout << "\n4. A gradient has the shape of its tensor. Row 0 was cut off by relu:\n"
            << weights.grad() << "\n";
  examples::require(all(eq(weights.grad(), tensor({{0, 0}, {1, 1}}))),
                    "what does not reach the loss has gradient 0");
}

void off_the_tape() {
  const Tensor x = tensor(1.0).requires_grad_();
  const Tensor cut = (x * 2.0).detach();
  Tensor unrecorded;
  {
    const NoGrad no_grad;
    unrecorded = x * 2.0;
  }
  std::cout << "\n5. Off the tape: detach() cuts it, a NoGrad scope writes nothing down\n";
  examples::require(!cut.requires_grad() && !unrecorded.requires_grad(), "neither has a gradient");

  try {
    cut.backward();
  } catch (const AutogradError& error) {
    std::cout << "\n" << error.what() << "\n";
    return;
  }
  examples::require(false, "backward() from off the tape is refused");
}

void show() {
  one_number();
  a_neuron_by_hand_and_by_tape();
  roads_add_up();
  a_whole_table();
  off_the_tape();
}

}  // namespace

int main() { return examples::run(show); }
