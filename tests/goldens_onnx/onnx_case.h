// What the ONNX goldens (../shared/goldens/onnx) are tested by: OnnxCase, one case as its operator
// sees it, and OnnxOps, which says for each operator how Gradus' public ops compute its outputs.
// The operators are told in the other files of this folder, by family; goldens_test.cpp runs them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "framework/core/tensor.h"
#include "framework/ops/creation.h"
#include "tests/support/goldens.h"

namespace gradus::testing {

/// Inputs by their place and attributes by their name.
class OnnxCase {
 public:
  explicit OnnxCase(const GoldenCase& golden) : golden_(golden) {}

  /// Input i; undefined where the case leaves it out.
  Tensor operator[](std::size_t i) const {
    const std::vector<std::string>& names = golden_.input_names;
    return i >= names.size() || names[i].empty() ? Tensor() : golden_.inputs.at(names[i]);
  }
  /// Input i, which holds sizes or axes.
  IndexList list(std::size_t i) const { return IndexList((*this)[i].to_vector<Index>()); }
  /// The inputs from first on.
  std::vector<Tensor> inputs(std::size_t first = 0) const {
    std::vector<Tensor> all;
    for (std::size_t i = first; i < golden_.input_names.size(); ++i) all.push_back((*this)[i]);
    return all;
  }
  std::size_t output_count() const { return golden_.output_names.size(); }
  /// What is wanted as output i, for the operators that draw at random; undefined where nothing is.
  Tensor wanted(std::size_t i) const {
    return i >= output_count() ? Tensor() : golden_.outputs.at(golden_.output_names[i]);
  }

  /// An attribute, or ONNX's default of it.
  template <class T>
  T attr(const char* name, const T& otherwise) const {
    return golden_.attrs.value(name, otherwise);
  }
  std::string attr(const char* name, const char* otherwise) const {
    return golden_.attrs.value(name, std::string(otherwise));
  }
  bool flag(const char* name, bool otherwise) const {
    return attr<Index>(name, otherwise ? 1 : 0) != 0;
  }

 private:
  const GoldenCase& golden_;
};

/// In ONNX's order; there may be more than the case asks for.
using Outputs = std::vector<Tensor>;
using OnnxOp = std::function<Outputs(const OnnxCase&)>;
using OnnxOps = std::map<std::string, OnnxOp>;

/// The operator that is a function of one or two tensors.
inline OnnxOp unary(Tensor (*op)(const Tensor&)) {
  return [op](const OnnxCase& in) { return Outputs{op(in[0])}; };
}
inline OnnxOp binary(Tensor (*op)(const Tensor&, const Tensor&)) {
  return [op](const OnnxCase& in) { return Outputs{op(in[0], in[1])}; };
}

/// 0 .. n-1 as int64.
inline Tensor places(Index n) { return arange(static_cast<double>(n)); }

OnnxOps onnx_elementwise();
OnnxOps onnx_reductions();
OnnxOps onnx_shapes();
OnnxOps onnx_indexing();
OnnxOps onnx_layers();
OnnxOps onnx_training();
OnnxOps onnx_attention();

/// The cases, loaded; none, and a word about it, where the folder is absent.
std::vector<GoldenCase> onnx_goldens();

}  // namespace gradus::testing
