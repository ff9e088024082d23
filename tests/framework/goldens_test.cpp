// What PyTorch computed (tests/goldens/torch): values, gradients and second derivatives of single
// ops. Cases of whole layers, optimizers and schedules are tested where these are.
#include <functional>
#include <map>

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/indexing.h"
#include "framework/ops/loss.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/normalization.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "tests/support/goldens.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

using Json = nlohmann::json;

/// The inputs of a case as its op sees them: leaves where a gradient is wanted.
class Arguments {
 public:
  explicit Arguments(const GoldenCase& golden) : golden_(golden), tensors_(golden.inputs) {
    for (const std::string& name : golden.grad_names) {
      if (name.starts_with("in.")) tensors_.at(name.substr(3)).requires_grad_();
    }
  }
  const Tensor& operator[](const std::string& name) const { return tensors_.at(name); }
  Tensor optional(const std::string& name) const {
    const auto place = tensors_.find(name);
    return place == tensors_.end() ? Tensor() : place->second;
  }
  const Json& attr(const char* name) const { return golden_.attrs.at(name); }
  bool has_attr(const char* name) const { return golden_.attrs.contains(name); }
  Index index(const char* name) const { return attr(name).get<Index>(); }
  double number(const char* name) const { return number_from(attr(name)); }
  const std::vector<std::string>& names() const { return golden_.input_names; }

 private:
  const GoldenCase& golden_;
  NamedTensors tensors_;
};

IndexList list_from(const Json& numbers) {
  IndexList list;
  for (const Json& number : numbers) list.push_back(number.get<Index>());
  return list;
}

/// The axes of a reduction; null and, in Gradus, the empty list mean all of them.
Axes axes_of(const Arguments& in) {
  return in.attr("dim").is_null() ? Axes{} : list_from(in.attr("dim"));
}
bool keepdim_of(const Arguments& in) { return in.attr("keepdim").get<bool>(); }

std::optional<Index> bound(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional<Index>(value.get<Index>());
}

Tensor sliced(const Arguments& in) {
  Tensor y = in["x"];
  Index axis = 0;
  for (const Json& part : in.attr("index")) {
    if (part.is_number()) {
      y = y.select(axis, part.get<Index>());
      continue;
    }
    if (part.is_array()) y = y.slice(axis, bound(part[0]), bound(part[1]), part[2].get<Index>());
    ++axis;
  }
  return y;
}

/// The elements of one axis in reverse order.
Tensor flipped(const Tensor& x, Index axis) {
  std::vector<Tensor> parts;
  for (Index i = x.size(axis) - 1; i >= 0; --i) parts.push_back(x.slice(axis, i, i + 1));
  return cat(parts, axis);
}

using Step = std::function<Tensor(const Tensor&, const Json&)>;

const std::map<std::string, Step>& chain_steps() {
  static const std::map<std::string, Step> steps = {
      {"transpose",
       [](const Tensor& t, const Json& s) {
         return t.transpose(s[1].get<Index>(), s[2].get<Index>());
       }},
      {"permute", [](const Tensor& t, const Json& s) { return t.permute(list_from(s[1])); }},
      {"reshape", [](const Tensor& t, const Json& s) { return t.reshape(list_from(s[1])); }},
      {"unsqueeze", [](const Tensor& t, const Json& s) { return t.unsqueeze(s[1].get<Index>()); }},
      {"squeeze", [](const Tensor& t, const Json& s) { return t.squeeze(s[1].get<Index>()); }},
      {"expand", [](const Tensor& t, const Json& s) { return t.expand(list_from(s[1])); }},
      {"slice",
       [](const Tensor& t, const Json& s) {
         return t.slice(s[1].get<Index>(), bound(s[2]), bound(s[3]), s[4].get<Index>());
       }},
      {"flip",
       [](const Tensor& t, const Json& s) {
         Tensor y = t;
         for (const Json& axis : s[1]) y = flipped(y, axis.get<Index>());
         return y;
       }},
      {"softmax", [](const Tensor& t, const Json& s) { return softmax(t, s[1].get<Index>()); }},
      {"sum", [](const Tensor& t, const Json& s) { return sum(t, list_from(s[1])); }},
      {"mul", [](const Tensor& t, const Json& s) { return t * s[1].get<double>(); }},
      {"tanh", [](const Tensor& t, const Json&) { return tanh(t); }},
      {"matmul_self_t",
       [](const Tensor& t, const Json&) { return matmul(t, t.transpose(-1, -2)); }},
  };
  return steps;
}

Tensor chain(const Arguments& in) {
  Tensor y = in["x"];
  for (const Json& step : in.attr("steps"))
    y = chain_steps().at(step[0].get<std::string>())(y, step);
  return y;
}

Tensor cross_entropy_of(const Arguments& in) {
  const std::map<std::string, Reduction> reductions = {
      {"none", Reduction::none}, {"sum", Reduction::sum}, {"mean", Reduction::mean}};
  return cross_entropy(in["input"], in["target"],
                       {.reduction = reductions.at(in.attr("reduction")),
                        .ignore_index = in.index("ignore_index"),
                        .label_smoothing = in.number("label_smoothing")});
}

Tensor embedding_of(const Arguments& in) {
  const Json& padding = in.attr("padding_idx");
  return embedding(in["indices"], in["weight"],
                   padding.is_null() ? kNoPadding : padding.get<Index>());
}

/// By composition: attrs.mask says what is kept.
Tensor dropout_of(const Arguments& in) {
  return masked_fill(in["x"], logical_not(in["mask"]), 0) / (1 - in.number("p"));
}

/// By composition, of a case with one name per matrix: a@b, or tanh(x@w1)@w2.
Tensor matmul_chain(const Arguments& in) {
  if (in.attr("formula") == "a@b") return matmul(in["a"], in["b"]);
  if (in.attr("formula") == "tanh(x@w1)@w2")
    return matmul(tanh(matmul(in["x"], in["w1"])), in["w2"]);
  throw std::runtime_error("a formula that this test does not know");
}

/// By composition: softmax(masked_fill(scale * q @ k^T, mask, -inf)) @ v.
Tensor attention_of(const Arguments& in) {
  const Tensor scores = matmul(in["q"], in["k"].transpose(-2, -1)) * in.number("scale");
  return matmul(softmax(masked_fill(scores, in["mask"], -kInf), -1), in["v"]);
}

/// Outputs in the order of the case's names.
using Outputs = std::vector<Tensor>;
using Op = std::function<Outputs(const Arguments&)>;

const std::map<std::string, Op>& ops() {
  static const std::map<std::string, Op> table = {
      {"softmax", [](const Arguments& in) { return Outputs{softmax(in["x"], in.index("dim"))}; }},
      {"log_softmax",
       [](const Arguments& in) { return Outputs{log_softmax(in["x"], in.index("dim"))}; }},
      {"layer_norm",
       [](const Arguments& in) {
         return Outputs{layer_norm(in["x"], list_from(in.attr("normalized_shape")),
                                   in.optional("weight"), in.optional("bias"), in.number("eps"))};
       }},
      {"gelu",
       [](const Arguments& in) {
         return Outputs{
             gelu(in["x"], in.attr("approximate") == "tanh" ? GeluForm::tanh : GeluForm::exact)};
       }},
      {"silu", [](const Arguments& in) { return Outputs{in["x"] * sigmoid(in["x"])}; }},
      {"relu", [](const Arguments& in) { return Outputs{relu(in["x"])}; }},
      {"tanh",
       [](const Arguments& in) {
         return Outputs{tanh(in.has_attr("formula") ? in["x"] * in["x"] : in["x"])};
       }},
      {"embedding", [](const Arguments& in) { return Outputs{embedding_of(in)}; }},
      {"cross_entropy", [](const Arguments& in) { return Outputs{cross_entropy_of(in)}; }},
      {"linear",
       [](const Arguments& in) {
         return Outputs{linear(in["x"], in["weight"], in.optional("bias"))};
       }},
      {"matmul", [](const Arguments& in) { return Outputs{matmul(in["a"], in["b"])}; }},
      {"matmul_chain", [](const Arguments& in) { return Outputs{matmul_chain(in)}; }},
      {"attention", [](const Arguments& in) { return Outputs{attention_of(in)}; }},
      {"masked_fill",
       [](const Arguments& in) {
         return Outputs{masked_fill(in["x"], in["mask"], in.number("value"))};
       }},
      {"where",
       [](const Arguments& in) { return Outputs{where(in["condition"], in["a"], in["b"])}; }},
      {"sum",
       [](const Arguments& in) { return Outputs{sum(in["x"], axes_of(in), keepdim_of(in))}; }},
      {"mean",
       [](const Arguments& in) { return Outputs{mean(in["x"], axes_of(in), keepdim_of(in))}; }},
      {"amax",
       [](const Arguments& in) { return Outputs{amax(in["x"], axes_of(in), keepdim_of(in))}; }},
      {"max_dim",
       [](const Arguments& in) {
         const MaxResult result = max(in["x"], in.index("dim"), keepdim_of(in));
         return Outputs{result.values, result.indices};
       }},
      {"cat",
       [](const Arguments& in) {
         std::vector<Tensor> parts;
         for (const std::string& name : in.names()) parts.push_back(in[name]);
         return Outputs{cat(parts, in.index("dim"))};
       }},
      {"slice", [](const Arguments& in) { return Outputs{sliced(in)}; }},
      {"chain", [](const Arguments& in) { return Outputs{chain(in)}; }},
      {"dropout_with_mask", [](const Arguments& in) { return Outputs{dropout_of(in)}; }},
  };
  return table;
}

/// Ops of the manifest that this test leaves out, and why. One that is neither here nor above
/// fails.
const std::map<std::string, std::string>& left_out() {
  static const std::map<std::string, std::string> reasons = {
      {"MultiheadAttention", "a layer: tests/layers"},
      {"TransformerEncoderLayer", "a layer: tests/layers"},
      {"TransformerDecoderLayer", "a layer: tests/layers"},
      {"SGD", "an optimizer: tests/framework/optim"},
      {"Adam", "an optimizer: tests/framework/optim"},
      {"AdamW", "an optimizer: tests/framework/optim"},
      {"clip_grad_norm_", "clipping: tests/framework/optim"},
      {"clip_grad_value_", "clipping: tests/framework/optim"},
      {"CosineAnnealingLR", "a schedule: tests/framework/optim"},
      {"LambdaLR", "a schedule: tests/framework/optim"},
      {"StepLR", "a schedule: tests/framework/optim"},
      {"ExponentialLR", "a schedule: tests/framework/optim"},
      {"logsumexp", "Gradus has no logsumexp"},
      {"var", "Gradus has no var"},
  };
  return reasons;
}

/// Why a case cannot be run, or "".
std::string reason_to_skip(const GoldenCase& golden) {
  const auto reason = left_out().find(golden.op);
  if (reason != left_out().end()) return reason->second;
  if (golden.op == "cross_entropy" && golden.attrs.at("target") == "probabilities") {
    return "cross_entropy takes class indices only";
  }
  return golden.unsupported;
}

/// The case's tensors of one kind beside those computed, under their names.
void compare(const GoldenCase& golden, const char* kind, const std::string& name, const Tensor& got,
             const NamedTensors& wanted) {
  INFO(golden.name << ": " << kind << name);
  CHECK_THAT(got.detach(), IsCloseTo(wanted.at(name), golden.tolerance));
}

/// The leaf behind "in.x".
const Tensor& argument(const Arguments& in, const std::string& name) { return in[name.substr(3)]; }

struct Loss {
  std::vector<Tensor> outputs;
  std::vector<Tensor> cotangents;
};

/// The outputs that enter the loss L = sum over them of sum(cotangent * output).
Loss loss_of(const GoldenCase& golden, const Outputs& outputs) {
  Loss loss;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto cotangent = golden.cotangents.find(golden.output_names[i]);
    if (cotangent == golden.cotangents.end()) continue;
    loss.outputs.push_back(outputs[i]);
    loss.cotangents.push_back(cotangent->second.detach());
  }
  return loss;
}

void run_gradients(const GoldenCase& golden, const Arguments& in, const Outputs& outputs) {
  const Loss loss = loss_of(golden, outputs);
  std::vector<Tensor> inputs;
  for (const std::string& name : golden.grad_names) inputs.push_back(argument(in, name));
  const std::vector<Tensor> found =
      gradients(loss.outputs, inputs, {.grad_outputs = loss.cotangents});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    compare(golden, "gradient of ", golden.grad_names[i], found[i], golden.grads);
  }
}

// G = sum over all inputs of sum(gradient * vec); hvp is its gradient by inputs and cotangents.
void run_second_order(const GoldenCase& golden, const Arguments& in, const Outputs& outputs) {
  Loss loss = loss_of(golden, outputs);
  for (Tensor& cotangent : loss.cotangents) cotangent.requires_grad_();
  std::vector<Tensor> inputs;
  for (const std::string& name : golden.grad_names) inputs.push_back(argument(in, name));
  const std::vector<Tensor> first =
      gradients(loss.outputs, inputs, {.grad_outputs = loss.cotangents, .create_graph = true});
  Tensor total;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    compare(golden, "gradient of ", golden.grad_names[i], first[i], golden.grads);
    const Tensor part = (first[i] * golden.vec.at(golden.grad_names[i])).sum();
    total = total.defined() ? total + part : part;
  }
  std::vector<std::string> names = golden.grad_names;
  std::vector<Tensor> by = inputs;
  for (std::size_t i = 0; i < loss.cotangents.size(); ++i) {
    names.push_back("cot." + golden.cotangent_names[i]);
    by.push_back(loss.cotangents[i]);
  }
  const std::vector<Tensor> second = gradients({total}, by, {.allow_unused = true});
  for (std::size_t i = 0; i < by.size(); ++i)
    compare(golden, "hvp of ", names[i], second[i], golden.hvp);
}

void run(const GoldenCase& golden) {
  const Arguments in(golden);
  const Outputs outputs = ops().at(golden.op)(in);
  REQUIRE(outputs.size() == golden.output_names.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    compare(golden, "", golden.output_names[i], outputs[i], golden.outputs);
  }
  if (golden.kind == "second_order") {
    run_second_order(golden, in, outputs);
  } else if (!golden.grad_names.empty()) {
    run_gradients(golden, in, outputs);
  }
}

}  // namespace

TEST_CASE("goldens: single ops agree with PyTorch") {
  struct Count {
    int run = 0;
    std::string skipped;
  };
  std::map<std::string, Count> families;
  int total = 0;
  for (GoldenCase& golden : read_goldens(goldens_folder("torch"))) {
    INFO(golden.name << (golden.note.empty() ? "" : ": ") << golden.note);
    Count& count = families[golden.family];
    const std::string reason = reason_to_skip(golden);
    if (!reason.empty()) {
      count.skipped += "\n    skipped " + golden.name + ": " + reason;
      continue;
    }
    if (!ops().contains(golden.op)) {
      FAIL_CHECK("the op " << golden.op << " is neither run nor left out by name");
      continue;
    }
    try {
      run(golden);
      ++count.run;
      ++total;
    } catch (const std::exception& error) {
      FAIL_CHECK("threw: " << error.what());
    }
  }
  std::string summary;
  for (const auto& [family, count] : families) {
    summary += "\n  " + family + ": " + std::to_string(count.run) + " run" + count.skipped;
  }
  INFO("goldens/torch by family" << summary);  // shown by -s, too
  CHECK(total >= 167);
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
