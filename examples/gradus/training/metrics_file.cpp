#include "examples/gradus/training/metrics_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/core/error.h"

namespace examples {

namespace files = std::filesystem;
using gradus::IoError;

namespace {

std::uintmax_t size_of(const files::path& path) {
  std::error_code error;
  const std::uintmax_t size = files::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

std::string step_as_json(const Step& step) {
  nlohmann::ordered_json line{{"step", step.number},
                              {"loss", step.loss},
                              {"lr", step.lr},
                              {"gradient_norm", step.gradient_norm},
                              {"seconds", step.seconds}};
  for (const auto& [kind, norm] : step.groups) line["gradient_norm_" + kind] = norm;
  if (step.evaluation) line["val_loss"] = step.evaluation->loss;
  if (step.evaluation && step.evaluation->has_exact()) {
    line["exact"] = step.evaluation->exact_share();
  }
  return line.dump();
}

MetricsFile::MetricsFile(const files::path& path, std::uintmax_t kept)
    : path_(path), position_(std::min(kept, size_of(path))) {
  std::error_code error;
  if (files::exists(path)) files::resize_file(path, position_, error);
  file_.reset(std::fopen(path.c_str(), "ab"));
  if (error || !file_) throw IoError("metrics: cannot write " + path.string());
}

void MetricsFile::on_step(const Step& step) {
  const std::string line = step_as_json(step) + "\n";
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
  if (!written || std::fflush(file_.get()) != 0) {
    throw IoError("metrics: cannot write " + path_.string());
  }
  position_ += line.size();
}

}  // namespace examples
