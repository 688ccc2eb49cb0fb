#include "engine/key_urls.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "chains/loopback/harness.hpp"

namespace {

using chains::loopback::tagged_id;

TEST_CASE("a URL is storage, prefix, kind and 64 digits, with one slash in between") {
    const std::string key = "04" + std::string(60, '0') + "03";
    const std::string crs = "05" + std::string(60, '0') + "04";
    for (const char* storage : {"https://kms.example.org/store", "https://kms.example.org/store/",
                                "https://kms.example.org/store//"}) {
        CAPTURE(storage);
        const engine::KeyMaterial keys =
            engine::stored_at(storage, "PUB", tagged_id(0x04, 3), tagged_id(0x05, 4));
        CHECK(keys.key_id == tagged_id(0x04, 3));
        CHECK(keys.crs_id == tagged_id(0x05, 4));
        REQUIRE(keys.key_urls.size() == 1);
        CHECK(keys.key_urls[0] == "https://kms.example.org/store/PUB/PublicKey/" + key);
        REQUIRE(keys.crs_urls.size() == 1);
        CHECK(keys.crs_urls[0] == "https://kms.example.org/store/PUB/CRS/" + crs);
    }
}

TEST_CASE("the loopback tells the key material of its options from the start on") {
    chains::loopback::Options options = instant();
    const Harness plain{options};
    REQUIRE(plain.gateway->current());
    CHECK(*plain.gateway->current() == engine::stored_at("https://kms.invalid/loopback", "PUB",
                                                         tagged_id(0x04, 3), tagged_id(0x05, 4)));

    options.storage_url = "http://127.0.0.1:9000/bucket/";
    options.storage_prefix = "PUB-p1";
    options.key_id = tagged_id(0x04, 9);
    const Harness other{options};
    REQUIRE(other.gateway->current());
    CHECK(other.gateway->current()->key_urls ==
          std::vector<std::string>{"http://127.0.0.1:9000/bucket/PUB-p1/PublicKey/04" +
                                   std::string(60, '0') + "09"});
}

}  // namespace
