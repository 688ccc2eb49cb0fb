#include "commands/secrets.hpp"

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "api/access/authenticator.hpp"
#include "api/access/secret_file.hpp"
#include "base/sanitize.hpp"
#include "chains/evm/signer.hpp"
#include "chains/evm/signers/make_signer.hpp"
#include "commands/exit_status.hpp"
#include "config/secret_values.hpp"
#include "config/source.hpp"
#include "domain/derived_key.hpp"
#include "domain/keccak.hpp"
#include "net/client.hpp"
#include "net/tls.hpp"
#include "platform/real_clock.hpp"

namespace commands {

namespace {

using Signing = chains::evm::Options::Signing;

std::string credentials_directory() {
    for (const auto& [name, value] : config::process_environment()) {
        if (name == "CREDENTIALS_DIRECTORY") return value;
    }
    return {};
}

// By its path. Throws what is wrong with the name of a credential.
void find_file(const std::string& key, std::string& file, const std::string& credentials) {
    auto place = api::access::place_of(file, credentials);
    if (const auto* problem = std::get_if<api::access::FileProblem>(&place)) {
        throw std::runtime_error(key + ": " + problem->text);
    }
    file = std::get<std::string>(std::move(place));
}

void find_tls_files(net::HttpOptions& http, const std::string& credentials) {
    find_file("http.tls_certificate_file", http.tls_certificate_file, credentials);
    find_file("http.tls_key_file", http.tls_key_file, credentials);
}

// What only the running service can read; each name of one gives a line.
std::vector<std::string> leave_out_credentials(config::Settings& settings) {
    std::vector<std::string> lines;
    if (!settings.api.access.credentials_directory.empty()) return lines;
    std::vector<std::string*> files;
    for (std::string* file :
         {&settings.api.access.client_keys_file, &settings.api.access.share_tokens_file,
          &settings.http.tls_certificate_file, &settings.http.tls_key_file,
          &settings.admin.token_file}) {
        files.push_back(file);
    }
    for (auto& signing : settings.evm.keys()) {
        files.insert(files.end(),
                     {&signing.private_key_file, &signing.ca_file, &signing.client_certificate_file,
                      &signing.client_key_file, &signing.token_file});
    }
    const auto leave_out = [&lines](auto& file) {
        const std::string name = file;
        if (!api::access::is_credential(name)) return;
        lines.push_back("not_checked file=" + base::log_value(name) +
                        " reason=\"only the service has it\"");
        file.clear();
    };
    for (std::string* file : files) leave_out(*file);
    if (settings.cluster) {
        leave_out(settings.cluster->key_file);
        leave_out(settings.cluster->other_key_file);
        leave_out(settings.cluster->ca_file);
    }
    return lines;
}

void read_admin_token(config::Settings& settings) {
    if (!settings.api.admin_enabled || settings.admin.token_file.empty()) return;
    settings.admin.token = config::read_token_file(settings.admin.token_file,
                                                   settings.api.access.credentials_directory);
}

// Whether the digits are a key at all: not every number is.
void check_signer_key(const Signing& signing) {
    try {
        static_cast<void>(chains::evm::private_key_signer(signing.private_key));
    } catch (const std::invalid_argument&) {
        throw std::runtime_error(signing.table +
                                 ".private_key: is no key; allowed: 64 hexadecimal digits, a "
                                 "number from 1 to the order of secp256k1 less 1");
    }
}

// By their paths; the token is read when it is needed, and now to see whether it can be.
void find_signer_files(Signing& signer, const std::string& credentials) {
    if (!signer.token_file.empty()) {
        config::check_signer_token(signer.table + ".token_file", signer.token_file, credentials);
    }
    find_file(signer.table + ".ca_file", signer.ca_file, credentials);
    find_file(signer.table + ".client_certificate_file", signer.client_certificate_file,
              credentials);
    find_file(signer.table + ".client_key_file", signer.client_key_file, credentials);
    find_file(signer.table + ".token_file", signer.token_file, credentials);
}

void read_signer_key(Signing& signing, const std::string& credentials) {
    if (signing.type != Signing::Type::private_key) {
        find_signer_files(signing, credentials);
        return;
    }
    if (!signing.private_key_file.empty()) {
        signing.private_key = config::read_signer_key(signing.table + ".private_key_file",
                                                      signing.private_key_file, credentials);
    }
    // Nothing when only the running service has it.
    if (!signing.private_key.empty()) check_signer_key(signing);
}

// Two that sign for one account would give out each nonce twice.
void require_different_accounts(const chains::evm::Options& evm) {
    std::map<domain::Address, std::string> tables;
    for (const Signing& signing : evm.keys()) {
        if (signing.type == Signing::Type::private_key && signing.private_key.empty()) continue;
        const auto account = chains::evm::signers::configured_account(signing);
        if (!account) continue;
        const auto [first, is_new] = tables.emplace(*account, signing.table);
        if (is_new) continue;
        throw std::runtime_error(signing.table + ": signs for the same account as " +
                                 first->second + ", " + domain::checksummed(*account) +
                                 "; allowed: a key of its own for each");
    }
}

void read_signer_keys(config::Settings& settings) {
    if (settings.gateway != config::GatewayType::evm) return;
    for (Signing& signing : settings.evm.keys()) {
        read_signer_key(signing, settings.api.access.credentials_directory);
    }
    require_different_accounts(settings.evm);
}

// Nothing of a key that only the running service has.
std::optional<domain::Bytes32> read_key_of_cluster(const std::string& name,
                                                   const std::string& place,
                                                   const std::string& credentials) {
    if (place.empty()) return std::nullopt;
    return config::read_cluster_key("cluster." + name, place, credentials);
}

void read_cluster_files(config::Settings& settings) {
    if (!settings.cluster) return;
    cluster::Options& options = *settings.cluster;
    const std::string& credentials = settings.api.access.credentials_directory;
    auto current = read_key_of_cluster("key_file", options.key_file, credentials);
    auto other = read_key_of_cluster("other_key_file", options.other_key_file, credentials);
    if (current) options.keys = std::make_shared<const cluster::Keys>(*current, other);
    for (auto* key : {&current, &other}) {
        if (*key) domain::wipe(**key);
    }
    find_file("cluster.ca_file", options.ca_file, credentials);
}

// The keys that name these files.
struct TlsKeys {
    std::string authorities;
    std::string certificate;
    std::string key;
};

// What net says of a file begins with which one it is.
template <typename Use>
void try_tls(const TlsKeys& keys, Use use) {
    try {
        use();
    } catch (const std::system_error&) {
        throw;
    } catch (const std::runtime_error& error) {
        const std::string text = error.what();
        for (const auto& [name, key] :
             {std::pair{"authorities", &keys.authorities},
              std::pair{"certificate", &keys.certificate}, std::pair{"key", &keys.key}}) {
            if (text.starts_with(std::string("cannot use the TLS ").append(name))) {
                throw std::runtime_error(*key + ": " + text);
            }
        }
        throw;
    }
}

void try_keys_of(const std::string& key, const api::access::Options& access,
                 const ports::Clock& clock) {
    try {
        const api::access::Authenticator authenticator(access, clock);
    } catch (const std::system_error&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(key + ": " + error.what());
    }
}

// Those who use them read them again; here a start ends before anything is on disk.
void try_keys_and_certificate(const config::Settings& settings) {
    const platform::RealClock clock;
    api::access::Options clients = settings.api.access;
    clients.share_tokens_file.clear();
    try_keys_of("http.client_keys_file", clients, clock);
    api::access::Options wallets = settings.api.access;
    wallets.client_keys_file.clear();
    try_keys_of("helper.api_tokens_file", wallets, clock);
    for (const Signing& signing : settings.evm.keys()) {
        if (settings.gateway != config::GatewayType::evm) break;
        if (signing.type != Signing::Type::remote) continue;
        try_tls(
            {signing.table + ".ca_file", signing.table + ".client_certificate_file",
             signing.table + ".client_key_file"},
            [&] {
                static_cast<void>(chains::evm::signers::make_signer(settings.evm, signing, clock));
            });
    }
    const net::HttpOptions& http = settings.http;
    if (!http.tls_key_file.empty() && !http.tls_certificate_file.empty()) {
        try_tls({{}, "http.tls_certificate_file", "http.tls_key_file"}, [&] {
            const net::Tls tls({http.tls_certificate_file, http.tls_key_file});
        });
    }
    if (settings.cluster && !settings.cluster->ca_file.empty()) {
        try_tls({"cluster.ca_file", {}, {}}, [&] {
            const net::Client no_node(net::parse_url("https://localhost").value(), 1,
                                      settings.evm.client_context, {settings.cluster->ca_file, {}});
        });
    }
}

// No descriptor, memory or thread left is no fault of the settings: the next start may go well.
template <typename Reading>
void blame_settings(const config::Origins& origins, Reading reading) {
    try {
        reading();
    } catch (const std::system_error&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw BadSettings(config::located(origins, error.what()));
    }
}

}  // namespace

void find_signer_key(config::Settings& settings, const config::Origins& origins) {
    settings.api.access.credentials_directory = credentials_directory();
    blame_settings(origins, [&] { read_signer_keys(settings); });
}

void find_cluster_keys(config::Settings& settings) {
    settings.api.access.credentials_directory = credentials_directory();
    blame_settings({}, [&] { read_cluster_files(settings); });
}

void find_secrets(config::Settings& settings, const config::Origins& origins) {
    settings.api.access.credentials_directory = credentials_directory();
    blame_settings(origins, [&] {
        find_tls_files(settings.http, settings.api.access.credentials_directory);
        read_admin_token(settings);
        read_signer_keys(settings);
        read_cluster_files(settings);
        try_keys_and_certificate(settings);
    });
}

std::vector<std::string> check_secrets(config::Settings& settings, const config::Origins& origins) {
    settings.api.access.credentials_directory = credentials_directory();
    std::vector<std::string> lines = leave_out_credentials(settings);
    find_secrets(settings, origins);
    return lines;
}

}  // namespace commands
