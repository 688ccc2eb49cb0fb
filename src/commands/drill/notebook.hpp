#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/kind.hpp"
#include "domain/request_id.hpp"

namespace commands::drill {

// What a drill may ask for; its body follows from it (bodies.hpp).
struct Wish {
    domain::Kind kind = domain::Kind::public_decrypt;
    std::uint64_t number = 0;              // no two wishes have the same
    std::uint64_t submit_at = 0;           // of a share, Unix seconds; 0: at once
    std::uint64_t host_chain = 8'009;      // of handles and input proofs
    std::size_t ciphertext_bytes = 1'024;  // of an input proof
};

// An answer that says: this is safe.
struct Promise {
    Wish wish;
    domain::RequestId job;  // shares have none
};

// A promise that was asked for again, and the job that was named then.
struct Repeat {
    std::size_t promise = 0;  // which one
    domain::RequestId job;
};

struct Notes {
    std::vector<Promise> promises;
    std::vector<Repeat> repeats;
    std::uint64_t later = 0;       // answers 429 and 503
    std::uint64_t unanswered = 0;  // nothing was promised
    std::vector<std::string> violations;
};

// Keeps every answer that was given. Any thread.
class Notebook {
public:
    void promise(const Promise& promise);
    void repeat(const Repeat& repeat);
    void later();
    void unanswered();
    void violation(std::string text);

    // One of the promises so far, `pick` modulo their count; nothing while there is none.
    [[nodiscard]] std::optional<std::pair<std::size_t, Promise>> any(std::uint64_t pick) const;
    [[nodiscard]] std::size_t promises() const;
    [[nodiscard]] Notes notes() const;

private:
    mutable std::mutex mutex_;
    Notes notes_;
};

}  // namespace commands::drill
