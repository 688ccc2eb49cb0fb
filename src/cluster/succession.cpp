#include "cluster/succession.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <variant>

namespace cluster {

using domain::Milliseconds;

Succession::Succession(Parts parts, Options options)
    : parts_(parts),
      options_(std::move(options)),
      rests_until_(parts_.clock.monotonic() +
                   (options_.yields ? options_.lease.length : Milliseconds::zero())) {}

Milliseconds Succession::step() {
    if (won_) return Milliseconds::zero();
    if (taken_) return finish();
    const Milliseconds pause = parts_.replica.step();
    register_once();
    const std::optional<Seen> seen = free_place();
    if (!seen || !has_right_time()) return pause;
    take(*seen);
    return taken_ ? Milliseconds::zero() : pause;
}

// Before anything is asked of it: trimming waits for a node that is known.
void Succession::register_once() {
    const Replica& replica = parts_.replica;
    if (is_registered_ || !replica.owner()) return;
    const auto outcome = parts_.database.register_node(
        {options_.self.node, options_.self.url, replica.seq(), parts_.clock.wall()});
    is_registered_ = std::holds_alternative<Done>(outcome);
}

std::optional<Seen> Succession::free_place() const {
    const Replica& replica = parts_.replica;
    const auto& owner = replica.owner();
    if (!owner || replica.obstacle() != Obstacle::none || replica.behind() > 0) return std::nullopt;
    if (parts_.clock.monotonic() < rests_until_) return std::nullopt;
    // Of an earlier process, which held the file that this one holds now, so it has ended; or of
    // this one, whose take was not acknowledged as it should be.
    const bool is_mine = owner->node == options_.self.node && owner->url == options_.self.url;
    if (is_mine && !owner->is_free()) return Seen{owner->epoch, owner->instance, owner->beat};
    return replica.may_take();
}

// What is due at a time of day is due by the owner's clock.
bool Succession::has_right_time() {
    const domain::Nanoseconds ahead = parts_.replica.ahead_of_server();
    const bool is_wrong = std::chrono::abs(ahead) > options_.clock_leap;
    if (is_wrong && !has_wrong_time_) {
        parts_.logger.write(
            ports::LogLevel::error,
            "cluster_clock_wrong alert=true seconds_ahead=" +
                std::to_string(std::chrono::floor<std::chrono::seconds>(ahead).count()) +
                " action=\"this node follows and takes no book\" hint=\"set the clock of this "
                "machine or of the database\"");
    }
    has_wrong_time_ = is_wrong;
    return !is_wrong;
}

// Whatever else came of it, the next look tells.
void Succession::take(const Seen& seen) {
    const domain::Monotonic sent = parts_.clock.monotonic();
    const auto outcome = parts_.database.take(seen, options_.self);
    const auto* taken = std::get_if<Taken>(&outcome);
    if (taken == nullptr || !is_durable(options_.durability, taken->standbys)) return;
    taken_ = Won{taken->epoch, sent};
}

Milliseconds Succession::finish() {
    constexpr Milliseconds pause{10};
    if (parts_.clock.monotonic() - taken_->sent >= options_.lease.length) {
        give_back(*std::exchange(taken_, std::nullopt));
    } else if (parts_.replica.apply_all()) {
        won_ = std::exchange(taken_, std::nullopt);
        return Milliseconds::zero();
    }
    return pause;
}

// The file could not be brought to the journal's end in time, as where the disk is full. Another
// node may have more luck.
void Succession::give_back(const Won& taken) {
    static_cast<void>(parts_.database.resign(taken.epoch, options_.self.instance));
    rests_until_ = parts_.clock.monotonic() + options_.lease.length;
    parts_.logger.write(ports::LogLevel::warning,
                        "book_given_back epoch=" + std::to_string(taken.epoch) +
                            " reason=\"the journal could not be applied to its end in time\"");
}

}  // namespace cluster
