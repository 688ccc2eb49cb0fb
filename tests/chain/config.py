"""The configuration of a relayer on a chain of chain.py, as TOML."""

import json
import pathlib

from chain import (ACL, CHAIN_ID, FEE_TOKEN, GATEWAY, KMS_GENERATION, PROTOCOL_CONFIG, PROTOCOL_PAYMENT,
                   RELAYER_KEY)

THRESHOLD = 3

# Every wait is short.
DEFAULTS = {
    "gateway.type": "evm",
    "gateway.blockchain_rpc.chain_id": CHAIN_ID,
    "gateway.contracts.decryption_address": GATEWAY,
    "gateway.contracts.input_verification_address": GATEWAY,
    "gateway.contracts.protocol_payment_address": PROTOCOL_PAYMENT,
    "gateway.contracts.fee_token_address": FEE_TOKEN,
    "gateway.contracts.user_decrypt_shares_threshold": THRESHOLD,
    "gateway.listener_pool.poll_interval_ms": 100,
    "gateway.listener_pool.reconnect_config.retry_interval_ms": 100,
    "gateway.readiness_checker.gw_ciphertext_check.retry.max_attempts": 20,
    "gateway.readiness_checker.gw_ciphertext_check.retry.retry_interval_ms": 50,
    "gateway.readiness_checker.host_acl_check.retry.max_attempts": 3,
    "gateway.readiness_checker.host_acl_check.retry.retry_interval_ms": 50,
    "gateway.tx_engine.retry.max_attempts": 20,
    "gateway.tx_engine.retry.retry_interval_ms": 50,
    "gateway.tx_engine.signer.private_key": RELAYER_KEY,
    "gateway.tx_engine.signer.type": "private_key",
    "gateway.tx_engine.tx_throttlers.input_proof.per_seconds": 400,
    "gateway.tx_engine.tx_throttlers.public_decrypt.per_seconds": 400,
    "gateway.tx_engine.tx_throttlers.user_decrypt.per_seconds": 400,
    "engine.trouble_pause_max": "1s",
    "keyurl.kms_generation_address": KMS_GENERATION,
    "keyurl.poll_interval_ms": 500,
    "protocol_config.address": PROTOCOL_CONFIG,
    "protocol_config.retry.max_attempts": 3,
    "protocol_config.retry.retry_interval_ms": 50,
    "user_decrypt_signature_check.erc1271_gas_limit": 100000,
}


def written(value):
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {written(item)}" for name, item in value.items()) + "}"
    return json.dumps(value)


def config_text(url, listeners=None, hosts=None, **settings):
    """`url` of the chain's node; `listeners`: other urls to listen at, ws for subscriptions; `hosts`:
    other host chains; `settings`: {"a.b": value} as **{"a.b": value}; None leaves a key out."""
    all_settings = {
        **DEFAULTS,
        "gateway.blockchain_rpc.http_url": url,
        "gateway.blockchain_rpc.read_http_url": url,
        "protocol_config.ethereum_http_rpc_url": url,
        "host_chains": hosts or [{"chain_id": CHAIN_ID, "url": url, "acl_address": ACL}],
        "gateway.listener_pool.listeners": [
            {"type": "subscription" if listener.startswith("ws") else "polling", "url": listener}
            for listener in listeners or (url, url)],
        **settings,
    }
    return "".join(f"{name} = {written(value)}\n" for name, value in all_settings.items()
                   if value is not None)


def write_config(path, url, **options):
    """Closed to others: it names a key."""
    path = pathlib.Path(path)
    path.touch(0o600)
    path.chmod(0o600)
    path.write_text(config_text(url, **options), encoding="utf-8")
