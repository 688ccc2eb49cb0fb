#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "chains/evm/signature.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"

namespace chains::evm {

struct Transaction;
class LocalSigner;

// Why there is no signature.
struct SignProblem {
    std::string text;         // one line without secrets
    bool unreached = false;   // it, or who lets us in, was out of reach; else it refused
    bool is_stopped = false;  // stop() was called
};

// The bytes of eth_sendRawTransaction: exactly what was asked for, signed by the account.
using SignResult = std::variant<domain::Bytes, SignProblem>;

// Port: who holds the relayer's key. Any thread.
class Signer {
public:
    virtual ~Signer() = default;

    // Nothing: not known yet, and nothing can be signed. Once known it never changes.
    [[nodiscard]] virtual std::optional<domain::Address> known_address() const = 0;

    // Itself when the key is in the process; the others are asked with fetch().
    [[nodiscard]] virtual const LocalSigner* local() const { return nullptr; }

    // Returns at once. `done` is called once, from any thread, perhaps before this returns; it does
    // not block.
    using Done = std::function<void(SignResult)>;
    virtual void fetch(const Transaction& transaction, Done done) = 0;

    struct Upkeep {
        std::optional<SignProblem> problem;         // nothing can be signed before it is gone
        std::optional<domain::Milliseconds> again;  // when to do it again without one
    };
    // Blocks. Sees to what signing needs, such as credentials; before the first fetch(), and when
    // it says.
    [[nodiscard]] virtual Upkeep keep_up() { return {}; }

    // What lets us in, for an operator. All without secrets.
    struct Credential {
        std::string text;  // such as `a bearer token`; empty: nothing does
        struct Right {
            std::string operation;
            std::optional<SignProblem> problem;  // absent: it may do that
        };
        std::vector<Right> rights;  // tried out
    };
    // Blocks. Nothing: none is needed, or none was found.
    [[nodiscard]] virtual std::optional<Credential> examine_credential() { return std::nullopt; }

    // What is under way ends, and so does everything later.
    virtual void stop() {}
};

// The key is in the process.
class LocalSigner : public Signer {
public:
    [[nodiscard]] virtual const domain::Address& address() const = 0;
    [[nodiscard]] virtual Signature sign(const domain::Bytes32& digest) const = 0;

    [[nodiscard]] std::optional<domain::Address> known_address() const override {
        return address();
    }
    [[nodiscard]] const LocalSigner* local() const override { return this; }
    void fetch(const Transaction& transaction, Done done) override;
};

// Signs with a key in memory, which is wiped when it goes. Deterministic nonces (RFC 6979).
// Throws std::invalid_argument, without the key in its text, unless `key` is 64 hex digits with or
// without `0x` that are a number from 1 to the order of the curve less 1.
[[nodiscard]] std::unique_ptr<LocalSigner> private_key_signer(std::string_view key);

}  // namespace chains::evm
