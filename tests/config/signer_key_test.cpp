#include "config/secret_values.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/temp_directory.hpp"

namespace {

const std::string key_name = "gateway.tx_engine.signer.private_key_file";
const std::string digits = "5ec2e7f00d5ec2e7f00d5ec2e7f00d5ec2e7f00d5ec2e7f00d5ec2e7f00d5ec2";

class KeyFile {
public:
    explicit KeyFile(const std::string& content, mode_t mode = 0600)
        : place_((directory_.path() / "signer-key").string()) {
        std::ofstream{place_} << content;
        REQUIRE(::chmod(place_.c_str(), mode) == 0);
    }

    [[nodiscard]] const std::string& place() const { return place_; }
    [[nodiscard]] std::string directory() const { return directory_.path().string(); }
    [[nodiscard]] std::string problem() const {
        try {
            static_cast<void>(config::read_signer_key(key_name, place_, ""));
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "none";
    }

private:
    support::TempDirectory directory_;
    std::string place_;
};

}  // namespace

TEST_CASE("the key of a file, by path and by credential") {
    for (const std::string& content : {digits, digits + "\n", "0x" + digits + " \r\n"}) {
        CAPTURE(content);
        const KeyFile file{content};
        const std::string key = config::read_signer_key(key_name, file.place(), "");
        CHECK(key == content.substr(0, content.find_last_not_of(" \r\n") + 1));
        CHECK(config::read_signer_key(key_name, "credential:signer-key", file.directory()) == key);
    }
}

TEST_CASE("a file that holds no key is named, and nothing of its content") {
    for (const std::string& content :
         {std::string{}, digits.substr(1), digits + "0", "0x0x" + digits.substr(4), digits + " x",
          " " + digits, digits.substr(1) + "g", digits + "\n" + digits}) {
        CAPTURE(content);
        const KeyFile file{content};
        CHECK(file.problem() ==
              "gateway.tx_engine.signer.private_key_file: " + file.place() +
                  ": holds no private key; allowed: 64 hexadecimal digits, with or without 0x, and "
                  "nothing else");
    }
}

TEST_CASE("a file that others may read is refused") {
    const KeyFile file{digits, 0644};
    CHECK(file.problem().starts_with("gateway.tx_engine.signer.private_key_file: " + file.place() +
                                     ": has mode 0644"));
    CHECK(file.problem().find(digits.substr(0, 8)) == std::string::npos);
}

TEST_CASE("a credential without a service manager says how to get one") {
    try {
        static_cast<void>(config::read_signer_key(key_name, "credential:signer-key", ""));
        FAIL("was read");
    } catch (const std::runtime_error& error) {
        const std::string text = error.what();
        CHECK(text.find("LoadCredential=signer-key:") != std::string::npos);
    }
}
