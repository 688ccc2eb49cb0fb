"""A wallet: makes votes, hands their shares to a helper, and asks until they are on the chain."""

import dataclasses
import http.client
import json
import random
import urllib.parse

from votes.ballot import Vote

SHARES = "/shielded-vote/v1/shares"
SHARE_STATUS = "/shielded-vote/v1/share-status"


@dataclasses.dataclass(frozen=True)
class Share:
    """One share as it is handed in: always with the same bytes."""

    round_id: bytes
    nullifier: bytes
    submit_at: int
    body: bytes
    secrets: tuple


def shares_of(vote, indices=range(16), submit_at=0):
    return [Share(vote.round_id, vote.nullifier(index), submit_at,
                  json.dumps(vote.share(index, submit_at)).encode(), tuple(vote.secrets(index)))
            for index in indices]


class Wallet:
    def __init__(self, state, seed=0):
        self.state = state
        self.chance = random.Random(seed)

    def vote(self, round_id, proposal=1, decision=0):
        """A vote whose commitment is in the tree of its round."""
        vote = Vote(self.chance, round_id, proposal, decision)
        self.state.cast(vote)
        return vote


class Helper:
    """One keep-alive connection to whoever takes shares at a base URL."""

    def __init__(self, url, token=None, timeout=30):
        parts = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
        self.headers = {"X-Helper-Token": token} if token else {}

    def ask(self, method, path, body=None):
        """(HTTP status, answer)"""
        headers = dict(self.headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
            return response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException):
            self.connection.close()  # the next one begins anew
            raise

    def hand_in(self, share):
        return self.ask("POST", SHARES, share.body)

    def is_confirmed(self, share):
        status, answer = self.ask("GET", f"{SHARE_STATUS}/{share.round_id.hex()}/{share.nullifier.hex()}")
        if status == 500:
            return False  # nobody knows at the moment
        if status != 200:
            raise AssertionError(f"share-status answered {status} {answer}")
        return answer["status"] == "confirmed"

    def close(self):
        self.connection.close()
