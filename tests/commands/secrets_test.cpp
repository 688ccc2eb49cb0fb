#include "commands/secrets.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <system_error>

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
