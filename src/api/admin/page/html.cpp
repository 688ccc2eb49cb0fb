#include "api/admin/page/html.hpp"

namespace api::admin::page {

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string element(std::string_view name, std::string_view inner, std::string_view attributes) {
    std::string out = "<";
    out += name;
    if (!attributes.empty()) (out += ' ') += attributes;
    ((((out += '>') += inner) += "</") += name) += ">";
    return out;
}

}  // namespace api::admin::page
