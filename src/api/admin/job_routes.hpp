#pragma once

#include <vector>

#include "api/admin/admin_route.hpp"
#include "api/admin/job_answers.hpp"
#include "api/admin/status_answer.hpp"

namespace api::admin {

// GET /admin/jobs, /admin/jobs/ID and /admin/status. Both arguments outlive the routes.
[[nodiscard]] std::vector<AdminRoute> job_routes(JobAnswers& jobs, const StatusSources& status);

}  // namespace api::admin
