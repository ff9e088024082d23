#include "examples/gradus/records/run_folder.h"

#include "examples/gradus/model.h"
#include "examples/gradus/settings/setting_sources.h"
#include "examples/support/exit_code.h"
#include "examples/support/number.h"
#include "framework/core/error.h"
#include "framework/io/file.h"
#include "layers/weights.h"

namespace examples {

namespace files = std::filesystem;
using gradus::IoError;
using gradus::text;

namespace {

// In the metadata of model.safetensors.
constexpr const char* kConfig = "config";
constexpr const char* kVocabulary = "vocabulary";
constexpr const char* kBlock = "block";

const std::string& metadata_of(const gradus::Metadata& metadata, const char* name,
                               const files::path& path) {
  const auto found = metadata.find(name);
  if (found != metadata.end()) return found->second;
  throw IoError(text("load: ", path.string(), " has no ", name),
                {.need = "a model.safetensors as gradus train writes it"});
}

Index block_of(const std::string& number, const files::path& path) {
  const auto block = read_number<Index>(number, 1, 1'000'000);
  if (!block) throw IoError(text("load: ", path.string(), ": ", kBlock, " '", number, "'"));
  return *block;
}

/// Throws IoError where the file is too small for the model that it claims to be, which need not be
/// made to find that out: a number takes a byte and more, and attention has four matrices.
void check_size(const RunSettings& settings, Index block, const files::path& path) {
  const Index least = settings.layers * 4 * settings.width * settings.width +
                      (settings.positions == "learned" ? block * settings.width : 0);
  const auto size = files::file_size(path);
  if (static_cast<std::uintmax_t>(least) <= size) return;
  throw IoError(text("load: ", path.string(), " is too small for the model that it describes"),
                {.got = text(size, " bytes; ", settings.layers, " layers of width ", settings.width,
                             " and a block of ", block, " have ", least, " parameters and more")});
}

}  // namespace

gradus::CheckpointFolder RunFolder::checkpoints(const RunSettings& settings) const {
  return gradus::CheckpointFolder(path_ / "checkpoints", {.smaller_is_better = settings.is_text()});
}

void RunFolder::start(const RunSettings& settings) const {
  std::error_code error;
  if (holds_a_run()) {
    for (const files::path& old : {path_ / "checkpoints", metrics(), model(), post_mortem()}) {
      files::remove_all(old, error);
    }
  }
  files::create_directories(path_, error);
  if (error) throw IoError(text("train: cannot make ", path_.string(), ": ", error.message()));
  write_settings(settings);
}

void RunFolder::write_settings(const RunSettings& settings) const {
  gradus::write_file(config(), settings_as_toml(settings));
}

RunSettings RunFolder::settings() const {
  if (!holds_a_run()) {
    throw IoError(text("no run in ", path_.string(), ": ", config().string(), " is missing"));
  }
  return settings_from_toml(gradus::read_file(config()), config().string());
}

void RunFolder::save_model(const gradus::GPT& trained, const RunSettings& settings,
                           const Vocabulary& vocabulary) const {
  gradus::save_weights(model(), trained,
                       {{kConfig, settings_as_toml(settings)},
                        {kVocabulary, vocabulary.to_json()},
                        {kBlock, std::to_string(trained.options().block_size)}});
}

RunFolder folder_for(const RunSettings& settings, bool overwrite) {
  if (!settings.out.empty()) {
    const RunFolder folder(settings.out);
    if (!folder.holds_a_run() || overwrite) return folder;
    throw Failure(kUsage,
                  "train: " + settings.out +
                      " holds a run\n  hint   --resume it, --overwrite it, or another --out");
  }
  const std::string name = settings.folder_name();
  RunFolder folder(name);
  for (int number = 2; folder.holds_a_run() && !overwrite; ++number) {
    folder = RunFolder(text(name, "-", number));
  }
  return folder;
}

TrainedModel load_trained_model(const files::path& run) {
  const files::path path = files::is_directory(run) ? RunFolder(run).model() : run;
  const gradus::Metadata metadata = gradus::load_safetensors_metadata(path);
  RunSettings settings =
      settings_from_toml(metadata_of(metadata, kConfig, path), path.string() + ": config");
  Vocabulary vocabulary = Vocabulary::from_json(metadata_of(metadata, kVocabulary, path));
  const Index block = block_of(metadata_of(metadata, kBlock, path), path);
  check_size(settings, block, path);
  gradus::GPT model = make_model(settings, vocabulary.size(), block);
  gradus::load_weights(path, model);
  model.eval();
  return {std::move(settings), std::move(vocabulary), std::move(model)};
}

}  // namespace examples
