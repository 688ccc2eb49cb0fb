"""Sends the request that an example of the OpenAPI document is the answer to, `x-posthouse-request`:

    server          which listener: main, admin or metrics; main if it is not there
    method, path    as they stand in the request line; `httpVersion` if it is not HTTP/1.1
    body            a reference to a request example, changed by `set` (dotted member: value) and `drop`
    bodyText        instead of `body`: these very bytes
    headers         besides Host, Connection and, with a body, Content-Type and Content-Length
    repeatHeader    a header of so many `bytes`
    after           a request that has to come before
"""

import copy
import http.client
import json
import socket

import service


def change(body, trigger):
    """A copy with the members of `set` replaced, dotted where nested, and those of `drop` gone."""
    body = copy.deepcopy(body)
    for path, value in trigger.get("set", {}).items():
        *outer, last = path.split(".")
        target = body
        for name in outer:
            target = target[name]
        target[last] = value
    for name in trigger.get("drop", ()):
        del body[name]
    return body


def body_of(trigger, resolve):
    if "bodyText" in trigger:
        return trigger["bodyText"].encode()
    if "body" in trigger:
        return json.dumps(change(resolve(trigger["body"])["value"], trigger)).encode()
    return None


def bytes_of(trigger, resolve, more_headers):
    body = body_of(trigger, resolve)
    headers = {"Host": "127.0.0.1", "Connection": "close", **more_headers}
    if body is not None:
        headers["Content-Type"] = "application/json"
    given = trigger.get("headers", {})
    if body is not None and "Transfer-Encoding" not in given:
        headers["Content-Length"] = str(len(body))
    headers.update(given)
    if "repeatHeader" in trigger:
        padding = trigger["repeatHeader"]
        headers[padding["name"]] = "a" * padding["bytes"]
    lines = [f"{trigger['method']} {trigger['path']} {trigger.get('httpVersion', 'HTTP/1.1')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b"")


def send(servers, trigger, resolve):
    """The answer to an `x-posthouse-request`; what has to come `after` something comes after it.

    `servers`: for each listener its port and the headers that open it, unless the request has its own."""
    if "after" in trigger:
        send(servers, trigger["after"], resolve)
    port, headers = servers[trigger.get("server", "main")]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        try:
            connection.sendall(bytes_of(trigger, resolve, headers))
        except OSError:
            pass  # answered before all of it was taken
        response = http.client.HTTPResponse(connection, method=trigger["method"])
        response.begin()
        return service.Answer(response.status, response.getheaders(), response.read())
