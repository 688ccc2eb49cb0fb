#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "domain/retry_after.hpp"
#include "net/http_message.hpp"
#include "ports/clock.hpp"
#include "store/job_reader.hpp"

namespace api::admin {

// What the answers about jobs are made of, beside the rows.
struct JobSources {
    const ports::Clock& clock;
    bool with_shares = false;  // helper.expose_timing; otherwise no share is in any answer
    // The name of a client; empty: none is known by this id now.
    std::function<std::string(std::int64_t)> client_name;
    // Where a request stands in the queues of the running process; empty: none runs.
    std::function<std::optional<domain::QueuePosition>(const store::Row&)> position{};
    // Whether it begins only after its kind is resumed; empty: no process runs.
    std::function<bool(const store::Row&)> is_paused{};
};

// GET /admin/jobs and /admin/jobs/ID: requests as operators see them, from the rows and, while a
// process runs, from its queues. Holds no content of requests. Any thread; throws
// store::StorageError.
class JobAnswers {
public:
    // `reader` outlives it.
    JobAnswers(store::JobReader& reader, JobSources sources);

    [[nodiscard]] net::HttpResponse list(std::string_view query);
    [[nodiscard]] net::HttpResponse find(std::string_view id);

private:
    store::JobReader& reader_;
    const JobSources sources_;
};

}  // namespace api::admin
