#include "layers/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "framework/ops/checks.h"
#include "framework/ops/creation.h"

namespace gradus {
namespace {

constexpr const char* kName = "sampling";
constexpr double kNever = -std::numeric_limits<double>::infinity();

void check_options(const SamplingOptions& options) {
  if (!(options.temperature >= 0)) {
    throw ValueError(text(kName, ": temperature ", options.temperature, " must be at least 0"));
  }
  if (options.top_k < 0) {
    throw ValueError(text(kName, ": top_k ", options.top_k, " must be at least 0"),
                     {.hint = "0 keeps all"});
  }
  if (!(options.top_p >= 0 && options.top_p <= 1)) {
    throw ValueError(text(kName, ": top_p ", options.top_p, " is outside 0..1"));
  }
}

void check_logits(const std::vector<double>& logits) {
  bool any = false;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if (std::isnan(logits[id]) || logits[id] == -kNever) {
      throw ValueError(text(kName, ": logit ", id, " is ", logits[id]),
                       {.need = "numbers, or -inf for a token that may not come"});
    }
    any = any || logits[id] != kNever;
  }
  if (!any) throw ValueError(text(kName, ": all ", logits.size(), " logits are -inf"));
}

/// exp((logit - largest) / temperature): 1 for the largest, and so without overflow.
double weight_of(double logit, double largest, double temperature) {
  if (logit == kNever) return 0.0;
  if (std::isinf(temperature) || logit == largest) return 1.0;
  return std::exp((logit - largest) / temperature);
}

/// The ids that stay.
std::vector<std::size_t> staying(const std::vector<double>& logits,
                                 const std::vector<double>& weights,
                                 const SamplingOptions& options) {
  std::vector<std::size_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  if (options.temperature > 0 && options.top_k == 0 && options.top_p == 1) return ids;
  std::stable_sort(ids.begin(), ids.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  if (options.temperature == 0) ids.resize(1);
  const auto k = static_cast<std::size_t>(options.top_k);
  if (k > 0 && k < ids.size()) ids.resize(k);
  if (options.top_p == 1) return ids;

  double total = 0.0;
  for (const std::size_t id : ids) total += weights[id];
  double mass = 0.0;
  for (std::size_t kept = 1; kept <= ids.size(); ++kept) {
    mass += weights[ids[kept - 1]];
    if (mass < options.top_p * total) continue;
    ids.resize(kept);
    break;
  }
  return ids;
}

std::vector<double> probabilities_of(const Tensor& logits, const SamplingOptions& options) {
  check_options(options);
  check_floating(kName, logits);
  if (logits.dim() != 1 || logits.numel() == 0) {
    throw ShapeError(text(kName, ": needs the logits of one position"),
                     {.got = text("logits ", described(logits)), .need = "(V,)"});
  }
  const std::vector<double> numbers = logits.to_vector<double>();
  check_logits(numbers);
  const double largest = *std::max_element(numbers.begin(), numbers.end());
  std::vector<double> weights;
  for (const double logit : numbers) {
    weights.push_back(weight_of(logit, largest, options.temperature));
  }

  std::vector<double> kept(weights.size(), 0.0);
  for (const std::size_t id : staying(numbers, weights, options)) kept[id] = weights[id];
  const double total = std::accumulate(kept.begin(), kept.end(), 0.0);
  for (double& probability : kept) probability /= total;
  return kept;
}

}  // namespace

Tensor sampling_probabilities(const Tensor& logits, const SamplingOptions& options) {
  return from_vector(probabilities_of(logits, options)).to(logits.dtype());
}

Index sample(const Tensor& logits, const SamplingOptions& options, Generator& generator) {
  const std::vector<double> probabilities = probabilities_of(logits, options);
  double left = 0.0;
  generator.fill_uniform(std::span<double>(&left, 1));
  Index last = 0;  // that can come: rounding may leave a little at the end
  for (std::size_t id = 0; id < probabilities.size(); ++id) {
    if (probabilities[id] == 0) continue;
    last = static_cast<Index>(id);
    left -= probabilities[id];
    if (left < 0) break;
  }
  return last;
}

}  // namespace gradus
