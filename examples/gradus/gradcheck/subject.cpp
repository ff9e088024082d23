#include "examples/gradus/gradcheck/subject.h"

#include <algorithm>

#include "examples/support/exit_code.h"
#include "examples/support/nearest.h"
#include "framework/core/error.h"

namespace examples {

using gradus::text;

const std::vector<Subject>& all_subjects() {
  static const std::vector<Subject> all = [] {
    std::vector<Subject> subjects;
    for (const auto& family : {op_subjects(), layer_subjects(), model_subjects()}) {
      subjects.insert(subjects.end(), family.begin(), family.end());
    }
    subjects.push_back(broken_subject());
    return subjects;
  }();
  return all;
}

const Subject& find_subject(const std::string& name) {
  std::vector<std::string> names;
  for (const Subject& subject : all_subjects()) {
    if (subject.name == name) return subject;
    names.push_back(subject.name);
  }
  throw Failure(kUsage, text("gradcheck: unknown subject '", name, "'", did_you_mean(name, names),
                             "\n  hint   gradus gradcheck --list"));
}

void check_has_input(const Checkable& subject, const std::string& input) {
  const std::vector<std::string>& known = subject.names;
  if (std::find(known.begin(), known.end(), input) != known.end()) return;
  std::string names;
  for (const std::string& name : known) names += " " + name;
  throw Failure(kUsage, text("gradcheck: no input is called '", input, "'",
                             did_you_mean(input, known), "\n  hint   there are", names));
}

}  // namespace examples
