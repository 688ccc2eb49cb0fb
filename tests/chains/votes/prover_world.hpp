#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "chains/votes/prover/make_prover.hpp"
#include "support/temp_directory.hpp"
#include "support/virtual_time.hpp"

namespace support {

// All bytes of all fields differ from those beside them; another number, another witness.
inline chains::votes::prover::Witness witness(std::uint8_t number = 1) {
    chains::votes::prover::Witness made;
    std::uint32_t next = number;
    const auto fill = [&next](auto& bytes) {
        for (std::uint8_t& byte : bytes) {
            next = next * 1'103'515'245 + 12'345;
            byte = static_cast<std::uint8_t>(next >> 16U);
        }
    };
    fill(made.merkle_path);
    for (domain::Bytes32& commitment : made.share_comms) fill(commitment);
    fill(made.primary_blind);
    fill(made.c1);
    fill(made.c2);
    fill(made.round_id);
    made.share_index = 3;
    made.proposal_id = 14;
    made.vote_decision = 7;
    return made;
}

inline chains::votes::ProverOptions command(std::vector<std::string> words) {
    chains::votes::ProverOptions options;
    options.type = chains::votes::ProverType::command;
    options.command = std::move(words);
    options.timeout = std::chrono::seconds{20};
    return options;
}

inline chains::votes::ProverOptions loopback() {
    chains::votes::ProverOptions options;
    options.type = chains::votes::ProverType::loopback;
    return options;
}

// tests/chains/votes/faulty_prover.py
inline chains::votes::ProverOptions faulty(
    std::string fault, chains::votes::ProverFormat format = chains::votes::ProverFormat::json,
    chains::votes::ProverLife life = chains::votes::ProverLife::fresh,
    const std::string& argument = {}) {
    chains::votes::ProverOptions options =
        command({PROVER_PYTHON, "-S", FAULTY_PROVER, std::move(fault)});
    options.format = format;
    options.life = life;
    if (format == chains::votes::ProverFormat::binary) options.command.push_back("--binary");
    if (life == chains::votes::ProverLife::pool) options.command.push_back("--pool");
    if (!argument.empty()) options.command.push_back(argument);
    return options;
}

// `proved`, `not proved: …` or `unreachable: …`.
inline std::string words(const chains::votes::prover::ProveOutcome& outcome) {
    if (const auto* const failed = std::get_if<chains::votes::prover::NotProved>(&outcome)) {
        return "not proved: " + failed->text;
    }
    const auto* const away = std::get_if<engine::Unreachable>(&outcome);
    return away == nullptr ? "proved" : "unreachable: " + away->reason;
}

// Until it holds; false after ten seconds.
template <typename Condition>
bool await(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    return true;
}

inline std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream{file};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

// The process that wrote its number there; 0: none did in time.
inline pid_t await_pid(const std::filesystem::path& file) {
    if (!await([&file] { return std::filesystem::exists(file); })) return 0;
    return static_cast<pid_t>(std::stol(text_of(file)));
}

// Dead, if perhaps not reaped by whoever inherited it.
inline bool is_gone(pid_t pid) {
    const std::string stat = text_of("/proc/" + std::to_string(pid) + "/stat");
    return stat.empty() || stat.find(") Z ") != std::string::npos;
}

inline std::size_t descriptors_open() {
    const std::filesystem::directory_iterator open{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(open), end(open)));
}

struct ProverWorld {
    explicit ProverWorld(const chains::votes::ProverOptions& options)
        : prover(chains::votes::prover::make_prover(options, logger)) {}

    std::string prove(std::uint8_t number = 1) { return words(prover->prove(witness(number))); }

    RecordingLogger logger;
    std::unique_ptr<chains::votes::prover::Prover> prover;
};

}  // namespace support
