// Microseconds from the bytes of a request body to the typed request, for the two hot bodies.
// Usage: decode_bench FOLDER_OF_SAMPLES

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <variant>

#include "api/decode.hpp"
#include "api/json_reader.hpp"
#include "api/vote_share.hpp"

namespace {

constexpr std::uint64_t now_seconds = 1'780'272'000;

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::cerr << "can not read " << path << '\n';
        std::exit(1);
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

template <typename Work>
void measure(const char* what, int rounds, Work work) {
    using Clock = std::chrono::steady_clock;
    bool fine = true;
    const auto start = Clock::now();
    for (int i = 0; i < rounds; ++i) fine = work() && fine;
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    std::printf("%-32s %8.2f us%s\n", what, took.count() / rounds, fine ? "" : "  REFUSED");
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: decode_bench FOLDER_OF_SAMPLES\n";
        return 2;
    }
    const std::string folder = arguments[1];
    const std::string share = read(folder + "/vote-share.json");
    const std::string proof = read(folder + "/input-proof-1-value.json");

    measure("vote share, JSON alone", 200'000,
            [&] { return std::holds_alternative<api::JsonDocument>(api::read_json(share)); });
    measure("vote share, decoded", 200'000, [&] {
        return std::holds_alternative<domain::VoteShare>(api::decode_vote_share(share));
    });
    measure("input proof, JSON alone", 20'000,
            [&] { return std::holds_alternative<api::JsonDocument>(api::read_json(proof)); });
    measure("input proof, decoded", 20'000, [&] {
        return std::holds_alternative<domain::Request>(api::decode_input_proof(proof, now_seconds));
    });
}
