#include "cluster/succession.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "base/sanitize.hpp"

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
    register_where_unknown();
    look_who_owns();
    const std::optional<Seen> seen = free_place();
    if (!seen || !has_right_time()) return pause;
    take(*seen);
    return taken_ ? Milliseconds::zero() : pause;
}

// Before anything is asked of it: trimming waits for a node that is known. Again when somebody has
// it forgotten.
void Succession::register_where_unknown() {
    const Replica& replica = parts_.replica;
    if ((is_registered_ && replica.is_known()) || !replica.owner()) return;
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
    if (is_of_this_node(*owner) && !owner->is_free()) {
        return Seen{owner->epoch, owner->instance, owner->beat};
    }
    return replica.may_take();
}

bool Succession::is_of_this_node(const Owner& owner) const {
    return owner.node == options_.self.node && owner.url == options_.self.url;
}

void Succession::look_who_owns() {
    const auto& owner = parts_.replica.owner();
    if (!owner || owner->instance == options_.self.instance) return;
    // Who gave it back without having decided anything is nobody's predecessor.
    if (owner->epoch != given_back_) succeeds_itself_ = is_of_this_node(*owner);
    if (!not_taken_ || owner->is_free()) return;
    const Seen& seen = not_taken_->seen;
    if (owner->epoch == seen.epoch && owner->beat == seen.beat) return;
    not_taken_.reset();
    is_on_one_disk_ = false;
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

// Who was faster, the next look tells.
void Succession::take(const Seen& seen) {
    const domain::Monotonic sent = parts_.clock.monotonic();
    const auto outcome = parts_.database.take(seen, options_.self);
    if (const auto* taken = std::get_if<Taken>(&outcome)) {
        const bool was_on_one_disk =
            std::exchange(is_on_one_disk_, !is_durable(options_.durability, taken->standbys));
        if (is_on_one_disk_) {
            if (!was_on_one_disk) log_one_disk(parts_.logger);
            return note_not_taken({std::string(one_disk), seen});
        }
        if (was_on_one_disk) log_durable_again(parts_.logger);
        not_taken_.reset();
        taken_ = Won{taken->epoch, sent, succeeds_itself_};
    } else if (const auto* unavailable = std::get_if<Unavailable>(&outcome)) {
        note_not_taken({unavailable->reason, seen});
    } else if (const auto* unknown = std::get_if<Unknown>(&outcome)) {
        note_not_taken({unknown->reason, seen});
    }
}

void Succession::note_not_taken(NotTaken why) {
    constexpr Milliseconds pause{1'000};
    rests_until_ = parts_.clock.monotonic() + pause;
    const bool is_told = not_taken_ && not_taken_->reason == why.reason;
    not_taken_ = std::move(why);
    if (is_told) return;
    parts_.logger.write(ports::LogLevel::error,
                        "book_not_taken alert=true reason=" + base::log_value(not_taken_->reason) +
                            " hint=\"nobody owns the book, and this node can not\"");
}

void Succession::stop() {
    if (taken_) give_back(*std::exchange(taken_, std::nullopt), "the node stops");
}

Milliseconds Succession::finish() {
    constexpr Milliseconds pause{10};
    if (parts_.clock.monotonic() - taken_->sent >= options_.lease.length) {
        // As where the disk is full. Another node may have more luck.
        give_back(*std::exchange(taken_, std::nullopt),
                  "the journal could not be applied to its end in time");
    } else if (parts_.replica.apply_all()) {
        won_ = std::exchange(taken_, std::nullopt);
        return Milliseconds::zero();
    }
    return pause;
}

void Succession::give_back(const Won& taken, const std::string& reason) {
    static_cast<void>(parts_.database.resign(taken.epoch, options_.self.instance));
    given_back_ = taken.epoch;
    rests_until_ = parts_.clock.monotonic() + options_.lease.length;
    parts_.logger.write(ports::LogLevel::warning,
                        "book_given_back epoch=" + std::to_string(taken.epoch) +
                            " reason=" + base::log_value(reason));
}

}  // namespace cluster
