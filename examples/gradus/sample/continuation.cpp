#include "examples/gradus/sample/continuation.h"

#include "examples/gradus/tasks/task.h"
#include "examples/support/exit_code.h"
#include "framework/core/error.h"
#include "layers/generation.h"

namespace examples {
namespace {

using gradus::text;

constexpr Index kUsualTokens = 200;
constexpr Index kQuestions = 4;

Continuation go_on(const TrainedModel& trained, const std::string& given, Index count,
                   const ContinuationOptions& options) {
  const std::vector<Index> prompt = trained.vocabulary.encode(given);
  gradus::Generator generator(options.seed);
  Continuation result{given, "",
                      generate(trained.model, prompt, count, options.sampling, generator)};
  result.said = trained.vocabulary.decode(std::span(result.tokens).subspan(prompt.size()));
  return result;
}

/// Throws Failure where the run has learnt a text.
void check_has_questions(const TrainedModel& trained) {
  if (!trained.settings.is_text()) return;
  throw Failure(kUsage,
                "sample: this run has learnt a text, which has no questions\n"
                "  hint   --prompt \"...\" in place of --input");
}

}  // namespace

std::vector<std::string> made_up_questions(const TrainedModel& trained, std::uint64_t seed) {
  check_has_questions(trained);
  const Task* task = find_task(trained.settings.task);
  if (!task) throw gradus::IoError("sample: unknown task " + trained.settings.task);
  gradus::Generator generator(seed);
  std::vector<std::string> questions;
  for (Index number = 0; number < kQuestions; ++number) {
    const TaskSize size{trained.settings.length, trained.settings.symbols};
    questions.push_back(task->draw(size, number, generator).question);
  }
  return questions;
}

std::string usual_prompt(const TrainedModel& trained) {
  for (Index token = 0; token < trained.vocabulary.size(); ++token) {
    if (trained.vocabulary[token] == "\n") return "\n";
  }
  return trained.vocabulary[0];
}

Continuation answer(const TrainedModel& trained, const std::string& question,
                    const ContinuationOptions& options) {
  check_has_questions(trained);
  if (question.empty()) throw Failure(kUsage, "sample: the question is empty");
  const std::string given = question + kEquals;
  const auto asked = static_cast<Index>(trained.vocabulary.encode(given).size());
  // The model reads all but the last token of question and answer.
  const Index room = trained.model.options().block_size + 1 - asked;
  if (room < 1) {
    throw Failure(kUsage, text("sample: the question has ", asked - 1,
                               " characters, which leaves no "
                               "room for an answer\n  hint   this run has learnt: ",
                               trained.settings.task, ", length ", trained.settings.length));
  }
  return go_on(trained, given, options.tokens.value_or(room), options);
}

Continuation continued(const TrainedModel& trained, const std::string& prompt,
                       const ContinuationOptions& options) {
  if (prompt.empty()) {
    throw Failure(kUsage,
                  "sample: the prompt is empty\n"
                  "  hint   a model goes on from something: --prompt \"a\"");
  }
  return go_on(trained, prompt, options.tokens.value_or(kUsualTokens), options);
}

}  // namespace examples
