#pragma once

#include <openssl/crypto.h>

#include <string>
#include <string_view>
#include <utility>

namespace chains::votes::prover {

// Bytes that are overwritten in memory once they are not needed any more.
class Secret {
public:
    explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;
    ~Secret() { ::OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

    [[nodiscard]] std::string_view view() const { return bytes_; }

private:
    std::string bytes_;
};

}  // namespace chains::votes::prover
