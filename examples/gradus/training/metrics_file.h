// Metrics: a line of JSON for every step, flat, so that any program can read it:
//
//     {"step":200,"loss":0.41,"lr":0.002,"gradient_norm":0.3,"seconds":2.9,"exact":0.48,...}
//
// val_loss and, of tasks that are made up, exact stand there after a look at what is held out.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "examples/gradus/training/step.h"

namespace examples {

/// One line, without its end. A number that is none is null.
std::string step_as_json(const Step& step);

class MetricsFile : public StepListener {
 public:
  /// Goes on behind the first `kept` bytes of the file, or begins it. Throws IoError.
  MetricsFile(const std::filesystem::path& path, std::uintmax_t kept);

  /// Throws IoError when the disk is full.
  void on_step(const Step& step) override;
  /// Bytes so far.
  std::uintmax_t position() const { return position_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::filesystem::path path_;
  std::uintmax_t position_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace examples
