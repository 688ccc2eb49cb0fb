#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "net/http_message.hpp"
#include "net/input_buffer.hpp"
#include "net/request_head.hpp"

namespace net {

// What has arrived on one connection, and the request it begins with. Knows no socket: whoever has
// bytes puts them into `space`, and asks with `advance` what has become of them. One thread at a
// time.
class RequestReader {
public:
    enum class Step {
        more,     // the next step needs bytes that are not here yet
        head,     // a head is complete and may be answered; `advance` again to read its body
        request,  // the request is whole
        refused,  // it will never be; `problem` says why
    };

    // `remote` outlives the reader.
    RequestReader(const ReadingLimits& limits, ByteBudget& budget, std::string_view remote)
        : limits_(limits), remote_(remote), input_(budget) {}

    // Where the next bytes go; never empty before a `refused`.
    [[nodiscard]] std::span<char> space();
    void filled(std::size_t count);

    // Makes the next step with the bytes that are here.
    [[nodiscard]] Step advance();
    // Gives up on the request, as `advance` may; `head` is then what could be read of it.
    Step refuse(HttpProblem problem);
    [[nodiscard]] HttpProblem problem() const { return problem_; }

    [[nodiscard]] const RequestHead& head() const { return head_; }
    [[nodiscard]] const HttpRequest& request() const { return head_.request; }
    [[nodiscard]] bool has_input() const { return !input_.bytes().empty(); }
    // In the middle of a request, behind its head.
    [[nodiscard]] bool is_in_body() const { return head_bytes_ > 0; }
    [[nodiscard]] bool has_body_input() const { return input_.bytes().size() > head_bytes_; }

    // Forgets the answered request, and all memory that nothing is in.
    void next_request();
    // Forgets everything.
    void release_memory() { input_.release(); }

private:
    void skip_empty_lines();
    [[nodiscard]] Step read_next_head();
    [[nodiscard]] Step read_body();
    [[nodiscard]] Step read_chunks();
    void read_head_from(std::string_view bytes);
    void take_request();

    const ReadingLimits& limits_;
    const std::string_view remote_;
    InputBuffer input_;
    HeadEnd head_end_;
    std::size_t empty_lines_ = 0;  // before the head
    std::size_t head_bytes_ = 0;   // 0: the head is not complete
    const char* head_place_ = nullptr;
    RequestHead head_;
    std::optional<ChunkedBody> chunks_;
    std::size_t body_bytes_ = 0;  // of the chunks that are taken apart, behind the head
    HttpProblem problem_{};
};

}  // namespace net
