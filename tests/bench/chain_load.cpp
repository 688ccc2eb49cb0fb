#include "bench/chain_load.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
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

}  // namespace bench
