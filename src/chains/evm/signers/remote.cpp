#include "chains/evm/signers/remote.hpp"

#include <array>
#include <utility>
#include <vector>

#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "chains/jsonrpc/node_error.hpp"
#include "chains/jsonrpc/parse.hpp"
#include "net/url.hpp"

namespace chains::evm::signers {
namespace {

using jsonrpc::Json;

constexpr domain::Milliseconds token_interval{30'000};
constexpr std::int64_t method_not_found = -32'601;  // JSON-RPC 2.0, 5.1

Json arguments_for(const Transaction& transaction, const domain::Address& account) {
    Json call{{"from", jsonrpc::hex(account)},
              {"to", jsonrpc::hex(transaction.to)},
              {"gas", jsonrpc::hex_quantity(transaction.gas_limit)},
              {"nonce", jsonrpc::hex_quantity(transaction.nonce)},
              {"value", "0x0"},
              {"data", jsonrpc::hex(transaction.data)},
              {"chainId", jsonrpc::hex_quantity(transaction.chain_id)}};
    if (transaction.legacy) {
        call["gasPrice"] = jsonrpc::hex_quantity(transaction.max_fee);
    } else {
        call["maxFeePerGas"] = jsonrpc::hex_quantity(transaction.max_fee);
        call["maxPriorityFeePerGas"] = jsonrpc::hex_quantity(transaction.priority_fee);
    }
    return call;
}

// Where the bytes stand in an answer.
std::optional<domain::Bytes> bytes_in(const Json& result) {
    if (!result.is_object()) return jsonrpc::bytes(result);
    for (const char* name : {"raw", "rawTransaction", "signed_transaction", "signedTransaction"}) {
        if (const Json& member = jsonrpc::member(result, name); !member.is_null()) {
            return jsonrpc::bytes(member);
        }
    }
    return std::nullopt;
}

SignProblem of_status(int status) {
    const std::string text = "HTTP " + std::to_string(status);
    if (status == 401 || status == 403) {
        return {"it does not let us in (" + text +
                "); look at token_file and client_certificate_file"};
    }
    return {"it answers " + text, status >= 500 || status == 429};
}

}  // namespace

Remote::Remote(const RemoteOptions& options, HttpServer server, ReadToken read_token)
    : options_(options), server_(std::move(server)), read_token_(std::move(read_token)) {}

void Remote::stop() {
    server_.stop();
}

Signer::Upkeep Remote::keep_up() {
    if (!read_token_) return {};
    auto read = read_token_();
    const std::lock_guard lock{mutex_};
    if (auto* token = std::get_if<std::string>(&read)) {
        token_ = std::move(*token);
    } else if (token_.empty()) {
        return {std::get<SignProblem>(read), {}};
    }
    return {{}, token_interval};
}

std::optional<Signer::Credential> Remote::examine_credential() {
    std::string text = options_.shows_certificate ? "a client certificate" : "";
    if (read_token_) text += text.empty() ? "a bearer token" : " and a bearer token";
    return Credential{std::move(text), {}};
}

void Remote::fetch(const Transaction& transaction, Done done) {
    ask(transaction, as_clef_, std::move(done));
}

void Remote::ask(const Transaction& transaction, bool as_clef, Done done) {
    const Json call{{"jsonrpc", "2.0"},
                    {"id", 1},
                    {"method", as_clef ? "account_signTransaction" : "eth_signTransaction"},
                    {"params", Json::array({arguments_for(transaction, options_.address)})}};
    net::OwnedRequest request{.method = "POST", .body = call.dump(), .repeatable = true};
    std::vector<std::string> secrets = server_.secrets;
    {
        const std::lock_guard lock{mutex_};
        if (!token_.empty()) {
            request.headers = {{"Authorization", "Bearer " + token_}};
            secrets = net::with_token(std::move(secrets), token_);
        }
    }
    server_.ask(std::move(request), options_.timeout,
                [this, transaction, as_clef, secrets = std::move(secrets),
                 done = std::move(done)](const net::ClientResult& result) mutable {
                    if (auto outcome = read(transaction, as_clef, secrets, result)) {
                        if (std::holds_alternative<domain::Bytes>(*outcome)) as_clef_ = as_clef;
                        done(*std::move(outcome));
                    } else {
                        ask(transaction, true, std::move(done));
                    }
                });
}

std::optional<SignResult> Remote::read(const Transaction& transaction, bool as_clef,
                                       std::span<const std::string> secrets,
                                       const net::ClientResult& result) const {
    if (const auto* error = std::get_if<net::TransportError>(&result)) {
        return SignProblem{error->text, true, error->kind == net::TransportError::Kind::stopped};
    }
    const auto& response = std::get<net::ClientResponse>(result);
    if (response.status == 401 || response.status == 403) return of_status(response.status);
    const auto reply = jsonrpc::parse(response.body);
    if (reply && reply->is_object()) {
        const Json& said = jsonrpc::member(*reply, "error");
        if (const auto error = jsonrpc::read_node_error(said, secrets)) {
            if (error->code == method_not_found && !as_clef) return std::nullopt;
            return SignProblem{"it refuses: " + jsonrpc::shortened(error->message)};
        }
    }
    if (response.status != 200) return of_status(response.status);
    const auto bytes = reply ? bytes_in(jsonrpc::member(*reply, "result")) : std::nullopt;
    if (!bytes) return SignProblem{"its answer holds no signed transaction"};
    if (auto other = difference(transaction, *bytes, options_.address)) {
        return SignProblem{"it did not sign what it was asked to: " + *other};
    }
    return *bytes;
}

}  // namespace chains::evm::signers
