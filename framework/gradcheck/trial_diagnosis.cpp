// How a Trial looks for the kind of fault: it gathers the evidence, from which diagnose()
// concludes.
#include <algorithm>

#include "framework/autograd/trace.h"
#include "framework/gradcheck/trial_internal.h"

namespace gradus::checking {

/// The numbers of one input, and ways to ask for more.
Evidence Trial::evidence_of(const GradcheckInput& row, const std::vector<Pair>& pairs,
                            Variable& variable) {
  Evidence evidence;
  evidence.elementwise = row.directions == 0;
  evidence.limit = row.limit;
  const std::size_t count =
      evidence.elementwise ? pairs.size() : static_cast<std::size_t>(row.directions);
  evidence.shape = evidence.elementwise ? row.shape : Shape{row.directions};
  for (std::size_t i = 0; i < count; ++i) {
    const Slope& slope = pairs[i].slope;
    evidence.analytic.push_back(pairs[i].analytic);
    evidence.numeric.push_back(slope.value);
    const bool is_noise = std::max(std::abs(slope.least), std::abs(slope.greatest)) <= row.limit;
    evidence.clear.push_back(!slope.frozen && (slope.smooth || is_noise));
  }
  evidence.values = [this, shape = row.shape] {
    const TapeTrace trace;
    return values_of_shape(shape, Tape(outputs()));
  };
  evidence.terms = [this, &variable](std::size_t i) {
    return terms_of(around_element(variable, i), weights_);
  };
  for (const Tensor& cotangent : cotangents_) evidence.outputs.push_back(cotangent.shape());
  return evidence;
}

/// Names the kind of fault of each wrong row, and what several of them have in common. `pairs`:
/// those of each variable.
void Trial::diagnose_rows(const std::vector<std::vector<Pair>>& pairs, const Run& run) {
  if (std::ranges::all_of(rows_, &GradcheckInput::passed)) return;
  const Tape tape(run.outputs);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < arguments_.size(); ++i) names.push_back(name_of(options_, i));
  const std::vector<NamedSize> sizes = sizes_around(arguments_, names, run.outputs, tape);
  std::vector<Traveller> travellers;
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    GradcheckInput& row = rows_[variables_[v].number];
    const Route route = route_to(variables_[v].leaf, tape);
    // A gradient that is right because it is nothing clears no rule of suspicion.
    if (!row.passed || !is_zero(row)) travellers.push_back({row.name, route, row.passed});
    if (row.passed) continue;
    Evidence evidence = evidence_of(row, pairs[v], variables_[v]);
    evidence.sizes = sizes;
    evidence.uses = uses_of(route);
    row.diagnosis = diagnose(evidence);
  }
  report_.advice = order_of_repair(travellers);
  report_.suspects = suspects(travellers, tape);
}

}  // namespace gradus::checking
