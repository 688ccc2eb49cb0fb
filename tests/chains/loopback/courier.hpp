#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "engine/gateway.hpp"
#include "ports/executor.hpp"
#include "support/resume.hpp"

// The least an engine must do: prepare, remember the sealed transaction, send it, look it up when
// the outcome is unknown, collect answers. What commit() has applied survives a crash, events do
// not.
class Courier : public engine::GatewayEvents {
public:
    explicit Courier(ports::Executor& executor) : executor_(executor) {}

    struct Task {
        domain::Request request;
        std::vector<engine::Sealed> sealed;
        std::optional<engine::Receipt> receipt;
        bool failed = false;
    };

    // Piece 0: an answer without pieces.
    using Received = std::map<domain::Bytes32, std::multiset<std::uint32_t>>;

    void add(const domain::RequestId& id, domain::Request request) {
        tasks_[id].request = std::move(request);
    }

    // At the start and after each crash: begins listening and gives every open order anew.
    void resume(engine::Gateway& gateway) {
        gateway_ = &gateway;
        inbox_.clear();
        cursor_seen_ = cursor_;
        gateway.listen(*this, support::resume_from(cursor_));
        for (const auto& [id, task] : tasks_) advance(id, task);
    }

    // Applies all events; only then do new orders leave.
    void commit() {
        std::vector<domain::RequestId> again;
        for (const auto& event : std::exchange(inbox_, {})) {
            std::visit([&](const auto& each) { apply(each, again); }, event);
        }
        // The pause lets time pass where nothing takes time, for instance during an outage.
        for (const domain::RequestId& id : again) {
            executor_.run_after(pause, [this, id] { advance(id, tasks_.at(id)); });
        }
        for (const domain::RequestId& id : std::exchange(sealed_, {})) advance(id, tasks_.at(id));
    }

    [[nodiscard]] bool has_events() const { return !inbox_.empty(); }
    [[nodiscard]] bool cursor_fell() const { return cursor_fell_; }
    [[nodiscard]] const std::map<domain::RequestId, Task>& tasks() const { return tasks_; }
    [[nodiscard]] const Received& received() const { return received_; }

    [[nodiscard]] bool all_decided() const {
        return std::ranges::all_of(
            tasks_, [](const auto& entry) { return entry.second.receipt || entry.second.failed; });
    }

    void checked(std::vector<engine::Checked>) override {}
    void prepared(std::vector<engine::Prepared> events) override { keep(std::move(events)); }
    void sent(std::vector<engine::Sent> events) override { keep(std::move(events)); }
    void answered(engine::Answered event) override {
        if (event.cursor <= cursor_seen_) cursor_fell_ = true;
        cursor_seen_ = event.cursor;
        inbox_.emplace_back(std::move(event));
    }

private:
    using Event = std::variant<engine::Prepared, engine::Sent, engine::Answered>;

    template <typename Each>
    void keep(std::vector<Each> events) {
        for (Each& event : events) inbox_.emplace_back(std::move(event));
    }

    void apply(const engine::Prepared& event, std::vector<domain::RequestId>& again) {
        Task& task = tasks_.at(event.id);
        if (const auto* plan = std::get_if<engine::Plan>(&event.outcome)) {
            task.sealed.push_back(gateway_->seal(event.id, domain::kind_of(task.request), *plan));
            sealed_.push_back(event.id);
        } else if (std::holds_alternative<engine::Rejected>(event.outcome) && !is_share(task)) {
            task.failed = true;
        } else {
            again.push_back(event.id);
        }
    }

    void apply(const engine::Sent& event, std::vector<domain::RequestId>& again) {
        Task& task = tasks_.at(event.id);
        if (const auto* receipt = std::get_if<engine::Receipt>(&event.outcome)) {
            task.receipt = *receipt;
            return;
        }
        if (std::holds_alternative<engine::Rejected>(event.outcome)) {
            // A refused share is proved and sealed anew, a refused relayer request has failed.
            if (is_share(task)) {
                task.sealed.clear();
            } else {
                task.failed = true;
            }
        }
        again.push_back(event.id);
    }

    void apply(const engine::Answered& event, std::vector<domain::RequestId>&) {
        for (const engine::Answer& answer : event.answers) {
            const auto* share = std::get_if<domain::KmsShare>(&answer.body);
            received_[answer.reference].insert(share == nullptr ? 0 : share->index);
        }
        cursor_ = event.cursor;
    }

    void advance(const domain::RequestId& id, const Task& task) {
        if (task.receipt || task.failed) return;
        if (task.sealed.empty()) {
            gateway_->prepare({{id, std::make_shared<domain::Request>(task.request)}});
            return;
        }
        gateway_->send({{id, domain::kind_of(task.request), task.sealed, true}});
    }

    static bool is_share(const Task& task) {
        return domain::kind_of(task.request) == domain::Kind::share;
    }

    static constexpr domain::Milliseconds pause{50};

    ports::Executor& executor_;
    engine::Gateway* gateway_ = nullptr;
    std::vector<domain::RequestId> sealed_;  // by the commit under way
    std::vector<Event> inbox_;
    std::uint64_t cursor_seen_ = 0;
    bool cursor_fell_ = false;

    std::map<domain::RequestId, Task> tasks_;
    Received received_;
    std::uint64_t cursor_ = 0;
};
