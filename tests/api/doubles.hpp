#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "domain/identity.hpp"
#include "engine/contract_signatures.hpp"
#include "engine/gateway.hpp"
#include "engine/health.hpp"
#include "engine/inquiry.hpp"
#include "engine/intake.hpp"
#include "engine/key_material.hpp"

namespace api_test {

// Takes everything and knows it again, as the engine does while nothing fails.
class MemoryIntake : public engine::Intake {
public:
    void submit(const domain::Request& request, const engine::Terms& given,
                engine::Reply reply) override {
        if (defect) throw std::runtime_error(*defect);
        requests.push_back(request);
        terms.push_back(given);
        reply(forced ? *forced : outcome_of(request));
    }

    std::optional<engine::AcceptOutcome> forced;
    std::optional<std::string> defect;  // thrown
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
    engine::InquiryOutcome find(const domain::RequestId&) override {
        if (defect) throw std::runtime_error(*defect);
        return outcome;
    }

    engine::InquiryOutcome outcome = engine::NotFound{};
    std::optional<std::string> defect;  // thrown
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

class ScriptedContracts : public engine::ContractSignatures {
public:
    engine::SignatureAnswer ask(std::uint64_t host_chain_id, const domain::Address&,
                                const domain::Bytes32&, domain::ByteView) override {
        asked_chains.push_back(host_chain_id);
        return answer;
    }

    engine::SignatureAnswer answer = engine::SignatureInvalid{};
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

}  // namespace api_test
