#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "config/secret_values.hpp"
#include "domain/bytes.hpp"
#include "support/temp_directory.hpp"

namespace {

const std::string cluster_key_digits(64, '5');

std::string problem_of_cluster_key(const std::string& place) {
    try {
        static_cast<void>(config::read_cluster_key("cluster.key_file", place, ""));
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("the cluster's key is read as bytes and as digits, by path and by credential") {
    const support::TempDirectory directory;
    const std::string place = directory.file("cluster.key");
    for (const std::string& content :
         {cluster_key_digits, cluster_key_digits + "\n", std::string(32, 'U')}) {
        CAPTURE(content);
        std::ofstream{place} << content;
        REQUIRE(::chmod(place.c_str(), 0600) == 0);
        CHECK(domain::to_hex(config::read_cluster_key("cluster.key_file", place, "")) ==
              cluster_key_digits);
        CHECK(domain::to_hex(config::read_cluster_key("cluster.key_file", "credential:cluster.key",
                                                      directory.path().string())) ==
              cluster_key_digits);
    }
}

TEST_CASE("what is no key of a cluster is refused without a word of it") {
    const support::TempDirectory directory;
    const std::string place = directory.file("cluster.key");
    CHECK(
        problem_of_cluster_key(place).starts_with("cluster.key_file: " + place + ": is not there"));
    std::ofstream{place} << cluster_key_digits;
    REQUIRE(::chmod(place.c_str(), 0604) == 0);
    CHECK(problem_of_cluster_key(place).starts_with("cluster.key_file: " + place +
                                                    ": has mode 0604"));
    REQUIRE(::chmod(place.c_str(), 0600) == 0);
    std::ofstream{place} << cluster_key_digits << '5';
    CHECK(
        problem_of_cluster_key(place) ==
        "cluster.key_file: " + place +
            ": holds no key; allowed: 32 bytes, or 64 hexadecimal digits, as openssl rand -hex 32 "
            "makes them");
}
