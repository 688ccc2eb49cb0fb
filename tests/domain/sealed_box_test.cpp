#include "domain/sealed_box.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

domain::Bytes filled(std::size_t size, std::uint8_t with) {
    return domain::Bytes(size, with);
}

const domain::Bytes nonce = filled(12, 9);

}  // namespace

TEST_CASE("what is sealed opens with its key, its salt and its label, and with nothing else") {
    const domain::SealedBox box(filled(32, 1), filled(32, 2));
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{16}, std::size_t{1'000}}) {
        CAPTURE(size);
        const domain::Bytes plain = filled(size, 0x42);
        const domain::Bytes sealed = box.seal(plain, "payload 1", nonce);
        CHECK(sealed.size() == 12 + size + 16);
        CHECK(box.open(sealed, "payload 1") == plain);
        CHECK_FALSE(box.open(sealed, "payload 2"));
        CHECK_FALSE(domain::SealedBox(filled(32, 3), filled(32, 2)).open(sealed, "payload 1"));
        CHECK_FALSE(domain::SealedBox(filled(32, 1), filled(32, 3)).open(sealed, "payload 1"));
        CHECK_FALSE(domain::SealedBox(filled(32, 1), filled(32, 2), "another purpose")
                        .open(sealed, "payload 1"));
        for (std::size_t at = 0; at<sealed.size(); at += size> 100 ? 37 : 1) {
            domain::Bytes changed = sealed;
            changed[at] ^= 1;
            CHECK_FALSE(box.open(changed, "payload 1"));
        }
        for (std::size_t cut = 1; cut < 30 && cut <= sealed.size(); ++cut) {
            CHECK_FALSE(box.open({sealed.data(), sealed.size() - cut}, "payload 1"));
        }
    }
    CHECK_FALSE(box.open({}, "payload 1"));
}

// Made with the cryptography package of Python: AESGCM under HKDF(SHA256, 32, salt, purpose).
TEST_CASE("the format is HKDF-SHA256 and AES-256-GCM as others make it") {
    const domain::SealedBox box(filled(32, 1), filled(32, 2));
    const std::string text = "a share";
    const domain::Bytes plain(text.begin(), text.end());
    CHECK(domain::to_hex(box.seal(plain, "payload 1", nonce)) ==
          "0909090909090909090909092867f243d8e4f1e4fa93b7b4bb6e860a91c705c43a7892");
}
