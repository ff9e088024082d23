// Single ops by Gradus.
#include <stdexcept>

#include <gradus/gradus.h>

#include <benchmark/benchmark.h>

#include "work.h"

namespace work {
namespace {

using gradus::Tensor;

template <class Function>
Step computing(const Function& function) {
  return [=] { benchmark::DoNotOptimize(function()); };
}

Tensor apply(TinyOp op, const Tensor& x, const Tensor& other) {
  switch (op) {
    case TinyOp::add: return x + other;
    case TinyOp::multiply: return x * other;
    case TinyOp::matmul: return gradus::matmul(x, other);
    case TinyOp::softmax: return gradus::softmax(x, -1);
  }
  throw std::logic_error("apply: unknown op");
}

}  // namespace

Step product_step(const Product& work) {
  const gradus::DType dtype = work.float64 ? gradus::float64 : gradus::float32;
  const auto stored = [&](Index rows, Index columns, bool transposed) {
    if (!transposed) return gradus::randn({work.batch, rows, columns}, dtype);
    return gradus::randn({work.batch, columns, rows}, dtype).transpose(1, 2);
  };
  const Tensor a = stored(work.m, work.k, work.a_transposed);
  const Tensor b = stored(work.k, work.n, work.b_transposed);
  return computing([=] { return gradus::matmul(a, b); });
}

Step op_step(Op op, Index rows, Index columns) {
  const Tensor x = gradus::randn({rows, columns});
  const Tensor other = gradus::randn({rows, columns});
  switch (op) {
    case Op::add: return computing([=] { return x + other; });
    case Op::multiply: return computing([=] { return x * other; });
    case Op::exp: return computing([=] { return gradus::exp(x); });
    case Op::gelu: return computing([=] { return gradus::gelu(x); });
    case Op::softmax: return computing([=] { return gradus::softmax(x, -1); });
    case Op::layer_norm: return computing([=] { return gradus::layer_norm(x, {columns}); });
  }
  throw std::logic_error("op_step: unknown op");
}

Step tiny_chain_step(const TinyChain& work) {
  const Tensor x = gradus::full({2, 2}, 0.5).requires_grad_(work.with_gradient);
  const Tensor cotangent = gradus::ones({2, 2});
  return [=] {
    Tensor y = x;
    for (Index i = 0; i < work.length; ++i) y = apply(work.op, y, x);
    if (!work.with_gradient) return;
    x.zero_grad();
    y.backward({.gradient = cotangent});
  };
}

}  // namespace work
