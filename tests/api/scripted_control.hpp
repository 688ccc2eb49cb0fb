#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/tuning.hpp"

namespace api {

// An engine that commits changes on a thread of its own, many in one step as the real one does, and
// puts each into force as a whole.
class ScriptedControl : public engine::Control {
public:
    explicit ScriptedControl(engine::Tuning start) : tuning_(std::move(start)) {}
    ~ScriptedControl() override {
        release();
        thread_.request_stop();
        thread_.join();
    }
    ScriptedControl(const ScriptedControl&) = delete;
    ScriptedControl& operator=(const ScriptedControl&) = delete;

    [[nodiscard]] engine::Tuning tuning() const override {
        const std::lock_guard lock(mutex_);
        return tuning_;
    }

    void retune(engine::Retune change) override {
        {
            const std::lock_guard lock(mutex_);
            ++asked_;
            changed_.notify_all();
            if (door_is_open_) {
                waiting_.push_back(std::move(change));
                return;
            }
        }
        change.reply(false);
    }

    // Closed: the answer is no, and it comes at once on the caller's thread.
    void close_door() {
        const std::lock_guard lock(mutex_);
        door_is_open_ = false;
    }
    void open_door() {
        const std::lock_guard lock(mutex_);
        door_is_open_ = true;
    }
    // Steps that come from now on are rolled back.
    void break_commits(bool broken) {
        const std::lock_guard lock(mutex_);
        commits_fail_ = broken;
    }
    // No step until release().
    void hold() {
        const std::lock_guard lock(mutex_);
        held_ = true;
    }
    void release() {
        const std::lock_guard lock(mutex_);
        held_ = false;
        changed_.notify_all();
    }
    void wait_until_asked(std::size_t times) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return asked_ >= times; });
    }
    [[nodiscard]] std::size_t asked() const {
        const std::lock_guard lock(mutex_);
        return asked_;
    }

    // What a restart would find, as JSON by name.
    [[nodiscard]] std::map<std::string, std::string> remembered() const {
        const std::lock_guard lock(mutex_);
        return remembered_;
    }

private:
    void run(const std::stop_token& stop) {
        while (true) {
            std::vector<engine::Retune> step;
            {
                std::unique_lock lock(mutex_);
                if (!changed_.wait(lock, stop, [&] { return !held_ && !waiting_.empty(); })) return;
                step = std::exchange(waiting_, {});
            }
            for (engine::Retune& change : step) change.reply(commit(change));
        }
    }

    bool commit(const engine::Retune& change) {
        const std::lock_guard lock(mutex_);
        if (commits_fail_) return false;
        tuning_ = change.tuning;
        for (const store::Setting& setting : change.remember) {
            remembered_[setting.name] = setting.value;
        }
        for (const std::string& name : change.forget) remembered_.erase(name);
        return true;
    }

    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    engine::Tuning tuning_;
    std::vector<engine::Retune> waiting_;
    std::map<std::string, std::string> remembered_;
    std::size_t asked_ = 0;
    bool door_is_open_ = true;
    bool commits_fail_ = false;
    bool held_ = false;
    std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

}  // namespace api
