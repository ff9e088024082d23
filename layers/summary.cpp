#include "layers/summary.h"

#include <algorithm>
#include <iomanip>
#include <vector>

#include "framework/core/error.h"

namespace gradus {
namespace {

/// "102 794"
std::string grouped(Index number) {
  std::string digits = std::to_string(number);
  for (auto end = std::ssize(digits) - 3; end > 0; end -= 3) {
    digits.insert(static_cast<std::size_t>(end), " ");
  }
  return digits;
}

struct Line {
  std::string module;
  std::string shape;
  std::string parameters;
  std::string note;
};

/// Writes a line per module and parameter.
class Lines final : public Visitor {
 public:
  /// The module's line, and those of all that is in it, indented.
  void add(const std::string& label, const std::string& path, const Module& module) {
    const std::size_t own = lines.size();
    const Index before = count;
    lines.push_back({indentation() + label + module.description(), "", "", ""});
    const std::string outer = std::exchange(path_, path);
    ++depth_;
    const_cast<Module&>(module).visit(*this);  // which is not const, but only read here
    --depth_;
    path_ = outer;
    lines[own].parameters = grouped(count - before);
  }

  std::vector<Line> lines;
  Index count = 0;
  Index trainable = 0;
  Index bytes = 0;

 protected:
  void on_module(std::string_view name, Module& child) override {
    add(text(name, ": "), text(path_, name, "."), child);
  }
  void on_parameter(std::string_view name, Tensor& parameter) override {
    Line line{indentation() + std::string(name), text(parameter.shape()), "",
              parameter.requires_grad() ? "" : "frozen"};
    const auto known = std::find_if(seen_.begin(), seen_.end(), [&](const auto& entry) {
      return entry.second.is_same(parameter);
    });
    if (known != seen_.end()) {
      line.parameters = "-";
      line.note = "is " + known->first;
    } else {
      seen_.emplace_back(text(path_, name), parameter);
      line.parameters = grouped(parameter.numel());
      count += parameter.numel();
      trainable += parameter.requires_grad() ? parameter.numel() : 0;
      bytes += parameter.numel() * parameter.itemsize();
    }
    lines.push_back(line);
  }

 private:
  std::string indentation() const { return std::string(2 * depth_, ' '); }

  std::size_t depth_ = 0;
  std::string path_;
  std::vector<std::pair<std::string, Tensor>> seen_;
};

}  // namespace

std::string summary(const Module& model) {
  Lines all;
  all.add("", "", model);
  std::vector<Line> table{{"module", "shape", "parameters", ""}};
  table.insert(table.end(), all.lines.begin(), all.lines.end());
  table.push_back({"total", "", grouped(all.count), ""});
  table.push_back({"trainable", "", grouped(all.trainable), ""});
  table.push_back({"bytes", "", grouped(all.bytes), ""});

  std::size_t widths[3] = {0, 0, 0};
  for (const Line& line : table) {
    widths[0] = std::max(widths[0], line.module.size());
    widths[1] = std::max(widths[1], line.shape.size());
    widths[2] = std::max(widths[2], line.parameters.size());
  }
  std::ostringstream out;
  for (const Line& line : table) {
    out << std::left << std::setw(static_cast<int>(widths[0])) << line.module << "  "
        << std::setw(static_cast<int>(widths[1])) << line.shape << "  " << std::right
        << std::setw(static_cast<int>(widths[2])) << line.parameters
        << (line.note.empty() ? "" : "  ") << line.note << "\n";
  }
  return out.str();
}

}  // namespace gradus
