// Whose a database without a mark is: what was signed in it says so.

#include "commands/chain_identities.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "chains/evm/plan.hpp"
#include "chains/evm/signer.hpp"
#include "chains/evm/transaction.hpp"
#include "domain/bytes.hpp"

namespace {

using chains::evm::Transaction;

const std::string ours_key = std::string(63, '0') + "1";
const std::string another_key = std::string(63, '0') + "2";
const domain::Address decryption{0xd0};
const domain::Address input_verification{0x1f};
const domain::Address stranger{0x99};

config::Settings settings_of_evm() {
    config::Settings settings;
    settings.gateway = config::GatewayType::evm;
    settings.evm.chain_id = 8'009;
    settings.evm.decryption = decryption;
    settings.evm.input_verification = input_verification;
    settings.evm.signer.private_key = ours_key;
    settings.api.share_disable = true;
    return settings;
}

domain::Bytes sealed(const std::string& key, const domain::Address& to,
                     std::uint64_t chain_id = 8'009) {
    Transaction transaction;
    transaction.chain_id = chain_id;
    transaction.nonce = 5;
    transaction.to = to;
    transaction.gas_limit = 50'000;
    transaction.max_fee = 7;
    transaction.priority_fee = 1;
    return chains::evm::sign(transaction, *chains::evm::private_key_signer(key));
}

domain::Address address_of(const std::string& key) {
    return chains::evm::private_key_signer(key)->address();
}

}  // namespace

TEST_CASE("a signed transaction is this chain's by number, contract and signer") {
    const auto identities = commands::chain_identities(settings_of_evm());
    REQUIRE(identities.size() == 1);
    const engine::ChainIdentity& chain = identities.front();
    CHECK(chain.signers.size() == 1);
    CHECK_FALSE(chain.is_trial);
    struct Row {
        std::string label;
        domain::Bytes bytes;
        bool is_own;        // whoever signed it
        bool is_of_signer;  // and of the configured one
    };
    domain::Bytes cut = sealed(ours_key, decryption);
    cut.pop_back();
    const std::vector<Row> rows{
        {"a decryption", sealed(ours_key, decryption), true, true},
        {"an input proof", sealed(ours_key, input_verification), true, true},
        {"one that does nothing", sealed(ours_key, address_of(ours_key)), true, true},
        {"signed by another key", sealed(another_key, decryption), true, false},
        {"another key's that does nothing", sealed(another_key, address_of(another_key)), true,
         false},
        {"another contract", sealed(ours_key, stranger), false, false},
        {"to another key", sealed(ours_key, address_of(another_key)), false, false},
        {"another chain", sealed(ours_key, decryption, 8'010), false, false},
        {"cut off", cut, false, false},
        {"no transaction", {1, 2, 3}, false, false},
        {"nothing", {}, false, false},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        CHECK(chain.is_own(row.bytes, false) == row.is_own);
        CHECK(chain.is_own(row.bytes, true) == row.is_of_signer);
    }
}

TEST_CASE("other contracts or another number are another chain, another key is not") {
    const auto is = [](const config::Settings& settings) {
        return commands::chain_identities(settings).front().is;
    };
    const std::string ours = is(settings_of_evm());
    config::Settings other = settings_of_evm();
    other.evm.signer.private_key = another_key;
    CHECK(is(other) == ours);
    const std::vector<std::pair<std::string, std::function<void(config::Settings&)>>> changes{
        {"decryption", [](auto& settings) { settings.evm.decryption = stranger; }},
        {"input_verification", [](auto& settings) { settings.evm.input_verification = stranger; }},
        {"chain_id", [](auto& settings) { settings.evm.chain_id = 8'010; }},
        {"type", [](auto& settings) { settings.gateway = config::GatewayType::loopback; }}};
    for (const auto& [label, change] : changes) {
        CAPTURE(label);
        other = settings_of_evm();
        change(other);
        CHECK(is(other) != ours);
    }
}

TEST_CASE("what the loopback signed is nobody else's") {
    config::Settings settings;
    settings.gateway = config::GatewayType::loopback;
    const auto trial = commands::chain_identities(settings);
    REQUIRE(trial.size() == 2);
    CHECK(trial.front().is_trial);
    CHECK_FALSE(trial.front().is_own(sealed(ours_key, decryption), false));
}

TEST_CASE("a key that is none ends the start, and is not repeated") {
    config::Settings settings = settings_of_evm();
    settings.evm.signer.private_key = "s3cr3t";
    try {
        static_cast<void>(commands::chain_identities(settings));
        FAIL("it was taken");
    } catch (const std::runtime_error& error) {
        CHECK(std::string(error.what()).find("s3cr3t") == std::string::npos);
    }
}
