#include <array>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "bench/anvil.hpp"
#include "bench/chain_load.hpp"
#include "bench/http_load.hpp"
#include "bench/inspection.hpp"
#include "bench/load.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"
#include "chains/evm/signer.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/decode.hpp"

// How fast a backlog gets on chain beside a client that does nothing but send what was signed
// before: the same calls in the same order, as many under way at once, on a chain of its own. Both
// are counted on the chain, from the first inclusion on. Where blocks take no time the node's work
// is the limit, and Posthouse asks it for the gas of everything first; so a third one that sends
// what was signed before, but asks too, shows what the node lets through then.
namespace bench {

namespace {

using chains::jsonrpc::hex;
using chains::jsonrpc::Json;

struct Setup {
    std::size_t at_once = 0;
    unsigned block_seconds = 0;
    std::uint64_t of_each_kind = 0;
};

std::unique_ptr<chains::evm::LocalSigner> relayer() {
    return chains::evm::private_key_signer(relayer_key);
}

std::uint64_t gas_limit_of(Anvil& anvil, const Json& call) {
    const auto gas = chains::jsonrpc::quantity(anvil.ask("eth_estimateGas", Json::array({call})));
    if (!gas) throw std::runtime_error("anvil tells no gas estimate");
    return *gas * 12 / 10;
}

std::string http_request(std::string_view method, const Json& parameters) {
    const std::string body =
        Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", parameters}}.dump();
    return "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
           "Content-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

// What a relayer asks and sends for one request, ready to leave.
struct Ready {
    std::string estimate;
    std::string send;
};

std::vector<Ready> all_ready(const Options& options, Anvil& anvil, const Setup& setup) {
    constexpr chains::jsonrpc::Wei gwei = 1'000'000'000;
    const auto signer = relayer();
    std::vector<Ready> all;
    for (const ChainKind& kind : chain_kinds) {
        Body body = kind.body(options.bodies);
        chains::evm::Transaction transaction;
        transaction.chain_id = chain_id;
        transaction.priority_fee = 1;
        transaction.max_fee = 100 * gwei;
        transaction.to = gateway_contract();
        for (std::uint64_t number = 0; number < setup.of_each_kind; ++number) {
            body.set_number(number);
            transaction.data = calldata_of(body);
            transaction.nonce = all.size();
            const Json call{{"from", hex(signer->address())},
                            {"to", hex(transaction.to)},
                            {"input", hex(transaction.data)},
                            {"value", "0x0"}};
            if (number == 0) transaction.gas_limit = gas_limit_of(anvil, call);
            all.push_back({http_request("eth_estimateGas", {call, "latest"}),
                           http_request("eth_sendRawTransactionSync",
                                        Json::array({hex(sign(transaction, *signer))}))});
        }
    }
    return all;
}

// `estimates`: each connection asks what the gas is before it sends.
double bare_rate(const Options& options, const Setup& setup, bool estimates) {
    const Scratch scratch(options.directory);
    Anvil anvil(options, scratch.path(), setup.block_seconds);
    const std::vector<Ready> all = all_ready(options, anvil, setup);
    std::size_t asked = 0;
    std::size_t sent = 0;
    const std::size_t per_item = estimates ? 2 : 1;
    HttpLoad load(
        {.host = "127.0.0.1", .port = anvil.port(), .connections = setup.at_once},
        [&](std::size_t, std::uint64_t sequence) {
            const bool asks = estimates && sequence % 2 == 0 && asked < all.size();
            return std::string_view(asks ? all.at(asked++).estimate : all.at(sent++).send);
        });
    Expectation expectation{"anvil", 200, estimates ? R"("result")" : R"("status":"0x1")"};
    expectation.watch(load);
    auto rate = std::async(std::launch::async, [&] {
        return inclusion_rate(anvil, {relayer()->address()}, 0, all.size());
    });
    expectation.check(load.run(all.size() * per_item));
    return rate.get();
}

double posthouse_rate(const Options& options, const Setup& setup) {
    const Scratch scratch(options.directory);
    Anvil anvil(options, scratch.path(), setup.block_seconds);
    Settings settings = on_chain(anvil, anvil.port());
    settings["gateway.tx_engine.max_concurrency"] = std::to_string(setup.at_once);
    return drained_rate(options, scratch.path(), anvil, settings, {relayer()->address()},
                        setup.of_each_kind);
}

void compare(const Options& options, const Setup& setup, Report& report) {
    const bool at_once = setup.block_seconds == 0;
    Series bare;
    Series asking;
    Series posthouse;
    for (std::size_t round = 0; round < options.amount.drain_rounds; ++round) {
        bare.add(bare_rate(options, setup, false));
        posthouse.add(posthouse_rate(options, setup));
        if (at_once) asking.add(bare_rate(options, setup, true));
    }
    const std::string what = std::string("no rate, blocks ") +
                             (at_once ? "at once, " : "each second, ") +
                             std::to_string(setup.at_once) + " under way";
    report.at_least(0.8, what, "tx/s", posthouse, "signed before", bare);
    if (at_once) report.beside(what, "tx/s", posthouse, "signed before, gas estimated", asking);
}

}  // namespace

void measure_chain(const Options& options, Report& report) {
    measure_chain_rate(options, report);
    measure_chain_unlimited(options, report);
    measure_chain_keys(options, report);
}

void measure_chain_unlimited(const Options& options, Report& report) {
    for (const std::size_t at_once : std::array<std::size_t, 2>{32, 100}) {
        compare(options, {at_once, 0, options.amount.chained / chain_kinds.size()}, report);
        compare(options, {at_once, 1, at_once * options.amount.chain_blocks / chain_kinds.size()},
                report);
    }
}

}  // namespace bench
