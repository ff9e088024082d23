// What a StateMatch says: names side by side, in the form of
//
//     : 2 missing, 2 unexpected, 1 of another shape
//       missing                  unexpected, same shape
//       layers.0.up.weight   <-  blocks.0.up.weight (64, 64) float32
//       layers.0.up.bias     <-  blocks.0.up.bias (64,) float32
//       head.weight          file (65, 64), model (66, 64)
//       hint   {.rename = {{"blocks.", "layers."}}}
#include <algorithm>
#include <array>

#include "framework/core/error.h"
#include "framework/io/printable_internal.h"
#include "framework/io/state_match.h"
#include "framework/io/state_renames_internal.h"
#include "framework/ops/checks.h"

namespace gradus {
namespace {

constexpr std::size_t kMostLines = 8;  // of each kind

struct Line {
  std::string name;
  std::string middle;
  std::string rest;
};

std::string with_renames(const LoadOptions& options) {
  std::string list;
  for (const auto& [from, to] : options.rename) {
    list += text(list.empty() ? "" : ", ", "{\"", printable(from), "\", \"", printable(to), "\"}");
  }
  return "{.rename = {" + list + "}}";
}

}  // namespace

class StateMatch::Report {
 public:
  Report(const StateMatch& match, const std::string& given, const std::string& wanted)
      : match_(match),
        given_(given),
        wanted_(wanted),
        pairs_(likely_renames(match.all(Kind::missing), match.all(Kind::unexpected))) {}

  std::string written() {
    add_pairs();
    for (const Kind kind : {Kind::missing, Kind::unexpected, Kind::shape, Kind::dtype, Kind::clash})
      add(kind);
    return counts() + aligned() + hint();
  }

 private:
  std::string counts() const {
    constexpr std::array words{"missing", "unexpected", "of another shape", "of another dtype",
                               "in conflict"};
    std::string list;
    for (std::size_t kind = 0; kind < words.size(); ++kind) {
      const auto count = std::count_if(
          match_.faults_.begin(), match_.faults_.end(),
          [kind](const Fault& fault) { return static_cast<std::size_t>(fault.kind) == kind; });
      if (count > 0) list += text(list.empty() ? ": " : ", ", count, " ", words[kind]);
    }
    return list;
  }

  void add_pairs() {
    if (pairs_.empty()) return;
    lines_.push_back({"missing", "    ", "unexpected, same shape"});
    const StateList unexpected = match_.all(Kind::unexpected);
    for (const LikelyRename& pair : pairs_) {
      const auto entry = std::find_if(unexpected.begin(), unexpected.end(), [&](const auto& known) {
        return known.first == pair.unexpected;
      });
      lines_.push_back({printable(pair.missing), "<-  ",
                        printable(pair.unexpected) + " " + described(entry->second)});
    }
    shorten(lines_, kMostLines + 1);
  }

  void add(Kind kind) {
    std::vector<Line> lines;
    for (const Fault& fault : match_.faults_) {
      if (fault.kind == kind && !is_paired(fault)) {
        lines.push_back({printable(fault.name), "", what(fault)});
      }
    }
    shorten(lines, kMostLines);
    lines_.insert(lines_.end(), lines.begin(), lines.end());
  }

  bool is_paired(const Fault& fault) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&fault](const LikelyRename& pair) {
      return (fault.kind == Kind::missing && fault.name == pair.missing) ||
             (fault.kind == Kind::unexpected && fault.name == pair.unexpected);
    });
  }

  std::string what(const Fault& fault) const {
    switch (fault.kind) {
      case Kind::missing: return "missing " + described(fault.wanted);
      case Kind::unexpected: return "unexpected " + described(fault.given);
      case Kind::shape:
        return text(given_, " ", fault.given.shape(), ", ", wanted_, " ", fault.wanted.shape());
      case Kind::dtype:
        return text(given_, " ", fault.given.dtype(), ", ", wanted_, " ", fault.wanted.dtype());
      case Kind::clash: break;
    }
    return fault.other;
  }

  static void shorten(std::vector<Line>& lines, std::size_t most) {
    if (lines.size() <= most) return;
    const std::size_t more = lines.size() - most;
    lines.resize(most);
    lines.push_back({text("... and ", more, " more"), "", ""});
  }

  std::string aligned() const {
    std::size_t width = 0;
    for (const Line& line : lines_) width = std::max(width, line.name.size());
    std::string result;
    for (const auto& [name, middle, rest] : lines_) {
      result += "\n  " + name;
      if (!rest.empty()) result += std::string(width - name.size() + 3, ' ') + middle + rest;
    }
    return result;
  }

  std::string hint() const {
    const LoadOptions options = common_renames(pairs_);
    if (options.rename.empty() || !match_.options_.rename.empty()) return "";
    const StateMatch mended(match_.targets_, match_.state_, options);
    const bool mends_names =
        !mended.has(Kind::missing) && !mended.has(Kind::unexpected) && !mended.has(Kind::clash);
    return mends_names ? "\n  hint   " + with_renames(options) : "";
  }

  const StateMatch& match_;
  const std::string& given_;
  const std::string& wanted_;
  std::vector<LikelyRename> pairs_;
  std::vector<Line> lines_;
};

std::string StateMatch::report(const std::string& given, const std::string& wanted) const {
  return Report(*this, given, wanted).written();
}

}  // namespace gradus
