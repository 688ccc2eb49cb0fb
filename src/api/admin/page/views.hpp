#pragma once

#include <string>
#include <string_view>

#include "api/admin/answer_texts.hpp"
#include "api/admin/page/form.hpp"

namespace api::admin::page {

// What the answers of the admin interface look like in a browser: HTML of them, and nothing else.
// Every text in them is escaped.

// One page. What is `live` is replaced while it is open; forms are above and below it, so that
// nobody's typing is lost.
struct View {
    std::string title;
    std::string live;
    std::string above{};
    std::string below{};
};

// Of GET /admin/status. `form_token`: what each form carries.
[[nodiscard]] View overview(const Json& status, std::string_view form_token);
// Of GET /admin/jobs with these filters.
[[nodiscard]] View job_list(const Json& page, const FormValues& filters);
// Of GET /admin/jobs/ID.
[[nodiscard]] View one_job(const Json& job, std::string_view form_token);
// Of an answer that is none of them.
[[nodiscard]] View trouble(std::string_view text);

struct Frame {
    std::string path;        // with its query: what `live` is asked for anew by; empty: never
    std::string form_token;  // for signing out
    std::string message{};   // shown once
};
[[nodiscard]] std::string document(const View& view, const Frame& frame);
// The page that asks for the token.
[[nodiscard]] std::string login_document(std::string_view message);

}  // namespace api::admin::page
