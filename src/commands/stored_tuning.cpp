#include "commands/stored_tuning.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api/admin/pause_routes.hpp"
#include "engine/operations.hpp"

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

void restore_steering(store::Store& store, engine::Gates& gates, platform::Log& log) {
    const std::vector<store::Setting> settings = store.settings();
    engine::operations::restore_pauses(settings, gates);
    for (const domain::Family family : gates.paused()) {
        log.write(ports::LogLevel::warning,
                  "kind_paused kind=" + std::string(to_string(family)) + " since=earlier");
    }
    const auto level =
        std::ranges::find(settings, api::admin::log_level_setting, &store::Setting::name);
    if (level == settings.end()) return;
    const std::string_view name = level->value;
    // A JSON string.
    const bool is_quoted = name.size() > 2;
    const auto wanted = api::admin::log_level_from(is_quoted ? name.substr(1, name.size() - 2)
                                                             : std::string_view());
    if (!wanted) return;
    log.write(ports::LogLevel::info, "log_level_restored level=" + std::string(name));
    log.set_level(*wanted);
}

api::admin::RestoredTuning restore_tuning(store::Store& store, const engine::Tuning& base,
                                          ports::Logger& logger) {
    std::vector<store::Setting> remembered = store.settings();
    std::erase_if(remembered, [](const store::Setting& setting) {
        return setting.name == api::admin::log_level_setting || setting.name.starts_with("paused.");
    });
    api::admin::RestoredTuning restored = api::admin::restore(base, remembered);
    report(restored, logger);
    forget_unfit(store, remembered, restored);
    return restored;
}

}  // namespace commands
