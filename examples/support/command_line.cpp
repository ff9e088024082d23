#include "examples/support/command_line.h"

#include <iostream>
#include <vector>

#include "examples/support/exit_code.h"
#include "examples/support/nearest.h"

namespace examples {
namespace {

/// The command that the arguments led to: the program itself, or its subcommand.
const CLI::App& given_command(const CLI::App& app) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  return given.empty() ? app : given_command(*given.front());
}

/// "gradus train", where the program is called gradus.
std::string full_name(const CLI::App& app, const std::string& program) {
  const CLI::App* parent = app.get_parent();
  return parent ? full_name(*parent, program) + " " + app.get_name() : program;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::string unknown_argument(const CLI::App& command, const std::string& argument) {
  if (argument.rfind('-', 0) == 0) {
    const std::string option = argument.substr(0, argument.find('='));
    const std::size_t start = option.find_first_not_of('-');
    const std::string name = start == std::string::npos ? "" : option.substr(start);
    return "unknown option " + option + did_you_mean(name, option_names(command), "--");
  }
  const std::vector<std::string> commands = command_names(command);
  if (commands.empty()) return "unexpected argument '" + argument + "'";
  return "unknown command '" + argument + "'" + did_you_mean(argument, commands);
}

}  // namespace

bool parse_command_line(CLI::App& app, int argc, char** argv) {
  const auto failure = [&](const std::string& what) {
    const CLI::App& command = given_command(app);
    return Failure(kUsage, full_name(command, app.get_name()) + ": " + what + "\n  hint   " +
                               full_name(command, argv[0]) + " --help");
  };
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
  } catch (const CLI::CallForVersion& version) {
    std::cout << version.what() << "\n";
  } catch (const CLI::ExtrasError&) {
    throw failure(unknown_argument(given_command(app), app.remaining(true).front()));
  } catch (const CLI::ArgumentMismatch& mismatch) {
    const std::string what = mismatch.what();
    throw failure(what.substr(0, what.find(':')) + " needs a value");
  } catch (const CLI::ParseError& error) {
    throw failure(error.what());
  }
  return false;
}

}  // namespace examples
