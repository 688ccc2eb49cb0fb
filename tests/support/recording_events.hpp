#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/gateway.hpp"

namespace support {

// Keeps every event in order of arrival. One thread.
class RecordingEvents : public engine::GatewayEvents {
public:
    void checked(std::vector<engine::Checked> events) override { note(checks, std::move(events)); }
    void prepared(std::vector<engine::Prepared> events) override {
        note(preparations, std::move(events));
    }
    void sent(std::vector<engine::Sent> events) override {
        order += 's';
        note(sends, std::move(events));
    }
    void answered(engine::Answered event) override {
        order += 'a';
        ++calls;
        cursors.push_back(event.cursor);
        for (engine::Answer& answer : event.answers) answers.push_back(std::move(answer));
    }

    std::vector<engine::Checked> checks;
    std::vector<engine::Prepared> preparations;
    std::vector<engine::Sent> sends;
    std::vector<engine::Answer> answers;
    std::vector<std::uint64_t> cursors;
    std::string order;  // s: sent, a: answered
    int calls = 0;      // events of any kind

private:
    template <typename Event>
    void note(std::vector<Event>& list, std::vector<Event> events) {
        ++calls;
        for (Event& event : events) list.push_back(std::move(event));
    }
};

}  // namespace support
