// Routes: which rules of the tape the gradient of each input passes through, and what follows for
// several wrong inputs: which to mend first, and which rules to suspect. Internal to gradcheck.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/autograd/tape.h"
#include "framework/gradcheck/diagnosis_internal.h"

namespace gradus::checking {

/// A rule: the position of a step on the tape, and which of its inputs the gradient is for.
using Rule = std::pair<std::size_t, std::size_t>;

/// The way of a gradient from the outputs to one leaf.
struct Route {
  std::set<Rule> last{};    ///< the rules that hand the gradient to the leaf itself
  std::set<Rule> before{};  ///< all others
};
Route route_to(const Tensor& leaf, const Tape& tape);

/// How often the tape takes this leaf as an input.
inline Index uses_of(const Route& route) { return static_cast<Index>(route.last.size()); }

struct Traveller {
  std::string name{};
  Route route{};
  bool passed = true;
};

/// "x is downstream of w and v: fix those first", where everything that stands before w and v
/// stands before x, too; else "".
std::string order_of_repair(const std::vector<Traveller>& travellers);

/// "softmax and matmul (its input 0)": the steps through which every wrong gradient passed, by a
/// rule that no right one passed through; "" where they are many or none.
std::string suspects(const std::vector<Traveller>& travellers, const Tape& tape);

/// Every size of an axis, of the inputs and outputs first, then of the steps; and the numbers of
/// elements of the inputs and outputs.
std::vector<NamedSize> sizes_around(const std::vector<Tensor>& inputs,
                                    const std::vector<std::string>& names,
                                    const std::vector<Tensor>& outputs, const Tape& tape);

/// The values of this shape that were computed on the way; the tape must have been traced.
std::vector<NamedValue> values_of_shape(const Shape& shape, const Tape& tape);

}  // namespace gradus::checking
