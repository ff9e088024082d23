// Goldens of PyTorch: views, and chains of them.
#include "framework/ops/views.h"
#include "framework/ops/join.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "tests/goldens_torch/torch_case.h"

namespace gradus::testing {
namespace {

using Json = nlohmann::json;

std::optional<Index> bound(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional<Index>(value.get<Index>());
}

Outputs sliced(const TorchCase& in) {
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
  return {y};
}

Outputs joined(const TorchCase& in) {
  std::vector<Tensor> parts;
  for (const std::string& name : in.input_names()) parts.push_back(in[name]);
  return {cat(parts, in.index("dim"))};
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
      {"flip", [](const Tensor& t, const Json& s) { return flip(t, list_from(s[1])); }},
      {"softmax", [](const Tensor& t, const Json& s) { return softmax(t, s[1].get<Index>()); }},
      {"sum", [](const Tensor& t, const Json& s) { return sum(t, list_from(s[1])); }},
      {"mul", [](const Tensor& t, const Json& s) { return t * s[1].get<double>(); }},
      {"tanh", [](const Tensor& t, const Json&) { return tanh(t); }},
      {"matmul_self_t",
       [](const Tensor& t, const Json&) { return matmul(t, t.transpose(-1, -2)); }},
  };
  return steps;
}

Outputs chain(const TorchCase& in) {
  Tensor y = in["x"];
  for (const Json& step : in.attr("steps")) {
    y = chain_steps().at(step[0].get<std::string>())(y, step);
  }
  return {y};
}

}  // namespace

TorchOps torch_views() { return {{"slice", sliced}, {"cat", joined}, {"chain", chain}}; }

}  // namespace gradus::testing
