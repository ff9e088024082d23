#include "examples/gradus/data/dataset.h"

#include "examples/gradus/data/sample_dataset.h"
#include "examples/gradus/data/text_dataset.h"
#include "examples/gradus/tasks/task.h"

namespace examples {

std::unique_ptr<Dataset> make_dataset(const RunSettings& settings) {
  if (settings.is_text()) {
    return std::make_unique<TextDataset>(read_text(settings.file), settings.block, settings.seed);
  }
  return std::make_unique<SampleDataset>(*find_task(settings.task), settings);
}

}  // namespace examples
