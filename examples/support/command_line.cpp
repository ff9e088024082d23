#include "examples/support/command_line.h"

#include <algorithm>
#include <iostream>
#include <numeric>
#include <vector>

#include "examples/support/exit_code.h"

namespace examples {
namespace {

/// Letters to insert, drop, replace or swap with a neighbour to make one word of the other (optimal
/// string alignment).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::move(last);
    last = std::move(row);
  }
  return last.back();
}

/// The option that is nearest to `name`, empty where none is near.
std::string nearest_option(const CLI::App& app, const std::string& name) {
  std::string nearest;
  std::size_t best = (name.size() + 1) / 2 + 1;  // no farther than half of what was typed
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& known : option->get_lnames()) {
      const std::size_t distance = edit_distance(name, known);
      if (distance < best) {
        best = distance;
        nearest = known;
      }
    }
  }
  return nearest;
}

std::string unknown_argument(const CLI::App& app, const std::string& argument) {
  if (argument.rfind('-', 0) != 0) return "unexpected argument '" + argument + "'";
  const std::string option = argument.substr(0, argument.find('='));
  const std::size_t start = option.find_first_not_of('-');
  const std::string name = start == std::string::npos ? "" : option.substr(start);
  const std::string nearest = nearest_option(app, name);
  return "unknown option " + option + (nearest.empty() ? "" : "; did you mean --" + nearest + "?");
}

}  // namespace

bool parse_command_line(CLI::App& app, int argc, char** argv) {
  const auto failure = [&](const std::string& what) {
    return Failure(kUsage, app.get_name() + ": " + what + "\n  hint   " + argv[0] + " --help");
  };
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
  } catch (const CLI::CallForVersion& version) {
    std::cout << version.what() << "\n";
  } catch (const CLI::ExtrasError&) {
    throw failure(unknown_argument(app, app.remaining().front()));
  } catch (const CLI::ArgumentMismatch& mismatch) {
    const std::string what = mismatch.what();
    throw failure(what.substr(0, what.find(':')) + " needs a value");
  } catch (const CLI::ParseError& error) {
    throw failure(error.what());
  }
  return false;
}

}  // namespace examples
