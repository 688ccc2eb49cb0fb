#include "engine/processor.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "base/sanitize.hpp"
#include "engine/answers.hpp"
#include "engine/clock_note.hpp"
#include "engine/confirmations.hpp"
#include "engine/holds.hpp"
#include "engine/maintenance.hpp"
#include "engine/operations.hpp"
#include "engine/own_transactions.hpp"
#include "engine/readiness.hpp"
#include "engine/reorganisations.hpp"
#include "engine/sending.hpp"
#include "engine/shares.hpp"

namespace engine {

using domain::Milliseconds;
using domain::Nanoseconds;
using domain::Status;

namespace {

constexpr std::size_t timers_per_step = 512;
constexpr Milliseconds door_pause{3'000};
constexpr std::uint32_t closed_retry_after_seconds = 5;
constexpr std::uint32_t disk_full_retry_after_seconds = 30;

}  // namespace

Unavailable unavailable(store::StorageErrorKind kind, std::string reason) {
    const bool is_full = kind == store::StorageErrorKind::full;
    return {std::move(reason), is_full ? disk_full_retry_after_seconds : closed_retry_after_seconds,
            store::label_of(kind)};
}

Processor::Processor(const Options& options, store::Store& store, Gates& gates, Gateway& gateway,
                     Inbox& inbox, const ports::Clock& clock, ports::Random& random,
                     ports::Logger& logger, Observer& observer, AlertSink* alerts,
                     ports::Heartbeat* heartbeat)
    : store_(store),
      gates_(gates),
      gateway_(gateway),
      inbox_(inbox),
      logger_(logger),
      observer_(observer),
      heartbeat_(heartbeat),
      clock_(clock),
      filtered_clock_(clock, options.clock_leap, options.clock_leap_hold),
      admission_(RequestIds{random, store.last_sequence()}),
      context_{options, store, gates, work_, gateway, alerts},
      checkpointer_(store, logger) {}

recovery::Report Processor::recover(recovery::LastEnd last_end,
                                    const std::function<void()>& progress) {
    clock_note::go_on(store_, clock_, filtered_clock_);
    context_.now = filtered_clock_.now();
    context_.began = context_.listening_since = context_.now.steady;
    assert(next_maintenance_ == domain::Monotonic{});  // once
    holds::begin(context_);
    recovery::Report report = recovery::run(context_, suspects_, last_end, progress);
    for (const Effects::LogLine& line : std::exchange(context_.effects, {}).lines) {
        logger_.write(line.level, line.text);
    }
    observer_.recovered(report);
    next_maintenance_ = context_.now.monotonic;
    rounds::reload_late_rounds(context_);
    shares::reload_begun(context_);
    answers::reload_forgotten(context_);
    unlogged_ = rounds::unlogged_alerts(context_);
    if (context_.alerts != nullptr) {
        std::vector<RoundAlert> alerts = rounds::open_alerts(context_);
        if (!alerts.empty()) context_.alerts->raise(std::move(alerts));
    }
    gateway_.listen(inbox_, recovery::resume(store_, report));
    reorganisations::rebuild(context_);
    operations::finish_pauses(context_);
    watch(reorganisations::blocks_at_start(store_));
    return report;
}

Nanoseconds Processor::step() {
    context_.now = filtered_clock_.now();
    watch_clock();
    inbox_.drain(events_);
    stopping_ = stopping_ || events_.stop;
    context_.stopping = stopping_;
    context_.logs_stages = logger_.wants(ports::LogLevel::debug);
    context_.is_full = false;
    Nanoseconds wait{};
    Nanoseconds commit{};
    try {
        store::Store::Transaction transaction(store_);
        if (std::exchange(lines_stale_, false)) {
            holds::load(context_);
            recovery::rebuild_queues(context_);
            reorganisations::rebuild(context_);
        }
        if (!has_stepped_) recovery::forget_in_work(context_);
        rounds::mark_logged(context_, logged_);
        apply_events();
        wake_timers();
        close_rounds();
        maintain_if_due();
        start_work();
        end_broken(context_);
        if (!filtered_clock_.held_leap()) rounds::tell_late(context_);
        wait = until_next_wake();
        const domain::Monotonic before = clock_.monotonic();
        transaction.commit();
        commit = clock_.monotonic() - before;
        has_stepped_ = true;
    } catch (const store::StorageError& error) {
        roll_back();
        refuse_pending(unavailable(error.kind(), error.what()));
        throw;
    }
    // Computed with the old rates.
    if (!events_.retunes.empty()) wait = Nanoseconds::zero();
    release_effects(commit);
    return logged_.empty() ? wait : Nanoseconds::zero();
}

// As long as there is room. `apply` returns false when an event goes on in the next step.
template <typename Event, typename Apply>
void Processor::take_up(const std::vector<Event>& events, const Apply& apply) {
    std::size_t applied = 0;
    while (applied < events.size() && context_.has_room() && apply(events[applied])) ++applied;
    applied_.push_back(applied);
}

// Those that this step has applied; the rest stays.
Events Processor::take_applied() {
    Events applied;
    auto count = applied_.begin();
    const auto take = [&count](auto& to, auto& from) {
        const auto end = from.begin() + static_cast<std::ptrdiff_t>(*count++);
        if (end == from.end()) return to.swap(from);
        to.assign(std::make_move_iterator(from.begin()), std::make_move_iterator(end));
        from.erase(from.begin(), end);
    };
    std::apply(
        [&](auto&... to) {
            std::apply([&](auto&... from) { (take(to, from), ...); }, kinds_of(events_));
        },
        kinds_of(applied));
    assert(count == applied_.end());
    events_.stop = false;
    return applied;
}

void Processor::apply_events() {
    applied_.clear();
    begun_now_ = begun_;
    const auto is_over = [](bool over, std::size_t& begun) {
        if (over) begun = 0;
        return over;
    };
    // First: nothing that such an event holds is sealed in the same step.
    take_up(events_.accounts, [&](const AccountFound& event) {
        return is_over(holds::apply(context_, event, begun_now_.held), begun_now_.held);
    });
    take_up(events_.accounts_settled, [&](const AccountsSettled&) {
        holds::forget_start(context_);
        return true;
    });
    take_up(events_.block_news, [&](const BlockNews& news) {
        return is_over(reorganisations::apply(context_, news, begun_now_.blocks),
                       begun_now_.blocks);
    });
    const auto whole = [this](const auto& apply) {
        return [this, apply](const auto& event) {
            apply(context_, event);
            return true;
        };
    };
    take_up(events_.checked,
            whole([](auto& to, const Checked& event) { readiness::apply(to, event); }));
    const auto send = whole([](auto& to, const auto& event) { sending::apply(to, event); });
    take_up(events_.prepared, send);
    take_up(events_.sealed, send);
    take_up(events_.sent, send);
    take_up(events_.answered, [&](const Answered& event) {
        return is_over(answers::apply(context_, event, begun_now_.answers), begun_now_.answers);
    });
    take_up(events_.confirmed,
            whole([](auto& to, const Confirmed& event) { confirmations::apply(to, event); }));
    take_up(events_.own_sealed, whole([](auto& to, const store::OwnTransaction& own) {
                own_transactions::keep(to, own);
            }));
    take_up(events_.own_settled,
            whole([](auto& to, const OwnSettled& event) { own_transactions::settle(to, event); }));
    if (newcomers_wait_) {
        applied_.push_back(0);
    } else {
        take_up(events_.submissions, [&](const Submission& submission) {
            context_.effects.replies.push_back(admission_.admit(context_, submission));
            return true;
        });
    }
    take_up(events_.instructions, [&](const Instruction& instruction) {
        auto outcome = operations::apply(context_, admission_, instruction, begun_now_.release);
        begun_now_.has_instruction = !outcome;
        if (!outcome) return false;
        context_.effects.outcomes.push_back(*std::move(outcome));
        begun_now_.release = {};
        return true;
    });
    admission_.finish(context_);
    take_up(events_.alerts_taken, [&](const AlertMark& alert) {
        store_.take_alert(alert.round, alert.late);
        context_.late_raised.erase(alert.round);
        return true;
    });
    // Written here, in force after the commit.
    take_up(events_.retunes, [&](const Retune& change) {
        for (const store::Setting& setting : change.remember) store_.set(setting);
        for (const std::string& name : change.forget) store_.unset(name);
        return true;
    });
}

// Pauses that are over, leases nobody answered, deadlines nobody met.
void Processor::wake_timers() {
    for (const store::Row& row :
         store_.due(store::Lane::timer, context_.now.steady, timers_per_step)) {
        if (!context_.has_room()) return;
        context_.effects.woken.push_back(
            {store::Lane::timer, context_.now.steady - row.schedule.wake});
        if (holds::is_held(context_, row.id.sequence)) {
            holds::wake(context_, row);
            continue;
        }
        if (row.status == Status::receipt_received) {
            row.kind == domain::Kind::share ? confirmations::wake(context_, row)
                                            : answers::wake(context_, row);
        } else if (suspects_.keep_aside(context_, row)) {
            continue;
        } else if (operations::is_paused(context_, row)) {
            operations::keep_queued(context_, row);
        } else if (row.status == Status::processing || row.status == Status::tx_in_flight) {
            sending::wake(context_, row);
        } else if (row.kind == domain::Kind::share) {
            recovery::enqueue(context_, row);
        } else {
            readiness::wake(context_, row);
        }
    }
    for (const store::Row& row :
         store_.due(store::Lane::gate, context_.now.steady, timers_per_step)) {
        if (!context_.has_room()) return;
        recovery::enqueue(context_, row);  // no second entry for a row that stands there already
    }
}

void Processor::start_work() {
    if (stopping_) return;
    suspects_.settled(context_.effects.settled);
    suspects_.release_next(context_);
    reorganisations::start(context_);
    readiness::start(context_);
    sending::start(context_);
    shares::start(context_);
    shares::foresee(context_);
}

// What a wall clock says that is not believed closes no round.
void Processor::close_rounds() {
    more_rounds_ = !filtered_clock_.held_leap() && rounds::close_over(context_);
}

void Processor::maintain_if_due() {
    if (!more_maintenance_) purges_.report(context_);
    maintained_ = false;
    if (context_.now.monotonic < next_maintenance_ && !more_maintenance_) return;
    // What a wall clock says that is not believed must not delete anything.
    more_maintenance_ = !filtered_clock_.held_leap() && maintenance::run_batch(context_);
    if (more_maintenance_) return;
    if (!filtered_clock_.held_leap()) shares::tell_late_rounds(context_);
    answers::note_listening(context_);
    clock_note::keep(store_, clock_, filtered_clock_);
    store_.require_in_place();
    maintained_ = true;
    next_maintenance_ = context_.now.monotonic + context_.options.maintenance_interval;
}

void Processor::release_effects(Nanoseconds commit) {
    Effects effects = std::exchange(context_.effects, {});
    const Events events = take_applied();
    begun_ = begun_now_;
    // Whoever has what is due wait for the next step gives way in that.
    newcomers_wait_ = !newcomers_wait_ && context_.is_full;
    assert(effects.replies.size() == events.submissions.size());
    assert(effects.outcomes.size() == events.instructions.size());
    assert(effects.checks.size() + effects.prepares.size() + effects.sends.size() <= work_.busy());
    assert(gates_.permits() == work_.entries().size());
    work_.keep();
    gateway_.keep_sealed();
    gates_.keep_pauses();
    suspects_.keep();
    in_flight_.store(work_.busy(), std::memory_order_relaxed);
    for (const Effects::LogLine& line : effects.lines) logger_.write(line.level, line.text);
    log_alerts(effects.alert_lines);
    for (std::size_t i = 0; i < events.submissions.size(); ++i) {
        events.submissions[i].reply(std::move(effects.replies[i]));
    }
    for (std::size_t i = 0; i < events.instructions.size(); ++i) {
        events.instructions[i].reply(effects.outcomes[i]);
    }
    for (const Retune& change : events.retunes) {
        gates_.retune(change.tuning, context_.now.monotonic);
        change.reply(true);
    }
    if (!effects.checks.empty()) gateway_.check(std::move(effects.checks));
    if (effects.proofs_expected > 0) gateway_.expect_proofs(effects.proofs_expected);
    if (!effects.prepares.empty()) gateway_.prepare(std::move(effects.prepares));
    if (!effects.sends.empty()) gateway_.send(std::move(effects.sends));
    if (!effects.own_sends.empty()) gateway_.send_own(std::move(effects.own_sends));
    if (!effects.confirms.empty()) gateway_.confirm(std::move(effects.confirms));
    watch(std::move(effects.watched));
    if (!effects.alerts.empty() && context_.alerts != nullptr) {
        context_.alerts->raise(effects.alerts);
    }
    report_to_observer(effects, events, commit);
}

void Processor::watch(std::vector<domain::Block> blocks) {
    if (blocks.empty()) return;
    std::ranges::sort(blocks);
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    gateway_.watch(std::move(blocks));
}

// A line comes again at the next start unless a commit says that it is out: none is ever lost, and
// one comes twice only when the process dies before the next step, which comes at once.
void Processor::log_alerts(const std::vector<RoundAlert>& raised) {
    std::vector<RoundAlert> alerts = std::exchange(unlogged_, {});
    alerts.insert(alerts.end(), raised.begin(), raised.end());
    logged_.clear();
    for (const RoundAlert& alert : alerts) {
        const Effects::LogLine line = rounds::line_of(alert);
        logger_.write(line.level, line.text);
        logged_.push_back(alert.mark());
    }
}

void Processor::report_to_observer(Effects& effects, const Events& events, Nanoseconds commit) {
    StepFacts facts;
    facts.changes = store_.take_changes();
    purges_.note(facts.changes);
    note_revealed(facts.changes);
    facts.woken = std::move(effects.woken);
    facts.unreachable = std::move(effects.unreachable);
    facts.share_attempts_failed = effects.share_attempts_failed;
    facts.events = events.size();
    facts.round_alerts = effects.alerts_logged;
    facts.answers_reorganised = effects.answers_reorganised;
    facts.commit = commit;
    facts.wal_bytes = store_.wal_bytes();
    observer_.stepped(facts);
}

// What is in work or pauses stays, whatever happened to it.
void Processor::note_revealed(const std::vector<store::Change>& changes) {
    for (const store::Change& change : changes) {
        if (change.kind != domain::Kind::share) continue;
        const bool goes_on =
            change.to && (*change.to == Status::queued || *change.to == Status::processing ||
                          *change.to == Status::tx_in_flight);
        if (!goes_on) context_.begun_shares.remove(change.sequence);
    }
    const auto earliest = context_.begun_shares.earliest();
    begun_since_ms_.store(earliest ? domain::unix_ms(*earliest) : none_begun);
}

void Processor::roll_back() {
    context_.effects = {};
    context_.late_shares_told.clear();
    context_.late_raised.clear();
    context_.late_rounds_told.clear();
    work_.undo();
    gateway_.undo_sealed();
    admission_.undo();
    suspects_.undo();
    gates_.undo_pauses();
    gates_.restore_permits(work_);
    lines_stale_ = true;
}

bool Processor::has_events_left() const {
    return std::accumulate(applied_.begin(), applied_.end(), std::size_t{0}) < events_.size();
}

Nanoseconds Processor::until_next_wake() {
    const auto& [wall, steady, monotonic] = context_.now;
    if (more_maintenance_ || more_rounds_ || context_.is_full || has_events_left()) {
        return Nanoseconds::zero();
    }
    Nanoseconds wait =
        std::min<Nanoseconds>(context_.options.maintenance_interval, next_maintenance_ - monotonic);
    // Cut while still milliseconds: centuries of nanoseconds have no room in a number.
    const auto no_longer_than = [&](Milliseconds left) {
        wait = std::min<Nanoseconds>(wait, std::min(left, context_.options.maintenance_interval));
    };
    const auto no_later_than = [&](store::Lane lane, domain::Timestamp now) {
        if (const auto wake = store_.earliest_wake(lane)) no_longer_than(*wake - now);
    };
    const auto no_later_than_foreseen = [&, now = wall] {
        const Milliseconds lead = context_.options.shares.prover_lead;
        const auto wake = store_.earliest_wake(store::Lane::schedule);
        // What begins sooner was foreseen by this step.
        if (lead > Milliseconds::zero() && wake && *wake - lead > now) {
            no_longer_than(*wake - lead - now);
        }
    };
    no_later_than(store::Lane::timer, steady);
    no_later_than(store::Lane::gate, steady);
    if (const auto left = rounds::until_next_end(context_)) no_longer_than(*left);
    if (!stopping_) {
        if (gates_.free_share_slots() > 0) {
            no_later_than(store::Lane::schedule, wall);
            no_later_than_foreseen();
        }
        if (const auto next = reorganisations::next_start(context_)) {
            wait = std::min<Nanoseconds>(wait, *next - monotonic);
        }
        if (const auto token = gates_.next_token(monotonic)) {
            wait = std::min(wait, *token - monotonic);
        }
    }
    return std::max(wait, Nanoseconds::zero());
}

Processor::Wait Processor::turn() {
    Wait wait = try_step();
    if (heartbeat_ != nullptr) wait.length = std::min(wait.length, beat());
    return wait;
}

// A failing disk is no stuck loop: it beats all the same.
Nanoseconds Processor::beat() {
    const domain::Monotonic now = clock_.monotonic();
    if (now >= next_beat_) {
        heartbeat_->beat();
        next_beat_ = now + heartbeat_->interval();
    }
    return next_beat_ - now;
}

Processor::Wait Processor::try_step() {
    const domain::Monotonic now = filtered_clock_.now().monotonic;
    if (!is_open() && now >= next_try_) {
        try_to_leave_read_only();
        next_try_ = now + door_pause;
    }
    try {
        const Nanoseconds until_next = step();
        checkpointer_.after_step(
            {now, inbox_.is_empty(), work_.busy() > 0, maintained_, until_next});
        domain::Monotonic next = now + until_next;
        if (!is_open()) next = std::min(next, next_try_);
        if (const auto tidy = checkpointer_.next(now)) next = std::min(next, *tidy);
        // The step took time of its own.
        return {std::max(next - filtered_clock_.now().monotonic, Nanoseconds::zero()), true};
    } catch (const store::StepTooLarge& error) {
        // A fault of ours, which would come again with the same events. A start begins without
        // them, and what they were about is asked for once more.
        observer_.storage_failed();
        logger_.write(ports::LogLevel::error,
                      std::string("step_too_large alert=true action=\"the process ends, to be "
                                  "started anew\" error=") +
                          base::log_value(error.what()));
        throw;
    } catch (const store::StorageError& error) {
        observer_.storage_failed();
        enter_read_only(error);
        if (error.kind() == store::StorageErrorKind::corrupt) throw;
        next_try_ = now + door_pause;
        if (error.kind() == store::StorageErrorKind::full && store_.release_reserve()) {
            return {Nanoseconds::zero(), true};
        }
        return {door_pause, false};
    }
}

void Processor::run(Milliseconds grace) {
    try {
        run_turns(grace);
    } catch (...) {
        refuse_the_rest();  // somebody waits for each reply
        throw;
    }
    refuse_the_rest();
}

void Processor::run_turns(Milliseconds grace) {
    std::optional<domain::Monotonic> end;
    while (true) {
        const Wait wait = turn();
        const domain::Monotonic now = filtered_clock_.now().monotonic;
        if (stopping_ && !end) end = now + grace;
        if (end && hurries_.load(std::memory_order_relaxed)) break;
        const bool is_idle = work_.busy() == 0 && events_.empty();
        if (end && (is_idle || now >= *end)) break;
        const Nanoseconds limit = end ? std::min(wait.length, *end - now) : wait.length;
        wait.events_end_it ? inbox_.wait(limit) : inbox_.wait_for_stop(limit);
    }
    release_unfinished();
}

// An orderly end is no crash of what was still in work, and no reason to say an alert again.
void Processor::release_unfinished() {
    if (work_.busy() == 0 && logged_.empty()) return;
    context_.now = filtered_clock_.now();
    try {
        std::size_t released = 0;
        for (bool more = true; more;) {
            store::Store::Transaction transaction(store_);
            context_.is_full = false;
            rounds::mark_logged(context_, logged_);
            more = work_.busy() > 0 && recovery::release(context_, released);
            transaction.commit();
        }
    } catch (const store::StorageError& error) {
        logger_.write(ports::LogLevel::warning,
                      std::string("work_not_released hint=\"counts as a crash at "
                                  "the next start\" error=") +
                          base::log_value(error.what()));
    }
    context_.effects = {};
}

void Processor::refuse_the_rest() {
    inbox_.close();
    inbox_.drain(events_);
    refuse_pending({"stopping", closed_retry_after_seconds, "stopping"}, true);
}

void Processor::watch_clock() {
    const std::optional<Milliseconds> leap = filtered_clock_.held_leap();
    if (leap && !reported_leap_) {
        logger_.write(ports::LogLevel::warning,
                      "clock_leapt ahead_ms=" + std::to_string(leap->count()) +
                          " action=\"not believed until it stays for clock.leap_hold\"");
    } else if (!leap && reported_leap_) {
        logger_.write(ports::LogLevel::warning, "clock_settled");
    }
    reported_leap_ = leap;
}

void Processor::enter_read_only(const store::StorageError& error) {
    refuse_pending(unavailable(error.kind(), error.what()));
    closed_by_.store(error.kind());
    if (open_.exchange(false)) {
        logger_.write(ports::LogLevel::error,
                      std::string("storage_failed label=").append(store::label_of(error.kind())) +
                          " action=\"new requests get 503 until it heals\" error=" +
                          base::log_value(error.what()));
    }
}

void Processor::try_to_leave_read_only() {
    try {
        store_.probe();
        store_.truncate_wal();  // so that what the log took counts as free space
        if (!store_.restore_reserve()) return;
        open_.store(true);
        logger_.write(ports::LogLevel::warning,
                      "storage_healed action=\"new requests are taken again\"");
    } catch (const store::StorageError&) {
        // Said once when read-only mode began; the next try comes after the pause.
        return;
    }
}

void Processor::refuse_pending(const Unavailable& refusal, bool stops) {
    for (const Submission& submission : std::exchange(events_.submissions, {})) {
        submission.reply(refusal);
    }
    for (const Retune& change : std::exchange(events_.retunes, {})) change.reply(false);
    std::vector<Instruction> instructions = std::exchange(events_.instructions, {});
    auto refused = instructions.begin();
    if (begun_.has_instruction && !stops) {
        // A part of it is done, and the rest is when writing goes on.
        events_.instructions.push_back(std::move(*refused++));
    }
    for (; refused != instructions.end(); ++refused) refused->reply(NotWritten{});
}

}  // namespace engine
