// What `posthouse job` tells of the trouble of a request: what a node said, not what we made of it.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "chains/evm/relay.hpp"
#include "store/job_reader.hpp"

using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Status;
using support::Relay;
using namespace std::chrono_literals;

namespace {

std::string told(Relay& relay, const domain::RequestId& id) {
    store::JobReader reader(relay.engine.store_options);
    const store::JobDetails details = reader.find(id).value();
    for (const store::HistoryEntry& entry : details.history) {
        if (entry.stage == "trouble") return entry.cause + ": " + entry.note;
    }
    return {};
}

}  // namespace

TEST_CASE("a job names what keeps it: the node's words, the fee cap, a node that is away") {
    struct Row {
        std::string label;
        std::function<void(Relay&)> arrange;
        Status status;
        std::string said;  // a part of what is told
    };
    const auto answers = [](const std::string& method, const Answer& answer) {
        return [method, answer](Relay& relay) {
            relay.chain.before = [method, answer](const Call& call) -> std::optional<Answer> {
                if (!call.method.starts_with(method)) return std::nullopt;
                return answer;
            };
        };
    };
    for (const Row& row :
         {Row{"refused when it is sent",
              answers("eth_sendRawTransaction", NodeError{-32'000, "the moon is in the way", {}}),
              Status::tx_in_flight, "the moon is in the way"},
          {"the pool is full",
           answers("eth_sendRawTransaction", NodeError{-32'000, "txpool is full", {}}),
           Status::tx_in_flight, "txpool is full"},
          {"the estimate fails",
           answers("eth_estimateGas", NodeError{-32'603, "header not found", {}}),
           Status::processing, "header not found"},
          {"nobody is there",
           answers("eth_", TransportError{TransportError::Kind::unsent, "connection refused", {}}),
           Status::processing, "connection refused"},
          {"not included, and fees may not be raised",
           [](Relay& relay) {
               relay.options.fees.max_fee_cap = 3'000'000'000;
               relay.restart();
               relay.chain.mines = false;
           },
           Status::tx_in_flight, "gateway.tx_engine.fees.max_fee_cap_gwei"}}) {
        CAPTURE(row.label);
        Relay relay;
        row.arrange(relay);
        const auto id = relay.submit(support::input_proof(1));
        relay.run_for(2min);
        CHECK(relay.engine.status(id) == row.status);
        const std::string trouble = told(relay, id);
        CHECK_MESSAGE(trouble.find(row.said) != std::string::npos, trouble);
        CHECK(trouble.starts_with(std::string(domain::to_string(row.status)) + ": "));
    }
}
