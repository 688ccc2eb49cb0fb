// Requests as they arrive on a connection. The first byte seeds how the bytes are cut into pieces.

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/content_type.hpp"
#include "api/router.hpp"
#include "domain/request_id.hpp"
#include "fuzz/spelling.hpp"
#include "fuzz/target.hpp"
#include "net/request_reader.hpp"

namespace {

using fuzz::require;

// Small enough to be met by small inputs.
constexpr net::ReadingLimits limits{
    .head_bytes_max = 6'000, .headers_max = 20, .body_bytes_max = 9'000};

// What became of one request.
struct Seen {
    std::optional<net::HttpProblem> problem;
    std::string method;
    std::string target;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;

    bool operator==(const Seen&) const = default;
};

Seen seen_of(const net::HttpRequest& request) {
    Seen seen{{}, std::string(request.method), std::string(request.target), {}, {}};
    for (const auto& [name, value] : request.headers) seen.headers.emplace_back(name, value);
    seen.body = request.body;
    return seen;
}

bool is_text(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return (code < 0x20 && c != '\t') || code == 0x7f;
    });
}

std::size_t count(const net::HttpRequest& request, std::string_view name) {
    return static_cast<std::size_t>(
        std::count_if(request.headers.begin(), request.headers.end(),
                      [&](const auto& header) { return fuzz::lower_case(header.name) == name; }));
}

// --- routes ---

void check_job_id(std::string_view sent) {
    require(!sent.empty() && sent.find('/') == std::string_view::npos, "a job id is one segment");
    const domain::ParsedId parsed = domain::parse_request_id(api::percent_decoded(sent));
    if (parsed.form != domain::UuidForm::ours) return;
    const domain::ParsedId again = domain::parse_request_id(domain::to_string(parsed.id));
    require(again.form == domain::UuidForm::ours && again.id == parsed.id,
            "a job id is found under its own spelling");
}

void check_percent_decoding(std::string_view text) {
    require(api::percent_decoded(text).size() <= text.size(), "decoding shortens");
    std::string escaped;
    for (const char c : text) {
        const auto byte = static_cast<std::uint8_t>(c);
        escaped += "%" + domain::to_hex({&byte, 1});
    }
    require(api::percent_decoded(escaped) == text, "every byte can be escaped");
}

void check_route(const net::HttpRequest& request) {
    check_percent_decoding(request.path);
    const auto match = api::find_route(request.method, request.path);
    if (!match) return;
    require(request.path.starts_with(match->route->path), "a route covers its path");
    if (match->route->action == api::Action::poll)
        check_job_id(api::rest_of(request.path, *match->route));
    const auto get = api::find_route("GET", request.path);
    const auto head = api::find_route("HEAD", request.path);
    require(get && head && get->method_fits == head->method_fits, "HEAD counts as GET");
}

// --- heads ---

void check_request_line(const net::HttpRequest& request) {
    require(!request.method.empty() && is_text(request.method), "a method is a token");
    require(!request.target.empty() && is_text(request.target) &&
                request.target.find(' ') == std::string_view::npos,
            "a target is one word");
    require(request.path.starts_with('/') || request.path == "*", "a path begins with a slash");
    require(request.path.find('?') == std::string_view::npos, "a path ends before its query");
}

void check_framing(const net::RequestHead& head) {
    const net::HttpRequest& request = head.request;
    require(count(request, "host") <= 1 && count(request, "content-length") <= 1,
            "Host and Content-Length come once");
    require(count(request, "transfer-encoding") == 0 || count(request, "content-length") == 0,
            "a body has one end");
    require(count(request, "transfer-encoding") == 0 || head.chunked || head.body_problem,
            "chunks are the only coding");
    require(head.body_problem || head.body_bytes <= limits.body_bytes_max, "bodies are bounded");
    require(head.body_bytes == 0 || count(request, "content-length") == 1,
            "a body has its length said");
}

// The same head with one space after each colon and nothing else between its parts.
std::string plain_spelling(std::string_view bytes, const net::HttpRequest& request) {
    std::string spelled(bytes.substr(0, bytes.find("\r\n") + 2));
    for (const auto& [name, value] : request.headers) {
        spelled.append(name).append(": ").append(value).append("\r\n");
    }
    return spelled + "\r\n";
}

void check_head(std::string_view bytes) {
    net::RequestHead head;
    net::read_head(bytes, limits, head);
    if (head.head_problem) {
        require(net::status_of(*head.head_problem) >= 400, "a problem has a status");
        require(!net::text_of(*head.head_problem).empty(), "a problem has words");
        return;
    }
    const net::HttpRequest& request = head.request;
    check_request_line(request);
    require(request.headers.size() <= limits.headers_max, "headers are bounded");
    for (const auto& [name, value] : request.headers) {
        require(!name.empty() && name.find_first_of(" \t:\r\n") == std::string_view::npos,
                "a header has a name");
        require(is_text(value) && value.find_first_of("\r\n") == std::string_view::npos,
                "a value is one line");
    }
    check_framing(head);
    check_route(request);
    static_cast<void>(api::announces_json(request));

    net::RequestHead again;
    const std::string spelled = plain_spelling(bytes, request);
    net::read_head(spelled, limits, again);
    require(!again.head_problem && seen_of(again.request) == seen_of(request) &&
                again.body_bytes == head.body_bytes && again.keep_alive == head.keep_alive &&
                again.continue_expected == head.continue_expected &&
                again.chunked == head.chunked && again.body_problem == head.body_problem,
            "a head spelled plainly says the same");
}

void check_head_end(std::string_view bytes) {
    net::HeadEnd at_once;
    const auto end = at_once.find(bytes);
    net::HeadEnd bit_by_bit;
    std::optional<std::size_t> found;
    for (std::size_t arrived = 0; arrived <= bytes.size() && !found; ++arrived) {
        found = bit_by_bit.find(bytes.substr(0, arrived));
        if (bit_by_bit.malformed()) break;
    }
    require(found == end && bit_by_bit.malformed() == at_once.malformed(),
            "a head ends where it ends, however it comes");
    if (!end) return;
    require(bytes.substr(0, *end).ends_with("\r\n"), "a head ends with its empty line");
    check_head(bytes.substr(0, *end));
}

// --- connections ---

class Peer {
public:
    // False: nothing more is read.
    bool send(std::string_view piece) {
        while (!piece.empty()) {
            const auto space = reader_.space();
            require(!space.empty(), "there is room for what a request still needs");
            const std::size_t bytes = std::min(space.size(), piece.size());
            std::ranges::copy(piece.substr(0, bytes), space.begin());
            piece.remove_prefix(bytes);
            reader_.filled(bytes);
            if (!advance()) return false;
        }
        return true;
    }

    [[nodiscard]] const std::vector<Seen>& seen() const { return seen_; }

private:
    bool advance() {
        for (;;) {
            switch (reader_.advance()) {
                case net::RequestReader::Step::more:
                    return true;
                case net::RequestReader::Step::head:
                    break;
                case net::RequestReader::Step::request:
                    require(reader_.request().body.size() <= limits.body_bytes_max,
                            "bodies are bounded, chunked ones too");
                    seen_.push_back(seen_of(reader_.request()));
                    if (!reader_.head().keep_alive) return false;
                    reader_.next_request();
                    break;
                case net::RequestReader::Step::refused:
                    seen_.push_back({reader_.problem(), {}, {}, {}, {}});
                    return false;
            }
        }
    }

    net::ByteBudget budget_{std::size_t{64} << 20U};
    net::RequestReader reader_{limits, budget_, ""};
    std::vector<Seen> seen_;
};

void check_connection(std::string_view bytes, unsigned seed) {
    Peer at_once;
    at_once.send(bytes);
    Peer in_pieces;
    std::minstd_rand random(seed + 1);
    const std::size_t piece_max = std::max<std::size_t>(1, bytes.size() / 16);
    while (!bytes.empty()) {
        const std::size_t size = std::min(bytes.size(), 1 + random() % piece_max);
        if (!in_pieces.send(bytes.substr(0, size))) break;
        bytes.remove_prefix(size);
    }
    require(in_pieces.seen() == at_once.seen(), "requests are the same however they arrive");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0 || size > 16'384) return 0;
    const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
    check_head_end(bytes);
    if (!bytes.empty()) check_connection(bytes, *data);
    return 0;
}
