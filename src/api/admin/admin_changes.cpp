#include "api/admin/admin_changes.hpp"

#include <utility>

namespace api::admin {

AdminChanges::AdminChanges(engine::Control& control, ports::Logger& logger, engine::Tuning base,
                           const RestoredTuning& restored)
    : control_(control),
      logger_(logger),
      base_(std::move(base)),
      overridden_(restored.overridden.begin(), restored.overridden.end()) {}

void AdminChanges::make(const AdminParameter& parameter, std::optional<AdminValue> value,
                        Reply reply) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back({&parameter, std::move(value), std::move(reply)});
        if (std::exchange(busy_, true)) return;
    }
    go_on();
}

AdminChanges::State AdminChanges::state() const {
    engine::Tuning tuning = control_.tuning();
    const std::lock_guard lock(mutex_);
    return {std::move(tuning), overridden_};
}

// By whoever found nobody busy, and again after each commit.
void AdminChanges::go_on() {
    while (const auto change = next()) {
        if (is_on_its_way(*change)) return;
    }
}

std::optional<AdminChanges::Change> AdminChanges::next() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
        busy_ = false;
        return std::nullopt;
    }
    Change change = std::move(waiting_.front());
    waiting_.pop_front();
    return change;
}

// False: refused, and said so.
bool AdminChanges::is_on_its_way(const Change& change) {
    const engine::Tuning tuning = control_.tuning();
    const AdminParameter& parameter = *change.parameter;
    auto made =
        change.value ? apply(tuning, parameter, *change.value) : reset(tuning, parameter, base_);
    if (const auto* api_error = std::get_if<AdminError>(&made)) {
        change.reply(*api_error);
        return false;
    }
    engine::Retune retune{std::get<engine::Tuning>(std::move(made)), {}, {}, {}};
    const std::string name(parameter.name);
    const std::string new_value = value_of(retune.tuning, parameter);
    if (change.value) {
        retune.remember.push_back({name, new_value});
    } else {
        retune.forget.push_back(name);
    }
    retune.reply = [this, change, old_value = value_of(tuning, parameter), new_value](bool stored) {
        finish(change, old_value, new_value, stored);
        go_on();
    };
    control_.retune(std::move(retune));
    return true;
}

void AdminChanges::finish(const Change& change, const std::string& old_value,
                          const std::string& new_value, bool stored) {
    if (!stored) {
        change.reply(NotStored{});
        return;
    }
    const std::string name(change.parameter->name);
    {
        const std::lock_guard lock(mutex_);
        if (change.value) {
            overridden_.insert(name);
        } else {
            overridden_.erase(name);
        }
    }
    std::string line = "setting_changed name=" + name;
    line.append(" old=").append(old_value).append(" new=").append(new_value).append(" by=admin");
    logger_.write(ports::LogLevel::info, line);
    change.reply(Stored{new_value});
}

}  // namespace api::admin
