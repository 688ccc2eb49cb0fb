#include "chains/votes/naive_pallas.hpp"

#include <cstdlib>
#include <string>

namespace naive {

namespace {

using Owned = std::shared_ptr<BIGNUM>;

Owned make() {
    return {BN_new(), BN_free};
}

BN_CTX* context() {
    static const std::unique_ptr<BN_CTX, decltype(&BN_CTX_free)> made{BN_CTX_new(), BN_CTX_free};
    return made.get();
}

void need(bool well) {
    if (!well) std::abort();
}

BIGNUM* prime_value() {
    static const Owned made = [] {
        BIGNUM* value = nullptr;
        need(BN_hex2bn(&value, "40000000000000000000000000000000224698fc094cf91b992d30ed00000001") >
             0);
        return Owned{value, BN_free};
    }();
    return made.get();
}

// The stream of the Grain LFSR as one long list of bits.
class Stream {
public:
    Stream() {
        put("01");            // prime field
        put("0000");          // x^5
        put("000011111111");  // 255 bits
        put("000000000011");  // width 3
        put("0000001000");    // 8 full rounds
        put("0000111000");    // 56 partial rounds
        put(std::string(30, '1'));
        while (bits_.size() < 80 + 160) extend();
        position_ = 240;
    }

    Number element() {
        std::string digits;
        while (digits.size() < 255) {
            const bool counts = take();
            const bool bit = take();
            if (counts) digits += bit ? '1' : '0';
        }
        Number number;
        for (const char digit : digits) number = doubled_plus(number, digit == '1');
        return number;
    }

private:
    static Number doubled_plus(const Number& number, bool bit) {
        domain::Bytes32 bytes = number.bytes();
        unsigned carry = bit ? 1 : 0;
        for (std::uint8_t& byte : bytes) {
            const unsigned twice = byte * 2U + carry;
            byte = static_cast<std::uint8_t>(twice);
            carry = twice >> 8;
        }
        return Number(bytes);
    }

    void put(const std::string& digits) {
        for (const char digit : digits) bits_.push_back(digit == '1');
    }

    void extend() {
        const std::size_t i = bits_.size() - 80;
        int sum = 0;
        for (const std::size_t tap : {62, 51, 38, 23, 13, 0}) sum += bits_[i + tap] ? 1 : 0;
        bits_.push_back(sum % 2 == 1);
    }

    bool take() {
        while (bits_.size() <= position_) extend();
        return bits_[position_++];
    }

    std::vector<bool> bits_;
    std::size_t position_ = 0;
};

struct Parameters {
    std::vector<std::vector<Number>> constants;
    std::vector<std::vector<Number>> matrix;
};

const Parameters& parameters() {
    static const Parameters made = [] {
        Parameters result;
        Stream stream;
        for (int round = 0; round < 64; ++round) {
            std::vector<Number> row;
            while (row.size() < 3) {
                const Number candidate = stream.element();
                if (candidate.below_prime()) row.push_back(candidate);
            }
            result.constants.push_back(row);
        }
        std::vector<Number> drawn;
        while (drawn.size() < 6) drawn.push_back(stream.element().plus(Number(0)));
        for (std::size_t i = 0; i < 3; ++i) {
            std::vector<Number> row;
            for (std::size_t j = 0; j < 3; ++j)
                row.push_back(drawn[i].plus(drawn[3 + j]).inverse());
            result.matrix.push_back(row);
        }
        return result;
    }();
    return made;
}

Number fifth(const Number& x) {
    return x.times(x).times(x).times(x).times(x);
}

}  // namespace

Number::Number() : Number(0) {}

Number::Number(std::uint64_t value) : value_(make()) {
    need(BN_set_word(value_.get(), value) == 1);
}

Number::Number(const domain::Bytes32& little_endian) : value_(make()) {
    need(BN_lebin2bn(little_endian.data(), 32, value_.get()) != nullptr);
}

const Number& Number::prime() {
    static const Number made = [] {
        Number number;
        need(BN_copy(number.value_.get(), prime_value()) != nullptr);
        return number;
    }();
    return made;
}

domain::Bytes32 Number::bytes() const {
    domain::Bytes32 bytes{};
    need(BN_bn2lebinpad(value_.get(), bytes.data(), 32) == 32);
    return bytes;
}

Number Number::plus(const Number& other) const {
    Number sum;
    need(BN_mod_add(sum.value_.get(), value_.get(), other.value_.get(), prime_value(), context()));
    return sum;
}

Number Number::times(const Number& other) const {
    Number product;
    need(BN_mod_mul(product.value_.get(), value_.get(), other.value_.get(), prime_value(),
                    context()));
    return product;
}

Number Number::inverse() const {
    Number inverse;
    need(BN_mod_inverse(inverse.value_.get(), value_.get(), prime_value(), context()) != nullptr);
    return inverse;
}

Number Number::shifted(int bits) const {
    Number shifted;
    need(BN_mod_lshift(shifted.value_.get(), value_.get(), bits, prime_value(), context()));
    return shifted;
}

bool Number::below_prime() const {
    return BN_cmp(value_.get(), prime_value()) < 0;
}

std::vector<Number> permuted(std::vector<Number> state) {
    for (std::size_t round = 0; round < 64; ++round) {
        for (std::size_t i = 0; i < 3; ++i)
            state[i] = state[i].plus(parameters().constants[round][i]);
        const bool partial = round >= 4 && round < 60;
        for (std::size_t i = 0; i < (partial ? 1 : 3); ++i) state[i] = fifth(state[i]);
        std::vector<Number> mixed(3);
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j)
                mixed[i] = mixed[i].plus(parameters().matrix[i][j].times(state[j]));
        state = mixed;
    }
    return state;
}

Number hash(const std::vector<Number>& message) {
    std::vector<Number> padded = message;
    if (padded.size() % 2 == 1) padded.emplace_back();
    std::vector<Number> state{Number(0), Number(0), Number(message.size()).shifted(64)};
    for (std::size_t i = 0; i < padded.size(); i += 2) {
        state[0] = state[0].plus(padded[i]);
        state[1] = state[1].plus(padded[i + 1]);
        state = permuted(state);
    }
    return state[0];
}

domain::Bytes32 random_element(std::mt19937_64& random) {
    const std::uint64_t shape = random() % 8;
    if (shape == 0) return Number(random() % 3).bytes();
    if (shape == 1) {  // the prime minus a little
        domain::Bytes32 bytes = Number::prime().bytes();
        bytes[0] = 0;
        bytes[4] = static_cast<std::uint8_t>(random() % 0xed);
        return bytes;
    }
    while (true) {
        domain::Bytes32 bytes{};
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        bytes[31] &= 0x7f;
        if (Number(bytes).below_prime()) return bytes;
    }
}

}  // namespace naive
