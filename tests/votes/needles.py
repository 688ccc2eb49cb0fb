"""Looks for bytes that should not be there, however they are written."""

import base64


def forms(secret):
    """The ways 32 bytes may stand in a file or a log."""
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    for shift in range(3):
        # What of the text depends on other bytes beside the secret is cut off.
        text = base64.b64encode(bytes(shift) + secret)
        yield text[(shift * 8 + 5) // 6:(shift + len(secret)) * 8 // 6]


def found_in(data, secrets):
    """Those of the secrets that are in there, in any form."""
    return [secret for secret in secrets if any(form in data for form in forms(secret))]
