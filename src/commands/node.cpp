#include "commands/node.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "base/sanitize.hpp"
#include "commands/exit_status.hpp"
#include "commands/follower_front.hpp"
#include "commands/service.hpp"
#include "commands/signals.hpp"
#include "net/listener.hpp"
#include "store/commit_sink.hpp"
#include "store/journal_position.hpp"

namespace commands {

using cluster::Succession;
using domain::Milliseconds;

namespace {

constexpr Milliseconds checkpoint_interval{1'000};
constexpr Milliseconds wipe_interval{10'000};
constexpr Milliseconds snapshot_retry_pause{2'000};
constexpr Milliseconds failed_disk_pause{1'000};
constexpr Milliseconds front_patience{50};
constexpr Milliseconds given_back_look{5};

// Thrown where the node is asked to stop in the middle of something.
struct AskedToStop {};

}  // namespace

// What there is while the node follows.
struct Node::Following {
    std::unique_ptr<store::Follower> file;
    std::unique_ptr<cluster::Replica> replica;
    std::unique_ptr<Succession> succession;
    std::unique_ptr<BookUpkeep> upkeep;
    domain::Monotonic next_checkpoint{};
    domain::Monotonic next_wipe{};

    // In the order in which they need one another.
    void close() {
        upkeep.reset();
        succession.reset();
        replica.reset();
        file.reset();
    }
};

Node::Node(const config::Settings& settings, platform::Log& log)
    : settings_(settings),
      options_(*settings.cluster),
      log_(log),
      handover_(platform::take_handover()),
      listening_(handover_.sockets.empty() ? service_manager_.take_sockets()
                                           : std::move(handover_.sockets)),
      database_(connect_to_book(options_, stop_, options_.lease.length / 2)) {
    require_member();
    random_.fill(instance_);
    if (listening_.empty()) {
        listening_ =
            net::listen_on(settings_.http.host, settings_.http.port, settings_.http.address_setting)
                .sockets;
    }
    state_.book = options_.book;
    state_.node = options_.node;
    state_.takeovers = handover_.takeovers;
}

Node::~Node() = default;

void Node::require_member() const {
    const std::filesystem::path file = store::database_path(settings_.store);
    if (!std::filesystem::exists(file)) return;
    const auto stored = store::stored_position(settings_.store);
    if (!stored) {
        throw BadSettings(file.string() +
                          " is the file of a single machine: `posthouse cluster init --from " +
                          settings_.store.directory.string() +
                          "` makes a book of it; to join one, name a data directory without it");
    }
    if (stored->position.book != options_.book) {
        throw BadSettings(file.string() + " belongs to the book \"" + stored->position.book +
                          "\", and cluster.name says \"" + options_.book +
                          "\": name another data directory");
    }
}

BookParts Node::parts() {
    return {options_, settings_.store, clock_, random_, log_, stop_};
}

int Node::run() {
    front_ = std::make_unique<FollowerFront>(
        FollowerFront::Parts{settings_, *this, clock_, random_, log_}, copies_of_sockets());
    std::unique_ptr<Ownership> ownership;
    try {
        ownership = follow();
    } catch (const AskedToStop&) {
        ownership.reset();
    }
    if (ownership) return own(*ownership);
    service_manager_.stopping();
    log_.write(ports::LogLevel::info, "stopping");
    stop_.request_stop();
    listening_.clear();
    front_.reset();
    log_.write(ports::LogLevel::info, "stopped");
    return EXIT_SUCCESS;
}

std::vector<base::Descriptor> Node::copies_of_sockets() const {
    std::vector<base::Descriptor> copies;
    for (const base::Descriptor& socket : listening_) {
        copies.emplace_back(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
    }
    return copies;
}

std::unique_ptr<Ownership> Node::follow() {
    Following following;
    service_manager_.ready();  // it listens
    while (true) {
        Milliseconds pause = snapshot_retry_pause;
        try {
            if (open_file(following)) pause = following.succession->step();
            const bool has_won = following.succession && following.succession->won();
            if (following.file && !has_won) tidy(following);
            note_disk({});
        } catch (const store::StorageError& error) {
            if (error.kind() == store::StorageErrorKind::corrupt) throw;
            note_disk(error.what());
            pause = failed_disk_pause;
        }
        if (following.succession) {
            note(following);
            if (const auto& won = following.succession->won()) return begin_to_own(following, *won);
        }
        front_->look_at_owner();
        service_manager_.alive();
        if (is_asked_to_stop(pause)) {
            if (following.succession) following.succession->stop();
            return nullptr;
        }
    }
}

// The lease is kept from here on, however long it takes to close the file: a store opens it next.
std::unique_ptr<Ownership> Node::begin_to_own(Following& following, const Succession::Won& won) {
    position_ = following.file->position();
    clock_behind_ = std::max(following.replica->ahead_of_server(), domain::Nanoseconds::zero());
    // Who began anew did not crash.
    succeeds_itself_ = won.succeeds_itself && handover_.takeovers > 0;
    auto ownership = std::make_unique<Ownership>(
        Ownership::Parts{parts(), *database_,
                         connect_to_book(options_, stop_, options_.lease.length / 2),
                         [this] {
                             lost_ = true;
                             wake_main_thread();
                         }},
        instance_, won, position_);
    // A snapshot under way goes on, as its reader does not mind who writes.
    upkeep_ = std::move(following.upkeep);
    upkeep_->note_owner();
    front_->leave_file();
    following.close();
    return ownership;
}

void Node::note_disk(const std::string& problem) {
    const std::lock_guard lock{mutex_};
    if (state_.disk_problem.empty() != problem.empty()) {
        log_.write(problem.empty() ? ports::LogLevel::info : ports::LogLevel::error,
                   problem.empty()
                       ? "follower_storage_healed"
                       : "follower_storage_failed alert=true error=" + base::log_value(problem));
    }
    state_.disk_problem = problem;
}

bool Node::is_asked_to_stop(domain::Nanoseconds pause) {
    if (is_asked_to_stop_) return true;
    const std::optional<int> signal = wait_for_signal(pause);
    if (!signal || signal == wake_signal) return false;  // that one of an ownership that has ended
    if (signal != SIGHUP || (!service_manager_.reloading() && front_->reloads().empty())) {
        return is_asked_to_stop_ = true;
    }
    static_cast<void>(front_->reloads().run());
    service_manager_.ready();
    return false;
}

bool Node::take_snapshot() {
    std::optional<NoSnapshot> none;
    try {
        none = take_book_snapshot(parts(), [this](Milliseconds pause) {
            service_manager_.alive();
            if (is_asked_to_stop(pause)) throw AskedToStop();
        });
    } catch (const std::runtime_error& error) {
        none = NoSnapshot{cluster::Obstacle::needs_snapshot, error.what()};
    }
    if (!none) return true;
    const std::lock_guard lock{mutex_};
    if (state_.reason != none->reason) {
        log_.write(ports::LogLevel::error, "cluster_node_can_not_join alert=true why=" +
                                               std::string(to_string(none->obstacle)) +
                                               " reason=" + base::log_value(none->reason));
    }
    state_.obstacle = none->obstacle;
    state_.reason = none->reason;
    return false;
}

bool Node::open_file(Following& following) {
    const bool is_stuck =
        following.replica && following.replica->obstacle() == cluster::Obstacle::needs_snapshot;
    const bool is_missing = !std::filesystem::exists(store::database_path(settings_.store));
    if (is_stuck || (is_missing && following.file)) {
        if (is_missing) log_.write(ports::LogLevel::error, "cluster_file_gone alert=true");
        front_->leave_file();
        following.close();
    }
    if ((is_stuck || is_missing) && !take_snapshot()) return false;
    if (following.file) return true;
    following.file = std::make_unique<store::Follower>(settings_.store);
    following.replica = std::make_unique<cluster::Replica>(
        cluster::Replica::Parts{*database_, *options_.keys, *following.file, clock_, log_},
        cluster::Replica::Options{options_.lease, options_.node,
                                  static_cast<std::uint32_t>(store::newest_schema())});
    following.succession = std::make_unique<Succession>(
        Succession::Parts{*database_, *following.replica, clock_, log_},
        Succession::Options{{options_.node, instance_, options_.url},
                            options_.lease,
                            options_.durability,
                            settings_.engine.clock_leap,
                            handover_.yields});
    following.upkeep = std::make_unique<BookUpkeep>(parts());
    front_->answer_commands();
    log_.write(ports::LogLevel::info,
               "cluster_following book=" + options_.book + " node=" + options_.node +
                   " entry=" + std::to_string(following.file->position().seq));
    return true;
}

// What is on the disk is told to the others; what was wiped does not stay in the log.
void Node::tidy(Following& following) {
    const domain::Monotonic now = clock_.monotonic();
    if (now >= following.next_wipe && following.file->wal_holds_wiped_data()) {
        following.file->truncate_wal();
        following.next_wipe = now + wipe_interval;
        following.next_checkpoint = now + checkpoint_interval;
    } else if (now >= following.next_checkpoint) {
        const bool is_long = following.file->wal_bytes() > settings_.store.wal_bytes_max;
        is_long ? following.file->truncate_wal() : following.file->checkpoint();
        following.next_checkpoint = now + checkpoint_interval;
    }
}

void Node::note(const Following& following) {
    const cluster::Replica& replica = *following.replica;
    const std::lock_guard lock{mutex_};
    state_.owner = replica.owner();
    state_.seq = replica.seq();
    state_.behind = replica.behind();
    if (const auto& last = replica.last_times()) state_.last_entry = last->wall;
    state_.reaches_database = replica.reaches_database();
    state_.database_problem = replica.problem();
    state_.obstacle = replica.obstacle();
    state_.reason = replica.reason();
    state_.journal.one_disk.reset();
    if (following.succession->is_on_one_disk()) state_.journal.one_disk = cluster::one_disk;
    const auto& not_taken = following.succession->not_taken();
    if (!not_taken || state_.obstacle != cluster::Obstacle::none) return;
    state_.obstacle = cluster::Obstacle::not_taken;
    state_.reason = "nobody owns the book, and it can not be taken: " + not_taken->reason;
}

cluster::NodeState Node::state() const {
    const std::lock_guard lock{mutex_};
    cluster::NodeState now = state_;
    if (ownership_ == nullptr || !serves_) return now;
    now.role = cluster::Role::owner;
    now.seq = ownership_->stable();
    now.behind = 0;
    now.journal = ownership_->readings();
    if (now.journal.last_entry) now.last_entry = now.journal.last_entry;
    now.owner = cluster::Owner{.epoch = ownership_->epoch(),
                               .node = options_.node,
                               .instance = instance_,
                               .url = options_.url,
                               .stable = now.seq};
    now.reaches_database = ownership_->is_held();
    return now;
}

bool Node::may_answer() const {
    const std::lock_guard lock{mutex_};
    return ownership_ != nullptr && ownership_->is_held();
}

int Node::own(Ownership& ownership) {
    {
        const std::lock_guard lock{mutex_};
        ownership_ = &ownership;
    }
    log_.write(ports::LogLevel::info, "book_taken epoch=" + std::to_string(ownership.epoch()) +
                                          " entry=" + std::to_string(position_.seq));
    const auto note_not_begun = [this](const std::exception& error) {
        log_.write(ports::LogLevel::warning,
                   "ownership_not_begun reason=" + base::log_value(error.what()));
    };
    try {
        return serve_as_owner(ownership);
    } catch (const store::OwnershipLost& error) {
        log_.write(ports::LogLevel::warning,
                   "ownership_lost reason=" + base::log_value(error.what()));
    } catch (const store::NotDecided& error) {
        note_not_begun(error);
    } catch (const store::StorageError& error) {
        if (error.kind() != store::StorageErrorKind::full) fail(ownership);
        note_not_begun(error);
    } catch (...) {
        fail(ownership);
    }
    // Others first: what was in the way here may not be there.
    ownership.resign();
    begin_anew(true);
}

// Another node need not wait.
void Node::fail(Ownership& ownership) {
    let_go(&ownership);
    ownership.resign();
    throw;
}

int Node::serve_as_owner(Ownership& ownership) {
    ownership.migrate_file();
    OwnedBook book{ownership.sink(),
                   *this,
                   options_,
                   instance_,
                   clock_behind_,
                   succeeds_itself_,
                   copies_of_sockets(),
                   [this]() -> std::optional<std::string> {
                       steps_down_ = true;
                       wake_main_thread();
                       return wait_until_given_back();
                   }};
    Service service(settings_, log_, &book);
    service.recover();
    // Not before: a crash of the last owner is in the book only now.
    ++handover_.takeovers;
    {
        const std::lock_guard lock{mutex_};
        state_.takeovers = handover_.takeovers;
    }
    front_->drain(front_patience);
    front_.reset();
    service.listen();
    serves_ = true;
    int signal = service.wait();
    std::optional<std::string> lost_book = service.lost_book();
    // One may be of an ownership that has ended.
    while (signal == wake_signal && !lost_ && !lost_book && !steps_down_) {
        signal = service.wait();
        lost_book = service.lost_book();
    }
    const bool is_asked_to_stop = signal != wake_signal;
    if (lost_ || lost_book || !ownership.is_held()) {
        log_.write(
            ports::LogLevel::warning,
            "ownership_lost reason=" + base::log_value(lost_book.value_or(ownership.why_ended())));
        service.abandon();
        // With a disk that took no commit the lease may still be held: nobody need wait for it.
        ownership.resign();
        if (is_asked_to_stop) end_at_once();
        begin_anew(lost_book.has_value());
    }
    service.hand_over();
    ownership.resign();
    if (!is_asked_to_stop) {
        service.abandon();
        begin_anew(true);
    }
    listening_.clear();
    service.stop();
    upkeep_.reset();
    let_go(&ownership);
    return service.exit_status();
}

std::optional<std::string> Node::wait_until_given_back() const {
    const domain::Monotonic end = clock_.monotonic() + options_.lease.length;
    while (may_answer()) {
        if (clock_.monotonic() >= end) return "it takes longer; see `posthouse cluster status`";
        std::this_thread::sleep_for(given_back_look);
    }
    return std::nullopt;
}

void Node::let_go(Ownership* ownership) {
    const std::lock_guard lock{mutex_};
    if (ownership_ == ownership) ownership_ = nullptr;
}

// Nothing of what it was about may go on, and nothing of it is waited for.
void Node::end_at_once() {
    log_.write(ports::LogLevel::info, "stopped");
    ::_exit(EXIT_SUCCESS);
}

void Node::begin_anew(bool yields) {
    log_.write(ports::LogLevel::info, "node_begins_anew");
    handover_.sockets = std::move(listening_);
    handover_.yields = yields;
    platform::restart(handover_);
}

}  // namespace commands
