#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

namespace net {

// A folder for PEM files that goes away with what is in it.
class PemFolder {
public:
    PemFolder() {
        std::string path = std::filesystem::temp_directory_path() / "pem-XXXXXX";
        if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp");
        path_ = path;
    }
    PemFolder(const PemFolder&) = delete;
    PemFolder& operator=(const PemFolder&) = delete;
    ~PemFolder() { std::filesystem::remove_all(path_); }

    [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }
    [[nodiscard]] std::string content(const std::string& name) const {
        std::ifstream stream(file(name));
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    void write(const std::string& name, const std::string& content, int mode = 0600) const {
        std::ofstream(file(name)) << content;
        std::filesystem::permissions(file(name), static_cast<std::filesystem::perms>(mode));
    }

    // A certificate for `name`, signed by itself, and its key; with a passphrase if it has one.
    // `alternative`: such as `IP:127.0.0.1`.
    void write_pair(const std::string& certificate_file, const std::string& key_file,
                    const std::string& name, const std::string& passphrase = {},
                    const std::string& alternative = {}) const {
        const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                        &::EVP_PKEY_free);
        const std::unique_ptr<X509, decltype(&::X509_free)> certificate(::X509_new(), &::X509_free);
        ::X509_set_version(certificate.get(), 2);
        ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate.get()), 1);
        ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), -3600);
        ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), 3600);
        ::X509_set_pubkey(certificate.get(), key.get());
        X509_NAME* const subject = ::X509_get_subject_name(certificate.get());
        ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                     reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                                     0);
        ::X509_set_issuer_name(certificate.get(), subject);
        if (!alternative.empty()) {
            const std::unique_ptr<X509_EXTENSION, decltype(&::X509_EXTENSION_free)> extension(
                ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative.c_str()),
                &::X509_EXTENSION_free);
            ::X509_add_ext(certificate.get(), extension.get(), -1);
        }
        ::X509_sign(certificate.get(), key.get(), ::EVP_sha256());

        write(certificate_file, "", 0644);
        write(key_file, "");
        const std::unique_ptr<BIO, decltype(&::BIO_free)> out(
            ::BIO_new_file(file(certificate_file).c_str(), "w"), &::BIO_free);
        const std::unique_ptr<BIO, decltype(&::BIO_free)> key_out(
            ::BIO_new_file(file(key_file).c_str(), "w"), &::BIO_free);
        const bool written =
            ::PEM_write_bio_X509(out.get(), certificate.get()) == 1 &&
            ::PEM_write_bio_PKCS8PrivateKey(
                key_out.get(), key.get(), passphrase.empty() ? nullptr : ::EVP_aes_128_cbc(),
                passphrase.empty() ? nullptr : passphrase.c_str(),
                static_cast<int>(passphrase.size()), nullptr, nullptr) == 1;
        if (!written) throw std::runtime_error("PEM_write_bio");
    }

private:
    std::filesystem::path path_;
};

}  // namespace net
