#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chains/evm/eth_call.hpp"
#include "chains/evm/events.hpp"
#include "chains/evm/options.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"
#include "engine/key_material.hpp"
#include "engine/task_group.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// Reads which key material is in use from the finalized state of the protocol's host chain
// (evm-gateway 9.1, relayer-api 1.12) and keeps the last that it read whole. Any thread.
class KeyPoller : public engine::KeyDirectory {
public:
    // What is referred to must outlive it.
    KeyPoller(const Options& options, jsonrpc::Node& protocol, ports::Executor& executor,
              ports::Logger& logger);
    ~KeyPoller() override;
    KeyPoller(const KeyPoller&) = delete;
    KeyPoller& operator=(const KeyPoller&) = delete;

    // Once. The first round begins at once, one more every poll_interval; a round that is due while
    // another runs is left out.
    void start();

    // Waits for an exchange under way, so stop the node first.
    void stop();

    [[nodiscard]] std::optional<engine::KeyMaterial> current() const override;

    // Nothing when the last round went well, else one line without secrets.
    [[nodiscard]] std::optional<std::string> problem() const;

private:
    struct Ids {
        domain::Bytes32 key{};
        domain::Bytes32 crs{};
        domain::Bytes32 context{};
        domain::Bytes32 epoch{};

        bool operator==(const Ids&) const = default;
    };
    enum class Step { ids, materials, storage, done };
    struct Round {
        Step step = Step::ids;
        std::uint32_t failures = 0;  // of this step
        Ids ids{};
        std::uint64_t anchor = 0;  // the block that announced the context
        KmsStorage storage{};
    };

    void tick();
    void go_on(Round round);
    // Nothing when it went well; the round stands at its next step then.
    [[nodiscard]] std::optional<NoResult> take_step(Round& round);
    [[nodiscard]] std::optional<NoResult> read_ids(Round& round);
    [[nodiscard]] std::optional<NoResult> read_materials(Round& round);
    [[nodiscard]] std::optional<NoResult> read_storage(Round& round);
    [[nodiscard]] bool is_news(const Ids& ids) const;
    void finish(const Round& round);
    void give_up(const std::string& problem);

    const Options options_;
    jsonrpc::Node& protocol_;
    ports::Logger& logger_;

    mutable std::mutex mutex_;  // guards what follows
    bool busy_ = false;
    std::optional<Ids> ids_;  // of current_
    std::optional<engine::KeyMaterial> current_;
    std::optional<std::string> problem_;

    engine::TaskGroup task_group_;
};

}  // namespace chains::evm
