#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "chains/evm/signer.hpp"
#include "chains/evm/signers/aws_kms.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"

namespace chains::evm::signers {

struct RemoteOptions {
    domain::Address address{};
    domain::Milliseconds timeout{5'000};
    bool shows_certificate = false;
};

// Somebody who answers eth_signTransaction over HTTP: Web3Signer (the bytes), plugins of Vault (the
// same, or in an object), Clef ({raw, tx}; its name for it is account_signTransaction, which is
// used where the first is no method). What comes back is believed only when it is, field by field,
// what was asked for, signed by the account. Any thread.
class Remote final : public Signer {
public:
    // Of the token's file: what is in it, or why there is nothing. Null: no token.
    using ReadToken = std::function<std::variant<std::string, SignProblem>()>;

    Remote(const RemoteOptions& options, HttpServer server, ReadToken read_token);

    [[nodiscard]] std::optional<domain::Address> known_address() const override {
        return options_.address;
    }
    void fetch(const Transaction& transaction, Done done) override;
    // Reads the token again: who renews it does not say when.
    [[nodiscard]] Upkeep keep_up() override;
    [[nodiscard]] std::optional<Credential> examine_credential() override;
    void stop() override;

private:
    void ask(const Transaction& transaction, bool as_clef, Done done);
    // What it came to, without the `secrets`; nothing: the method is unknown, and the other one is
    // worth a try.
    [[nodiscard]] std::optional<SignResult> read(const Transaction& transaction, bool as_clef,
                                                 std::span<const std::string> secrets,
                                                 const net::ClientResult& result) const;

    const RemoteOptions options_;
    const HttpServer server_;
    const ReadToken read_token_;
    std::atomic<bool> as_clef_{false};

    mutable std::mutex mutex_;  // for what follows
    std::string token_;
};

}  // namespace chains::evm::signers
