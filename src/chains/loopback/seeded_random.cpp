#include "chains/loopback/seeded_random.hpp"

namespace chains::loopback {
namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;

// The output function of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
}

std::uint64_t fold(std::uint64_t state, std::uint64_t word) {
    return mix((state ^ word) + golden);
}

std::uint64_t fold(std::uint64_t state, domain::ByteView bytes) {
    std::uint64_t word = 0;
    std::size_t filled = 0;
    for (const std::uint8_t byte : bytes) {
        word = word << 8U | byte;
        if (++filled % sizeof word == 0) state = fold(state, word);
    }
    return fold(fold(state, word), bytes.size());
}

bool is_hit(std::uint64_t number, Permille share) {
    return number % 1000 < share;
}

}  // namespace

SeededRandom::SeededRandom(std::uint64_t seed, std::uint64_t run) : seed_(seed), run_(run) {}

std::uint64_t SeededRandom::number(Purpose purpose, domain::ByteView about) const {
    return fold(fold(fold(0, seed_), static_cast<std::uint64_t>(purpose)), about);
}

bool SeededRandom::is_among(Purpose purpose, domain::ByteView about, Permille share) const {
    if (share == 0) return false;
    return is_hit(number(purpose, about), share);
}

std::uint64_t SeededRandom::next_number(Purpose purpose) {
    const std::uint64_t turn = given_.fetch_add(1, std::memory_order_relaxed);
    return fold(fold(fold(fold(1, seed_), run_), static_cast<std::uint64_t>(purpose)), turn);
}

bool SeededRandom::chance(Purpose purpose, Permille share) {
    if (share == 0) return false;
    if (share >= 1000) return true;
    return is_hit(next_number(purpose), share);
}

domain::Milliseconds SeededRandom::draw(const Latency& latency) {
    if (latency.min == latency.max) return latency.min;
    const auto choices = static_cast<std::uint64_t>((latency.max - latency.min).count()) + 1;
    return latency.min +
           domain::Milliseconds{static_cast<std::int64_t>(next_number(Purpose::latency) % choices)};
}

domain::Bytes filler(domain::ByteView about, std::uint64_t label, std::size_t size) {
    std::uint64_t state = fold(fold(static_cast<std::uint64_t>(Purpose::filler), label), about);
    domain::Bytes bytes(size);
    std::uint64_t word = 0;
    for (std::size_t at = 0; at < size; ++at) {
        if (at % sizeof word == 0) word = mix(state += golden);
        bytes[at] = static_cast<std::uint8_t>(word);
        word >>= 8U;
    }
    return bytes;
}

}  // namespace chains::loopback
