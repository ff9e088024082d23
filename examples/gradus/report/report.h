// Report, on stdout: what is about to be trained, what came of it, and what to do next.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "examples/gradus/session.h"

namespace examples {

/// Task, data, model, run, and the loss of knowing nothing. Verbose: the model's layers, too.
void report_start(const Session& session, bool verbose);
/// Scores, where things are, and predictions, or some writing.
void report_results(const Session& session, const SessionResult& result);
/// Where it stopped, and the command that goes on; on stderr.
void report_interrupt(const Session& session, const TrainingResult& training);

/// Commands to copy, each with what it is for: "sample run/sort-7", "ask it something".
void report_next(const std::vector<std::pair<std::string, std::string>>& commands);
/// Those that follow a training.
void report_next_after(const Session& session);

}  // namespace examples
