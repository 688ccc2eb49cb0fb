#include "chains/evm/key_poller.hpp"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>
#include <variant>

#include "base/sanitize.hpp"
#include "chains/evm/calls.hpp"
#include "chains/evm/receipt.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "engine/key_urls.hpp"

namespace chains::evm {
namespace {

constexpr const char* finalized = "finalized";

// On a young development chain only block 0 is final (evm-gateway 10.3).
constexpr const char* no_contract =
    "nothing came back: no contract has this address in the finalized block. A development chain "
    "has to finalize the block of the deployment first (anvil: --slots-in-an-epoch 1, then mine)";

NoResult about(std::string_view what, NoResult unread) {
    unread.reason = std::string(what) + ": " + unread.reason;
    return unread;
}

// The result of a view, which must not be empty.
std::variant<domain::Bytes, NoResult> result(std::string_view what, const jsonrpc::Answer& answer) {
    auto read = read_eth_call(answer);
    if (const auto* unread = std::get_if<NoResult>(&read)) return about(what, *unread);
    if (std::get<domain::Bytes>(read).empty()) return about(what, {no_contract});
    return read;
}

// Words of a result, in their order, into `out`.
std::optional<NoResult> read_words(std::string_view what, const jsonrpc::Answer& answer,
                                   std::vector<domain::Bytes32*> out) {
    const auto read = result(what, answer);
    if (const auto* unread = std::get_if<NoResult>(&read)) return *unread;
    for (std::size_t word = 0; word < out.size(); ++word) {
        const auto value = decode_word(std::get<domain::Bytes>(read), word);
        if (!value) return about(what, {"malformed answer"});
        *out[word] = *value;
    }
    return std::nullopt;
}

using Decodes = bool (*)(domain::ByteView);

std::optional<NoResult> must_decode(std::string_view what, const jsonrpc::Answer& answer,
                                    Decodes decodes) {
    const auto read = result(what, answer);
    if (const auto* unread = std::get_if<NoResult>(&read)) return *unread;
    if (!decodes(std::get<domain::Bytes>(read))) return about(what, {"malformed answer"});
    return std::nullopt;
}

std::optional<NoResult> read_anchor(const jsonrpc::Answer& answer, std::uint64_t& anchor) {
    constexpr std::string_view what = "getKmsContextAnchor";
    const auto read = result(what, answer);
    if (const auto* unread = std::get_if<NoResult>(&read)) return *unread;
    const auto number = decode_number(std::get<domain::Bytes>(read), 0);
    if (!number) return about(what, {"malformed answer"});
    if (*number == 0) return about(what, {"the block that announced the context is not known"});
    anchor = *number;
    return std::nullopt;
}

// It becomes part of the URLs that clients load.
bool is_plain(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

// Of the last announcement; the node may have answered with more than it was asked for.
std::variant<KmsStorage, NoResult> storage_in(const jsonrpc::Json& logs,
                                              const domain::Address& contract,
                                              const domain::Bytes32& context) {
    if (!logs.is_array()) return NoResult{"malformed answer"};
    std::optional<Log> last;
    for (const jsonrpc::Json& json : logs) {
        std::optional<Log> log = decode_log(json);
        if (!log) return NoResult{"malformed log"};
        if (log->removed || log->address != contract || log->topics.size() < 2 ||
            log->topics[0] != new_kms_context_topic() || log->topics[1] != context) {
            continue;
        }
        last = std::move(log);
    }
    if (!last) return NoResult{"no NewKmsContext event in the block that announced the context"};
    const std::optional<KmsStorage> storage = decode_kms_storage(*last);
    if (!storage) return NoResult{"malformed NewKmsContext event"};
    if (storage->url.empty() || !is_plain(storage->url) || !is_plain(storage->prefix)) {
        return NoResult{"the storage of the first KMS node is no URL"};
    }
    return *storage;
}

}  // namespace

KeyPoller::KeyPoller(const Options& options, jsonrpc::Node& protocol, ports::Executor& executor,
                     ports::Logger& logger)
    : options_(options), protocol_(protocol), logger_(logger), task_group_(executor) {}

KeyPoller::~KeyPoller() {
    stop();
}

void KeyPoller::start() {
    task_group_.run_after(domain::Milliseconds{0}, [this] { tick(); });
}

void KeyPoller::stop() {
    task_group_.stop();
}

std::optional<engine::KeyMaterial> KeyPoller::current() const {
    const std::lock_guard lock{mutex_};
    return current_;
}

std::optional<std::string> KeyPoller::problem() const {
    const std::lock_guard lock{mutex_};
    return problem_;
}

void KeyPoller::tick() {
    task_group_.run_after(std::max(options_.key_urls.poll_interval, domain::Milliseconds{1}),
                          [this] { tick(); });
    {
        const std::lock_guard lock{mutex_};
        if (std::exchange(busy_, true)) return;
    }
    go_on({});
}

void KeyPoller::go_on(Round round) {
    const Options::Retry& retry = options_.protocol_config.retry;
    while (round.step != Step::done) {
        const std::optional<NoResult> unread = take_step(round);
        if (unread && unread->stopped) return;
        if (!unread) {
            round.failures = 0;
        } else if (++round.failures < retry.attempts_max) {
            task_group_.run_after(std::max(retry.pause, unread->wait),
                                  [this, round] { go_on(round); });
            return;
        } else {
            give_up(unread->reason);
            return;
        }
    }
    finish(round);
}

std::optional<NoResult> KeyPoller::take_step(Round& round) {
    switch (round.step) {
        case Step::ids:
            return read_ids(round);
        case Step::materials:
            return read_materials(round);
        case Step::storage:
            return read_storage(round);
        case Step::done:
            break;
    }
    return std::nullopt;
}

std::optional<NoResult> KeyPoller::read_ids(Round& round) {
    const domain::Address& generation = options_.key_urls.kms_generation;
    const std::vector<jsonrpc::Answer> answers = protocol_.call_all({
        eth_call(generation, getter(Getter::active_key_id), finalized),
        eth_call(generation, getter(Getter::active_crs_id), finalized),
        eth_call(options_.protocol_config.address, getter(Getter::current_kms_context_and_epoch),
                 finalized),
    });
    assert(answers.size() == 3);
    if (auto unread = read_words("getActiveKeyId", answers[0], {&round.ids.key})) return unread;
    if (auto unread = read_words("getActiveCrsId", answers[1], {&round.ids.crs})) return unread;
    if (auto unread = read_words("getCurrentKmsContextAndEpoch", answers[2],
                                 {&round.ids.context, &round.ids.epoch})) {
        return unread;
    }
    round.step = is_news(round.ids) ? Step::materials : Step::done;
    return std::nullopt;
}

std::optional<NoResult> KeyPoller::read_materials(Round& round) {
    const domain::Address& generation = options_.key_urls.kms_generation;
    const std::vector<jsonrpc::Answer> answers = protocol_.call_all({
        eth_call(generation, getter(Getter::key_materials, round.ids.key), finalized),
        eth_call(generation, getter(Getter::crs_materials, round.ids.crs), finalized),
        eth_call(options_.protocol_config.address,
                 getter(Getter::kms_context_anchor, round.ids.context), finalized),
    });
    assert(answers.size() == 3);
    if (auto unread = must_decode("getKeyMaterials", answers[0], decodes_as_key_materials)) {
        return unread;
    }
    if (auto unread = must_decode("getCrsMaterials", answers[1], decodes_as_crs_materials)) {
        return unread;
    }
    if (auto unread = read_anchor(answers[2], round.anchor)) return unread;
    round.step = Step::storage;
    return std::nullopt;
}

std::optional<NoResult> KeyPoller::read_storage(Round& round) {
    constexpr std::string_view what = "eth_getLogs";
    const domain::Address& contract = options_.protocol_config.address;
    const std::string block = jsonrpc::hex_quantity(round.anchor);
    const jsonrpc::Answer answer = protocol_.call(jsonrpc::Call{
        "eth_getLogs",
        jsonrpc::Json::array(
            {{{"fromBlock", block},
              {"toBlock", block},
              {"address", jsonrpc::hex(contract)},
              {"topics", jsonrpc::Json::array({jsonrpc::hex(new_kms_context_topic()),
                                               jsonrpc::hex(round.ids.context)})}}})});
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&answer)) {
        return about(what, {text_of(*error)});
    }
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answer)) {
        return about(what, no_result(*problem));
    }
    auto storage = storage_in(std::get<jsonrpc::Json>(answer), contract, round.ids.context);
    if (const auto* unread = std::get_if<NoResult>(&storage)) return about(what, *unread);
    round.storage = std::move(std::get<KmsStorage>(storage));
    round.step = Step::done;
    return std::nullopt;
}

bool KeyPoller::is_news(const Ids& ids) const {
    const std::lock_guard lock{mutex_};
    return ids_ != ids;
}

void KeyPoller::finish(const Round& round) {
    bool recovered = false;
    bool changed = false;
    {
        const std::lock_guard lock{mutex_};
        busy_ = false;
        recovered = std::exchange(problem_, std::nullopt).has_value();
        changed = ids_ != round.ids;
        if (changed) {
            current_ = engine::stored_at(round.storage.url, round.storage.prefix, round.ids.key,
                                         round.ids.crs);
            ids_ = round.ids;
        }
    }
    if (recovered) logger_.write(ports::LogLevel::info, "key_urls_recovered");
    if (changed) {
        logger_.write(ports::LogLevel::info, "key_urls_changed key=0x" +
                                                 domain::to_hex(round.ids.key) + " crs=0x" +
                                                 domain::to_hex(round.ids.crs) + " context=0x" +
                                                 domain::to_hex(round.ids.context) + " epoch=0x" +
                                                 domain::to_hex(round.ids.epoch));
    }
}

void KeyPoller::give_up(const std::string& problem) {
    {
        const std::lock_guard lock{mutex_};
        busy_ = false;
        if (problem_ == problem) return;
        problem_ = problem;
    }
    logger_.write(ports::LogLevel::error, "key_urls_failed error=" + base::log_value(problem));
}

}  // namespace chains::evm
