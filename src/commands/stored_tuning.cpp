#include "commands/stored_tuning.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace commands {

namespace {

// What does not fit any more would come back with a later file, as a surprise.
void forget_unfit(store::Store& store, const std::vector<store::Setting>& remembered,
                  const api::admin::RestoredTuning& restored) {
    if (restored.overridden.size() == remembered.size()) return;
    store::Store::Transaction transaction(store);
    for (const store::Setting& setting : remembered) {
        if (std::ranges::find(restored.overridden, setting.name) == restored.overridden.end()) {
            store.unset(setting.name);
        }
    }
    transaction.commit();
}

void report(const api::admin::RestoredTuning& restored, ports::Logger& logger) {
    for (const std::string& line : restored.warnings) logger.write(ports::LogLevel::warning, line);
    if (restored.overridden.empty()) return;
    std::string names;
    for (const std::string& name : restored.overridden) names += (names.empty() ? "" : ",") + name;
    logger.write(ports::LogLevel::info, "settings_restored names=" + names);
}

}  // namespace

api::admin::RestoredTuning restore_tuning(store::Store& store, const engine::Tuning& base,
                                          ports::Logger& logger) {
    const std::vector<store::Setting> remembered = store.settings();
    api::admin::RestoredTuning restored = api::admin::restore(base, remembered);
    report(restored, logger);
    forget_unfit(store, remembered, restored);
    return restored;
}

}  // namespace commands
