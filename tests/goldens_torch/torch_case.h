// What the goldens of PyTorch (tests/goldens/torch) are tested by: TorchCase, one case as its op
// sees it; TorchOps, which say for each op how Gradus computes its outputs; and Findings, what did
// not agree. The ops are told in the other files of this folder, by family;
// tests/framework/goldens_test.cpp runs them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/core/tensor.h"
#include "tests/support/goldens.h"

namespace gradus::testing {

/// The inputs and parameters of a case: leaves where a gradient is wanted.
class TorchCase {
 public:
  explicit TorchCase(const GoldenCase& golden)
      : golden_(golden), inputs_(golden.inputs), params_(golden.params) {
    for (const std::string& name : golden.grad_names) {
      Tensor(leaf(name)).requires_grad_();
    }
  }

  const Tensor& operator[](const std::string& name) const { return inputs_.at(name); }
  /// An input, or a parameter; undefined where the case has none of this name.
  Tensor optional(const std::string& name) const { return found(inputs_, name); }
  Tensor param(const std::string& name) const { return found(params_, name); }
  /// The tensor behind "in.x" or "param.weight".
  const Tensor& leaf(const std::string& name) const {
    return name.starts_with("in.") ? inputs_.at(name.substr(3)) : params_.at(name.substr(6));
  }

  const std::vector<std::string>& input_names() const { return golden_.input_names; }
  std::size_t output_count() const { return golden_.output_names.size(); }

  const nlohmann::json& attr(const char* name) const { return golden_.attrs.at(name); }
  bool has_attr(const char* name) const { return golden_.attrs.contains(name); }
  Index index(const char* name) const { return attr(name).get<Index>(); }
  double number(const char* name) const { return number_from(attr(name)); }
  bool flag(const char* name, bool otherwise) const { return golden_.attrs.value(name, otherwise); }

 private:
  static Tensor found(const NamedTensors& tensors, const std::string& name) {
    const auto place = tensors.find(name);
    return place == tensors.end() ? Tensor() : place->second;
  }

  const GoldenCase& golden_;
  NamedTensors inputs_;
  NamedTensors params_;
};

/// In the order of the case's names.
using Outputs = std::vector<Tensor>;
using TorchOp = std::function<Outputs(const TorchCase&)>;
using TorchOps = std::map<std::string, TorchOp>;

TorchOps torch_single_ops();
TorchOps torch_views();
TorchOps torch_attention();

/// What of one case did not agree.
class Findings {
 public:
  explicit Findings(const GoldenCase& golden) : golden_(golden) {}

  void compare(const std::string& what, const Tensor& got, const Tensor& want) {
    note(what, difference(got.detach(), want, golden_.tolerance));
  }
  void note(const std::string& what, const std::string& fault) {
    if (!fault.empty()) text_ += "\n" + golden_.name + ": " + what + ": " + fault;
  }
  const std::string& text() const { return text_; }

 private:
  const GoldenCase& golden_;
  std::string text_;
};

// Cases that are no function of their inputs.
void run_optimizer(const GoldenCase& golden, Findings& findings);
void run_clipping(const GoldenCase& golden, Findings& findings);
void run_schedule(const GoldenCase& golden, Findings& findings);

inline IndexList list_from(const nlohmann::json& numbers) {
  IndexList list;
  for (const nlohmann::json& number : numbers) list.push_back(number.get<Index>());
  return list;
}

}  // namespace gradus::testing
