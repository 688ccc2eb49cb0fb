#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "api/lookups.hpp"
#include "api/report.hpp"
#include "domain/time.hpp"
#include "engine/clock.hpp"
#include "engine/vote_chain.hpp"

namespace api {

// The tree of the round that is active (share-helper 1.6), as it was a second ago at most: however
// many ask, it is read once a second, and never twice at the same time. Any thread.
class ActiveTree {
public:
    // Nothing: no tree, no active round, or it can not be read now.
    using Reading = std::optional<engine::TreeStatus>;
    using Told = std::function<void(const Reading&)>;

    // `trees` may be missing. The rest outlives this; work in `lookups` must end before.
    ActiveTree(engine::CommitmentTrees* trees, Lookups& lookups, engine::Journal& journal,
               const engine::Clock& clock);

    // `told` is called once, at once or after the read. While a read takes longer than a second
    // newcomers do not wait for it: nothing is known then. `told` must not throw.
    void ask(Told told);

private:
    // Under the lock. What is known now; nothing: somebody has to wait for it.
    [[nodiscard]] std::optional<Reading> known(domain::Monotonic now) const;
    void read();
    [[nodiscard]] Reading read_tree();
    void keep(const Reading& reading);

    engine::CommitmentTrees* const trees_;
    Lookups& lookups_;
    const engine::Clock& clock_;
    TroubleReport trouble_;
    std::mutex mutex_;  // guards what follows
    Reading last_;
    std::optional<domain::Monotonic> last_at_;
    std::optional<domain::Monotonic> reading_since_;
    std::vector<Told> waiting_;
};

}  // namespace api
