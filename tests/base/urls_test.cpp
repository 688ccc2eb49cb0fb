#include "base/urls.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>

using base::redact_urls;

TEST_CASE("URLs are cut down to their scheme, the text around them stays") {
    struct Row {
        std::string_view text;
        std::string_view expected;
    };
    const std::array rows{
        Row{"", ""},
        Row{"no address here: 12:30, a//b", "no address here: 12:30, a//b"},
        Row{"http://u:k3y@127.0.0.1:1/v2/SECRET?x=TOKEN", "http://…"},
        Row{"error sending request for url (http://u:k3y@127.0.0.1:1/v2/SECRET?x=TOKEN): "
            "connection refused",
            "error sending request for url (http://…): connection refused"},
        Row{"get https://host/KEY failed", "get https://… failed"},
        Row{"ws://host/KEY", "ws://…"},
        Row{"WSS://host/KEY", "WSS://…"},
        Row{"postgres://user:pass@db:5432/name?sslmode=off", "postgres://…"},
        Row{"git+ssh://k@h/x, svn.1-a+b://h/K", "git+ssh://…, svn.1-a+b://…"},
        Row{"at <https://host/KEY>", "at <https://…>"},
        Row{"at `https://host/KEY` now", "at `https://…` now"},
        Row{"at [https://host/KEY] now", "at [https://…] now"},
        Row{"url='https://host/KEY' code=7", "url='https://…' code=7"},
        Row{R"({"url":"https://host/KEY","code":7})", R"({"url":"https://…","code":7})"},
        Row{R"({\"url\":\"https://host/KEY\",\"code\":7})",
            R"({\"url\":\"https://…\",\"code\":7})"},
        Row{R"("http:\/\/u:k3y@host\/v2\/SECRET")", R"("http://…")"},
        Row{"https://host/KEY\nsecond line\thttp://x/Y\r\n",
            "https://…\nsecond line\thttp://…\r\n"},
        Row{"https://host/KEY, then", "https://…, then"},
        Row{"https://host/KEY.", "https://…."},
        Row{"https://a/KEY,https://b/KEY", "https://…,https://…"},
        Row{"[https://a/KEY,wss://b/KEY]", "[https://…,wss://…]"},
        // What may stand inside a URL does not end it, or the rest would survive.
        Row{"http://[::1]:8545/SECRET failed", "http://… failed"},
        Row{"http://u:k,3y@host/SECRET", "http://…"},
        Row{"http://u:k'3)y@host/SECRET", "http://…"},
        Row{"http://host/a,SECRET;b=(SECRET)&c='SECRET'!", "http://…'!"},
        Row{"http://host/?next=https://other/SECRET", "http://…"},
        Row{"http://host/ключ?ü=SECRET fails", "http://… fails"},
        Row{"tries 3:// and http:// alone", "tries 3:// and http:// alone"},
        Row{"http://", "http://"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(redact_urls(row.text) == row.expected);
        CHECK(redact_urls(redact_urls(row.text)) == row.expected);
    }
}

TEST_CASE("nothing of a URL with keys everywhere survives in any surrounding") {
    const std::string url = "http://u:k3y@127.0.0.1:1/v2/SECRET?x=TOKEN#k3y";
    const std::array<std::string_view, 12> surroundings{"",  " ", "\"", "'", "(", ")",
                                                        "[", "]", "<",  ">", ",", ": "};
    for (const std::string_view before : surroundings) {
        for (const std::string_view after : surroundings) {
            const std::string text = "x" + std::string{before} + url + std::string{after} + "y";
            CAPTURE(text);
            const std::string redacted = redact_urls(text);
            CHECK(redacted.find("http://…") != std::string::npos);
            for (const std::string_view secret : {"k3y", "SECRET", "TOKEN", "127.0.0.1"}) {
                CAPTURE(secret);
                CHECK(redacted.find(secret) == std::string::npos);
            }
        }
    }
}
