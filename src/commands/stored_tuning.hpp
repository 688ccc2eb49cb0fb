#pragma once

#include "api/admin/admin_changes.hpp"
#include "engine/gates.hpp"
#include "engine/tuning.hpp"
#include "platform/log.hpp"
#include "ports/logger.hpp"
#include "store/store.hpp"

namespace commands {

// What was changed while an earlier process ran, laid over `base`, which the configuration gives.
// Says what was found, and forgets what does not fit any more.
[[nodiscard]] api::admin::RestoredTuning restore_tuning(store::Store& store,
                                                        const engine::Tuning& base,
                                                        ports::Logger& logger);

// What was paused, and the log level that was set. Says what was found.
void restore_steering(store::Store& store, engine::Gates& gates, platform::Log& log);

}  // namespace commands
