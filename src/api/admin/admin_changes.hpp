#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "api/admin/admin_parameters.hpp"
#include "engine/tuning.hpp"
#include "ports/logger.hpp"

namespace api::admin {

// Changes of settings, one after the other: each starts from what the one before left in force, so
// none is lost. Any thread; nobody waits in here.
class AdminChanges {
public:
    struct Stored {
        std::string value;  // JSON, in force now
    };
    struct NotStored {};
    using Outcome = std::variant<Stored, AdminError, NotStored>;
    using Reply = std::function<void(const Outcome&)>;

    // `base` is the tuning of the configuration, `restored` what restore() made of it.
    AdminChanges(engine::Control& control, ports::Logger& logger, engine::Tuning base,
                 const RestoredTuning& restored);

    // No value: the one of the configuration, and nothing is remembered. The reply comes after the
    // commit, maybe on the processor's thread.
    void make(const AdminParameter& parameter, std::optional<AdminValue> value, Reply reply);

    struct State {
        engine::Tuning tuning;
        std::set<std::string, std::less<>> overridden;  // names changed at run time
    };
    [[nodiscard]] State state() const;

private:
    struct Change {
        const AdminParameter* parameter;
        std::optional<AdminValue> value;
        Reply reply;
    };

    void go_on();
    [[nodiscard]] std::optional<Change> next();
    [[nodiscard]] bool is_on_its_way(const Change& change);
    void finish(const Change& change, const std::string& old_value, const std::string& new_value,
                bool stored);

    engine::Control& control_;
    ports::Logger& logger_;
    const engine::Tuning base_;

    mutable std::mutex mutex_;  // guards what follows
    std::deque<Change> waiting_;
    bool busy_ = false;  // somebody works through them, or waits for a commit
    std::set<std::string, std::less<>> overridden_;
};

}  // namespace api::admin
