// What PyTorch computed (tests/goldens/torch): values, gradients and second derivatives of ops and
// layers, runs of optimisers, and schedules. How Gradus computes each is told by family in
// tests/goldens_torch.
#include <cmath>
#include <map>
#include <string>

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/masking.h"
#include "framework/ops/reduce.h"
#include "tests/goldens_torch/torch_case.h"
#include "tests/support/goldens.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

const TorchOps& ops() {
  static const TorchOps all = [] {
    TorchOps table = torch_single_ops();
    table.merge(torch_views());
    table.merge(torch_attention());
    return table;
  }();
  return all;
}

/// Attention in which a query may attend to nothing: PyTorch gives NaN, Gradus zeros.
bool has_hidden_rows(const GoldenCase& golden) {
  return golden.op == "MultiheadAttention" && golden.flags.contains("nan_expected");
}

/// The rule for hidden rows: finite everywhere, and PyTorch's number wherever that is one.
void compare(const GoldenCase& golden, Findings& findings, const std::string& what,
             const Tensor& got, const Tensor& want) {
  if (!has_hidden_rows(golden)) {
    findings.compare(what, got, want);
    return;
  }
  const Tensor none = isnan(want);
  const Tensor numbers = got.detach();
  if (any(isnan(numbers)) || any(isinf(numbers))) findings.note(what, "is not finite");
  if (what == "attn_weights" && any(ne(masked_fill(numbers, logical_not(none), 0.0), 0.0))) {
    findings.note(what, "is not 0 where a query may attend to nothing");
  }
  findings.compare(what, masked_fill(numbers, none, 0.0), masked_fill(want, none, 0.0));
}

struct Loss {
  std::vector<Tensor> outputs;
  std::vector<Tensor> cotangents;
  std::vector<std::string> names;
};

/// The outputs that enter the loss L = sum over them of sum(cotangent * output).
Loss loss_of(const GoldenCase& golden, const Outputs& outputs) {
  Loss loss;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto cotangent = golden.cotangents.find(golden.output_names[i]);
    if (cotangent == golden.cotangents.end()) continue;
    loss.outputs.push_back(outputs[i]);
    loss.cotangents.push_back(cotangent->second.detach());
    loss.names.push_back("cot." + golden.output_names[i]);
  }
  return loss;
}

std::vector<Tensor> leaves_of(const GoldenCase& golden, const TorchCase& in) {
  std::vector<Tensor> leaves;
  for (const std::string& name : golden.grad_names) leaves.push_back(in.leaf(name));
  return leaves;
}

void run_gradients(const GoldenCase& golden, const TorchCase& in, const Outputs& outputs,
                   Findings& findings) {
  const Loss loss = loss_of(golden, outputs);
  const std::vector<Tensor> found =
      gradients(loss.outputs, leaves_of(golden, in), {.grad_outputs = loss.cotangents});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string& name = golden.grad_names[i];
    compare(golden, findings, "gradient of " + name, found[i], golden.grads.at(name));
  }
}

// G = sum over all inputs of sum(gradient * vec); hvp is its gradient by inputs and cotangents.
void run_second_order(const GoldenCase& golden, const TorchCase& in, const Outputs& outputs,
                      Findings& findings) {
  Loss loss = loss_of(golden, outputs);
  for (Tensor& cotangent : loss.cotangents) cotangent.requires_grad_();
  std::vector<Tensor> by = leaves_of(golden, in);
  const std::vector<Tensor> first =
      gradients(loss.outputs, by, {.grad_outputs = loss.cotangents, .create_graph = true});
  Tensor total = zeros({}, loss.cotangents.at(0).dtype());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string& name = golden.grad_names[i];
    findings.compare("gradient of " + name, first[i], golden.grads.at(name));
    total = total + sum(first[i] * golden.vec.at(name));
  }
  std::vector<std::string> names = golden.grad_names;
  names.insert(names.end(), loss.names.begin(), loss.names.end());
  by.insert(by.end(), loss.cotangents.begin(), loss.cotangents.end());
  const std::vector<Tensor> second = gradients({total}, by, {.allow_unused = true});
  for (std::size_t i = 0; i < by.size(); ++i) {
    findings.compare("hvp of " + names[i], second[i], golden.hvp.at(names[i]));
  }
}

void run_op(const GoldenCase& golden, Findings& findings) {
  const TorchCase in(golden);
  const Outputs outputs = ops().at(golden.op)(in);
  if (outputs.size() != golden.output_names.size()) {
    findings.note("outputs", text("there are ", outputs.size()));
    return;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = golden.output_names[i];
    compare(golden, findings, name, outputs[i], golden.outputs.at(name));
  }
  if (golden.kind == "second_order") {
    run_second_order(golden, in, outputs, findings);
  } else if (!golden.grad_names.empty()) {
    run_gradients(golden, in, outputs, findings);
  }
}

/// What does not agree, or "".
std::string faults_of(const GoldenCase& golden) {
  Findings findings(golden);
  try {
    if (golden.kind == "optimizer") {
      run_optimizer(golden, findings);
    } else if (golden.kind == "table") {
      run_schedule(golden, findings);
    } else if (golden.family == "clip_grad") {
      run_clipping(golden, findings);
    } else if (ops().contains(golden.op)) {
      run_op(golden, findings);
    } else {
      findings.note(golden.op, "no test knows this op");
    }
  } catch (const std::exception& error) {
    findings.note("threw", error.what());
  }
  return findings.text();
}

}  // namespace

TEST_CASE("goldens: all cases of PyTorch pass", "[goldens]") {
  std::map<std::string, int> passed;
  int total = 0;
  int wanted = 0;
  for (const GoldenCase& golden : read_goldens(goldens_folder("torch"))) {
    ++wanted;
    passed[golden.family] += 0;
    const std::string faults = faults_of(golden);
    INFO(golden.note << faults);
    CHECK(faults.empty());
    if (!faults.empty()) continue;
    ++passed[golden.family];
    ++total;
  }
  std::string summary = text("goldens/torch: ", total, " of ", wanted, " passed, 0 skipped:");
  for (const auto& [family, count] : passed) summary += text(" ", family, " ", count);
  WARN(summary);
  CHECK(wanted == 233);
  CHECK(total == 233);
}

TEST_CASE("goldens: every case of the manifests can be read") {
  const std::vector<GoldenCase> seeds = read_goldens(goldens_folder("seeds"));
  CHECK(seeds.size() == 31);
  const std::vector<GoldenCase> torch = read_goldens(goldens_folder("torch"));
  CHECK(torch.size() == 233);
  for (const std::vector<GoldenCase>* cases : {&seeds, &torch}) {
    for (const GoldenCase& golden : *cases) {
      INFO(golden.name);
      CHECK(golden.unsupported.empty());
      for (const std::string& name : golden.input_names) CHECK(golden.inputs.contains(name));
      for (const std::string& name : golden.param_names) CHECK(golden.params.contains(name));
      for (const std::string& name : golden.output_names) CHECK(golden.outputs.contains(name));
      for (const std::string& name : golden.cotangent_names)
        CHECK(golden.cotangents.contains(name));
      for (const std::string& name : golden.grad_names) CHECK(golden.grads.contains(name));
    }
  }
}
