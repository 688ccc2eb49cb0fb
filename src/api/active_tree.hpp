#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "api/lookups.hpp"
#include "api/throttled_log.hpp"
#include "domain/time.hpp"
#include "engine/vote_chain.hpp"
#include "ports/clock.hpp"

namespace api {

// The tree of the round that is active (share-helper 1.6), as it was last read. However many ask,
// it is read once a second at most, never twice at the same time, and every five seconds for a
// minute after somebody asked. Any thread.
class ActiveTree {
public:
    // Nothing: no tree, no active round, or it can not be read now.
    using Reading = std::optional<engine::TreeStatus>;
    using Answer = std::function<void(const Reading&)>;

    // `trees` may be missing. The rest outlives this; work in `lookups` must end before.
    ActiveTree(engine::CommitmentTrees* trees, Lookups& lookups, ports::Logger& logger,
               const ports::Clock& clock);

    // Tells what was read in the last ten seconds, at once. Without that, what the look-up at hand
    // finds, after a second and a half at the latest. `answer` must not throw.
    void latest(Answer answer);

private:
    using Waiting = std::map<std::uint64_t, Answer>;

    // True: the caller has to read.
    [[nodiscard]] bool begins_reading_locked(domain::Monotonic now);
    [[nodiscard]] bool is_known_locked(domain::Monotonic now) const;
    void start_reading();
    void read();
    // Nothing: nobody could say.
    [[nodiscard]] std::optional<Reading> read_tree();
    void keep(const std::optional<Reading>& reading);
    void release(std::uint64_t turn);
    void refresh();

    engine::CommitmentTrees* const trees_;
    Lookups& lookups_;
    const ports::Clock& clock_;
    ThrottledLog problem_;
    std::mutex mutex_;  // guards what follows
    Reading last_;
    std::optional<domain::Monotonic> last_at_;
    std::optional<domain::Monotonic> tried_at_;
    domain::Monotonic asked_at_{};
    bool reading_ = false;
    bool refreshing_ = false;
    Waiting waiting_;  // for the look-up at hand
    std::uint64_t turns_ = 0;
};

}  // namespace api
