#include "chains/evm/signers/aws_kms.hpp"

#include <doctest/doctest.h>
#include <secp256k1.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/base64.hpp"
#include "chains/evm/http_server_script.hpp"
#include "chains/evm/signers/make_signer.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"
#include "domain/keccak.hpp"
#include "net/client_context.hpp"
#include "support/http_stub.hpp"
#include "support/virtual_time.hpp"

using namespace chains::evm;
using chains::evm::signers::AwsCredentials;
using chains::evm::signers::AwsCredentialsResult;
using chains::evm::signers::AwsKms;
using chains::jsonrpc::Json;
using support::http_answer;
using namespace std::chrono_literals;

namespace {

const std::string key_digits = std::string(63, '0') + "1";
// SubjectPublicKeyInfo before the point.
const std::string spki = "3056301006072a8648ce3d020106052b8104000a034200";
// The point of the key 1: the generator.
const std::string point =
    "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
    "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";

std::string base64_of_hex(const std::string& digits) {
    return base::to_base64(std::span<const std::uint8_t>{domain::from_hex(digits).value()});
}

domain::Bytes der_integer(const domain::Bytes32& number) {
    domain::Bytes content(number.begin(), number.end());
    while (content.size() > 1 && content[0] == 0 && content[1] < 0x80) {
        content.erase(content.begin());
    }
    if (content[0] >= 0x80) content.insert(content.begin(), 0);
    content.insert(content.begin(), {0x02, static_cast<std::uint8_t>(content.size())});
    return content;
}

domain::Bytes der_of(const domain::Bytes32& r, const domain::Bytes32& s) {
    domain::Bytes body = der_integer(r);
    const domain::Bytes second = der_integer(s);
    body.insert(body.end(), second.begin(), second.end());
    body.insert(body.begin(), {0x30, static_cast<std::uint8_t>(body.size())});
    return body;
}

// The order less s.
domain::Bytes32 other_half(const domain::Bytes32& s) {
    domain::Bytes32 negated = s;
    REQUIRE(secp256k1_ec_seckey_negate(secp256k1_context_static, negated.data()) == 1);
    return negated;
}

struct World {
    support::VirtualClock clock;
    support::ServerScript script;
    std::unique_ptr<LocalSigner> held = private_key_signer(key_digits);
    AwsCredentialsResult credentials = AwsCredentials{"AKIA1", "s1", "", {}};
    std::size_t looked = 0;
    bool high_s = false;
    std::string public_key = spki + point;
    std::optional<AwsKms> kms;
    Transaction wanted;

    // `address`: what the key has to be.
    explicit World(std::optional<domain::Address> address = std::nullopt) {
        wanted.chain_id = 654'321;
        wanted.nonce = 7;
        wanted.max_fee = 50;
        wanted.gas_limit = 21'000;
        signers::AwsKmsOptions options{"alias/relayer", "eu-central-1", "kms.example"};
        options.address = address;
        kms.emplace(
            options, script.server(),
            [this] {
                ++looked;
                return credentials;
            },
            clock);
        script.on_request = [this](const net::OwnedRequest& request) { return answer(request); };
    }

    [[nodiscard]] net::ClientResult answer(const net::OwnedRequest& request) {
        const Json body = Json::parse(request.body);
        CHECK(body["KeyId"] == "alias/relayer");
        if (support::header_of(request, "X-Amz-Target") == "TrentService.GetPublicKey") {
            return http_answer(200, Json{{"PublicKey", base64_of_hex(public_key)}}.dump());
        }
        CHECK(support::header_of(request, "X-Amz-Target") == "TrentService.Sign");
        CHECK(body["MessageType"] == "DIGEST");
        CHECK(body["SigningAlgorithm"] == "ECDSA_SHA_256");
        domain::Bytes32 digest{};
        REQUIRE(base::from_base64(body["Message"].get<std::string>(), digest));
        const Signature signature = held->sign(digest);
        const auto der = der_of(signature.r, high_s ? other_half(signature.s) : signature.s);
        return http_answer(
            200, Json{{"Signature", base::to_base64(std::span<const std::uint8_t>{der})}}.dump());
    }

    [[nodiscard]] SignResult fetch() {
        std::optional<SignResult> got;
        kms->fetch(wanted, [&](SignResult result) { got = std::move(result); });
        return got.value();
    }
    [[nodiscard]] bool signs() {
        const auto result = fetch();
        const auto* bytes = std::get_if<domain::Bytes>(&result);
        return bytes != nullptr && !difference(wanted, *bytes, held->address());
    }
};

}  // namespace

TEST_CASE("a KMS key: the address from its public key, r, s and parity from DER, s always low") {
    World world;
    CHECK_FALSE(world.kms->known_address());
    CHECK(std::get<SignProblem>(world.fetch()).unreached);
    CHECK(world.script.requests.empty());
    CHECK_FALSE(world.kms->keep_up().problem);
    CHECK(world.kms->known_address() == world.held->address());
    for (const bool high : {false, true}) {
        world.high_s = high;
        for (std::uint64_t nonce = 0; nonce < 40; ++nonce) {
            world.wanted.nonce = nonce;
            CHECK(world.signs());
        }
    }
    // Known once and for all.
    world.script.requests.clear();
    CHECK_FALSE(world.kms->keep_up().problem);
    CHECK(world.script.requests.empty());
}

TEST_CASE("requests to KMS carry signature version 4 and the session's token") {
    World world;
    world.credentials = AwsCredentials{"ASIA1", "s1", "t1", world.clock.wall() + 1h};
    REQUIRE_FALSE(world.kms->keep_up().problem);
    const auto& request = world.script.requests.at(0);
    CHECK(support::header_of(request, "X-Amz-Date") == "20260601T000000Z");
    CHECK(support::header_of(request, "X-Amz-Security-Token") == "t1");
    CHECK(support::header_of(request, "Content-Type") == "application/x-amz-json-1.1");
    // As @smithy/signature-v4 of the AWS SDK signs the same request.
    CHECK(support::header_of(request, "Authorization") ==
          "AWS4-HMAC-SHA256 Credential=ASIA1/20260601/eu-central-1/kms/aws4_request, "
          "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, "
          "Signature=457afe375407a612b46b4f603731e3ec86d1ae12cccba81c640fd6b9a48114ce");
}

TEST_CASE("credentials of KMS are renewed before they expire, and old ones do until then") {
    World world;
    const auto begin = world.clock.wall();
    world.credentials = AwsCredentials{"ASIA1", "s1", "t1", begin + 1h};
    CHECK(world.kms->keep_up().again.value() == 55min);
    CHECK(world.looked == 1);
    world.clock.advance(54min);
    CHECK_FALSE(world.kms->keep_up().problem);
    CHECK(world.looked == 1);
    world.clock.advance(2min);
    world.credentials = SignProblem{"AWS credentials: away", true};
    CHECK_FALSE(world.kms->keep_up().problem);
    CHECK(world.looked == 2);
    CHECK(world.kms->keep_up().again.value() == 30s);
    CHECK(world.signs());
    world.clock.advance(5min);
    CHECK(world.kms->keep_up().problem.value().text == "AWS credentials: away");
    CHECK(std::get<SignProblem>(world.fetch()).unreached);
    world.credentials = AwsCredentials{"ASIA2", "s2", "t2", world.clock.wall() + 1h};
    CHECK_FALSE(world.kms->keep_up().problem);
    CHECK(world.signs());
    CHECK(support::header_of(world.script.requests.back(), "X-Amz-Security-Token") == "t2");
}

TEST_CASE("a credential that KMS refuses is looked for again at once") {
    World world;
    REQUIRE_FALSE(world.kms->keep_up().problem);
    CHECK(world.looked == 1);
    world.script.on_request = [](const net::OwnedRequest&) {
        return http_answer(400, R"({"__type":"ExpiredTokenException","message":"arn:secret"})");
    };
    CHECK(std::get<SignProblem>(world.fetch()).text ==
          "kms:Sign: ExpiredTokenException, the credential has expired");
    CHECK_FALSE(world.kms->keep_up().problem);
    CHECK(world.looked == 2);
}

TEST_CASE("what KMS says instead of a signature: which operation, why, and nothing secret") {
    World world;
    REQUIRE_FALSE(world.kms->keep_up().problem);
    struct Row {
        const char* label;
        net::ClientResult answer;
        const char* part;
        bool unreached;
    };
    const auto says = [](int status, const std::string& type) {
        return http_answer(
            status, Json{{"__type", type}, {"message", "arn:aws:kms:eu:1:key/secret-id"}}.dump());
    };
    for (const Row& row : std::vector<Row>{
             {"denied", says(400, "AccessDeniedException"),
              "kms:Sign: AccessDeniedException, the credential may not do it", false},
             {"no key", says(400, "com.amazonaws.kms#NotFoundException"), "no such key", false},
             {"disabled", says(400, "DisabledException"), "disabled", false},
             {"usage", says(400, "InvalidKeyUsageException"), "SIGN_VERIFY", false},
             {"spec", says(400, "ValidationException"), "ECC_SECG_P256K1", false},
             {"signature", says(403, "InvalidSignatureException"), "region and the clock", false},
             {"unknown key id", says(400, "UnrecognizedClientException"), "does not know", false},
             {"throttled", says(400, "ThrottlingException"), "ThrottlingException", true},
             {"internal", says(500, "KMSInternalException"), "KMSInternalException", true},
             {"gateway", http_answer(502, "<html>"), "kms:Sign: HTTP 502", true},
             {"no word", says(400, "<script>"), "kms:Sign: HTTP 400", false},
             {"no member", http_answer(200, "{}"), "the answer has no Signature", false},
             {"no JSON", http_answer(200, "x"), "the answer has no Signature", false},
             {"no DER", http_answer(200, R"({"Signature":"AAAA"})"), "no signature of the key",
              false},
             {"no base64", http_answer(200, R"({"Signature":"?"})"), "no signature of the key",
              false},
             {"away", net::transport_error(net::TransportError::Kind::unsent, "no route"),
              "kms:Sign: no route", true},
         }) {
        CAPTURE(row.label);
        world.script.on_request = [&](const net::OwnedRequest&) { return row.answer; };
        const auto problem = std::get<SignProblem>(world.fetch());
        CHECK(problem.text.find(row.part) != std::string::npos);
        CHECK(problem.text.find("secret-id") == std::string::npos);
        CHECK(problem.text.find("alias") == std::string::npos);
        CHECK(problem.unreached == row.unreached);
    }
    // Another key's signature.
    const auto stranger = private_key_signer(std::string(63, '0') + "2");
    world.script.on_request = [&](const net::OwnedRequest& request) {
        domain::Bytes32 digest{};
        REQUIRE(base::from_base64(Json::parse(request.body)["Message"].get<std::string>(), digest));
        const Signature signature = stranger->sign(digest);
        const auto der = der_of(signature.r, signature.s);
        return http_answer(
            200, Json{{"Signature", base::to_base64(std::span<const std::uint8_t>{der})}}.dump());
    };
    CHECK(std::get<SignProblem>(world.fetch()).text.find("no signature of the key") !=
          std::string::npos);
}

TEST_CASE("what the credential of KMS may do is tried out, one operation after the other") {
    World world;
    world.credentials = AwsCredentials{"ASIA1", "s1", "t1", domain::from_unix_ms(1'780'293'600'000),
                                       "the instance's metadata"};
    const auto rights = [&] {
        const auto credential = world.kms->examine_credential();
        std::string text;
        for (const auto& [operation, problem] : credential.value().rights) {
            text += operation + (problem ? " no " : " yes ");
        }
        return text;
    };
    CHECK(world.kms->examine_credential().value().text ==
          "that of the instance's metadata, until 20260601T060000Z");
    CHECK(rights() == "kms:GetPublicKey yes kms:Sign yes ");
    for (const auto& [denied, expected] : std::vector<std::pair<std::string, std::string>>{
             {"GetPublicKey", "kms:GetPublicKey no kms:Sign yes "},
             {"Sign", "kms:GetPublicKey yes kms:Sign no "}}) {
        CAPTURE(denied);
        world.script.on_request = [&](const net::OwnedRequest& request) {
            return support::header_of(request, "X-Amz-Target") == "TrentService." + denied
                       ? http_answer(400, R"({"__type":"AccessDeniedException"})")
                       : world.answer(request);
        };
        CHECK(rights() == expected);
    }
    world.credentials = SignProblem{"AWS credentials: there are none"};
    world.clock.advance(std::chrono::days{365});
    CHECK_FALSE(world.kms->examine_credential());
}

TEST_CASE("a key of KMS that is given with its address has it at once, and no other one") {
    const auto address = private_key_signer(key_digits)->address();
    World right{address};
    CHECK(right.kms->known_address() == address);
    CHECK_FALSE(right.kms->keep_up().problem);
    CHECK(right.script.requests.size() == 1);
    CHECK(right.signs());
    // Compared once and for all.
    CHECK_FALSE(right.kms->keep_up().problem);
    CHECK(right.script.requests.size() == 2);

    World wrong{domain::Address{1}};
    for (int i = 0; i < 2; ++i) {
        const auto problem = wrong.kms->keep_up().problem;
        REQUIRE(problem);
        CHECK_FALSE(problem->unreached);
        CHECK(problem->text ==
              "kms:GetPublicKey: the key is of another account, " + domain::checksummed(address));
    }
    CHECK_FALSE(wrong.signs());
    CHECK(wrong.kms->known_address() == domain::Address{1});
}

TEST_CASE("a public key that is not on secp256k1 is none") {
    World world;
    const std::string p256 = "3059301306072a8648ce3d020106082a8648ce3d03010703420004";
    for (const std::string& digits :
         {std::string(), spki, p256 + std::string(128, '1'), spki + "04" + std::string(128, '0'),
          spki + point.substr(0, 128), spki + point + "00", "02" + point}) {
        CAPTURE(digits);
        world.public_key = digits;
        CHECK(world.kms->keep_up().problem.value().text.find("ECC_SECG_P256K1") !=
              std::string::npos);
        CHECK_FALSE(world.kms->known_address());
    }
    world.script.on_request = [](const net::OwnedRequest&) {
        return http_answer(400, R"({"__type":"AccessDeniedException"})");
    };
    CHECK(world.kms->keep_up().problem.value().text.starts_with(
        "kms:GetPublicKey: AccessDeniedException"));
}

TEST_CASE("who tells credentials in the clear is asked without a proxy") {
    using support::HttpStub;
    HttpStub proxy(
        HttpStub::answering([](const support::StubRequest&) { return support::http(200, "{}"); }));
    ::setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://[fd00:ec2::23]/v1/credentials", 1);
    ::setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "s3cret", 1);
    Options options;
    options.client_context = std::make_shared<net::ClientContext>(
        net::Proxies::from_environment({{"HTTP_PROXY", proxy.url("127.0.0.1", "")}}));
    Options::Signing signing;
    signing.type = Options::Signing::Type::aws_kms;
    signing.key_id = "alias/relayer";
    signing.region = "eu-central-1";
    const support::VirtualClock clock;
    const auto signer = signers::make_signer(options, signing, clock);
    CHECK(signer->keep_up().problem);
    CHECK(proxy.connections() == 0);
    ::unsetenv("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    ::unsetenv("AWS_CONTAINER_AUTHORIZATION_TOKEN");
}
