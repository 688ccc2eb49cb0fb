#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "chains/jsonrpc/descriptor.hpp"
#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/signal.hpp"
#include "chains/jsonrpc/tls_context.hpp"
#include "chains/jsonrpc/url.hpp"

namespace chains::jsonrpc {

// A stream to a node, plain or TLS. One thread at a time; waits no longer than told and ends at
// once when `stop` is set.
class Connection {
public:
    enum class End { none, closed, broken, timed_out, stopped };

    struct Received {
        std::size_t bytes = 0;
        End end = End::none;  // none: at least one byte
    };

    // The socket is connected and does not block; `session` is null without TLS.
    Connection(Descriptor socket, TlsSession session);

    // Before anything else on a TLS stream.
    [[nodiscard]] End shake_hands(Deadline deadline, const Signal& stop);
    // After a handshake that broke.
    [[nodiscard]] bool distrusts_certificate() const;

    // Something, as soon as it is there.
    [[nodiscard]] Received read(std::span<char> space, Deadline deadline, const Signal& stop);
    // All of it.
    [[nodiscard]] End write(std::string_view bytes, Deadline deadline, const Signal& stop);

    // Open as far as we know, and nothing has come unasked.
    [[nodiscard]] bool is_quiet();

private:
    enum class Step { moved, wants_input, wants_output, closed, broken };

    [[nodiscard]] Step step_after(int result);
    [[nodiscard]] Step read_step(std::span<char> space, std::size_t& count);
    [[nodiscard]] Step write_step(std::string_view bytes, std::size_t& count);
    // Goes on until a step is done.
    template <typename Try>
    [[nodiscard]] End finish(Try attempt, Deadline deadline, const Signal& stop);

    Descriptor socket_;
    TlsSession session_;  // goes away before its socket
};

// Name look-up, TCP and TLS; each of several addresses gets its share of the time. Trouble is
// `unsent` or `stopped`.
[[nodiscard]] std::variant<std::unique_ptr<Connection>, Trouble> connect(const Url& url,
                                                                         const TlsContext* tls,
                                                                         Deadline deadline,
                                                                         const Signal& stop);

}  // namespace chains::jsonrpc
