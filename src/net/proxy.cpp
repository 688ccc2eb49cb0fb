#include "net/proxy.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <stdexcept>

#include "base/text.hpp"

namespace net {
namespace {

namespace ip = boost::asio::ip;
using Environment = std::vector<std::pair<std::string, std::string>>;

std::optional<ip::address> address_in(std::string_view text) {
    boost::system::error_code error;
    const ip::address address = ip::make_address(text, error);
    if (error) return std::nullopt;
    if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
    return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

bool is_link_local(const ip::address& address) {
    if (address.is_v6()) return address.to_v6().is_link_local();
    constexpr unsigned prefix = 169U << 8U | 254U;  // RFC 3927
    return address.to_v4().to_uint() >> 16U == prefix;
}

bool is_on_this_link(const std::string& host) {
    const std::string name = base::lower_case(host);
    if (name == "localhost" || name.ends_with(".localhost")) return true;
    const auto address = address_in(host);
    return address &&
           (address->is_loopback() || address->is_unspecified() || is_link_local(*address));
}

bool is_in_network(const ip::address& address, std::string_view network) {
    boost::system::error_code error;
    if (address.is_v4()) {
        const auto wide = ip::make_network_v4(network, error);
        if (error) return false;
        const ip::network_v4 host(address.to_v4(), wide.prefix_length());
        return host.canonical() == wide.canonical();
    }
    const auto wide = ip::make_network_v6(network, error);
    if (error) return false;
    const ip::network_v6 host(address.to_v6(), wide.prefix_length());
    return host.canonical() == wide.canonical();
}

bool is_name_or_below(std::string_view host, std::string_view name) {
    if (name.starts_with('.')) name.remove_prefix(1);
    if (name.empty() || !host.ends_with(name)) return false;
    host.remove_suffix(name.size());
    return host.empty() || host.ends_with('.');
}

bool matches_host(std::string_view host, std::string_view entry) {
    if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
    const auto address = address_in(host);
    if (!address) return is_name_or_below(host, entry);
    return address == address_in(entry) || is_in_network(*address, entry);
}

bool matches(const Url& url, std::string_view entry) {
    if (entry == "*") return true;
    std::string host = base::lower_case(url.host);
    if (host.ends_with('.')) host.pop_back();
    if (matches_host(host, entry)) return true;
    const std::string port = ":" + std::to_string(url.port);
    if (!entry.ends_with(port)) return false;
    entry.remove_suffix(port.size());
    // The rest of an IPv6 address is none without its brackets.
    return (entry.find(':') == std::string_view::npos || entry.ends_with(']')) &&
           matches_host(host, entry);
}

std::vector<std::string> entries_of(std::string_view list) {
    constexpr std::string_view separators = ", \t";
    std::vector<std::string> entries;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find_first_of(separators), list.size());
        if (end > 0) entries.push_back(base::lower_case(list.substr(0, end)));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return entries;
}

// The name of the variable that is set, and its value.
std::optional<std::pair<std::string, std::string>> variable(const Environment& environment,
                                                            const std::string& name) {
    for (const std::string& spelling : {base::lower_case(name), name}) {
        const auto found = std::ranges::find_if(environment, [&spelling](const auto& one) {
            return one.first == spelling && !one.second.empty();
        });
        if (found != environment.end()) return *found;
    }
    return std::nullopt;
}

std::optional<Url> proxy_in(const Environment& environment, const std::string& name) {
    const auto found = variable(environment, name);
    if (!found) return std::nullopt;
    const auto& [spelling, value] = *found;
    auto url = parse_url(value.find("://") == std::string::npos ? "http://" + value : value);
    if (!url || url->tls || url->websocket || url->target != "/") {
        throw std::invalid_argument(
            spelling +
            ": no URL of a proxy; allowed: http://HOST:PORT, with USER:PASSWORD@ before the host");
    }
    return url;
}

}  // namespace

Proxies Proxies::from_environment(const Environment& environment) {
    Proxies proxies;
    proxies.for_tls_ = proxy_in(environment, "HTTPS_PROXY");
    proxies.for_plain_ = proxy_in(environment, "HTTP_PROXY");
    if (const auto exceptions = variable(environment, "NO_PROXY")) {
        proxies.exceptions_ = entries_of(exceptions->second);
    }
    return proxies;
}

const Url* Proxies::proxy_for(const Url& url) const {
    const std::optional<Url>& proxy = url.tls ? for_tls_ : for_plain_;
    if (!proxy || is_on_this_link(url.host) || excepts(url)) return nullptr;
    return &*proxy;
}

bool Proxies::excepts(const Url& url) const {
    return std::ranges::any_of(exceptions_,
                               [&url](const std::string& entry) { return matches(url, entry); });
}

}  // namespace net
