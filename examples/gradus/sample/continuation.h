// Continuation: a trained model goes on with what it is given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "examples/gradus/records/run_folder.h"
#include "layers/sampling.h"

namespace examples {

struct ContinuationOptions {
  /// How many tokens; of a made-up task's question, unless given, as many as an answer has.
  std::optional<Index> tokens{};
  gradus::SamplingOptions sampling{};
  std::uint64_t seed = 1;
};

struct Continuation {
  std::string given;  ///< as the model read it: a question with its "=", or a prompt
  std::string said;
  std::vector<Index> tokens;  ///< both, one after the other
};

/// The answer to a question of the run's task. Throws Failure for a run on text, and for a
/// question that is empty or too long for the model; ValueError that names the first unknown
/// character and its position.
Continuation answer(const TrainedModel& trained, const std::string& question,
                    const ContinuationOptions& options);

/// Some questions of the run's task, made up from the seed. Throws as answer() does.
std::vector<std::string> made_up_questions(const TrainedModel& trained, std::uint64_t seed);

/// What a text may start with when nothing is said: a line's end, as before a line, or the first
/// character that there is.
std::string usual_prompt(const TrainedModel& trained);

/// Text that goes on from a prompt, 200 tokens of it unless said otherwise. Throws Failure for an
/// empty prompt, ValueError as answer() does.
Continuation continued(const TrainedModel& trained, const std::string& prompt,
                       const ContinuationOptions& options);

}  // namespace examples
