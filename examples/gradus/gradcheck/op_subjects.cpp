#include <gradus/gradus.h>

#include "examples/gradus/gradcheck/subject.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

using Unary = std::function<Tensor(const Tensor&)>;

Tensor normals(const Shape& shape) { return randn(shape, float64); }
Tensor sequence(const SubjectSizes& sizes) {
  return normals({sizes.batch, sizes.length, sizes.dim});
}

/// An op of one tensor (batch, length, dim).
Subject of_one(const std::string& name, const std::string& meaning, const Unary& op) {
  return {name, meaning, [op](const SubjectSizes& sizes) {
            return Checkable{GradcheckFunction([op](const Tensor& x) { return op(x); }),
                             {sequence(sizes)},
                             {"x"}};
          }};
}

Checkable matrix_product(const SubjectSizes& sizes) {
  return {[](const Tensor& x, const Tensor& other) { return matmul(x, other); },
          {sequence(sizes), normals({sizes.dim, sizes.length})},
          {"x", "other"}};
}

Checkable layer_normalisation(const SubjectSizes& sizes) {
  const Shape features{sizes.dim};
  return {[features](const Tensor& x, const Tensor& weight, const Tensor& bias) {
            return layer_norm(x, features, weight, bias);
          },
          {sequence(sizes), normals(features), normals(features)},
          {"x", "weight", "bias"}};
}

Checkable rms_normalisation(const SubjectSizes& sizes) {
  const Shape features{sizes.dim};
  return {
      [features](const Tensor& x, const Tensor& weight) { return rms_norm(x, features, weight); },
      {sequence(sizes), normals(features)},
      {"x", "weight"}};
}

/// Of as many items as there are positions, with `dim` classes.
Checkable classification(const SubjectSizes& sizes) {
  const Index items = sizes.batch * sizes.length;
  return {[](const Tensor& input, const Tensor& target) { return cross_entropy(input, target); },
          {normals({items, sizes.dim}), randint(0, sizes.dim, {items})},
          {"input", "target"}};
}

Checkable squared_error(const SubjectSizes& sizes) {
  return {[](const Tensor& input, const Tensor& target) { return mse_loss(input, target); },
          {sequence(sizes), sequence(sizes)},
          {"input", "target"}};
}

Checkable fused_attention(const SubjectSizes& sizes) {
  const Shape heads{sizes.batch, sizes.heads, sizes.length, sizes.dim};
  return {[causal = sizes.causal](const Tensor& query, const Tensor& key, const Tensor& value) {
            return scaled_dot_product_attention(query, key, value, {.is_causal = causal});
          },
          {normals(heads), normals(heads), normals(heads)},
          {"query", "key", "value"}};
}

}  // namespace

std::vector<Subject> op_subjects() {
  return {
      of_one("exp", "exp(x)", [](const Tensor& x) { return exp(x); }),
      of_one("tanh", "tanh(x)", [](const Tensor& x) { return tanh(x); }),
      of_one("sigmoid", "1 / (1 + exp(-x))", [](const Tensor& x) { return sigmoid(x); }),
      of_one("relu", "max(x, 0)", [](const Tensor& x) { return relu(x); }),
      of_one("gelu", "x P(Z < x)", [](const Tensor& x) { return gelu(x); }),
      of_one("silu", "x sigmoid(x)", [](const Tensor& x) { return silu(x); }),
      of_one("softmax", "softmax(x) along the last axis",
             [](const Tensor& x) { return softmax(x, -1); }),
      of_one("log_softmax", "log_softmax(x) along the last axis",
             [](const Tensor& x) { return log_softmax(x, -1); }),
      of_one("rotary", "rotary positions of x",
             [](const Tensor& x) { return rotary_embedding(x); }),
      {"matmul", "x (batch, length, dim) times a matrix", matrix_product},
      {"layer_norm", "layer_norm(x) over the features", layer_normalisation},
      {"rms_norm", "rms_norm(x) over the features", rms_normalisation},
      {"cross_entropy", "cross_entropy of dim classes", classification},
      {"mse_loss", "mean squared error", squared_error},
      {"sdpa", "scaled_dot_product_attention, heads of width dim", fused_attention},
  };
}

}  // namespace examples
