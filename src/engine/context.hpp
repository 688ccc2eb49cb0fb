#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/failure.hpp"
#include "domain/moves.hpp"
#include "engine/alerts.hpp"
#include "engine/begun_shares.hpp"
#include "engine/filtered_clock.hpp"
#include "engine/gates.hpp"
#include "engine/gateway.hpp"
#include "engine/inbox.hpp"
#include "engine/observer.hpp"
#include "engine/options.hpp"
#include "engine/work.hpp"
#include "ports/logger.hpp"
#include "store/store.hpp"

namespace engine {

// What a step lets out once its commit is durable.
struct Effects {
    struct LogLine {
        ports::LogLevel level;
        std::string text;
    };
    std::vector<LogLine> lines;                // for the log
    std::vector<AcceptOutcome> replies;        // to the submissions of the step, in their order
    std::vector<InstructionOutcome> outcomes;  // of its instructions, in their order
    std::vector<CheckOrder> checks;
    std::vector<PrepareOrder> prepares;
    std::vector<SendOrder> sends;
    std::vector<store::OwnTransaction> own_sends;
    std::vector<ConfirmOrder> confirms;
    std::vector<domain::Block> watched;  // something rests on them from now on
    std::vector<std::int64_t> settled;   // requests the gateway answered for
    std::vector<Lateness> woken;
    std::vector<domain::Family> unreachable;
    std::size_t share_attempts_failed = 0;
    std::size_t proofs_expected = 0;      // 0: nobody has to get ready
    std::vector<RoundAlert> alerts;       // for whoever is to be told
    std::vector<RoundAlert> alert_lines;  // for the log
    std::size_t answers_reorganised = 0;
    std::size_t alerts_logged = 0;  // whose lines came out before this step
};

// What the parts of a step share. One thread, inside one transaction.
struct Context {
    const Options options;
    store::Store& store;
    Gates& gates;
    Work& work;
    Gateway& gateway;
    AlertSink* alerts = nullptr;  // nobody: alerts are only logged
    Moment now{};
    domain::Timestamp began{};            // this life, by the steady clock
    domain::Timestamp listening_since{};  // answers were heard from then on; answers.hpp
    Effects effects{};
    std::uint64_t stale = 0;   // events that came too late to matter
    bool stopping = false;     // nothing new begins
    bool is_full = false;      // the step has left something to the next one
    bool logs_stages = false;  // the log takes lines of level debug
    // Of the id of a key; empty: nobody's. None: clients are not named in the log.
    std::function<std::string(std::int64_t)> client_name{};
    std::size_t turn = 0;  // whose turn it is to send
    // Ended requests whose transactions are on their way again, and when they are tried next.
    std::map<std::int64_t, domain::Monotonic> repairs{};
    domain::Monotonic next_confirm{};           // the turns given out so far end there
    domain::Monotonic confirms_held_until{};    // whoever is asked wants to be left alone
    bool confirms_fail = false;                 // the last look-up was not answered
    std::set<std::int64_t> late_rounds{};       // closed ones that shares still came for
    std::set<std::int64_t> late_rounds_told{};  // in this life
    std::set<std::int64_t> late_untold{};       // of these somebody may not know
    std::map<std::int64_t, domain::Monotonic> next_alert{};  // of a round, not earlier
    // Late shares in the last alert of a round that was handed over and not taken.
    std::map<std::int64_t, std::uint64_t> late_raised{};
    // What kept a share from the chain last, of rounds that are open.
    std::map<std::int64_t, std::string> round_troubles{};
    // The lowest block with a receipt whose answers may have been forgotten.
    std::optional<std::uint64_t> forgotten_from{};
    BegunShares begun_shares{};
    std::map<std::int64_t, domain::Monotonic> late_shares_told{};  // by round
    std::map<std::int64_t, domain::Timestamp> held{};              // since when; holds.hpp
    std::set<std::int64_t> released{};                             // were held, and are not over
    // Of which AccountFound has not come, and will; and whether that of any has.
    std::set<std::string> accounts_unsettled{};
    bool account_found = false;
    std::int64_t restored_up_to = 0;  // store::restored_mark
    std::int64_t found_up_to = 0;     // accepted by processes before this one

    // Asked before each piece of work: an entry of a journal holds only so much. False from then on
    // until the end of the step; the next one comes at once.
    [[nodiscard]] bool has_room() {
        is_full = is_full || !store.has_room();
        return !is_full;
    }
};

// How long a row may wait in a queue before somebody looks whether it is still there.
inline constexpr domain::Milliseconds second_look{std::chrono::hours{1}};

// The row's request; when it can not be read the row is failed for it, and there is nothing to
// return.
[[nodiscard]] RequestPtr load_request(Context& context, const store::Row& row);

// Ends the row. Its place in the queues goes too. Stale rows are counted and ignored.
void fail(Context& context, const store::Row& row, domain::Status to, domain::Cause cause,
          domain::Failure failure);

// The log's line about the end of a relayer request; `more` follows it.
void log_end(Context& context, const store::Row& row, domain::Status to,
             const std::string& more = {});

// Keeps what the request met on its way, for operators; of shares only where their times may be
// told.
void note_trouble(Context& context, const store::Row& row, const std::string& reason);

// A line of the log about a new status, for those who want every one of them.
void log_stage(Context& context, const store::Row& row, domain::Status to,
               const std::string& more = {});

// Fails the rows that this step could not read. At its end: what it read before is among them. Of
// very many the rest is found again later.
void end_broken(Context& context);

// How the text of an internal error is served (relayer-api 9.2).
[[nodiscard]] std::string internal_text(domain::Kind kind, const std::string& text);

// The row waits in a queue, and only for that. Claims are kept: they count the crashes.
[[nodiscard]] store::Schedule in_queue(const Context& context, const store::Schedule& before);

// The row's work has been handed out until the lease ends.
[[nodiscard]] store::Schedule in_work(const Context& context, const store::Schedule& before);

// Since when something lasts: from now on unless it did before, and no longer once it does not. One
// that begins later than now was written under another clock.
void keep_since(std::optional<domain::Timestamp>& since, bool lasts, domain::Timestamp now);
// No node was reached for too long, as the last try found: how the request ends.
[[nodiscard]] std::optional<domain::Failure> unreached_for_too_long(const Context& context,
                                                                    const store::Row& row,
                                                                    const std::string& reason);
// Same, of a row whose pause is over. What was tried before this start only is tried once more: the
// time between was no try.
[[nodiscard]] std::optional<domain::Failure> tried_for_too_long(const Context& context,
                                                                const store::Row& row);

// The row pauses; never beyond its deadline, or the time nodes may be out of reach.
[[nodiscard]] store::Schedule pausing(const Context& context, const store::Schedule& before,
                                      domain::Milliseconds pause);

}  // namespace engine
