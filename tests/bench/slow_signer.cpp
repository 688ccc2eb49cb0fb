#include "bench/slow_signer.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace bench {

namespace {

using chains::jsonrpc::Json;

constexpr std::size_t threads = 128;  // a connection keeps a thread

chains::evm::Transaction asked_for(const Json& call) {
    chains::evm::Transaction transaction;
    transaction.chain_id = chains::jsonrpc::quantity(call.at("chainId")).value();
    transaction.nonce = chains::jsonrpc::quantity(call.at("nonce")).value();
    transaction.priority_fee = chains::jsonrpc::wei(call.at("maxPriorityFeePerGas")).value();
    transaction.max_fee = chains::jsonrpc::wei(call.at("maxFeePerGas")).value();
    transaction.gas_limit = chains::jsonrpc::quantity(call.at("gas")).value();
    transaction.to = chains::jsonrpc::address(call.at("to")).value();
    transaction.data = chains::jsonrpc::bytes(call.at("data")).value();
    return transaction;
}

}  // namespace

SlowSigner::SlowSigner(std::chrono::milliseconds delay, const std::string& key, Serves serves)
    : delay_(delay), key_(chains::evm::private_key_signer(key)), serves_(serves) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(threads); };
    server_.set_tcp_nodelay(true);
    server_.set_keep_alive_max_count(std::numeric_limits<std::size_t>::max());
    server_.Post("/", [this](const httplib::Request& request, httplib::Response& response) {
        answer(request, response);
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    if (port_ <= 0) throw std::runtime_error("the signer can not listen");
    thread_ = std::jthread([this] { server_.listen_after_bind(); });
}

SlowSigner::~SlowSigner() {
    server_.stop();
}

void SlowSigner::put_into(Settings& settings) const {
    const std::string table = "gateway.tx_engine.signer.";
    settings.erase(table + "private_key");
    settings[table + "type"] = R"("remote")";
    settings[table + "url"] = "\"http://127.0.0.1:" + std::to_string(port_) + '"';
    settings[table + "address"] = '"' + chains::jsonrpc::hex(key_->address()) + '"';
}

std::string SlowSigner::table() const {
    return R"({type = "remote", url = "http://127.0.0.1:)" + std::to_string(port_) +
           R"(", address = ")" + chains::jsonrpc::hex(key_->address()) + R"("})";
}

void SlowSigner::answer(const httplib::Request& request, httplib::Response& response) {
    const std::size_t now = ++under_way_;
    for (std::size_t most = peak_; most < now && !peak_.compare_exchange_weak(most, now);) {
    }
    {
        std::unique_lock one{one_, std::defer_lock};
        if (serves_ == Serves::one) one.lock();
        std::this_thread::sleep_for(delay_);
    }
    const Json call = Json::parse(request.body);
    const auto bytes = sign(asked_for(call.at("params").at(0)), *key_);
    response.set_content(
        Json{{"jsonrpc", "2.0"}, {"id", call.at("id")}, {"result", chains::jsonrpc::hex(bytes)}}
            .dump(),
        "application/json");
    --under_way_;
}

}  // namespace bench
