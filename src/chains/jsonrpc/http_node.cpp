#include "chains/jsonrpc/http_node.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "chains/jsonrpc/replies.hpp"
#include "chains/jsonrpc/reply_class.hpp"
#include "net/transport_error.hpp"

namespace chains::jsonrpc {
namespace {

using Kind = TransportError::Kind;

// Whoever finds out whether the first URL is well again may hold up all with larger nonces.
constexpr std::chrono::minutes sends_elsewhere_for{10};

std::string which(std::size_t place, std::size_t count) {
    return "url " + std::to_string(place + 1) + " of " + std::to_string(count);
}

bool sends_transaction(const Call& call) {
    return call.method.starts_with("eth_sendRawTransaction");
}

// What became of a transaction is asked where it was sent: pools need not tell each other.
bool goes_with_sends(const Call& call) {
    return sends_transaction(call) || call.method == "eth_getTransactionByHash";
}

bool may_go_elsewhere(const Call& call, const Answer& answer) {
    const auto* const problem = std::get_if<TransportError>(&answer);
    if (problem == nullptr || problem->kind == Kind::stopped) return false;
    return !sends_transaction(call) || problem->kind == Kind::unsent ||
           problem->kind == Kind::throttled;
}

// Nobody can say whether the transaction was taken.
bool is_outcome_unknown(const Answer& answer) {
    if (const auto* const error = std::get_if<NodeError>(&answer)) {
        return classify(*error).reply_class == ReplyClass::timed_out;
    }
    if (const auto* const problem = std::get_if<TransportError>(&answer)) {
        return problem->kind == Kind::lost || problem->kind == Kind::timed_out ||
               problem->kind == Kind::garbled;
    }
    return std::get<Json>(answer).is_null();
}

bool is_throttled(const Answer& answer) {
    const auto* const problem = std::get_if<TransportError>(&answer);
    return problem != nullptr && problem->kind == Kind::throttled;
}

// What all of them share, so that more of them would fare no better.
const TransportError* common_error(const std::vector<Answer>& answers) {
    const auto is_problem = [](const Answer& answer) {
        const auto* const problem = std::get_if<TransportError>(&answer);
        return problem != nullptr && problem->kind != Kind::lost && problem->kind != Kind::garbled;
    };
    return std::ranges::all_of(answers, is_problem) ? std::get_if<TransportError>(&answers.back())
                                                    : nullptr;
}

// To what will be `count` answers; the rest is held back where it would fare no better.
void append(std::vector<Answer>& answers, std::vector<Answer> got, std::size_t count) {
    const TransportError* const problem = common_error(got);
    const auto rest = problem ? std::optional(net::held_back(*problem)) : std::nullopt;
    std::ranges::move(got, std::back_inserter(answers));
    if (rest) answers.resize(count, *rest);
}

void note(EndpointHealth& health, const Answer& answer, domain::Monotonic now) {
    const auto* const problem = std::get_if<TransportError>(&answer);
    if (problem == nullptr) return health.note_answer();
    switch (problem->kind) {
        case Kind::unsent:
        case Kind::timed_out:
            return health.note_failure(now);
        case Kind::throttled:
            return health.throttle(problem->wait, now);
        case Kind::lost:
        case Kind::garbled:
            return health.note_answer();
        case Kind::stopped:
            return;
    }
}

}  // namespace

HttpNode::HttpNode(HttpNodeOptions options, const ports::Clock& clock)
    : options_(std::move(options)), clock_(clock) {
    const auto context =
        options_.context ? options_.context : std::make_shared<net::ClientContext>();
    const std::size_t count = options_.urls.size();
    for (std::size_t place = 0; place < count; ++place) {
        auto url = net::parse_url(options_.urls[place]);
        if (!url || url->websocket) {
            throw std::invalid_argument(which(place, count) + " is no http or https URL");
        }
        endpoints_.push_back(
            std::make_unique<Endpoint>(std::move(*url), options_.response_bytes_max, context));
    }
}

Answer HttpNode::call(const Call& call, std::optional<domain::Milliseconds> timeout) {
    return std::move(settle({&call}, timeout.value_or(options_.timeout)).front());
}

// One call on its way from URL to URL.
struct HttpNode::Question {
    Call call;
    domain::Milliseconds timeout;
    Done done;
    std::vector<Endpoint*> to_ask;  // the next at the back
    std::vector<Answer> answers;    // one, the last
    bool contacted = false;
};

void HttpNode::call_then(const Call& call, std::optional<domain::Milliseconds> timeout,
                         const Done& done) {
    std::vector<Endpoint*> to_ask = preferred(goes_with_sends(call));
    std::ranges::reverse(to_ask);
    const auto question = std::make_shared<Question>(
        Question{call, timeout.value_or(options_.timeout), done, std::move(to_ask), {unasked()}});
    ask_next(question);
}

void HttpNode::ask_next(const std::shared_ptr<Question>& question) {
    while (!question->to_ask.empty() && !stopped_) {
        Endpoint& endpoint = *question->to_ask.back();
        question->to_ask.pop_back();
        if (endpoint.health.throttled_for(clock_.monotonic()).count() > 0) continue;
        question->contacted = true;
        const std::uint64_t id = next_id_.fetch_add(1);
        const Call* const call = &question->call;
        const auto take = [this, question, &endpoint, id](net::ClientResult posted) {
            question->answers.front() = read_posted(endpoint, std::move(posted), id);
            if (sends_transaction(question->call)) note_send(endpoint, question->answers.front());
            name_endpoint(endpoint, question->answers);
            if (!may_go_elsewhere(question->call, question->answers.front())) {
                question->to_ask.clear();
            }
            ask_next(question);
        };
        endpoint.client.send({.method = "POST",
                              .body = write_request({&call, 1}, id),
                              .repeatable = !sends_transaction(*call),
                              .written = call->written},
                             question->timeout, take);
        return;
    }
    Answer& answer = question->answers.front();
    if (question->contacted) note_outcome(question->answers);
    if (may_go_elsewhere(question->call, answer)) conclude(answer);
    question->done(std::move(answer));
}

std::vector<Answer> HttpNode::call_all(const std::vector<Call>& calls) {
    std::vector<Answer> answers;
    answers.reserve(calls.size());
    const std::size_t batch_max = std::max<std::size_t>(options_.batch_max, 1);
    while (answers.size() < calls.size()) {
        Calls batch;
        for (std::size_t place = answers.size(); place < calls.size() && batch.size() < batch_max;
             ++place) {
            batch.push_back(&calls[place]);
        }
        append(answers, settle(batch, options_.timeout), calls.size());
    }
    return answers;
}

void HttpNode::stop() {
    stopped_ = true;
    for (const auto& endpoint : endpoints_) endpoint->client.stop();
}

std::optional<std::string> HttpNode::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

std::optional<std::string> HttpNode::remark() const {
    if (!has_text_ids_) return std::nullopt;
    return "replies carry the id as text";
}

std::vector<Answer> HttpNode::settle(const Calls& calls, domain::Milliseconds timeout) {
    std::vector<Answer> answers(calls.size(), unasked());
    std::vector<std::size_t> open(calls.size());  // without an answer that stays
    std::iota(open.begin(), open.end(), std::size_t{0});
    bool contacted = false;
    const bool with_sends =
        std::ranges::any_of(calls, [](const Call* const call) { return goes_with_sends(*call); });
    for (Endpoint* const endpoint : preferred(with_sends)) {
        if (open.empty() || stopped_) break;
        if (endpoint->health.throttled_for(clock_.monotonic()).count() > 0) continue;
        contacted = true;
        Calls asked;
        for (const std::size_t place : open) asked.push_back(calls[place]);
        auto got = ask(*endpoint, asked, timeout);
        std::vector<std::size_t> still_open;
        for (std::size_t next = 0; next < open.size(); ++next) {
            if (sends_transaction(*asked[next])) note_send(*endpoint, got[next]);
            if (may_go_elsewhere(*asked[next], got[next])) still_open.push_back(open[next]);
            answers[open[next]] = std::move(got[next]);
        }
        open = std::move(still_open);
    }
    if (contacted) note_outcome(answers);
    for (const std::size_t place : open) conclude(answers[place]);
    return answers;
}

// When nobody can be asked.
Answer HttpNode::unasked() const {
    if (endpoints_.empty()) return net::transport_error(Kind::unsent, "no URL configured");
    return net::throttled(domain::Milliseconds{0});
}

std::vector<Endpoint*> HttpNode::preferred(bool with_sends) {
    const domain::Monotonic now = clock_.monotonic();
    std::size_t first = 0;
    if (with_sends) {
        const std::lock_guard lock(mutex_);
        if (now >= send_first_until_) send_first_ = 0;
        first = send_first_;
    }
    std::vector<Endpoint*> order;
    std::vector<Endpoint*> avoided;
    const std::size_t count = endpoints_.size();
    for (std::size_t place = first; place < first + count; ++place) {
        Endpoint* const endpoint = endpoints_[place % count].get();
        const bool avoid = count > 1 && endpoint->health.should_avoid(now);
        (avoid ? avoided : order).push_back(endpoint);
    }
    order.insert(order.end(), avoided.begin(), avoided.end());
    return order;
}

// A URL may read well and hang for sends alone, so its health does not say it.
void HttpNode::note_send(const Endpoint& endpoint, const Answer& answer) {
    if (!is_outcome_unknown(answer)) return;
    const std::lock_guard lock(mutex_);
    send_first_ = (place_of(endpoint) + 1) % endpoints_.size();
    send_first_until_ = clock_.monotonic() + sends_elsewhere_for;
}

// No URL is left to ask.
void HttpNode::conclude(Answer& answer) const {
    if (stopped_) {
        answer = net::stopped();
        return;
    }
    const auto* const problem = std::get_if<TransportError>(&answer);
    if (problem == nullptr || problem->kind != Kind::throttled) return;
    const domain::Monotonic now = clock_.monotonic();
    std::optional<domain::Milliseconds> shortest;
    for (const auto& endpoint : endpoints_) {
        const domain::Milliseconds wait = endpoint->health.throttled_for(now);
        if (wait.count() > 0) shortest = std::min(wait, shortest.value_or(wait));
    }
    if (shortest) answer = net::throttled(*shortest);
}

void HttpNode::note_outcome(const std::vector<Answer>& answers) {
    const auto is_problem = [](const Answer& answer) {
        return std::holds_alternative<TransportError>(answer);
    };
    const auto first = std::ranges::find_if(answers, is_problem);
    const auto* const problem =
        first == answers.end() ? nullptr : std::get_if<TransportError>(&*first);
    if (problem != nullptr && problem->kind == Kind::stopped) return;
    const std::lock_guard lock(mutex_);
    problem_ = problem == nullptr ? std::nullopt : std::optional(problem->text);
}

std::vector<Answer> HttpNode::ask(Endpoint& endpoint, const Calls& calls,
                                  domain::Milliseconds timeout) {
    std::vector<Answer> answers;
    std::size_t size = endpoint.health.batch_max(clock_.monotonic());
    bool refused = false;
    while (answers.size() < calls.size()) {
        const std::size_t count = std::min(size, calls.size() - answers.size());
        const auto first = calls.begin() + static_cast<std::ptrdiff_t>(answers.size());
        auto got =
            ask_together(endpoint, {first, first + static_cast<std::ptrdiff_t>(count)}, timeout);
        if (!got) {
            size = count / 2;
            refused = true;
            continue;
        }
        // Otherwise it refuses everything, not only so much at once.
        const bool answered = !std::holds_alternative<TransportError>(got->front());
        if (refused && answered) endpoint.health.limit_batches(size, clock_.monotonic());
        // Of many asked one by one, the first with trouble of any kind is the last.
        const auto* const problem =
            count == 1 ? std::get_if<TransportError>(&got->front()) : nullptr;
        const auto rest = problem ? std::optional(net::held_back(*problem)) : std::nullopt;
        append(answers, *std::move(got), calls.size());
        if (rest) answers.resize(calls.size(), *rest);
    }
    name_endpoint(endpoint, answers);
    return answers;
}

std::optional<std::vector<Answer>> HttpNode::ask_together(Endpoint& endpoint, const Calls& calls,
                                                          domain::Milliseconds timeout) {
    if (calls.size() == 1) return std::vector{ask_one(endpoint, *calls.front(), timeout)};
    const std::uint64_t first_id = next_id_.fetch_add(calls.size());
    net::ClientResult posted = post(endpoint, calls, first_id, timeout);
    if (const auto* const problem = std::get_if<TransportError>(&posted)) {
        note(endpoint.health, *problem, clock_.monotonic());
        return std::vector<Answer>(calls.size(), *problem);
    }
    auto answers =
        read_replies(std::get<net::ClientResponse>(std::move(posted)), calls.size(),
                     {first_id, endpoint.client.secrets(), clock_.wall(), &has_text_ids_});
    if (!answers) return std::nullopt;
    const domain::Monotonic now = clock_.monotonic();
    for (const Answer& answer : *answers) note(endpoint.health, answer, now);
    endpoint.health.note_batch(calls.size(), std::ranges::all_of(*answers, is_throttled), now);
    return answers;
}

Answer HttpNode::ask_one(Endpoint& endpoint, const Call& call, domain::Milliseconds timeout) {
    const std::uint64_t id = next_id_.fetch_add(1);
    return read_posted(endpoint, post(endpoint, {&call}, id, timeout), id);
}

Answer HttpNode::read_posted(Endpoint& endpoint, net::ClientResult posted, std::uint64_t id) {
    Answer answer;
    if (auto* const problem = std::get_if<TransportError>(&posted)) {
        answer = std::move(*problem);
    } else {
        answer = read_reply(std::get<net::ClientResponse>(std::move(posted)),
                            {id, endpoint.client.secrets(), clock_.wall(), &has_text_ids_});
    }
    note(endpoint.health, answer, clock_.monotonic());
    return answer;
}

// Which of several it was.
void HttpNode::name_endpoint(const Endpoint& endpoint, std::vector<Answer>& answers) const {
    if (endpoints_.size() < 2) return;
    const std::size_t place = place_of(endpoint);
    for (Answer& answer : answers) {
        if (auto* const problem = std::get_if<TransportError>(&answer)) {
            problem->text.append(" (" + which(place, endpoints_.size()) + ")");
        } else if (auto* const refusal = std::get_if<NodeError>(&answer)) {
            refusal->url = place + 1;
        }
    }
}

net::ClientResult HttpNode::post(Endpoint& endpoint, const Calls& calls, std::uint64_t first_id,
                                 domain::Milliseconds timeout) {
    const bool repeatable = std::ranges::none_of(
        calls, [](const Call* const call) { return sends_transaction(*call); });
    const std::string json = write_request(calls, first_id);
    return endpoint.client.exchange({.method = "POST", .body = json, .repeatable = repeatable},
                                    timeout);
}

std::size_t HttpNode::place_of(const Endpoint& endpoint) const {
    const auto found = std::ranges::find(endpoints_, &endpoint, &std::unique_ptr<Endpoint>::get);
    return static_cast<std::size_t>(found - endpoints_.begin());
}

}  // namespace chains::jsonrpc
