#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "bench/measure.hpp"

struct pg_conn;

namespace bench {

// An insert into the journal's table when nobody asks for more: no step, no key, no lease, no
// fence.
class BareJournal {
public:
    // `database`: for libpq; the tables are there. Rows have as many random bytes as an entry.
    BareJournal(const std::string& database, std::size_t entry_bytes);
    ~BareJournal();
    BareJournal(const BareJournal&) = delete;
    BareJournal& operator=(const BareJournal&) = delete;

    // One after the other, with a pause behind each; microseconds of each, until it was
    // acknowledged.
    [[nodiscard]] Series insert_for(std::chrono::milliseconds duration,
                                    std::chrono::microseconds pause = {});

private:
    struct Close {
        void operator()(pg_conn* connection) const;
    };

    const std::string entry_;
    const std::unique_ptr<pg_conn, Close> connection_;
    std::int64_t seq_ = 0;
};

}  // namespace bench
