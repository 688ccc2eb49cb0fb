#pragma once

#include <string_view>
#include <variant>

#include "api/admin/admin_parameters.hpp"
#include "domain/time.hpp"
#include "store/job_reader.hpp"

namespace api::admin {

inline constexpr std::size_t jobs_per_page_max = 1'000;

// What `kind=…&status=…&client=…&older=SECONDS&label=…&limit=…&before=JOB_ID` asks for; each part
// may be left out, and none is allowed twice. `status` also takes `unfinished`. The error names the
// part, the problem and what is allowed.
[[nodiscard]] std::variant<store::JobFilter, AdminError> read_job_query(std::string_view query,
                                                                        domain::Timestamp now);

}  // namespace api::admin
