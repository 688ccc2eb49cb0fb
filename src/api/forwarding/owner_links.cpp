#include "api/forwarding/owner_links.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "net/url.hpp"

namespace api::forwarding {

bool is_same_owner(const cluster::Owner& one, const cluster::Owner& other) {
    return one.instance == other.instance && one.node == other.node && one.url == other.url;
}

OwnerLinks::OwnerLinks(std::shared_ptr<net::ClientContext> context, LinkOptions options)
    : context_(std::move(context)), options_(std::move(options)) {}

OwnerLinks::~OwnerLinks() {
    end_all();
}

std::variant<std::shared_ptr<net::Client>, std::string> OwnerLinks::to(
    const cluster::Owner& owner) {
    const std::lock_guard lock(mutex_);
    if (ended_) return "this node stops";
    const auto link = std::ranges::find_if(
        links_, [&](const Link& one) { return is_same_owner(one.owner, owner); });
    if (link != links_.end()) return link->client;
    auto url = net::parse_url(owner.url);
    if (!url || url->websocket) return "its URL is none of http or https";
    try {
        const net::ClientTls tls{.ca_file = options_.ca_file, .own = {}};
        links_.push_back(
            {owner, std::make_shared<net::Client>(*std::move(url), options_.answer_bytes_max,
                                                  context_, tls, options_.idle_max)});
    } catch (const std::exception& exception) {
        return std::string(exception.what());
    }
    return links_.back().client;
}

void OwnerLinks::end_all_but(const cluster::Owner& owner) {
    std::vector<Link> former;
    {
        const std::lock_guard lock(mutex_);
        const auto others = std::partition(links_.begin(), links_.end(), [&](const Link& one) {
            return is_same_owner(one.owner, owner);
        });
        former.assign(std::move_iterator(others), std::move_iterator(links_.end()));
        links_.erase(others, links_.end());
    }
    for (const Link& link : former) link.client->stop();
}

void OwnerLinks::end_all() {
    std::vector<Link> all;
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        all.swap(links_);
    }
    for (const Link& link : all) link.client->stop();
}

}  // namespace api::forwarding
