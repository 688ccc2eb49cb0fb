#include "commands/drill/asking.hpp"

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>

#include "commands/drill/bodies.hpp"
#include "domain/status.hpp"

namespace commands::drill {

namespace {

using namespace std::chrono_literals;
using Document = nlohmann::json;
using Kind = Reply::Kind;

constexpr auto answer_patience = 10s;
constexpr auto between_passes = 200ms;
constexpr unsigned askers = 4;
constexpr std::size_t text_shown = 200;

// The member of an object as text; empty when there is none.
std::string text_in(const Document& object, const char* member) {
    if (!object.is_object()) return {};
    const auto found = object.find(member);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Document parsed(const std::string& body) {
    return Document::parse(body, nullptr, false);
}

Reply refused(const Wish& wish, const net::ClientResponse& response) {
    return {.kind = Kind::refused,
            .job = {},
            .text = "a valid " + std::string(domain::to_string(wish.kind)) + " got " +
                    std::to_string(response.status) + " " + response.body.substr(0, text_shown)};
}

Reply read_share_reply(const Wish& wish, const net::ClientResponse& response) {
    const std::string status = text_in(parsed(response.body), "status");
    if (response.status != 200 || (status != "queued" && status != "duplicate")) {
        return refused(wish, response);
    }
    return {.kind = Kind::promised, .job = {}, .duplicate = status == "duplicate", .text = {}};
}

Reply read_reply(const Wish& wish, const net::ClientResponse& response) {
    if (response.status == 429 || response.status == 503)
        return {.kind = Kind::later, .job = {}, .text = {}};
    if (wish.kind == domain::Kind::share) return read_share_reply(wish, response);
    const auto id = domain::parse_request_id(text_in(parsed(response.body), "job_id"));
    if (response.status != 202 || id.form != domain::UuidForm::ours) return refused(wish, response);
    return {.kind = Kind::promised, .job = id.id, .text = {}};
}

FinalAnswer ask_share(net::Client& client, std::uint64_t seed, const Wish& wish) {
    const Reply reply = post(client, seed, wish);
    if (reply.kind == Kind::promised) {
        return reply.duplicate ? FinalAnswer::completed : FinalAnswer::unknown;
    }
    return reply.kind == Kind::refused ? FinalAnswer::unknown : FinalAnswer::none;
}

FinalAnswer read_pending(const Promise& promise, const Document& body) {
    const auto state = domain::status_from(text_in(body, "state"));
    const bool waits = state == domain::Status::receipt_received ||
                       (state == domain::Status::queued && domain::is_decrypt(promise.wish.kind));
    return waits ? FinalAnswer::waiting : FinalAnswer::none;
}

// A proof that the chain found to be wrong has failed, although its answer is good news.
FinalAnswer read_end(const Document& body) {
    const auto result = body.is_object() ? body.value("result", Document()) : Document();
    const bool rejected = result.is_object() && result.value("accepted", Document()) == false;
    return rejected ? FinalAnswer::failed : FinalAnswer::completed;
}

FinalAnswer ask(net::Client& client, std::uint64_t seed, const Promise& promise) {
    if (promise.wish.kind == domain::Kind::share) return ask_share(client, seed, promise.wish);
    const std::string target =
        std::string(path_of(promise.wish.kind)) + "/" + domain::to_string(promise.job);
    const auto result =
        client.exchange({.method = "GET", .target = target, .repeatable = true}, answer_patience);
    const auto* const response = std::get_if<net::ClientResponse>(&result);
    if (response == nullptr) return FinalAnswer::none;
    if (response->status == 404) return FinalAnswer::unknown;
    const Document body = parsed(response->body);
    if (response->status == 202) return read_pending(promise, body);
    if (response->status == 200) return read_end(body);
    return text_in(body, "status") == "failed" ? FinalAnswer::failed : FinalAnswer::none;
}

bool is_open(FinalAnswer answer) {
    return answer == FinalAnswer::none || answer == FinalAnswer::waiting;
}

// Those of `open` that have not ended; some at a time.
std::vector<std::size_t> ask_once(const std::vector<std::size_t>& open,
                                  const std::function<FinalAnswer(std::size_t)>& ask_one,
                                  std::vector<FinalAnswer>& answers, const Wait& wait) {
    std::atomic<std::size_t> next{0};
    std::atomic<unsigned> busy{askers};
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < askers; ++i) {
        threads.emplace_back([&](const std::stop_token& stop) {
            for (std::size_t at = next++; at < open.size() && !stop.stop_requested(); at = next++) {
                answers[open[at]] = ask_one(open[at]);
            }
            --busy;
        });
    }
    while (busy > 0) wait(10ms);
    threads.clear();
    std::vector<std::size_t> left;
    for (const std::size_t index : open) {
        if (is_open(answers[index])) left.push_back(index);
    }
    return left;
}

}  // namespace

Reply post(net::Client& client, std::uint64_t seed, const Wish& wish) {
    const std::string body = body_of(seed, wish);
    const auto result = client.exchange(
        {.method = "POST", .target = path_of(wish.kind), .body = body}, answer_patience);
    if (const auto* const response = std::get_if<net::ClientResponse>(&result)) {
        return read_reply(wish, *response);
    }
    return {};
}

std::vector<FinalAnswer> ask_until_ended(net::Client& client, std::uint64_t seed,
                                         const std::vector<Promise>& promises, const Wait& wait,
                                         const Patience& patience) {
    std::vector<FinalAnswer> answers(promises.size(), FinalAnswer::none);
    std::vector<std::size_t> open(promises.size());
    for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
    const auto ask_one = [&](std::size_t index) { return ask(client, seed, promises[index]); };
    // Those that have not ended, and those of them that are not even waiting.
    std::pair before{open.size(), open.size()};
    auto moved = std::chrono::steady_clock::now();
    const auto limit = [&] { return before.second == 0 ? patience.waiting : patience.any; };
    while (!open.empty() && std::chrono::steady_clock::now() - moved < limit()) {
        open = ask_once(open, ask_one, answers, wait);
        const auto idle = std::ranges::count(answers, FinalAnswer::none);
        const std::pair now{open.size(), static_cast<std::size_t>(idle)};
        if (now < before) moved = std::chrono::steady_clock::now();
        before = now;
        if (!open.empty()) wait(between_passes);
    }
    return answers;
}

}  // namespace commands::drill
