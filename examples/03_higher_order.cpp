// Lesson 3: derivatives of derivatives. The rules of the ops are themselves written in ops, so the
// computation of a gradient can be on a tape like any other, and be differentiated again.
//
//     before: 02_autograd    next: 04_gradcheck_your_own_op
#include <gradus/gradus.h>

#include <cmath>
#include <iostream>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

/// dy/dx, itself on the tape.
Tensor derivative(const Tensor& y, const Tensor& x) {
  return gradients({y}, {x}, {.create_graph = true})[0];
}

void again_and_again() {
  const Tensor x = tensor(0.5, float64).requires_grad_();
  Tensor y = sin(x);
  std::cout << "1. sin and its derivatives at 0.5:";
  for (int order = 0; order < 4; ++order) {
    std::cout << "  " << y.item();
    y = derivative(y, x);
  }
  std::cout << ", and from the start again  " << y.item() << "\n";
  examples::require(std::abs(y.item() - std::sin(0.5)) < 1e-15, "the fourth derivative is sin");
}

/// A valley with a curved floor, lowest at (1, 1) (Rosenbrock, 1960).
Tensor valley(const Tensor& p) { return square(1.0 - p[0]) + 100.0 * square(p[1] - square(p[0])); }

/// All second derivatives: row i is the gradient of entry i of the gradient.
Tensor hessian(const Tensor& y, const Tensor& p) {
  const Tensor slope = derivative(y, p);
  std::vector<Tensor> rows;
  for (Index i = 0; i < p.size(0); ++i) rows.push_back(derivative(slope[i], p));
  return stack(rows);
}

/// The s that solves h s = g, for two numbers.
Tensor solved(const Tensor& h, const Tensor& g) {
  const double a = h.at({0, 0}), b = h.at({0, 1}), c = h.at({1, 0}), d = h.at({1, 1});
  const Tensor inverse = tensor({{d, -b}, {-c, a}}, float64) / (a * d - b * c);
  return matmul(inverse, g);
}

void newton() {
  std::cout << "\n2. Newton's method goes where slope and curvature say the bottom is:\n\n";
  Tensor p = tensor({-1.2, 1.0}, float64);
  for (int step = 0; step < 7; ++step) {
    p = p.detach().requires_grad_();
    const Tensor height = valley(p);
    std::cout << "   step " << step << "  height " << height.item() << "\n";
    p = p - solved(hessian(height, p), derivative(height, p));
  }
  examples::require(allclose(p.detach(), ones({2}, float64)), "the bottom is at (1, 1)");

  const Tensor symmetric = hessian(valley(p), p).detach();
  examples::require(allclose(symmetric, symmetric.transpose(0, 1)),
                    "second derivatives do not depend on the order");
}

// The product of a Hessian with a vector needs no Hessian: differentiate slope . vector. That is
// two backward passes, be there two parameters or two million.
void without_the_matrix() {
  const Tensor p = tensor({-1.2, 1.0}, float64).requires_grad_();
  const Tensor vector = tensor({3.0, -2.0}, float64);
  const Tensor slope = derivative(valley(p), p);
  const Tensor product = derivative((slope * vector).sum(), p).detach();
  std::cout << "\n3. Hessian times vector, without the Hessian: " << product << "\n";
  examples::require(allclose(product, matmul(hessian(valley(p), p), vector).detach()),
                    "it is the product with the whole matrix");
}

// A loss may contain a gradient: here one that wants f to be as steep as 1 everywhere.
void a_loss_of_slopes() {
  const Tensor x = tensor({0.1, 0.7, 1.5}, float64).requires_grad_();
  const Tensor w = tensor(0.8, float64).requires_grad_();
  const Tensor slope = derivative((w * square(x)).sum(), x);  // 2 w x
  square(slope - 1.0).sum().backward();

  double wanted = 0.0;  // d/dw of the sum of (2 w x - 1)^2
  for (const double value : x.to_vector<double>()) {
    wanted += 2.0 * (2.0 * 0.8 * value - 1.0) * 2.0 * value;
  }
  std::cout << "\n4. The gradient of a loss made of slopes: " << w.grad().item() << "\n";
  examples::require(std::abs(w.grad().item() - wanted) < 1e-12, "it is the one found by hand");
}

void show() {
  again_and_again();
  newton();
  without_the_matrix();
  a_loss_of_slopes();
}

}  // namespace

int main() { return examples::run(show); }
