#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "domain/time.hpp"

namespace net {
class ClientContext;
}

namespace chains::votes {

enum class ProverType { none, loopback, command, http };
enum class ProverFormat { json, binary };  // what goes over stdin and stdout
enum class ProverLife { fresh, pool };     // one process for each proof, or processes kept warm

struct ProverOptions {
    ProverType type = ProverType::none;
    // --- command ---
    // Program and arguments; a program without a slash is looked up in PATH.
    std::vector<std::string> command;
    ProverFormat format = ProverFormat::json;
    ProverLife life = ProverLife::fresh;
    std::uint64_t memory_bytes_max = 0;  // private writable memory of the process; 0: no limit
    std::vector<std::string>
        pass_environment;  // names of variables it gets beside PATH, HOME, LANG
    // --- http ---
    std::string url;    // http or https; where proofs are POSTed. Secret.
    std::string token;  // for `Authorization: Bearer`; empty: none. Secret.
    std::shared_ptr<net::ClientContext> client_context;  // null: one of its own
    // --- both ---
    domain::Milliseconds timeout{120'000};  // wall-clock time of one proof, its start included
};

// The chain that vote shares go to (share-helper 5.3).
struct Options {
    // Base URL of its REST interface; empty: none. Secret.
    std::string chain_url;
    // The same on this machine, when there is no URL but a prover; 0: none.
    int chain_api_port = 0;
    // Under which its codes are those of votes (the module of vote-sdk's x/vote).
    std::string chain_codespace = "vote";
    // Base URL of a helper that knows what is revealed, and its X-Helper-Token; empty: none.
    // Secret.
    std::string nullifier_url;
    std::string nullifier_token;
    domain::Milliseconds reveal_timeout{180'000};
    domain::Milliseconds read_timeout{10'000};
    // Refuse shares whose vote is not in the round's tree (1.4).
    bool commitment_check = false;
    ProverOptions prover;
    std::shared_ptr<net::ClientContext> client_context;  // null: each client has one of its own

    // Where the chain is, however it was said; empty: there is none.
    [[nodiscard]] std::string base_url() const {
        const bool by_port = chain_api_port != 0 && prover.type != ProverType::none;
        if (!chain_url.empty() || !by_port) return chain_url;
        return "http://localhost:" + std::to_string(chain_api_port);
    }
};

// Where a round is reported that closed with unrevealed shares; empty: nowhere.
struct WebhookOptions {
    std::string url;     // http or https. Secret.
    std::string secret;  // key of the HMAC-SHA256 signature; empty: not signed. Secret.
    domain::Milliseconds timeout{10'000};
    domain::Milliseconds pause_first{1'000};
    domain::Milliseconds pause_max{300'000};
    std::shared_ptr<net::ClientContext> client_context;  // null: one of its own
};

}  // namespace chains::votes
