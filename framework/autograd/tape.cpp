#include "framework/autograd/tape.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <unordered_set>

#include "framework/core/error.h"

namespace gradus {
namespace {

/// The Euclidean norm in a few digits, or nothing for a tensor that is not there.
std::string norm_text(const Tensor& tensor) {
  if (!tensor.defined() || !is_floating(tensor.dtype())) return "";
  double sum = 0;
  for (const double number : tensor.to_vector<double>()) sum += number * number;
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::setprecision(4) << std::sqrt(sum);
  return out.str();
}

std::string inputs_text(const Tape& tape, const Node& step) {
  std::string list;
  for (const Node::Input& input : step.inputs()) {
    list += list.empty() ? "" : " ";
    list += input.node ? std::to_string(tape.position(*input.node)) : "-";
  }
  return list;
}

std::string saves_text(const Node& step) {
  if (step.is_released()) return "released";
  std::string list;
  for (std::size_t i = 0; i < step.inputs().size(); ++i) {
    if (step.inputs()[i].saved.value.defined()) list += text(list.empty() ? "" : " ", "x", i);
  }
  if (step.saved_output().value.defined()) list += list.empty() ? "y" : " y";
  return list;
}

using Row = std::vector<std::string>;

Row row_of(const Tape& tape, std::size_t i) {
  const Node& step = tape[i];
  const std::size_t bytes = saved_bytes(step);
  return {std::to_string(i),
          step.name(),
          step.path(),
          inputs_text(tape, step),
          text(step.shape()),
          saves_text(step),
          bytes > 0 ? std::to_string(bytes) : "",
          norm_text(step.value()),
          norm_text(step.gradient())};
}

/// Text as it may stand inside the quotes of a Graphviz label.
std::string escaped(const std::string& label) {
  std::string result;
  for (const char c : label) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

Tape::Tape(const std::vector<Tensor>& results) {
  std::unordered_set<const Node*> seen;
  const auto add = [&](const Ref<Node>& node) {
    if (node && seen.insert(node.get()).second) steps_.push_back(node);
  };
  for (const Tensor& result : results) add(result.impl().node);
  for (std::size_t next = 0; next < steps_.size(); ++next) {
    const Ref<Node> step = steps_[next];
    for (const Node::Input& input : step->inputs()) add(input.node);
  }
  std::sort(steps_.begin(), steps_.end(),
            [](const Ref<Node>& a, const Ref<Node>& b) { return a->sequence() < b->sequence(); });
}

std::size_t Tape::position(const Node& step) const {
  const auto place = std::lower_bound(
      steps_.begin(), steps_.end(), step.sequence(),
      [](const Ref<Node>& node, std::uint64_t number) { return node->sequence() < number; });
  if (place == steps_.end() || place->get() != &step) {
    throw ValueError(text("tape: ", step.name(), " is no step of this tape"));
  }
  return static_cast<std::size_t>(place - steps_.begin());
}

void Tape::retain_gradients() const {
  for (const Ref<Node>& step : steps_) step->retain_gradient();
}

std::size_t saved_bytes(const Node& step) {
  std::size_t bytes = 0;
  const auto add = [&bytes](const Tensor& saved) {
    if (saved.defined()) bytes += static_cast<std::size_t>(saved.numel() * saved.itemsize());
  };
  for (const Node::Input& input : step.inputs()) add(input.saved.value);
  add(step.saved_output().value);
  return bytes;
}

std::ostream& operator<<(std::ostream& out, const Tape& tape) {
  std::vector<Row> rows{
      {"step", "op", "module", "inputs", "shape", "saves", "bytes", "|value|", "|grad|"}};
  for (std::size_t i = 0; i < tape.size(); ++i) rows.push_back(row_of(tape, i));
  std::string lines;
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (widths[c] == rows.front()[c].size() && rows.size() > 1 &&
          std::all_of(rows.begin() + 1, rows.end(), [c](const Row& r) { return r[c].empty(); })) {
        continue;  // a column that says nothing
      }
      line += row[c] + std::string(widths[c] - row[c].size() + 2, ' ');
    }
    lines += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out << lines;
}

std::string to_dot(const Tape& tape) {
  std::string graph =
      "digraph tape {\n  rankdir=BT;\n  node [shape=box, fontname=\"monospace\"];\n";
  for (std::size_t i = 0; i < tape.size(); ++i) {
    const Node& step = tape[i];
    const std::string module = *step.path() ? text("\\n", escaped(step.path())) : "";
    graph += text("  s", i, " [label=\"", escaped(step.name()), "\\n", step.shape(), module, "\"",
                  step.is_leaf() ? ", style=filled" : "", "];\n");
    for (const Node::Input& input : step.inputs()) {
      if (input.node) graph += text("  s", tape.position(*input.node), " -> s", i, ";\n");
    }
  }
  return graph + "}\n";
}

}  // namespace gradus
