// JSON lines: what --json writes on stdout: an object that starts, one for each step as in
// metrics.jsonl, and one that ends.
#pragma once

#include "examples/gradus/session.h"

namespace examples {

class JsonLines : public StepListener {
 public:
  void on_step(const Step& step) override;
};

/// {"event":"start","task":"sort",...}
void json_start(const Session& session);
/// {"event":"interrupted","steps":812,"folder":...}
void json_interrupt(const Session& session, const TrainingResult& training);
/// {"event":"end","steps":1000,"exact":0.998,...}
void json_end(const Session& session, const SessionResult& result);

}  // namespace examples
