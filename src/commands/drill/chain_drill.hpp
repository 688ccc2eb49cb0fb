#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "commands/drill/drill.hpp"
#include "config/settings.hpp"
#include "ports/progress.hpp"

namespace commands::drill {

struct ChainDrillOptions {
    DrillOptions drill;
    std::optional<std::uint64_t> requests;  // at most so many; nothing: what `quick` says
    std::optional<std::filesystem::path>
        file;  // with the settings; they are read once more from it
};

// The same on the configured gateway chain: this program serves in a scratch directory with the
// operator's own nodes, contracts and signer, and is killed and stopped under a bounded load of
// input proofs and public decryptions. Judged by the signer's transactions on the chain. One
// thread.
class ChainDrill {
public:
    // Looks at the chain, and sends nothing. The settings, with the signer's key, outlive it.
    // Throws BadSettings and std::runtime_error that say why there can be no drill.
    ChainDrill(const config::Settings& settings, const ChainDrillOptions& options);
    ~ChainDrill();
    ChainDrill(const ChainDrill&) = delete;
    ChainDrill& operator=(const ChainDrill&) = delete;

    // What it is about to cost, in one line.
    [[nodiscard]] std::string price() const;

    // Once. Throws like drill().
    [[nodiscard]] Report run(const ports::Progress& progress);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace commands::drill
