#include <cstdlib>

#include "examples/gradus/settings/flat_toml.h"
#include "examples/gradus/settings/setting_sources.h"
#include "examples/gradus/settings/setting_table.h"
#include "examples/support/exit_code.h"
#include "framework/io/file.h"
#include "tests/gradus/program.h"
#include "tests/support/catch.h"

using namespace examples;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A variable of the environment for the length of a scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

std::string failure_of(const GivenSettings& given) {
  try {
    resolve_settings(given);
  } catch (const Failure& failure) {
    CHECK(failure.code() == kUsage);
    return failure.what();
  }
  return "no failure";
}

std::string toml_failure(const std::string& toml) {
  try {
    parse_flat_toml(toml, "my.toml");
  } catch (const Failure& failure) {
    CHECK(failure.code() == kData);
    return failure.what();
  }
  return "no failure";
}

GivenSettings flag(const std::string& name, const std::string& value) {
  return {{"task", {"sort", "command line"}}, {name, {value, "--" + name}}};
}

}  // namespace

TEST_CASE("the later source of a setting counts", "[gradus][settings]") {
  const gradus::testing::ScratchFolder folder;
  const auto file = folder.path() / "my.toml";
  gradus::write_file(file, "lr = 0.5\nsteps = 5\nbatch = 7\n");
  const Variable steps("GRADUS_TRAIN_STEPS", "6");
  const Variable batch("GRADUS_TRAIN_BATCH", "8");
  GivenSettings given = overridden(settings_in_file(file), settings_in_environment());
  given = overridden(given, flag("batch", "9"));

  const ResolvedSettings resolved = resolve_settings(given);
  CHECK(resolved.settings.lr == 0.5);
  CHECK(resolved.settings.steps == 6);
  CHECK(resolved.settings.batch == 9);
  CHECK(resolved.settings.clip == 1.0);
  CHECK(resolved.origins.at("lr") == file.string());
  CHECK(resolved.origins.at("steps") == "GRADUS_TRAIN_STEPS");
  CHECK(resolved.origins.at("batch") == "--batch");
  CHECK(resolved.origins.at("clip") == "default");
}

TEST_CASE("settings written as TOML are read back the same", "[gradus][settings]") {
  RunSettings settings = default_settings("recall");
  settings.lr = 0.1 + 0.2;
  settings.min_lr = 1e-17;
  settings.positions = "rotary";
  const std::string toml = settings_as_toml(settings);
  CHECK(settings_as_toml(settings_from_toml(toml, "config.toml")) == toml);
  CHECK(settings_from_toml(toml, "config.toml").lr == settings.lr);

  RunSettings text = default_settings(kTextTask);
  text.file = "a \"b\" # c\\d.txt";
  CHECK(settings_from_toml(settings_as_toml(text), "config.toml").file == text.file);
}

TEST_CASE("every setting can be given by each of its names", "[gradus][settings]") {
  for (const Setting& setting : setting_table()) {
    INFO(setting.name);
    CHECK(find_setting(setting.name) == &setting);
    RunSettings settings = default_settings(setting.scope == SettingScope::text ? "text" : "sort");
    CHECK(setting.applies_to(settings));
    CHECK(setting.read(settings, setting.show(settings)).empty());
  }
  CHECK(find_setting("weight-decay")->environment_name() == "GRADUS_TRAIN_WEIGHT_DECAY");
}

TEST_CASE("what a setting cannot be is refused by name", "[gradus][settings]") {
  CHECK(failure_of(flag("steps", "0")) == "--steps needs a number from 1 to 100000000, not '0'");
  CHECK(failure_of(flag("steps", "1e3")) ==
        "--steps needs a number from 1 to 100000000, not '1e3'");
  CHECK(failure_of(flag("dropout", "nan")) == "--dropout needs a number from 0 to 0.99, not 'nan'");
  CHECK(failure_of(flag("norm", "batch")) == "--norm needs one of layer, rms, not 'batch'");
  CHECK(failure_of(flag("block", "8")) == "--block has no meaning for the task sort");
  CHECK(failure_of({{"task", {"sort", "my.toml"}}, {"lr", {"x", "my.toml"}}}) ==
        "my.toml: lr needs a number from 0 to 1e+30, not 'x'");
  CHECK(failure_of({{"task", {"srot", "command line"}}}) ==
        "train: unknown task 'srot'; did you mean sort?\n"
        "  need   one of copy, reverse, sort, add, recall, parentheses, text");
  CHECK_THAT(failure_of({}), ContainsSubstring("train: which task?"));
  CHECK_THAT(failure_of({{"task", {"text", "command line"}}}), ContainsSubstring("--file PATH"));
  CHECK(failure_of(flag("heads", "6")) == "train: width 64 cannot be split into 6 heads");
  CHECK(failure_of(flag("min-lr", "1")) == "train: min-lr 1 is above lr 0.002");
  CHECK(failure_of({{"task", {"parentheses", ""}}, {"length", {"7", "--length"}}}) ==
        "train parentheses: needs an even length\n  got    length 7, symbols 0");
  CHECK(failure_of({{"task", {"copy", ""}}, {"symbols", {"26", "--symbols"}}}) ==
        "train copy: symbols must be from 2 to 10, not 26");
}

TEST_CASE("an unknown name names the nearest setting", "[gradus][settings]") {
  const gradus::testing::ScratchFolder folder;
  const auto file = folder.path() / "my.toml";
  gradus::write_file(file, "stesp = 5\n");
  CHECK_THROWS_WITH(settings_in_file(file),
                    ContainsSubstring("unknown setting stesp; did you mean steps?"));
  const Variable typo("GRADUS_TRAIN_STPES", "6");
  CHECK_THROWS_WITH(settings_in_environment(),
                    ContainsSubstring("did you mean GRADUS_TRAIN_STEPS?"));
}

TEST_CASE("a variable of the environment is for those tasks that know it", "[gradus][settings]") {
  const Variable block("GRADUS_TRAIN_BLOCK", "8");
  GivenSettings given = settings_in_environment();
  given["task"] = {"sort", "command line"};
  CHECK(resolve_settings(given).origins.at("block") == "default");
}

TEST_CASE("flat TOML is read line by line", "[gradus][settings]") {
  const auto values = parse_flat_toml(
      "# a comment\n\n  lr = 1e-3  # another\nsteps=1_000\nfile = \"a # \\\"b\\\".txt\"\r\n"
      "out = 'c\\d'\nflag = true",
      "my.toml");
  CHECK(values == std::map<std::string, std::string>{{"lr", "1e-3"},
                                                     {"steps", "1000"},
                                                     {"file", "a # \"b\".txt"},
                                                     {"out", "c\\d"},
                                                     {"flag", "true"}});
  CHECK_THAT(toml_failure("lr = 1\n[table]\n"), ContainsSubstring("my.toml:2: tables"));
  CHECK_THAT(toml_failure("lr = [1]"), ContainsSubstring("my.toml:1: tables and lists"));
  CHECK_THAT(toml_failure("lr"), ContainsSubstring("'lr' is not followed by ="));
  CHECK_THAT(toml_failure("lr ="), ContainsSubstring("the value is missing"));
  CHECK_THAT(toml_failure("= 3"), ContainsSubstring("starts with the name"));
  CHECK_THAT(toml_failure("lr = 1 2"), ContainsSubstring("more behind the value: '2'"));
  CHECK_THAT(toml_failure("file = \"a"), ContainsSubstring("the closing \" is missing"));
  CHECK_THAT(toml_failure("lr = 1\nlr = 2"), ContainsSubstring("my.toml:2: 'lr' is given twice"));
}
