#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "chains/evm/options.hpp"
#include "config/cross_checks.hpp"

namespace config {
namespace {

using Signing = chains::evm::Options::Signing;

const std::string table_of_one = "gateway.tx_engine.signer";
const std::string list_of_several = "gateway.tx_engine.signers";
const std::string key_of_signer_allowed =
    "64 hexadecimal digits, or the file that holds them in private_key_file";

// What one signer has to be. Who signs must be complete, though nobody signs on a loopback.
class SignerChecks {
public:
    SignerChecks(const Node& table, const Signing& signing, Findings& findings)
        : table_(table), signing_(signing), findings_(findings) {}

    void run() {
        const auto type = text_at(table_, "type");
        if (!type) {
            missing("type", "private_key, aws_kms or remote");
        } else if (*type == "private_key") {
            both_keys();
            if (signing_.private_key_file.empty()) require("private_key", key_of_signer_allowed);
        } else if (*type == "aws_kms") {
            require("key_id", "text");
            require("region", "text");
            region();
            no_key_here(*type);
        } else if (*type == "remote") {
            require("url", "http://HOST… or https://HOST…");
            require("address", "the address of the account");
            remote_files();
            no_key_here(*type);
        }
    }

    // Where there are several nothing waits for KMS to say whose its key is.
    void need_address() {
        if (text_at(table_, "type") != "aws_kms") return;
        require("address",
                "the account of the key, as posthouse doctor says it with this key alone in "
                "gateway.tx_engine.signer");
    }

    // As for every file that holds a secret. What came from the environment names no file.
    void key_in_open_file() {
        const auto origin = findings_.origins.find(name_of("private_key"));
        if (origin == findings_.origins.end() || !is_open_to_others(origin->second)) return;
        refuse("private_key", "lies in a file that is open to other users",
               "a file closed to them (chmod 600), private_key_file, or the environment");
    }

    // What makes it the same as another one, and the key that says so. Nothing of it is shown.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> marks() const {
        std::vector<std::pair<std::string, std::string>> all;
        const auto add = [&](const char* key, const std::string& mark) {
            if (findings_.was_set(name_of(key))) all.emplace_back(name_of(key), mark);
        };
        std::string digits = base::lower_case(signing_.private_key);
        if (digits.starts_with("0x")) digits.erase(0, 2);
        add("private_key", "key " + digits);
        add("private_key_file", "file " + signing_.private_key_file);
        add("address", "address " + domain::to_hex(signing_.address));
        add("key_id", "kms " + signing_.region + " " + signing_.endpoint + " " + signing_.key_id);
        return all;
    }

private:
    [[nodiscard]] std::string name_of(const std::string& key) const {
        return signing_.table + "." + key;
    }

    void refuse(const std::string& key, const std::string& problem, const std::string& allowed) {
        findings_.error_where_set({name_of(key)}, problem, allowed);
    }

    // It becomes a part of a host's name.
    void region() {
        const auto fits = [](char c) { return base::is_lower(c) || base::is_digit(c) || c == '-'; };
        if (std::ranges::all_of(signing_.region, fits)) return;
        refuse("region", "is no region", "small letters, digits and -, such as eu-central-1");
    }

    // A key that nobody needs should lie nowhere.
    void no_key_here(const std::string& type) {
        for (const char* key : {"private_key", "private_key_file"}) {
            refuse(key, "is set, and type is " + type + ", which has no use for it",
                   "no key here, or type private_key");
        }
    }

    void remote_files() {
        if (signing_.client_certificate_file.empty() != signing_.client_key_file.empty()) {
            findings_.error_where_set(
                {name_of("client_certificate_file"), name_of("client_key_file")},
                "one is set without the other", "both or neither");
        }
        const bool has_tls = base::lower_case(signing_.url).starts_with("https:");
        for (const auto& [key, file] :
             {std::pair{"ca_file", &signing_.ca_file},
              std::pair{"client_certificate_file", &signing_.client_certificate_file}}) {
            if (has_tls || file->empty() || signing_.url.empty()) continue;
            refuse(key, "needs TLS, and " + name_of("url") + " has none",
                   "an https URL, or no file");
        }
    }

    void both_keys() {
        if (signing_.private_key_file.empty()) return;
        if (!findings_.was_set(name_of("private_key"))) return;
        refuse("private_key_file", name_of("private_key") + " is set too", "one of the two");
    }

    void require(const std::string& key, const std::string& allowed) {
        if (!findings_.was_set(name_of(key))) missing(key, allowed);
    }

    void missing(const std::string& key, const std::string& allowed) {
        if (findings_.refused(name_of(key))) return;
        findings_.error(table_.origin, name_of(key), "is missing", allowed);
    }

    const Node& table_;
    const Signing& signing_;
    Findings& findings_;
};

// Which of the two was meant nobody knows.
void refuse_both(const Node& one, Findings& findings) {
    const std::string problem = "is set, and " + list_of_several + " too";
    const std::string start = table_of_one + ".";
    const auto first = findings.origins.lower_bound(start);
    if (first != findings.origins.end() && first->first.starts_with(start)) {
        findings.error(first->second, first->first, problem, "one of the two");
    } else {
        findings.error(one.origin, table_of_one, problem, "one of the two");
    }
}

void check_several(const std::vector<const Node*>& list, const Settings& settings,
                   Findings& findings) {
    std::map<std::string, std::string> tables;
    for (std::size_t i = 0; i < list.size() && i < settings.evm.signers.size(); ++i) {
        const Signing& signing = settings.evm.signers[i];
        SignerChecks checks{*list[i], signing, findings};
        checks.run();
        checks.need_address();
        if (settings.gateway == GatewayType::evm) checks.key_in_open_file();
        for (const auto& [key, mark] : checks.marks()) {
            const auto [first, is_new] = tables.emplace(mark, signing.table);
            if (is_new) continue;
            findings.error_where_set({key}, "is that of " + first->second + " too",
                                     "a key of its own for each");
        }
    }
}

// Otherwise the table is there, and what is missing in it is said.
void require_key(const Signing& signing, Findings& findings) {
    const std::string key = table_of_one + ".private_key";
    if (!signing.private_key_file.empty() || findings.was_set(key) || findings.refused(key)) return;
    findings.error(
        findings.origins.at("gateway.type"), key,
        "is missing, gateway.type evm needs it: The key that signs transactions",
        key_of_signer_allowed + R"(; for example private_key_file = "/etc/posthouse/signer-key")");
}

}  // namespace

void check_signers(const Node& root, const Settings& settings, Findings& findings) {
    const Node* one = find(root, table_of_one);
    const Node* several = find(root, list_of_several);
    if (several != nullptr) {
        if (one != nullptr) refuse_both(*one, findings);
        if (const auto list = elements_of(*several)) check_several(*list, settings, findings);
        return;
    }
    const Signing& signing = settings.evm.signer;
    if (one != nullptr && std::holds_alternative<Node::Table>(one->value)) {
        SignerChecks{*one, signing, findings}.run();
    }
    if (settings.gateway != GatewayType::evm) return;
    const Node nothing{{}, Node::Table{}};
    SignerChecks{one != nullptr ? *one : nothing, signing, findings}.key_in_open_file();
    if (!text_at(root, table_of_one + ".type")) require_key(signing, findings);
}

}  // namespace config
