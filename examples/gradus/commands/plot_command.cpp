#include "examples/gradus/commands/plot_command.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "examples/gradus/report/curves.h"
#include "examples/support/format.h"
#include "framework/core/error.h"
#include "framework/io/file.h"

namespace examples {
namespace {

namespace files = std::filesystem;
using gradus::text;

struct PlotOptions {
  std::vector<std::string> runs;
  std::string output;
  bool log_loss = false;
};

/// "sort-7" of run/sort-7, of run/sort-7/, of run/sort-7/metrics.jsonl, and of sort-7.jsonl.
std::string name_of(const files::path& path) {
  const files::path whole = files::absolute(path).lexically_normal();
  const bool is_named = !files::is_directory(whole) && whole.filename() != "metrics.jsonl";
  if (is_named) return whole.stem().string();
  const bool is_folder = files::is_directory(whole) && whole.has_filename();
  return (is_folder ? whole : whole.parent_path()).filename().string();
}

/// Beside the metrics of a single run, here for several.
files::path default_output(const std::vector<std::string>& runs) {
  const files::path only = runs.front();
  if (runs.size() > 1) return "curves.svg";
  return (files::is_directory(only) ? only : only.parent_path()) / "curves.svg";
}

ExitCode plot(const PlotOptions& options) {
  const files::path output =
      options.output.empty() ? default_output(options.runs) : files::path(options.output);
  const bool as_page = output.extension() == ".html";
  if (!as_page && output.extension() != ".svg") {
    throw Failure(kUsage, text("plot: ", output.string(), " is neither .svg nor .html"));
  }

  std::vector<PlottedRun> runs;
  for (const std::string& path : options.runs) {
    runs.push_back({name_of(path), read_metrics(path)});
    for (const std::string& remark : runs.back().metrics.remarks) {
      std::cerr << path << ": " << remark << "\n";
    }
  }
  const Chart chart = curves_of(runs, {.log_loss = options.log_loss});
  const std::string picture = as_page ? html(chart) : svg(chart);
  gradus::write_file(output, picture);

  for (const std::string& line : chart.legend) std::cout << line << "\n";
  std::cout << "wrote " << output.string() << " ("
            << grouped(static_cast<std::int64_t>(picture.size())) << " bytes)\n";
  return kWell;
}

}  // namespace

void add_plot_command(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<PlotOptions>();
  CLI::App* command = app.add_subcommand("plot", "Draw the curves of training runs");
  command->add_option("run", options->runs, "Folders of runs, or files of metrics")
      ->type_name("RUN")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "A file .svg or .html (default: curves.svg, in the folder of a single run)")
      ->type_name("FILE");
  command->add_flag("--log-loss", options->log_loss, "The loss on a log scale");
  command->callback([&chosen, options] { chosen = [options] { return plot(*options); }; });
}

}  // namespace examples
