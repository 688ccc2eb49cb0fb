#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/application.hpp"
#include "domain/identity.hpp"
#include "support/virtual_time.hpp"

namespace api_test {

using Json = nlohmann::json;

// Takes everything and knows it again, as the engine does while nothing fails.
class MemoryIntake : public engine::Intake {
public:
    void submit(const domain::Request& request, const engine::Terms& given,
                engine::Reply reply) override {
        requests.push_back(request);
        terms.push_back(given);
        reply(forced ? *forced : outcome_of(request));
    }

    std::optional<engine::AcceptOutcome> forced;
    std::vector<domain::Request> requests;
    std::vector<engine::Terms> terms;

private:
    engine::AcceptOutcome outcome_of(const domain::Request& request) {
        const domain::Identity identity = domain::identify(request);
        const auto [known, added] = known_.try_emplace(
            identity.key,
            Known{{static_cast<std::int64_t>(known_.size() + 1), 7}, identity.content});
        if (!added && known->second.content != identity.content) return engine::Conflict{};
        return engine::Accepted{known->second.id, !added, 3};
    }

    struct Known {
        domain::RequestId id;
        domain::Bytes32 content;
    };
    std::map<domain::Bytes32, Known> known_;
};

class ScriptedInquiry : public engine::Inquiry {
public:
    engine::InquiryOutcome find(const domain::RequestId&) override { return outcome; }

    engine::InquiryOutcome outcome = engine::NotFound{};
};

class ScriptedRounds : public engine::RoundDirectory {
public:
    engine::RoundAnswer find(const domain::Bytes32& round_id) override {
        ++calls;
        if (forced) return *forced;
        const auto round = rounds.find(domain::to_hex(round_id));
        if (round == rounds.end()) return engine::UnknownRound{};
        return engine::Round{domain::from_unix_ms(round->second * 1'000)};
    }

    std::map<std::string, std::int64_t> rounds{
        {"0a6fb635439fb6850c775a291f639975bd239745ed43dba2a9f220d707e9b55c", 4'102'444'800}};
    std::optional<engine::RoundAnswer> forced;
    int calls = 0;
};

class ScriptedContracts : public api::ContractSignatures {
public:
    api::SignatureAnswer ask(std::uint64_t host_chain_id, const domain::Address&,
                             const domain::Bytes32&, domain::ByteView) override {
        asked_chains.push_back(host_chain_id);
        return answer;
    }

    api::SignatureAnswer answer = api::SignatureInvalid{};
    std::vector<std::uint64_t> asked_chains;
};

class FixedHealth : public engine::Health {
public:
    std::vector<engine::Dependency> dependencies() const override { return given; }

    std::vector<engine::Dependency> given{
        {"database", true}, {"gateway_http", true}, {"gateway_listener_0", true}};
};

class FixedKeys : public engine::KeyDirectory {
public:
    std::optional<engine::KeyMaterial> current() const override { return given; }

    std::optional<engine::KeyMaterial> given;
};

struct Call {
    std::string method = "POST";
    std::string path;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers{{"Content-Type", "application/json"}};
};

// An answer with its body read, if it is JSON.
struct Answer {
    int status = 0;
    std::string body;
    std::string content_type;
    std::map<std::string, std::string> headers;
    Json json;

    [[nodiscard]] std::string header(const std::string& name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string() : found->second;
    }
    [[nodiscard]] std::string label() const { return json["error"]["label"]; }
    [[nodiscard]] std::string message() const { return json["error"]["message"]; }
};

inline Answer to_answer(const api::HttpResponse& response) {
    Answer answer{response.status,
                  response.body,
                  response.content_type,
                  {response.headers.begin(), response.headers.end()},
                  Json::parse(response.body, nullptr, false)};
    if (answer.json.is_discarded()) answer.json = Json();
    return answer;
}

// The application between doubles, with the chain and the contract of the samples.
class Harness {
public:
    Harness() = default;
    explicit Harness(api::Options given) : options(std::move(given)) {}

    Answer send(const Call& call) {
        api::HttpRequest request = head_of(call);
        if (auto early = app.before_body(request)) return to_answer(*early);
        request.body = call.body;
        return to_answer(app.handle(request));
    }

    Answer post(std::string_view path, std::string_view body) {
        return send({"POST", std::string(path), std::string(body)});
    }
    Answer get(std::string_view path) { return send({"GET", std::string(path), {}, {}}); }

    Answer unreadable(const Call& call, api::HttpProblem problem) {
        return to_answer(app.unreadable(head_of(call), problem));
    }

    static api::HttpRequest head_of(const Call& call) {
        api::HttpRequest request;
        request.method = call.method;
        request.target = call.path;
        request.path = call.path;
        for (const auto& [name, value] : call.headers) request.headers.push_back({name, value});
        return request;
    }

    api::Options options;
    MemoryIntake intake;
    ScriptedInquiry inquiry;
    ScriptedRounds rounds;
    ScriptedContracts contracts;
    FixedHealth health;
    FixedKeys keys;
    support::VirtualClock clock;
    support::SeededRandom random{1};
    support::RecordingJournal journal;
    api::HttpObserver observer;
    api::LongPolls long_polls{clock, 4};
    api::Gatekeeper gatekeeper{options, clock};
    api::Application app{options,
                         {intake, inquiry, rounds, contracts, health, keys, clock, random, journal,
                          long_polls, observer, gatekeeper}};
};

}  // namespace api_test
