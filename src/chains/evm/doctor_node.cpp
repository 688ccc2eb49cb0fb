#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "chains/evm/doctor_checks.hpp"
#include "chains/evm/eth_call.hpp"
#include "chains/evm/log_query.hpp"
#include "chains/evm/revert.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "chains/jsonrpc/reply_class.hpp"

namespace chains::evm::doctor {

using jsonrpc::Json;
using std::chrono::seconds;

namespace {

constexpr seconds skew_to_note{30};
constexpr seconds skew_max{300};
constexpr std::uint64_t blocks_for_rhythm = 10;
// A chain whose blocks come further apart says little about the clock.
constexpr std::int64_t rare_seconds = 15;

std::variant<std::int64_t, Problem> time_of(jsonrpc::Node& node, const Json& block,
                                            std::uint64_t* number) {
    const auto answer = ask(node, {"eth_getBlockByNumber", Json::array({block, false})});
    if (const auto* problem = std::get_if<Problem>(&answer)) return *problem;
    const auto& said = std::get<Json>(answer);
    const auto time = jsonrpc::quantity(jsonrpc::member(said, "timestamp"));
    const auto at = jsonrpc::quantity(jsonrpc::member(said, "number"));
    if (!time || !at || *time > std::uint64_t{1} << 40U) return Problem{"a malformed block", true};
    if (number != nullptr) *number = *at;
    return static_cast<std::int64_t>(*time);
}

// The mean time between the last blocks; 0: not known.
std::int64_t rhythm(jsonrpc::Node& node, std::int64_t latest, std::uint64_t number) {
    const std::uint64_t blocks = std::min(number, blocks_for_rhythm);
    if (blocks == 0) return 0;
    const auto earlier = time_of(node, jsonrpc::hex_quantity(number - blocks), nullptr);
    if (std::holds_alternative<Problem>(earlier)) return 0;
    return (latest - std::get<std::int64_t>(earlier)) / static_cast<std::int64_t>(blocks);
}

}  // namespace

diagnosis::Finding ok(std::string subject, std::string text) {
    return {diagnosis::Finding::Verdict::ok, std::move(subject), std::move(text)};
}

diagnosis::Finding warning(std::string subject, std::string text) {
    return {diagnosis::Finding::Verdict::warning, std::move(subject), std::move(text)};
}

diagnosis::Finding failed(std::string subject, std::string text) {
    return {diagnosis::Finding::Verdict::failed, std::move(subject), std::move(text)};
}

std::variant<Json, Problem> ask(jsonrpc::Node& node, const jsonrpc::Call& call) {
    const jsonrpc::Answer answer = node.call(call);
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answer)) {
        return Problem{"no answer (" + problem->text + ")", false};
    }
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&answer)) {
        return Problem{call.method + " is refused (" + describe(*error) + ")", true};
    }
    return std::get<Json>(answer);
}

std::variant<domain::Bytes, Problem> ask_contract(jsonrpc::Node& node,
                                                  const domain::Address& contract,
                                                  const domain::Bytes& data, const char* block) {
    const auto answer = ask(node, eth_call(contract, data, block));
    if (const auto* problem = std::get_if<Problem>(&answer)) return *problem;
    auto bytes = jsonrpc::bytes(std::get<Json>(answer));
    if (!bytes) return Problem{"eth_call has a malformed answer", true};
    return *std::move(bytes);
}

std::variant<std::uint64_t, Problem> ask_number(jsonrpc::Node& node, const jsonrpc::Call& call) {
    const auto answer = ask(node, call);
    if (const auto* problem = std::get_if<Problem>(&answer)) return *problem;
    const auto number = jsonrpc::quantity(std::get<Json>(answer));
    if (!number) return Problem{call.method + " has a malformed answer", true};
    return *number;
}

diagnosis::Finding check_endpoint(const std::string& subject, jsonrpc::Node& node,
                                  std::optional<std::uint64_t> chain_id) {
    const auto answer = ask_number(node, {"eth_chainId", Json::array()});
    if (const auto* problem = std::get_if<Problem>(&answer)) {
        return failed(subject,
                      problem->text + (problem->refused ? ": is it an Ethereum JSON-RPC node?"
                                                        : ": check its URL and that it runs"));
    }
    const std::uint64_t said = std::get<std::uint64_t>(answer);
    if (chain_id && said != *chain_id) {
        return failed(subject, "chain id is " + std::to_string(said) + ", the configuration says " +
                                   std::to_string(*chain_id) + ": correct the URL or the chain id");
    }
    const std::string answers = "answers, chain id " + std::to_string(said);
    if (const auto remark = node.remark()) return ok(subject, answers + "; " + *remark);
    return ok(subject, answers);
}

diagnosis::Finding check_code(const std::string& subject, jsonrpc::Node& node,
                              const domain::Address& contract) {
    if (contract == domain::Address{}) {
        return failed(subject, "its address is zero: set the address of the deployment");
    }
    const std::string address = jsonrpc::hex(contract);
    const auto answer = ask(node, {"eth_getCode", Json::array({address, "latest"})});
    if (const auto* problem = std::get_if<Problem>(&answer)) return failed(subject, problem->text);
    const auto code = jsonrpc::bytes(std::get<Json>(answer));
    if (!code) return failed(subject, "eth_getCode has a malformed answer");
    if (code->empty()) {
        return failed(subject, "no contract at " + address + ": check the address and the chain");
    }
    return ok(subject, "at " + address);
}

diagnosis::Finding check_sync_send(jsonrpc::Node& write) {
    const std::string subject = "eth_sendRawTransactionSync";
    const jsonrpc::Answer answer = write.call({subject, Json::array({"0x"})});
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answer)) {
        return warning(subject, "not checked: no answer (" + problem->text + ")");
    }
    const auto* error = std::get_if<jsonrpc::NodeError>(&answer);
    if (error != nullptr &&
        jsonrpc::classify(*error).reply_class == jsonrpc::ReplyClass::method_missing) {
        return warning(subject, "the write node does not have it: receipts will be polled");
    }
    return ok(subject, "supported");
}

diagnosis::Finding check_listener(const std::string& subject, jsonrpc::Node& node,
                                  const Options& options) {
    const auto head = ask_number(node, {"eth_blockNumber", Json::array()});
    if (const auto* problem = std::get_if<Problem>(&head)) return failed(subject, problem->text);
    const std::uint64_t number = std::get<std::uint64_t>(head);
    const auto answer =
        ask(node, logs_call({number, number, options.decryption, options.input_verification}));
    if (const auto* problem = std::get_if<Problem>(&answer)) {
        return failed(subject, problem->text + ": answers are read with eth_getLogs, allow it");
    }
    if (!std::get<Json>(answer).is_array()) {
        return failed(subject, "eth_getLogs has a malformed answer: use another node");
    }
    return ok(subject, "eth_getLogs works at block " + std::to_string(number));
}

diagnosis::Finding check_clock(jsonrpc::Node& write, const ports::Clock& clock) {
    const std::string subject = "clock";
    std::uint64_t number = 0;
    const auto answer = time_of(write, "latest", &number);
    if (const auto* problem = std::get_if<Problem>(&answer)) return failed(subject, problem->text);
    const std::int64_t time = std::get<std::int64_t>(answer);
    const std::int64_t age = domain::unix_ms(clock.wall()) / 1'000 - time;
    const auto verdict = [&](std::int64_t off, std::string text) {
        return off > skew_max.count() ? failed(subject, std::move(text))
                                      : warning(subject, std::move(text));
    };
    if (-age > skew_to_note.count()) {
        return verdict(-age, "the latest block is " + std::to_string(-age) +
                                 " s in the future: this clock is slow, synchronise it");
    }
    const std::string old = "the latest block is " + std::to_string(age) + " s old";
    if (age <= skew_to_note.count()) return ok(subject, old);
    if (const std::int64_t pace = rhythm(write, time, number); number == 0 || pace > rare_seconds) {
        return warning(subject, old + ", but this chain mines rarely: compare the clock yourself");
    }
    return verdict(age, old + ": this clock is fast, the node is behind, or the chain has paused");
}

}  // namespace chains::evm::doctor
