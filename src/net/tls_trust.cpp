#include "net/tls_trust.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>
#include <stdexcept>
#include <system_error>

#include "base/may_pass.hpp"

namespace net {
namespace {

namespace ssl = boost::asio::ssl;

bool is_address(const std::string& host) {
    boost::system::error_code error;
    static_cast<void>(boost::asio::ip::make_address(host, error));
    return !error;
}

}  // namespace

TlsTrust::TlsTrust(const ClientTls& files) : context_(ssl::context::tls_client) {
    boost::system::error_code error;
    if (files.ca_file.empty()) {
        context_.set_default_verify_paths(error);
    } else {
        context_.load_verify_file(files.ca_file, error);
        if (error.category() == boost::system::system_category() && base::may_pass(error.value())) {
            throw std::system_error(error.value(), std::system_category(),
                                    "cannot read the TLS authorities " + files.ca_file);
        }
        if (error) {
            const std::string reason = openssl_reason();
            throw std::runtime_error("cannot use the TLS authorities " + files.ca_file + ": " +
                                     (reason == "unknown reason" ? error.message() : reason));
        }
    }
    if (error || ::SSL_CTX_set_min_proto_version(context_.native_handle(), TLS1_2_VERSION) != 1) {
        ::ERR_clear_error();
        throw std::runtime_error("TLS towards servers can not be set up");
    }
    context_.set_verify_mode(ssl::verify_peer);
    ::SSL_CTX_set_options(context_.native_handle(), SSL_OP_NO_RENEGOTIATION);
    if (!files.own.certificate.empty() || !files.own.key.empty()) {
        use_certificate(*context_.native_handle(), files.own);
    }
}

bool expect_host(ssl_st* session, const std::string& host) {
    if (is_address(host)) {
        return ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), host.c_str()) == 1;
    }
    ::SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return ::SSL_set1_host(session, host.c_str()) == 1 &&
           ::SSL_set_tlsext_host_name(session, host.c_str()) == 1;
}

bool distrusts_certificate(ssl_st* session) {
    return ::SSL_get_verify_result(session) != X509_V_OK;
}

bool has_no_data(ssl_st* session) {
    char byte = 0;
    ::ERR_clear_error();
    const int result = ::SSL_peek(session, &byte, 1);
    return result <= 0 && ::SSL_get_error(session, result) == SSL_ERROR_WANT_READ;
}

}  // namespace net
