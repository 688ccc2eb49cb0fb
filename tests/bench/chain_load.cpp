#include "bench/chain_load.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include "api/decode.hpp"
#include "bench/http_load.hpp"
#include "bench/inspection.hpp"
#include "bench/load.hpp"
#include "chains/evm/calls.hpp"
#include "chains/evm/selectors.hpp"

namespace bench {

using namespace std::chrono_literals;
namespace selector = chains::evm::selector;

const std::array<ChainKind, 3> chain_kinds{
    {{"public_decrypt", "public decrypts", selector::public_decryption_request,
      Body::public_decrypt},
     {"user_decrypt", "user decrypts", selector::user_decryption_request, Body::user_decrypt},
     {"input_proof", "input proofs", selector::verify_proof_request, Body::input_proof}}};

namespace {

constexpr auto look_every = 20ms;
constexpr auto patience = 120s;
constexpr std::uint32_t unlimited_rate = 1'000'000;

std::uint64_t included(Anvil& anvil, const std::vector<domain::Address>& accounts) {
    std::uint64_t count = 0;
    for (const domain::Address& account : accounts) count += anvil.included(account);
    return count;
}

void wait_until_all(Inspection& inspection, std::string_view status, std::uint64_t count) {
    const auto begin = Stopwatch::now();
    while (inspection.in_status(status) < count) {
        if (Stopwatch::now() - begin > patience) {
            throw std::runtime_error("requests do not become " + std::string(status));
        }
        std::this_thread::sleep_for(look_every);
    }
}

}  // namespace

domain::Bytes calldata_of(const Body& body) {
    const auto now =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                       std::chrono::system_clock::now().time_since_epoch())
                                       .count());
    const auto decode = body.path() == "/v2/input-proof"      ? api::decode_input_proof
                        : body.path() == "/v2/public-decrypt" ? api::decode_public_decrypt
                                                              : api::decode_user_decrypt;
    const auto decoded = decode(body.text(), now);
    const auto* request = std::get_if<domain::Request>(&decoded);
    if (request == nullptr) throw std::runtime_error("a sample body is refused");
    return chains::evm::request_call(*request);
}

void post_all(const Options& options, int port, std::uint64_t of_each_kind) {
    for (const ChainKind& kind : chain_kinds) {
        Posts posts(kind.body(options.bodies), many_clients);
        HttpLoad load(
            {.host = "127.0.0.1", .port = port, .connections = many_clients},
            [&posts](std::size_t connection, std::uint64_t) { return posts.next(connection); });
        Expectation expectation = job_accepted;
        expectation.watch(load);
        expectation.check(load.run(of_each_kind));
    }
}

void wait_for_tokens_only(const std::filesystem::path& directory) {
    Inspection inspection(data_directory(directory), ledger_file(directory));
    const auto begin = Stopwatch::now();
    while (inspection.in_status("queued") > 0) {
        if (Stopwatch::now() - begin > 60s) throw std::runtime_error("checks do not end");
        std::this_thread::sleep_for(50ms);
    }
}

void set_rates(Settings& settings, std::uint32_t per_seconds, std::uint32_t burst) {
    for (const ChainKind& kind : chain_kinds) {
        const std::string gate = "gateway.tx_engine.tx_throttlers." + std::string(kind.name);
        settings[gate + ".per_seconds"] = std::to_string(per_seconds);
        settings[gate + ".burst"] = std::to_string(burst);
        settings[gate + ".capacity"] = "1000000";
    }
    for (const char* family : {"public_decrypt", "user_decrypt"}) {
        settings[std::string("gateway.readiness_checker.") + family + ".capacity"] = "1000000";
    }
}

double inclusion_rate(Anvil& anvil, const std::vector<domain::Address>& accounts,
                      std::uint64_t before, std::uint64_t all) {
    const auto begin = Stopwatch::now();
    Stopwatch::time_point first_at;
    std::uint64_t first = before;
    for (;;) {
        const std::uint64_t count = included(anvil, accounts);
        const auto now = Stopwatch::now();
        if (first == before && count > before) {
            first = count;
            first_at = now;
        }
        if (count >= all) {
            return static_cast<double>(all - first) /
                   std::chrono::duration<double>(now - first_at).count();
        }
        if (now - begin > patience) throw std::runtime_error("transactions are not included");
        std::this_thread::sleep_for(look_every);
    }
}

double drained_rate(const Options& options, const std::filesystem::path& directory, Anvil& anvil,
                    Settings settings, const std::vector<domain::Address>& accounts,
                    std::uint64_t of_each_kind) {
    const std::uint64_t all = of_each_kind * chain_kinds.size();
    {
        set_rates(settings, 1, 1);
        Posthouse posthouse(options, {directory, {}}, settings);
        post_all(options, posthouse.port(), of_each_kind);
        wait_for_tokens_only(directory);
        posthouse.stop();
    }
    const std::uint64_t before = included(anvil, accounts);
    set_rates(settings, unlimited_rate, 0);
    Posthouse posthouse(options, {directory, {}}, settings);
    const double rate = inclusion_rate(anvil, accounts, before, all);
    Inspection inspection(data_directory(directory), ledger_file(directory));
    wait_until_all(inspection, "receipt_received", all);
    posthouse.stop();
    if (included(anvil, accounts) != all) throw std::runtime_error("a request was sent twice");
    return rate;
}

}  // namespace bench
