#pragma once

#include <mutex>
#include <optional>

#include "api/lookups.hpp"
#include "api/throttled_log.hpp"
#include "domain/time.hpp"
#include "engine/vote_chain.hpp"
#include "ports/clock.hpp"

namespace api {

// The tree of the round that is active (share-helper 1.6), as it was last read. However many ask,
// it is read once a second, never twice at the same time, and nobody waits for it. Any thread.
class ActiveTree {
public:
    // Nothing: no tree, no active round, or it can not be read now.
    using Reading = std::optional<engine::TreeStatus>;

    // `trees` may be missing. The rest outlives this; work in `lookups` must end before.
    ActiveTree(engine::CommitmentTrees* trees, Lookups& lookups, ports::Logger& logger,
               const ports::Clock& clock);

    // What was read in the last ten seconds, and else nothing, as at the first call. What is older
    // than a second is read anew behind it, for those who ask later.
    [[nodiscard]] Reading latest();

private:
    // True: nothing is being read and what is known is old; the caller has to read.
    [[nodiscard]] bool begins_reading();
    void read();
    [[nodiscard]] Reading read_tree();
    void keep(const Reading& reading);
    // Without a reading.
    void give_up();

    engine::CommitmentTrees* const trees_;
    Lookups& lookups_;
    const ports::Clock& clock_;
    ThrottledLog problem_;
    std::mutex mutex_;  // guards what follows
    Reading last_;
    std::optional<domain::Monotonic> last_at_;
    bool reading_ = false;
};

}  // namespace api
