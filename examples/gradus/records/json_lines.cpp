#include "examples/gradus/records/json_lines.h"

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "framework/kernels/instruction_set.h"

namespace examples {
namespace {

using nlohmann::ordered_json;

/// A path may hold bytes that are no UTF-8.
void write(const ordered_json& line) {
  std::cout << line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << "\n"
            << std::flush;
}

}  // namespace

void JsonLines::on_step(const Step& step) { std::cout << step_as_json(step) << "\n" << std::flush; }

void json_start(const Session& session) {
  const RunSettings& settings = session.settings();
  const Index vocab_size = session.data().vocabulary().size();
  write({{"event", "start"},
         {"task", settings.task},
         {"seed", settings.seed},
         {"steps", settings.steps},
         {"parameters", session.model().parameter_count()},
         {"dtype", "float32"},
         {"threads", gradus::num_threads()},
         {"instruction_set", gradus::instruction_set()},
         {"data", session.data().sizes()},
         {"vocabulary", vocab_size},
         {"loss_of_knowing_nothing", std::log(static_cast<double>(vocab_size))},
         {"folder", session.folder().path().string()}});
}

void json_interrupt(const Session& session, const TrainingResult& training) {
  write({{"event", "interrupted"},
         {"steps", training.steps},
         {"folder", session.folder().path().string()}});
}

void json_end(const Session& session, const SessionResult& result) {
  ordered_json line{{"event", "end"},
                    {"steps", result.training.steps},
                    {"seconds", result.training.seconds},
                    {"smoothed_loss", result.training.smoothed_loss},
                    {"val_loss", result.evaluation.loss}};
  if (result.evaluation.has_exact()) {
    line["exact"] = result.evaluation.exact_share();
    line["held_out"] = result.evaluation.samples;
    line["learnt_step"] = result.training.learnt_step;
  }
  line["model"] = session.folder().model().string();
  write(line);
}

}  // namespace examples
