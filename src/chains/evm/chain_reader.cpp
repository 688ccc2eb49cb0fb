#include "chains/evm/chain_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "chains/evm/eth_call.hpp"
#include "chains/evm/events.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::evm {

using domain::Milliseconds;
using jsonrpc::Answer;
using jsonrpc::Json;
using jsonrpc::NodeError;
using jsonrpc::TransportError;

namespace {

constexpr Milliseconds pause_max{30'000};
// No answer at all: it may be back at any time, and until it is asked nobody's answers are seen.
constexpr Milliseconds pause_max_unanswered{5'000};
constexpr Milliseconds cursor_interval{30'000};
constexpr Milliseconds undecodable_line_interval = std::chrono::minutes{1};
// A node or a provider's door that calls an answer too large and one that is too busy say the same:
// after so many in a row the range may be the reason.
constexpr std::uint32_t times_to_doubt = 3;
// A node that leaves out a log may have it a moment later; one that never has it holds nobody up.
constexpr std::uint32_t times_without_share = 5;
constexpr const char* missing_share = "a threshold was reached by a share that is missing";
constexpr std::uint64_t block_number_max = std::uint64_t{1} << 53U;

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
    return b > std::numeric_limits<std::uint64_t>::max() - a
               ? std::numeric_limits<std::uint64_t>::max()
               : a + b;
}

std::uint64_t less(std::uint64_t a, std::uint64_t b) {
    return a - std::min(a, b);
}

const TransportError* unanswered_in(const std::vector<Answer>& answers) {
    for (const Answer& answer : answers) {
        if (const auto* problem = std::get_if<TransportError>(&answer)) return problem;
    }
    return nullptr;
}

std::string refusal_text(const NodeError& error) {
    return "the node refuses: " + error.message + " (" + std::to_string(error.code) + ")";
}

std::optional<engine::Answer> answer_at(const std::vector<Log>& logs, std::size_t place) {
    const Log& log = logs[place];
    if (log.topics.front() != threshold_reached_topic()) return decode_answer(log);
    const auto reached = threshold_reached_at(logs, place);
    if (!reached || log.topics.size() != 2) return std::nullopt;
    return engine::Answer{log.topics[1], *reached, {}};
}

std::string no_block(std::uint64_t number) {
    return "the node does not have block " + std::to_string(number);
}

}  // namespace

ChainReader::ChainReader(const Options& options, std::string name, jsonrpc::Node& node,
                         const ports::Clock& clock, ports::Logger& logger, SeenLogs* seen)
    : options_(options),
      name_(std::move(name)),
      node_(node),
      clock_(clock),
      logger_(logger),
      seen_(seen),
      hashes_(options.listening.reorg_depth),
      range_size_(options.listening.range_max) {}

// Hashes are not stored, so blocks that may have changed meanwhile are read again.
void ChainReader::start(engine::GatewayEvents& events, std::optional<std::uint64_t> cursor) {
    events_ = &events;
    delivered_at_ = clock_.monotonic();
    delivered_ = cursor;
    const auto& first = options_.listening.first_block;
    if (!cursor) {
        next_ = first;
        // Before anything is signed: where nobody ever listened, AccountCheck takes what the chain
        // has of our account for somebody else's.
        if (first) deliver_cursor(less(*first, 1));
        return;
    }
    applied_ = *cursor;
    const std::uint64_t behind = sum(*cursor, 1);
    next_ = less(behind, options_.listening.reorg_depth);
    if (first) next_ = std::max(*next_, std::min(*first, behind));
}

ChainReader::Step ChainReader::step() {
    if (events_->has_too_many_answers()) return idle();
    if (!target_ || !next_ || *next_ > *target_) {
        if (auto end = look_at_head()) return *std::move(end);
    }
    return read_range();
}

std::optional<ChainReader::Step> ChainReader::look_at_head() {
    target_.reset();
    std::vector<jsonrpc::Call> calls{{"eth_blockNumber", Json::array()}};
    if (hash_of_last()) calls.push_back(block_call(*last()));
    const std::vector<Answer> answers = node_.call_all(calls);
    if (const TransportError* problem = unanswered_in(answers)) return failed(*problem, 1);
    if (const auto* error = std::get_if<NodeError>(&answers[0]))
        return failed(refusal_text(*error));
    const auto head = jsonrpc::quantity(std::get<Json>(answers[0]));
    if (!head || *head > block_number_max) return failed("a malformed block number");
    head_ = head;
    if (!next_) return begin_at_head();

    const std::uint64_t read = last().value_or(0);
    if (sum(*head, options_.listening.confirmations) < read) {
        if (low_head_.observe(clock_.monotonic())) return step_back();
        return idle();
    }
    low_head_.reset();
    if (calls.size() > 1 && *head >= read) {
        if (auto end = compare_last(answers[1])) return end;
    }
    const bool confirmed = *head >= options_.listening.confirmations;
    if (!confirmed || less(*head, options_.listening.confirmations) < *next_) {
        missing_block_.reset();
        deliver_cursor_if_due();
        return fresh_.empty() ? idle() : read_fresh();
    }
    target_ = *head - options_.listening.confirmations;
    return std::nullopt;
}

ChainReader::Step ChainReader::begin_at_head() {
    const std::vector<Answer> answers = node_.call_all({block_call(*head_)});
    if (const TransportError* problem = unanswered_in(answers)) return failed(*problem, 1);
    const BlockHash hash = hash_in(answers[0], *head_);
    if (const auto* known = std::get_if<domain::Bytes32>(&hash)) hashes_.put(*head_, *known);
    next_ = *head_ + 1;
    deliver_cursor(*head_);
    return idle();
}

// The order of the calls matters. The hash of the new last block is taken before its logs: should
// the chain change in between, the next comparison finds out. The block before the range is looked
// at after the logs: should it have changed until then, it shows here.
ChainReader::Step ChainReader::read_range() {
    const LogQuery query = next_range();
    std::vector<jsonrpc::Call> calls{block_call(query.to), logs_call(query)};
    if (hash_of_last()) calls.push_back(block_call(*last()));
    const std::vector<Answer> answers = node_.call_all(calls);
    if (const TransportError* problem = unanswered_in(answers))
        return failed(*problem, query.blocks());

    // Whoever lacks the block leaves its logs out without a word.
    const BlockHash hash = hash_in(answers[0], query.to);
    const auto* refusal = std::get_if<NodeError>(&answers[1]);
    if (std::holds_alternative<NoBlock>(hash)) {
        // Some refuse a batch whole for what one of its calls asks.
        if (refusal != nullptr && std::holds_alternative<NodeError>(answers[0])) {
            return refused(*refusal, query);
        }
        return not_there_yet(query, no_block(query.to));
    }
    if (std::holds_alternative<GarbledBlock>(hash)) return failed("a malformed block");
    // What is refused together is refused for the logs.
    const bool compares =
        calls.size() > 2 && (refusal == nullptr || !std::holds_alternative<NodeError>(answers[2]));
    if (compares) {
        if (auto end = compare_last(answers[2])) return *std::move(end);
    }
    if (refusal != nullptr) return refused(*refusal, query);
    const auto& hash_of_to = std::get<domain::Bytes32>(hash);
    const CheckedLogs checked = check_logs(std::get<Json>(answers[1]), query, hash_of_to);
    if (const auto* why = std::get_if<std::string>(&checked)) return failed(*why);

    const auto& logs = std::get<std::vector<Log>>(checked);
    if (lacks_share(logs)) return failed(missing_share);
    deliver(logs, query.to);
    for (const Log& log : logs) {
        // Earlier ones have theirs, and whether it still holds is for compare_last to say.
        if (log.block_number >= *next_) hashes_.put(log.block_number, log.block_hash);
    }
    hashes_.put(query.to, hash_of_to);
    const std::uint64_t blocks = query.to - *next_ + 1;
    fresh_.settle(*next_, clock_.monotonic());
    fresh_.add(*next_, clock_.monotonic());
    next_ = query.to + 1;
    missing_block_.reset();
    const bool more = query.to < *target_ || blocks >= range_size_.blocks();
    range_size_.answered(query.blocks());
    Step step = idle();
    if (more) step.pause = Milliseconds{0};
    return step;
}

// There is no new block; the last ones may have their logs by now.
ChainReader::Step ChainReader::read_fresh() {
    target_ = last();
    const LogQuery query = next_range();
    target_.reset();
    if (query.from > query.to) return idle();
    const std::vector<Answer> answers = node_.call_all({block_call(query.to), logs_call(query)});
    if (const TransportError* problem = unanswered_in(answers))
        return failed(*problem, query.blocks());
    if (hash_of_last()) {
        if (auto end = compare_last(answers[0])) return *std::move(end);
    }
    if (const auto* error = std::get_if<NodeError>(&answers[1])) {
        return refused(*error, query);
    }
    const BlockHash hash = hash_in(answers[0], query.to);
    const auto* hash_of_to = std::get_if<domain::Bytes32>(&hash);
    if (hash_of_to == nullptr) return idle();
    const CheckedLogs checked = check_logs(std::get<Json>(answers[1]), query, *hash_of_to);
    if (const auto* why = std::get_if<std::string>(&checked)) return failed(*why);
    const auto& logs = std::get<std::vector<Log>>(checked);
    if (lacks_share(logs)) return failed(missing_share);
    deliver(logs, query.to);
    fresh_.settle(*next_, clock_.monotonic());
    return idle();
}

// Nothing when the last block that was read is still part of the chain.
std::optional<ChainReader::Step> ChainReader::compare_last(const Answer& answer) {
    const BlockHash hash = hash_in(answer, *last());
    if (std::holds_alternative<NoBlock>(hash)) return lagging(no_block(*last()));
    if (std::holds_alternative<GarbledBlock>(hash)) return failed("a malformed block");
    if (std::get<domain::Bytes32>(hash) == hash_of_last()) return std::nullopt;
    return step_back();
}

// To the newest block that is known and still there, or as far as changes are looked for.
ChainReader::Step ChainReader::step_back() {
    const std::uint64_t read = *last();
    const std::uint64_t depth = options_.listening.reorg_depth;
    const std::vector<BlockHashes::Block> known = hashes_.newest_first(std::min(read, *head_));
    const std::size_t batch = std::max<std::size_t>(options_.batch_max, 1);
    for (std::size_t begin = 0; begin < known.size(); begin += batch) {
        const std::size_t end = std::min(known.size(), begin + batch);
        std::vector<jsonrpc::Call> calls;
        for (std::size_t i = begin; i < end; ++i) calls.push_back(block_call(known[i].first));
        const std::vector<Answer> answers = node_.call_all(calls);
        if (const TransportError* problem = unanswered_in(answers)) return failed(*problem, 1);
        for (std::size_t i = begin; i < end; ++i) {
            const BlockHash hash = hash_in(answers[i - begin], known[i].first);
            const auto* now = std::get_if<domain::Bytes32>(&hash);
            if (now == nullptr || *now != known[i].second) continue;
            return_to(known[i].first + 1);
            return {options_.listening.retry_interval, true, false, std::nullopt};
        }
    }
    const bool shorter = *head_ < less(read, depth);
    // All blocks down to there are others.
    if (!shorter && !known.empty() && sum(known.back().first, depth) <= read) {
        logger_.write(ports::LogLevel::error,
                      "reorganised_too_deep alert=true listener=" + name_ +
                          " reorg_depth=" + std::to_string(depth) +
                          " hint=\"blocks deeper than gateway.listener_pool.reorg_depth were "
                          "replaced: requests in them are neither looked for nor sent again\"");
    }
    hashes_.forget_from(0);
    return_to(shorter ? less(*head_, depth) : less(read + 1, depth));
    return {options_.listening.retry_interval, true, false, std::nullopt};
}

void ChainReader::return_to(std::uint64_t next) {
    const std::uint64_t read = *last();
    const bool shorter = *head_ < less(read, options_.listening.reorg_depth);
    logger_.write(ports::LogLevel::warning,
                  shorter ? "chain_shorter listener=" + name_ + " read=" + std::to_string(read) +
                                " head=" + std::to_string(*head_) + " from=" + std::to_string(next)
                          : "chain_reorganised depth=" + std::to_string(read + 1 - next) +
                                " listener=" + name_ + " from=" + std::to_string(next));
    next_ = next;
    unseen_until_ = std::max(unseen_until_, read);
    applied_ = 0;
    target_.reset();
    fresh_.forget();
    hashes_.forget_from(next);
    low_head_.reset();
    missing_block_.reset();
    // At once: what was stored is on a chain that is gone.
    delivered_ = less(next, 1);
    delivered_at_ = clock_.monotonic();
    events_->answered({{}, *delivered_, name_, true});
}

std::optional<std::uint64_t> ChainReader::last() const {
    if (!next_ || *next_ == 0) return std::nullopt;
    return *next_ - 1;
}

std::optional<domain::Bytes32> ChainReader::hash_of_last() const {
    const auto read = last();
    return read ? hashes_.at(*read) : std::nullopt;
}

LogQuery ChainReader::next_range() {
    const std::uint64_t to = std::min(*target_, sum(*next_, range_size_.blocks() - 1));
    const std::uint64_t earliest = less(sum(to, 1), range_size_.blocks());
    const std::uint64_t from = fresh_.from(earliest).value_or(*next_);
    return {from, to, options_.decryption, options_.input_verification};
}

void ChainReader::read_again(std::uint64_t block) {
    const auto read = last();
    if (!read) return;
    applied_ = std::max(applied_, *read);
    // Of the furthest: asked again before it was read, it goes back no further.
    const std::uint64_t from = less(sum(std::min(block, applied_), 1), range_size_.blocks());
    if (from >= *next_) return;
    fresh_.forget();
    unseen_until_ = std::max(unseen_until_, *read);
    next_ = from;
    if (!target_) target_ = read;
}

// Both are in one block, so a node that has one has the other.
bool ChainReader::lacks_share(const std::vector<Log>& logs) {
    for (std::size_t at = 0; at < logs.size(); ++at) {
        if (logs[at].topics.front() != threshold_reached_topic()) continue;
        if (!threshold_reached_at(logs, at)) return ++without_share_ < times_without_share;
    }
    without_share_ = 0;
    return false;
}

// A node can make up any number of them.
void ChainReader::note_undecodable(const Log& log) {
    const domain::Monotonic now = clock_.monotonic();
    ++undecodable_;
    if (undecodable_told_at_ && now - *undecodable_told_at_ < undecodable_line_interval) return;
    undecodable_told_at_ = now;
    logger_.write(ports::LogLevel::warning, "answer_undecodable listener=" + name_ +
                                                " block=" + std::to_string(log.block_number) +
                                                " log=" + std::to_string(log.index) +
                                                " so_far=" + std::to_string(undecodable_));
}

void ChainReader::deliver(const std::vector<Log>& logs, std::uint64_t cursor) {
    cursor = std::max(cursor, applied_);
    engine::Answered answered{{}, cursor, name_, false};
    std::vector<const Log*> done;
    for (std::size_t at = 0; at < logs.size(); ++at) {
        const Log& log = logs[at];
        if (!fresh_.mark(log)) continue;
        if (seen_ != nullptr && log.block_number > unseen_until_ && seen_->has(log)) continue;
        done.push_back(&log);
        if (auto answer = answer_at(logs, at)) {
            answer->block = domain::Block{log.block_number, log.block_hash};
            answered.answers.push_back(*std::move(answer));
            continue;
        }
        note_undecodable(log);
    }
    if (!answered.answers.empty()) {
        delivered_ = cursor;
        delivered_at_ = clock_.monotonic();
        events_->answered(std::move(answered));
    } else if (clock_.monotonic() - delivered_at_ >= cursor_interval) {
        deliver_cursor(cursor);
    }
    if (seen_ == nullptr) return;
    for (const Log* log : done) seen_->mark(*log);
}

void ChainReader::deliver_cursor(std::uint64_t cursor) {
    delivered_ = cursor;
    delivered_at_ = clock_.monotonic();
    events_->answered({{}, cursor, name_, false});
}

void ChainReader::deliver_cursor_if_due() {
    const auto read = last();
    if (!read || delivered_ >= read) return;
    if (clock_.monotonic() - delivered_at_ >= cursor_interval) deliver_cursor(*read);
}

ChainReader::Step ChainReader::idle() {
    failures_ = 0;
    turned_away_ = 0;
    return {options_.listening.poll_interval, false, false, std::nullopt};
}

ChainReader::Step ChainReader::lagging(const std::string& text) {
    Step step = idle();
    if (missing_block_.observe(clock_.monotonic())) step.problem = text;
    return step;
}

// Another node spoke of that block; this one may have the earlier ones.
ChainReader::Step ChainReader::not_there_yet(const LogQuery& query, const std::string& text) {
    if (query.to > *next_) {
        target_ = *next_ + (query.to - *next_) / 2;
        return {{}, true, false, std::nullopt};
    }
    target_.reset();
    return lagging(text);
}

ChainReader::Step ChainReader::failed(std::string text) {
    return failed(std::move(text), pause_max);
}

ChainReader::Step ChainReader::failed(std::string text, Milliseconds longest) {
    failures_ = std::min(failures_ + 1, 32U);
    Milliseconds pause = std::max(options_.listening.retry_interval, Milliseconds{1});
    longest = std::max(longest, pause);
    for (std::uint32_t i = 1; i < failures_ && pause < longest; ++i) pause *= 2;
    return {std::min(pause, longest), true, false, std::move(text)};
}

ChainReader::Step ChainReader::failed(const TransportError& problem, std::uint64_t blocks_asked) {
    if (problem.kind == TransportError::Kind::stopped) return {{}, true, true, std::nullopt};
    const bool turned_away = problem.kind == TransportError::Kind::throttled ||
                             problem.kind == TransportError::Kind::unsent;
    turned_away_ = turned_away ? turned_away_ + 1 : 0;
    // The head is asked for first again: whoever does not even say that is not short of anything.
    if (problem.kind == TransportError::Kind::unsent) target_.reset();
    const bool too_much = !turned_away || turned_away_ >= times_to_doubt;
    if (blocks_asked > 1 && too_much) range_size_.refused(blocks_asked);
    Step step = failed(problem.text, pause_max_unanswered);
    if (problem.wait > Milliseconds{0}) step.pause = problem.wait;
    return step;
}

// Nodes refuse what is too much for them with codes and words of their own.
ChainReader::Step ChainReader::refused(const NodeError& error, const LogQuery& query) {
    constexpr std::int64_t out_of_range = -32602;
    const bool is_near_head = less(head_.value_or(0), query.to) <= options_.listening.reorg_depth;
    if (lacks_block(error) && is_near_head) return not_there_yet(query, refusal_text(error));
    if (query.blocks() > 1) {
        range_size_.refused(query.blocks());
        return {{}, true, false, std::nullopt};
    }
    if (error.code != out_of_range) return failed(refusal_text(error));
    return not_there_yet(query, refusal_text(error));
}

}  // namespace chains::evm
