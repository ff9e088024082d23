#include "examples/gradus/commands/sample_command.h"

#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "examples/gradus/records/run_folder.h"
#include "examples/gradus/sample/attention_view.h"
#include "examples/gradus/sample/continuation.h"
#include "examples/gradus/tasks/task.h"
#include "examples/support/command_line.h"
#include "examples/support/terminal.h"
#include "examples/support/utf8.h"
#include "examples/support/visible.h"
#include "framework/core/error.h"
#include "framework/io/file.h"

namespace examples {
namespace {

struct SampleOptions {
  std::string run;
  std::optional<std::string> question;
  std::optional<std::string> prompt;
  Index tokens = 0;  // 0: as many as is usual
  std::optional<double> temperature;
  Index top_k = 0;
  double top_p = 1.0;
  std::uint32_t seed = 1;
  std::string checkpoint = "latest";
  std::string show;
  std::string output;
  bool ascii = false;
  bool json = false;
};

TrainedModel loaded(const SampleOptions& options) {
  TrainedModel trained = load_trained_model(options.run);
  if (options.checkpoint == "best") {
    const gradus::CheckpointFolder checkpoints =
        RunFolder(options.run).checkpoints(trained.settings);
    trained.model.load_state_dict(checkpoints.best().model);
  }
  return trained;
}

/// A question is answered by the likeliest tokens, and text is drawn, unless it is said how.
ContinuationOptions continuation_options(const SampleOptions& options, bool is_answer) {
  const double usual = is_answer ? 0.0 : 1.0;
  ContinuationOptions result{.sampling = {.temperature = options.temperature.value_or(usual),
                                          .top_k = options.top_k,
                                          .top_p = options.top_p},
                             .seed = options.seed};
  if (options.tokens > 0) result.tokens = options.tokens;
  return result;
}

/// A model knows only questions as long as those it has learnt from.
void note_length(const std::string& question, const std::string& learnt) {
  if (columns(question) == columns(learnt)) return;
  std::cerr << "note: the questions of this run have " << columns(learnt) << " characters, not "
            << columns(question) << "\n";
}

/// What the model says to the question or the prompt or, where neither is given, to questions that
/// are made up, or to nothing.
std::vector<Continuation> spoken(const TrainedModel& trained, const SampleOptions& options) {
  if (options.question && options.prompt) {
    throw Failure(kUsage, "sample: either --input, for a question, or --prompt, for a text");
  }
  if (options.prompt || (trained.settings.is_text() && !options.question)) {
    const std::string prompt = options.prompt ? *options.prompt : usual_prompt(trained);
    return {continued(trained, prompt, continuation_options(options, false))};
  }
  std::vector<std::string> questions = made_up_questions(trained, options.seed);
  if (options.question) {
    note_length(*options.question, questions.front());
    questions = {*options.question};
  }
  std::vector<Continuation> answers;
  for (const std::string& question : questions) {
    answers.push_back(answer(trained, question, continuation_options(options, true)));
  }
  return answers;
}

void print(const Continuation& result, const SampleOptions& options, const Terminal& terminal) {
  const bool is_answer = result.given.back() == kEquals && !options.prompt;
  if (options.json) {
    const nlohmann::ordered_json line{{"given", valid_utf8(result.given)},
                                      {"said", valid_utf8(result.said)}};
    std::cout << line.dump() << "\n";
  } else if (is_answer) {
    std::cout << printable(result.given.substr(0, result.given.size() - 1))
              << terminal.pick(" → ", " -> ") << printable(result.said) << "\n";
  } else {
    std::cout << printable(result.given + result.said) << "\n";
  }
}

ExitCode sample(const SampleOptions& options) {
  const bool is_page = std::filesystem::path(options.output).extension() == ".html";
  if (!options.output.empty() && !is_page) {
    throw Failure(kUsage, "sample: " + options.output + " is no .html");
  }
  Terminal terminal(STDOUT_FILENO);
  if (options.ascii) terminal.use_ascii();
  const TrainedModel trained = loaded(options);
  const std::vector<Continuation> results = spoken(trained, options);
  for (const Continuation& result : results) print(result, options, terminal);

  if (options.show.empty() && options.output.empty()) return kWell;
  const AttentionPage page = attention_of(trained, results.front());
  if (!options.show.empty() && !options.json) std::cout << attention_maps(page, terminal);
  if (!options.output.empty()) {
    gradus::write_file(options.output, html(page));
    std::cerr << "wrote " << options.output << "\n";
  }
  return kWell;
}

}  // namespace

void add_sample_command(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<SampleOptions>();
  CLI::App& command = *app.add_subcommand("sample", "Let a trained model speak");
  command.add_option("run", options->run, "Folder of a run, or its model.safetensors")
      ->type_name("RUN")
      ->required();
  command
      .add_option("--input", options->question,
                  "A question of the task: CABBAC (default: some are made up)")
      ->type_name("TEXT");
  command.add_option("--prompt", options->prompt, "What to go on from, character by character")
      ->type_name("TEXT");
  add_number<Index>(command, "--tokens", options->tokens, 0, 1'000'000,
                    "Characters to say; 0: an answer, or 200");
  command
      .add_option("--temperature", options->temperature,
                  "0 takes the likeliest (default 0 for --input, 1 for --prompt)")
      ->type_name("T")
      ->check(CLI::NonNegativeNumber);
  add_number<Index>(command, "--top-k", options->top_k, 0, 1'000'000,
                    "Only the K likeliest; 0: all");
  add_number(command, "--top-p", options->top_p, 0.0, 1.0, "Only the likeliest that reach P");
  add_number(command, "--seed", options->seed, 0U, 4294967295U, "Of the draws");
  command.add_option("--checkpoint", options->checkpoint, "latest (default) or best")
      ->type_name("WHICH")
      ->check(CLI::IsMember({"latest", "best"}));
  command.add_option("--show", options->show, "attention: where each head of each layer looks")
      ->type_name("attention")
      ->check(CLI::IsMember({"attention"}));
  command.add_option("-o,--output", options->output, "The same as a page, FILE.html")
      ->type_name("FILE");
  command.add_flag("--ascii", options->ascii, "Only ASCII, whatever the locale");
  command.add_flag("--json", options->json, "One line of JSON");
  command.footer("Exit codes: 0 well, 2 usage or unknown characters, 3 no such run.");
  command.callback([&chosen, options] { chosen = [options] { return sample(*options); }; });
}

}  // namespace examples
