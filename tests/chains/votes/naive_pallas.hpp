#pragma once

#include <openssl/bn.h>

#include <memory>
#include <random>
#include <vector>

#include "domain/bytes.hpp"

namespace naive {

// The Pallas base field and Poseidon over it as they are written on paper, with OpenSSL's big
// numbers: slow, and sharing nothing with what it checks.
class Number {
public:
    Number();
    explicit Number(std::uint64_t value);
    explicit Number(const domain::Bytes32& little_endian);
    static const Number& prime();

    [[nodiscard]] domain::Bytes32 bytes() const;  // little-endian
    [[nodiscard]] Number plus(const Number& other) const;
    [[nodiscard]] Number times(const Number& other) const;
    [[nodiscard]] Number inverse() const;
    [[nodiscard]] Number shifted(int bits) const;  // times 2^bits
    [[nodiscard]] bool below_prime() const;

private:
    std::shared_ptr<BIGNUM> value_;  // never changed once made
};

[[nodiscard]] std::vector<Number> permuted(std::vector<Number> state);
[[nodiscard]] Number hash(const std::vector<Number>& message);

// Any element of the field; the ones near its ends often.
[[nodiscard]] domain::Bytes32 random_element(std::mt19937_64& random);

}  // namespace naive
