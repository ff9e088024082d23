// Single ops by PyTorch.
#include <stdexcept>
#include <vector>

#include <torch/types.h>

#include <benchmark/benchmark.h>

#include "work.h"

namespace work {
namespace {

using torch::Tensor;

template <class Function>
Step computing(const Function& function) {
  return [=] { benchmark::DoNotOptimize(function()); };
}

Tensor apply(TinyOp op, const Tensor& x, const Tensor& other) {
  switch (op) {
    case TinyOp::add: return x + other;
    case TinyOp::multiply: return x * other;
    case TinyOp::matmul: return torch::matmul(x, other);
    case TinyOp::softmax: return torch::softmax(x, -1);
  }
  throw std::logic_error("apply: unknown op");
}

}  // namespace

Step product_step(const Product& work) {
  const torch::Dtype dtype = work.float64 ? torch::kFloat64 : torch::kFloat32;
  const auto stored = [&](Index rows, Index columns, bool transposed) {
    if (!transposed) return torch::randn({work.batch, rows, columns}, dtype);
    return torch::randn({work.batch, columns, rows}, dtype).transpose(1, 2);
  };
  const Tensor a = stored(work.m, work.k, work.a_transposed);
  const Tensor b = stored(work.k, work.n, work.b_transposed);
  return computing([=] { return torch::matmul(a, b); });
}

Step op_step(Op op, Index rows, Index columns) {
  const Tensor x = torch::randn({rows, columns});
  const Tensor other = torch::randn({rows, columns});
  switch (op) {
    case Op::add: return computing([=] { return x + other; });
    case Op::multiply: return computing([=] { return x * other; });
    case Op::exp: return computing([=] { return torch::exp(x); });
    case Op::gelu: return computing([=] { return torch::gelu(x); });
    case Op::softmax: return computing([=] { return torch::softmax(x, -1); });
    case Op::layer_norm: return computing([=] { return torch::layer_norm(x, {columns}); });
  }
  throw std::logic_error("op_step: unknown op");
}

Step tiny_chain_step(const TinyChain& work) {
  Tensor x = torch::full({2, 2}, 0.5, torch::requires_grad(work.with_gradient));
  const Tensor cotangent = torch::ones({2, 2});
  return [=]() mutable {
    Tensor y = x;
    for (Index i = 0; i < work.length; ++i) y = apply(work.op, y, x);
    if (!work.with_gradient) return;
    x.mutable_grad().reset();
    y.backward(cotangent);
  };
}

}  // namespace work
