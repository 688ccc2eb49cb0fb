#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chains/evm/signer.hpp"
#include "chains/evm/signers/aws_credentials.hpp"
#include "domain/time.hpp"
#include "net/client.hpp"
#include "ports/clock.hpp"

namespace chains::evm::signers {

// An HTTP client of one server.
struct HttpServer {
    // Returns at once; `done` once, from any thread (net::Client::send).
    std::function<void(net::OwnedRequest request, domain::Milliseconds timeout,
                       net::Client::Done done)>
        ask;
    std::function<void()> stop = [] {};
    std::vector<std::string> secrets{};  // of its URL (net::Client::secrets)
};

struct AwsKmsOptions {
    std::string key_id;     // id, ARN or alias; never shown
    std::string region;     // for the scope of signatures
    std::string authority;  // what the client puts into Host
    std::string path = "/";
    domain::Milliseconds timeout{5'000};
    // What the key has to be; absent: whatever it is.
    std::optional<domain::Address> address{};
};

// A key of AWS KMS, ECC_SECG_P256K1 for SIGN_VERIFY (KMS API Reference: GetPublicKey, Sign with
// MessageType DIGEST). Its signatures are not deterministic. The address comes from the public key
// when keep_up() has it, or is compared with it; credentials are looked for again five minutes
// before they expire. Problems say which operation is refused, and nothing of key or credential.
// Any thread.
class AwsKms final : public Signer {
public:
    AwsKms(AwsKmsOptions options, HttpServer server,
           std::function<AwsCredentialsResult()> find_credentials, const ports::Clock& clock);

    [[nodiscard]] std::optional<domain::Address> known_address() const override;
    void fetch(const Transaction& transaction, Done done) override;
    [[nodiscard]] Upkeep keep_up() override;
    // Signs a digest that belongs to nothing.
    [[nodiscard]] std::optional<Credential> examine_credential() override;
    void stop() override;

private:
    using Answer = std::variant<std::string, SignProblem>;  // the member that was asked for

    [[nodiscard]] std::optional<SignProblem> renew_credentials();
    [[nodiscard]] std::optional<SignProblem> learn_address();
    [[nodiscard]] std::optional<AwsCredentials> usable_credentials() const;
    [[nodiscard]] std::string sign_body(const domain::Bytes32& digest) const;
    [[nodiscard]] Answer ask_and_wait(const std::string& operation, const std::string& body,
                                      const char* member, const AwsCredentials& credentials);
    void ask(const std::string& operation, const std::string& body, const char* member,
             const AwsCredentials& credentials, std::function<void(Answer)> done);
    [[nodiscard]] Answer read(const std::string& operation, const char* member,
                              const net::ClientResult& result);

    const AwsKmsOptions options_;
    const HttpServer server_;
    const std::function<AwsCredentialsResult()> find_credentials_;
    const ports::Clock& clock_;

    mutable std::mutex mutex_;  // for what follows
    std::optional<AwsCredentials> credentials_;
    std::optional<domain::Timestamp> renewed_;
    std::optional<domain::Address> address_;
    bool is_key_seen_ = false;  // its public key came
};

}  // namespace chains::evm::signers
