#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "domain/failure.hpp"
#include "domain/request_id.hpp"
#include "store/options.hpp"
#include "store/rows.hpp"

namespace store {

// What a poll needs to know about a request.
struct View {
    Row row;
    std::optional<domain::Failure> failure;  // timed_out and failure
    std::optional<domain::Bytes> result;     // completed
};

// Read-only connections beside the writer, lent to one call each. Any thread; opens as many
// connections as calls run at once, up to the bound, then callers wait. Never blocks the writer and
// never checkpoints.
class Reader {
public:
    Reader(const Options& options, std::size_t connections_max);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Nothing for an unknown id, also when only its random part is wrong. Throws StorageError.
    [[nodiscard]] std::optional<View> find(const domain::RequestId& id);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace store
