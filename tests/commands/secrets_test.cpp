#include "commands/secrets.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "commands/exit_status.hpp"
#include "config/exit_status.hpp"
#include "support/no_descriptors.hpp"
#include "support/temp_directory.hpp"

namespace {

// What a start ends with that can not go on; 0: it goes on.
int status_of_start(const config::Settings& settings) {
    config::Settings found = settings;
    try {
        commands::find_secrets(found);
    } catch (const std::exception& error) {
        return commands::exit_status_of(error);
    }
    return 0;
}

}  // namespace

TEST_CASE("a shortage while secrets are read is no fault of the settings") {
    const support::TempDirectory directory;
    const std::string file = (directory.path() / "token").string();
    std::ofstream(file) << "sixteen-characters\n";
    REQUIRE(::chmod(file.c_str(), 0600) == 0);
    config::Settings with_token;
    with_token.api.admin_enabled = true;
    with_token.admin.token_file = file;
    config::Settings with_tls;
    with_tls.http.tls_certificate_file = file;
    with_tls.http.tls_key_file = file;
    config::Settings with_keys;
    with_keys.api.access.client_keys_file = file;
    CHECK(status_of_start(with_token) == 0);
    CHECK(status_of_start(with_tls) == config::exit_usage);
    CHECK(status_of_start(with_keys) == config::exit_usage);
    for (const config::Settings* settings : {&with_token, &with_tls, &with_keys}) {
        const support::NoDescriptors shortage;
        CHECK(status_of_start(*settings) == config::exit_failed);
    }
    with_token.admin.token_file += "-missing";
    CHECK(status_of_start(with_token) == config::exit_usage);
}

TEST_CASE("a file that can not be used is named with its key and where that was set") {
    const support::TempDirectory directory;
    const std::string token = (directory.path() / "token").string();
    std::ofstream(token) << "sixteen-characters\n";
    REQUIRE(::chmod(token.c_str(), 0600) == 0);
    struct Row {
        std::string key;
        std::string problem;
        std::function<void(config::Settings&)> set;
    };
    const std::string absent = "/nowhere/file: is not there; create it with mode 0600";
    const std::vector<Row> rows{
        {"http.client_keys_file", absent,
         [](config::Settings& s) { s.api.access.client_keys_file = "/nowhere/file"; }},
        {"helper.api_tokens_file", absent,
         [](config::Settings& s) { s.api.access.share_tokens_file = "/nowhere/file"; }},
        {"http.admin_token_file", absent,
         [](config::Settings& s) {
             s.api.admin_enabled = true;
             s.admin.token_file = "/nowhere/file";
         }},
        {"http.tls_certificate_file",
         "cannot use the TLS certificate /nowhere/file: No such file or directory",
         [](config::Settings& s) {
             s.http.tls_certificate_file = "/nowhere/file";
             s.http.tls_key_file = "/nowhere/key";
         }},
        {"http.tls_key_file", "credential:key: there are no credentials",
         [](config::Settings& s) {
             s.http.tls_certificate_file = "/nowhere/file";
             s.http.tls_key_file = "credential:key";
         }},
        {"gateway.tx_engine.signer.private_key_file", absent,
         [](config::Settings& s) {
             s.gateway = config::GatewayType::evm;
             s.evm.signer.private_key_file = "/nowhere/file";
         }},
        {"gateway.tx_engine.signer.ca_file", "cannot use the TLS authorities " + token,
         [&](config::Settings& s) {
             s.gateway = config::GatewayType::evm;
             s.evm.signer.type = chains::evm::Options::Signing::Type::remote;
             s.evm.signer.url = "https://localhost";
             s.evm.signer.ca_file = token;
         }},
        {"cluster.key_file", absent,
         [](config::Settings& s) { s.cluster.emplace().key_file = "/nowhere/file"; }},
    };
    for (const Row& row : rows) {
        CAPTURE(row.key);
        config::Settings settings;
        row.set(settings);
        std::string error;
        try {
            commands::find_secrets(settings, {{row.key, "posthouse.toml:7"}, {"http", "no key"}});
        } catch (const commands::BadSettings& refused) {
            error = refused.what();
        }
        CAPTURE(error);
        CHECK(error.starts_with("posthouse.toml:7: " + row.key + ": " + row.problem));
    }
}
