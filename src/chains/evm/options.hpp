#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chains/jsonrpc/wei.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"

namespace net {
class ClientContext;
}

namespace chains::evm {

// A chain behind JSON-RPC (evm-gateway 0.2, appendix B). URLs may hold secrets: none is ever
// printed.
struct Options {
    // Tries of a look-up that a node refuses, and the pause between two of them.
    struct Retry {
        std::uint32_t attempts_max = 3;  // at least 1
        domain::Milliseconds pause{1'000};
    };

    struct HostChain {
        std::uint64_t chain_id = 0;
        std::vector<std::string> urls;  // the first is preferred, the others stand in for it
        domain::Address acl{};
    };

    struct Listener {
        enum class Type { polling, subscription };
        Type type = Type::polling;
        std::string url;  // http(s) for polling, ws(s) for subscription
    };

    struct Listening {
        std::vector<Listener> listeners;  // each keeps a cursor of its own
        // Where listeners begin that never read; absent: at the head.
        std::optional<std::uint64_t> first_block;
        domain::Milliseconds poll_interval{2'000};
        domain::Milliseconds retry_interval{500};
        domain::Milliseconds recycle_interval{std::chrono::minutes{30}};  // subscriptions
        std::uint64_t confirmations = 0;  // blocks on top before an answer counts
        std::uint64_t reorg_depth = 64;   // how far back a changed block is looked for
        std::uint64_t range_max = 2'000;  // blocks per eth_getLogs
    };

    // Who signs. Not one of these values is ever shown but table, type, region and address.
    struct Signing {
        enum class Type { private_key, aws_kms, remote };
        std::string table{"gateway.tx_engine.signer"};  // of the configuration
        Type type = Type::private_key;
        chains::jsonrpc::Wei low_balance = 0;  // of the account; below it a warning; 0: none
        // One signature elsewhere, with all that has to be asked for it.
        domain::Milliseconds timeout{5'000};

        std::string private_key;  // private_key: 64 hex digits; secret
        // Where that stands instead: a path or credential:NAME; empty: nowhere.
        std::string private_key_file;

        std::string key_id;    // aws_kms: id, ARN or alias
        std::string region;    // aws_kms
        std::string endpoint;  // aws_kms; empty: that of the region

        std::string url;  // remote
        // remote; aws_kms: what its key has to be, zero: whatever it is.
        domain::Address address{};
        // remote; paths, empty: none. Whom TLS trusts instead of the system's authorities; what we
        // show; what is sent as a bearer token.
        std::string ca_file;
        std::string client_certificate_file;
        std::string client_key_file;
        std::string token_file;
    };

    struct Fees {
        domain::Milliseconds age_max{1'000};  // a fee history older than this is asked anew
        // A transaction that is pending for so long gets higher fees.
        domain::Milliseconds bump_after{30'000};
        std::uint32_t bump_permille = 125;     // at least 101: nodes want more than 10 %
        chains::jsonrpc::Wei max_fee_cap = 0;  // per gas; 0: ten times what the chain asks for
    };

    struct KeyUrls {
        domain::Address kms_generation{};
        domain::Milliseconds poll_interval{12'000};
    };

    struct ProtocolConfig {
        std::vector<std::string> urls;
        domain::Address address{};
        Retry retry{3, domain::Milliseconds{200}};
        // A threshold that was looked up is believed for so long.
        domain::Milliseconds threshold_age_max{std::chrono::minutes{5}};
    };

    std::uint64_t chain_id = 0;
    std::vector<std::string> write_urls;
    std::vector<std::string> read_urls;
    domain::Milliseconds call_timeout{10'000};  // one HTTP exchange
    domain::Milliseconds send_timeout{
        75'000};  // eth_sendRawTransactionSync: the node's wait and more
    std::size_t response_bytes_max = 16U << 20U;  // of one HTTP answer
    std::size_t batch_max = 50;                   // calls in one HTTP request

    domain::Address decryption{};
    domain::Address input_verification{};
    // What requests cost and in which token (1.5). Only for the self-check; absent: not checked.
    std::optional<domain::Address> protocol_payment;
    std::optional<domain::Address> fee_token;
    // How many shares complete a user decryption as configured; only for the self-check; 0:
    // unknown.
    std::uint32_t shares_threshold = 0;
    std::vector<HostChain> host_chains;

    Signing signer;
    std::vector<Signing> signers;   // several, each another account; empty: `signer` alone
    std::uint32_t sends_max = 100;  // as many connections may wait for a receipt

    Retry acl_retry{3, domain::Milliseconds{1'000}};
    std::uint32_t estimation_attempts_max = 100;  // while the ciphertext is not there (5.4)
    std::uint64_t erc1271_gas_limit = 100'000;
    // Nonce used by a transaction that is not ours: how long receipts of ours are looked for before
    // that is believed.
    domain::Milliseconds foreign_use_patience{30'000};
    // A transaction that a node refuses for a reason nobody knows: how long it is sent again before
    // its nonce is given up, and how long when others wait behind that nonce.
    domain::Milliseconds refusal_patience{std::chrono::minutes{10}};
    domain::Milliseconds refusal_patience_blocking{std::chrono::minutes{2}};

    Fees fees;
    Listening listening;
    KeyUrls key_urls;
    ProtocolConfig protocol_config;

    std::shared_ptr<net::ClientContext> client_context;  // null: each node has one of its own

    // All that sign.
    [[nodiscard]] std::span<const Signing> keys() const {
        return signers.empty() ? std::span{&signer, 1} : std::span{signers};
    }
    [[nodiscard]] std::span<Signing> keys() {
        return signers.empty() ? std::span{&signer, 1} : std::span{signers};
    }
};

}  // namespace chains::evm
