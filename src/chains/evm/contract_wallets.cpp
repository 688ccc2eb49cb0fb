#include "chains/evm/contract_wallets.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>

#include "chains/evm/calls.hpp"
#include "chains/evm/eth_call.hpp"
#include "chains/evm/revert.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::evm {
namespace {

constexpr std::array<std::uint8_t, 4> magic{0x16, 0x26, 0xba, 0x7e};

engine::SignatureAnswer verdict(const domain::Bytes& returned) {
    if (returned.size() >= 32 && std::equal(magic.begin(), magic.end(), returned.begin())) {
        return engine::SignatureValid{};
    }
    return engine::SignatureInvalid{};
}

// evm-gateway 9.2. A revert without data is a refusal here like one with data: relayer-api 1.11
// point 5 knows no difference, the reference's 500 for it is a quirk.
engine::SignatureAnswer judge(const jsonrpc::Answer& answer) {
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&answer)) {
        if (is_revert(*error)) return engine::SignatureInvalid{};
        return engine::Unreachable{text_of(*error)};
    }
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answer)) {
        return engine::Unreachable{text_of(*problem), {}, 0, problem->wait};
    }
    if (const auto returned = jsonrpc::bytes(std::get<jsonrpc::Json>(answer)))
        return verdict(*returned);
    return engine::Unreachable{"malformed answer"};
}

bool is_stop(const jsonrpc::Answer& answer) {
    const auto* problem = std::get_if<jsonrpc::TransportError>(&answer);
    return problem != nullptr && problem->kind == jsonrpc::TransportError::Kind::stopped;
}

}  // namespace

ContractWallets::ContractWallets(const Options& options, const Hosts& hosts, Pause pause)
    : options_(options),
      hosts_(hosts),
      pause_(pause ? std::move(pause) : [this](domain::Milliseconds time) { wait(time); }) {}

engine::SignatureAnswer ContractWallets::ask(std::uint64_t host_chain_id,
                                             const domain::Address& account,
                                             const domain::Bytes32& digest,
                                             domain::ByteView signature) {
    const std::string chain = "host chain " + std::to_string(host_chain_id);
    const auto host = hosts_.find(host_chain_id);
    if (host == hosts_.end()) return engine::Unreachable{chain + ": no node is configured"};

    jsonrpc::Call call = eth_call(account, is_valid_signature(digest, signature), "pending");
    call.params[0]["gas"] = jsonrpc::hex_quantity(options_.erc1271_gas_limit);

    const Options::Retry& retry = options_.acl_retry;
    // Somebody waits for the answer to a POST: a node that wants more time than all pauses together
    // is not waited for, and not asked before its time either.
    const domain::Milliseconds wait_max = retry.pause * retry.attempts_max;
    for (std::uint32_t attempt = 1;; ++attempt) {
        jsonrpc::Answer answer = host->second->call(call);
        if (lacks_block(answer) && call.params[1] == "pending") {
            call.params[1] = "latest";
            answer = host->second->call(call);
        }
        engine::SignatureAnswer said = judge(answer);
        auto* unreachable = std::get_if<engine::Unreachable>(&said);
        if (unreachable == nullptr) return said;
        unreachable->reason = chain + ": " + unreachable->reason;
        if (attempt >= retry.attempts_max || is_stop(answer) || unreachable->hold > wait_max) {
            return said;
        }
        pause_(std::max(retry.pause, unreachable->hold));
        if (is_stopped()) return said;
    }
}

void ContractWallets::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
    }
    stopping_.notify_all();
}

void ContractWallets::wait(domain::Milliseconds time) {
    std::unique_lock lock{mutex_};
    stopping_.wait_for(lock, time, [this] { return stopped_; });
}

bool ContractWallets::is_stopped() const {
    const std::lock_guard lock{mutex_};
    return stopped_;
}

}  // namespace chains::evm
