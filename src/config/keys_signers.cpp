#include <optional>
#include <utility>

#include "config/amounts.hpp"
#include "config/evm_key.hpp"
#include "config/keys.hpp"

namespace config {
namespace {

using namespace std::chrono_literals;

ValueType<std::string> place_of_file() {
    return secret("a path or credential:NAME, at most 4096 bytes; empty: none");
}

// Of one that signs: that of the table, or those of the list.
#define OF_SIGNER(member) \
    ([signer](auto& s, std::size_t index) -> auto& { return signer(s, index).member; })

template <typename Signer>
std::vector<Key> keys_of_signer(const std::string& table, Signer signer) {
    using Type = chains::evm::Options::Signing::Type;
    const auto secret_text = secret("text, at most 4096 bytes");
    const auto type = choice<Type>(
        {{"private_key", Type::private_key}, {"aws_kms", Type::aws_kms}, {"remote", Type::remote}});
    return {
        without_default(
            key(table + "type", type, OF_SIGNER(type),
                "Who signs transactions: a key in this process, one of AWS KMS, or somebody who "
                "answers eth_signTransaction (Web3Signer, Clef, plugins of Vault)."),
            "\"private_key\""),
        hidden(without_default(key(table + "private_key", private_key(), OF_SIGNER(private_key),
                                   "For type private_key: the key, or private_key_file."),
                               "\"\"")),
        key(table + "private_key_file", place_of_file(), OF_SIGNER(private_key_file),
            "A file that holds the key and nothing else, closed to other users (chmod 600)."),
        key(table + "low_balance_ether", amount(ether_decimals), OF_SIGNER(low_balance),
            "A warning is logged while the account has less; 0: none.", "ether"),
        key(table + "timeout", duration(100ms, 15s), OF_SIGNER(timeout),
            "For types aws_kms and remote: one signature."),
        hidden(without_default(key(table + "key_id", secret_text, OF_SIGNER(key_id),
                                   "For type aws_kms: id, ARN or alias of the key."),
                               "\"\"")),
        hidden(without_default(key(table + "region", secret_text, OF_SIGNER(region),
                                   "For type aws_kms, such as eu-central-1."),
                               "\"\"")),
        hidden(without_default(
            key(table + "endpoint", url({"http", "https"}), OF_SIGNER(endpoint),
                "For type aws_kms, optional: in place of https://kms.REGION.amazonaws.com."),
            "\"http://localhost:4566\"")),
    };
}

template <typename Signer>
std::vector<Key> keys_of_remote_signer(const std::string& table, Signer signer) {
    return {
        hidden(without_default(key(table + "url", url({"http", "https"}), OF_SIGNER(url),
                                   "For type remote: where eth_signTransaction is answered."),
                               "\"https://localhost:9000\"")),
        without_default(key(table + "address", address(), OF_SIGNER(address),
                            "For type remote: the account it signs for. For type aws_kms: the one "
                            "that the key has to be of; optional where it signs alone."),
                        "\"0x0000000000000000000000000000000000000001\""),
        key(table + "ca_file", place_of_file(), OF_SIGNER(ca_file),
            "For type remote: PEM, whom TLS trusts instead of the system's authorities."),
        key(table + "client_certificate_file", place_of_file(), OF_SIGNER(client_certificate_file),
            "For type remote: PEM, the certificate we show, with client_key_file."),
        key(table + "client_key_file", place_of_file(), OF_SIGNER(client_key_file),
            "For type remote: PEM, its key, closed to other users (chmod 600)."),
        key(table + "token_file", place_of_file(), OF_SIGNER(token_file),
            "For type remote: a file that holds a bearer token and nothing else, closed to other "
            "users; it is read again every half minute."),
    };
}

#undef OF_SIGNER

template <typename Signer>
std::vector<Key> all_keys_of_signer(const std::string& table, Signer signer) {
    return joined({keys_of_signer(table, signer), keys_of_remote_signer(table, signer)});
}

}  // namespace

std::vector<Key> signer_keys() {
    const std::string table = "gateway.tx_engine.";
    std::vector<Key> alone = all_keys_of_signer(
        table + "signer.", [](auto& s, std::size_t) -> auto& { return s.evm.signer; });
    std::vector<Key> several = all_keys_of_signer(
        table + "signers[].",
        [](auto& s, std::size_t index) -> auto& { return s.evm.signers[index]; });
    alone.front() = needed_by_evm(std::move(alone.front()));
    several.front() = needed(std::move(several.front()), "\"private_key\"");
    Settings one;
    one.evm.signers.resize(1);
    for (Key& key : several) {
        if (key.show && !key.required) key.sample = key.show(one, 0);
    }
    return joined({std::move(alone), std::move(several)});
}

}  // namespace config
