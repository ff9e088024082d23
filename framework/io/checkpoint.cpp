// The text of a checkpoint's file: "gradus" (what this is), "step", "score", and the run's own
// under "state.NAME".
#include "framework/io/checkpoint.h"

#include <charconv>

#include "framework/core/error.h"
#include "framework/io/printable_internal.h"

namespace gradus {
namespace {

constexpr std::string_view kKind = "checkpoint 1";
constexpr std::string_view kState = "state.";

/// The shortest text that reads as the same number, whatever the locale.
template <class Number>
std::string written(Number number) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), number).ptr};
}

template <class Number>
Number read(const Metadata& metadata, const std::string& name, const std::string& file) {
  const std::string& digits = metadata.at(name);
  const char* const end = digits.data() + digits.size();
  Number number{};
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || stop != end) {
    throw IoError("load: " + file + " is damaged: its " + name + " is '" + printable(digits) + "'",
                  {.need = "a number"});
  }
  return number;
}

void check_kind(const Metadata& metadata, const std::string& file) {
  const auto kind = metadata.find("gradus");
  if (kind != metadata.end() && kind->second == kKind && metadata.contains("step")) return;
  throw IoError("load: " + file + " is no checkpoint",
                {.got = kind == metadata.end() ? "a safetensors file of another kind"
                                               : "gradus " + printable(kind->second),
                 .need = text("gradus ", kKind)});
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint,
                     std::optional<double> score) {
  if (checkpoint.step < 0) throw ValueError(text("save: step ", checkpoint.step, " is below 0"));
  Metadata metadata{{"gradus", std::string(kKind)}, {"step", written(checkpoint.step)}};
  if (score) metadata.emplace("score", written(*score));
  for (const auto& [name, value] : checkpoint.state) {
    metadata.emplace(std::string(kState) + name, value);
  }
  StateDict tensors = state_as("model", checkpoint.model);
  tensors.merge(state_as("optimizer", checkpoint.optimizer));
  save_safetensors(path, tensors, metadata);
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  const std::string file = path.string();
  const Safetensors whole = load_safetensors(path);
  check_kind(whole.metadata, file);
  Checkpoint checkpoint{.step = read<Index>(whole.metadata, "step", file),
                        .model = state_under(whole.tensors, "model"),
                        .optimizer = state_under(whole.tensors, "optimizer")};
  if (checkpoint.step < 0) {
    throw IoError(text("load: ", file, " is damaged: its step is ", checkpoint.step));
  }
  if (checkpoint.model.size() + checkpoint.optimizer.size() != whole.tensors.size()) {
    throw IoError("load: " + file +
                  " is damaged: a tensor is neither the model's nor the optimiser's");
  }
  for (const auto& [name, value] : whole.metadata) {
    if (name.starts_with(kState)) checkpoint.state.emplace(name.substr(kState.size()), value);
  }
  return checkpoint;
}

std::optional<double> score_of_checkpoint(const std::filesystem::path& path) {
  const Metadata metadata = load_safetensors_metadata(path);
  check_kind(metadata, path.string());
  if (!metadata.contains("score")) return std::nullopt;
  return read<double>(metadata, "score", path.string());
}

}  // namespace gradus
