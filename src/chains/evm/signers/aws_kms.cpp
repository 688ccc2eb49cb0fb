#include "chains/evm/signers/aws_kms.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/parse.hpp"
#include "domain/keccak.hpp"

namespace chains::evm::signers {
namespace {

using domain::Milliseconds;
using jsonrpc::Json;

constexpr Milliseconds renewal_before_expiry = std::chrono::minutes{5};
// Files and variables may change without saying when.
constexpr Milliseconds renewal_without_expiry = std::chrono::minutes{10};
constexpr Milliseconds upkeep_min{30'000};
constexpr std::size_t der_bytes_max = 512;
constexpr std::array<std::uint8_t, 16> credential_probe{'p', 'o', 's', 't', 'h', 'o', 'u', 's',
                                                        'e', ' ', 'd', 'o', 'c', 't', 'o', 'r'};

// Of a SubjectPublicKeyInfo: id-ecPublicKey, secp256k1, an uncompressed point (RFC 5480; SEC 2).
constexpr std::array<std::uint8_t, 23> spki_start{0x30, 0x56, 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86,
                                                  0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b,
                                                  0x81, 0x04, 0x00, 0x0a, 0x03, 0x42, 0x00};

struct Meaning {
    std::string_view type;
    std::string_view text;
};

// What only time or AWS can change.
constexpr std::array passing{
    std::string_view{"ThrottlingException"},        std::string_view{"LimitExceededException"},
    std::string_view{"RequestLimitExceeded"},       std::string_view{"KMSInternalException"},
    std::string_view{"KeyUnavailableException"},    std::string_view{"InternalFailure"},
    std::string_view{"DependencyTimeoutException"}, std::string_view{"ServiceUnavailable"},
};

constexpr std::array meanings{
    Meaning{"AccessDeniedException",
            "the credential may not do it with this key; allow it in its policy or the key's"},
    Meaning{"NotFoundException", "there is no such key there; look at key_id and region"},
    Meaning{"DisabledException", "the key is disabled"},
    Meaning{"KMSInvalidStateException", "the key is disabled, or waits for its deletion"},
    Meaning{"InvalidKeyUsageException", "the key does not sign; it has to be for SIGN_VERIFY"},
    Meaning{"UnsupportedOperationException", "the key does not sign; it has to be for SIGN_VERIFY"},
    Meaning{"ValidationException", "the key does not sign so; it has to be ECC_SECG_P256K1"},
    Meaning{"InvalidSignatureException",
            "the request's signature is wrong; look at the secret key, region and the clock"},
    Meaning{"SignatureDoesNotMatch",
            "the request's signature is wrong; look at the secret key, region and the clock"},
    Meaning{"ExpiredTokenException", "the credential has expired"},
    Meaning{"UnrecognizedClientException", "AWS does not know the credential"},
    Meaning{"InvalidClientTokenId", "AWS does not know the credential"},
    Meaning{"IncompleteSignature", "the credential has no form that AWS knows"},
};

// Such as `com.amazonaws.kms#NotFoundException`; empty when it is no word.
std::string type_in(const std::string& body) {
    const auto json = jsonrpc::parse(body);
    if (!json || !json->is_object()) return {};
    const auto found = json->find("__type");
    if (found == json->end() || !found->is_string()) return {};
    std::string type = found->get<std::string>();
    type.erase(0, type.find('#') + 1);
    const bool is_word = type.size() <= 64 && std::ranges::all_of(type, base::is_letter);
    return is_word ? type : std::string{};
}

SignProblem refusal(const std::string& operation, int status, const std::string& type) {
    std::string text = "kms:" + operation + ": ";
    text += type.empty() ? "HTTP " + std::to_string(status) : type;
    const auto meaning = std::ranges::find(meanings, type, &Meaning::type);
    if (meaning != meanings.end()) text.append(", ").append(meaning->text);
    const bool passes = status >= 500 || status == 429 ||
                        std::ranges::find(passing, std::string_view{type}) != passing.end();
    return {std::move(text), passes};
}

std::optional<domain::Bytes> der_in(const std::string& base64) {
    domain::Bytes bytes(der_bytes_max);
    const auto size = base::read_base64(base64, bytes);
    if (!size || *size > bytes.size()) return std::nullopt;
    bytes.resize(*size);
    return bytes;
}

std::optional<domain::Address> address_in(domain::ByteView der) {
    if (der.size() <= spki_start.size() ||
        !std::ranges::equal(der.first(spki_start.size()), spki_start)) {
        return std::nullopt;
    }
    return account_of(der.subspan(spki_start.size()));
}

std::string end_of(const AwsCredentials& credentials) {
    if (!credentials.expires) return "without an end";
    return "until " + amz_date(*credentials.expires);
}

}  // namespace

AwsKms::AwsKms(AwsKmsOptions options, HttpServer server,
               std::function<AwsCredentialsResult()> find_credentials, const ports::Clock& clock)
    : options_(std::move(options)),
      server_(std::move(server)),
      find_credentials_(std::move(find_credentials)),
      clock_(clock),
      address_(options_.address) {}

std::optional<domain::Address> AwsKms::known_address() const {
    const std::lock_guard lock{mutex_};
    return address_;
}

void AwsKms::stop() {
    server_.stop();
}

std::optional<AwsCredentials> AwsKms::usable_credentials() const {
    const std::lock_guard lock{mutex_};
    if (!credentials_) return std::nullopt;
    if (credentials_->expires && *credentials_->expires <= clock_.wall()) return std::nullopt;
    return credentials_;
}

void AwsKms::fetch(const Transaction& transaction, Done done) {
    const auto credentials = usable_credentials();
    const auto account = known_address();
    if (!credentials || !account) {
        done(SignProblem{account ? "there are no AWS credentials that have not expired"
                                 : "its address is not known yet",
                         true});
        return;
    }
    const domain::Bytes32 digest = signing_hash(transaction);
    ask("Sign", sign_body(digest), "Signature", *credentials,
        [transaction, digest, account = *account, done = std::move(done)](Answer answer) {
            if (auto* problem = std::get_if<SignProblem>(&answer)) {
                done(std::move(*problem));
                return;
            }
            const auto der = der_in(std::get<std::string>(answer));
            const auto signature = der ? from_der(*der, digest, account) : std::nullopt;
            if (signature) {
                done(with_signature(transaction, *signature));
            } else {
                done(SignProblem{"kms:Sign: the answer is no signature of the key"});
            }
        });
}

std::string AwsKms::sign_body(const domain::Bytes32& digest) const {
    return Json{{"KeyId", options_.key_id},
                {"Message", base::to_base64(std::span<const std::uint8_t>{digest})},
                {"MessageType", "DIGEST"},
                {"SigningAlgorithm", "ECDSA_SHA_256"}}
        .dump();
}

Signer::Upkeep AwsKms::keep_up() {
    if (auto problem = renew_credentials()) return {std::move(problem), {}};
    if (auto problem = learn_address()) return {std::move(problem), {}};
    const std::lock_guard lock{mutex_};
    if (!credentials_ || !credentials_->expires) return {{}, renewal_without_expiry};
    return {{},
            std::max(upkeep_min, *credentials_->expires - renewal_before_expiry - clock_.wall())};
}

// Old ones do while there are no new ones.
std::optional<SignProblem> AwsKms::renew_credentials() {
    const domain::Timestamp now = clock_.wall();
    {
        const std::lock_guard lock{mutex_};
        const bool is_fresh =
            credentials_ && renewed_ &&
            (credentials_->expires ? *credentials_->expires - now > renewal_before_expiry
                                   : now - *renewed_ < renewal_without_expiry);
        if (is_fresh) return std::nullopt;
    }
    auto found = find_credentials_();
    if (const auto* problem = std::get_if<SignProblem>(&found)) {
        if (usable_credentials() && !problem->is_stopped) return std::nullopt;
        return *problem;
    }
    const std::lock_guard lock{mutex_};
    credentials_ = std::get<AwsCredentials>(std::move(found));
    renewed_ = now;
    return std::nullopt;
}

std::optional<SignProblem> AwsKms::learn_address() {
    {
        const std::lock_guard lock{mutex_};
        if (is_key_seen_) return std::nullopt;
    }
    const auto credentials = usable_credentials();
    if (!credentials) return SignProblem{"AWS credentials: they have expired", true};
    Answer answer = ask_and_wait("GetPublicKey", Json{{"KeyId", options_.key_id}}.dump(),
                                 "PublicKey", *credentials);
    if (auto* problem = std::get_if<SignProblem>(&answer)) return std::move(*problem);
    const auto der = der_in(std::get<std::string>(answer));
    const auto address = der ? address_in(*der) : std::nullopt;
    if (!address) {
        return SignProblem{
            "kms:GetPublicKey: the key is not on secp256k1; its key spec has to be "
            "ECC_SECG_P256K1"};
    }
    const std::lock_guard lock{mutex_};
    if (address_ && address_ != address) {
        return SignProblem{"kms:GetPublicKey: the key is of another account, " +
                           domain::checksummed(*address)};
    }
    address_ = address;
    is_key_seen_ = true;
    return std::nullopt;
}

std::optional<Signer::Credential> AwsKms::examine_credential() {
    static_cast<void>(renew_credentials());
    const auto credentials = usable_credentials();
    if (!credentials) return std::nullopt;
    Credential credential{"that of " + credentials->source + ", " + end_of(*credentials), {}};
    const auto try_out = [&](const std::string& operation, const std::string& body,
                             const char* member) {
        Answer answer = ask_and_wait(operation, body, member, *credentials);
        auto* problem = std::get_if<SignProblem>(&answer);
        credential.rights.push_back({"kms:" + operation, problem != nullptr
                                                             ? std::optional{std::move(*problem)}
                                                             : std::nullopt});
    };
    try_out("GetPublicKey", Json{{"KeyId", options_.key_id}}.dump(), "PublicKey");
    try_out("Sign", sign_body(domain::keccak256(credential_probe)), "Signature");
    return credential;
}

AwsKms::Answer AwsKms::ask_and_wait(const std::string& operation, const std::string& body,
                                    const char* member, const AwsCredentials& credentials) {
    std::promise<Answer> answered;
    ask(operation, body, member, credentials,
        [&answered](Answer answer) { answered.set_value(std::move(answer)); });
    return answered.get_future().get();
}

void AwsKms::ask(const std::string& operation, const std::string& body, const char* member,
                 const AwsCredentials& credentials, std::function<void(Answer)> done) {
    const domain::Timestamp now = clock_.wall();
    net::OwnedRequest request{.method = "POST", .body = body, .repeatable = true};
    request.headers = {{"Content-Type", "application/x-amz-json-1.1"},
                       {"X-Amz-Date", amz_date(now)},
                       {"X-Amz-Target", "TrentService." + operation}};
    if (!credentials.session_token.empty()) {
        request.headers.emplace_back("X-Amz-Security-Token", credentials.session_token);
    }
    AwsRequest to_sign{"POST", options_.path, {}, request.headers, request.body};
    to_sign.headers.emplace_back("Host", options_.authority);
    request.headers.emplace_back(
        "Authorization", sigv4_authorization(to_sign, credentials, {options_.region, "kms"}, now));
    server_.ask(std::move(request), options_.timeout,
                [this, operation, member, done = std::move(done)](const net::ClientResult& result) {
                    done(read(operation, member, result));
                });
}

AwsKms::Answer AwsKms::read(const std::string& operation, const char* member,
                            const net::ClientResult& result) {
    if (const auto* error = std::get_if<net::TransportError>(&result)) {
        return SignProblem{"kms:" + operation + ": " + error->text, true,
                           error->kind == net::TransportError::Kind::stopped};
    }
    const auto& response = std::get<net::ClientResponse>(result);
    if (response.status != 200) {
        const std::string type = type_in(response.body);
        constexpr std::array used_up{std::string_view{"ExpiredTokenException"},
                                     std::string_view{"UnrecognizedClientException"},
                                     std::string_view{"InvalidClientTokenId"}};
        if (std::ranges::find(used_up, std::string_view{type}) != used_up.end()) {
            const std::lock_guard lock{mutex_};
            renewed_.reset();  // others are looked for
        }
        return refusal(operation, response.status, type);
    }
    const auto json = jsonrpc::parse(response.body);
    if (json && json->is_object()) {
        const auto found = json->find(member);
        if (found != json->end() && found->is_string()) return found->get<std::string>();
    }
    return SignProblem{"kms:" + operation + ": the answer has no " + member};
}

}  // namespace chains::evm::signers
