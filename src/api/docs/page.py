"""An OpenAPI document as one HTML page: no script, nothing loaded from anywhere."""

import html
import http
import json
import re

METHODS = ("get", "post")

# As RFC 9110 has them and the service sends them; older versions of Python do not.
PHRASES = {"413": "Content Too Large", "422": "Unprocessable Content"}


def escape(text):
    return html.escape(str(text), quote=True)


def marked(text):
    """Text with `code` in it."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def paragraphs(text):
    return "".join(f"<p>{marked(part)}</p>" for part in text.split("\n\n"))


def anchor(*parts):
    return re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-")


def badge(method):
    return f'<span class="method {method}">{method.upper()}</span>'


def table(caption, head, rows):
    if not rows:
        return ""
    cells = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>'
        # The label stands before the cell where the screen is too narrow for columns.
        + "".join(f'<td data-label="{escape(name)}">{cell}</td>' for name, cell in zip(head[1:], row[1:]))
        + "</tr>" for row in rows)
    return (f'<div class="scroll" role="region" aria-label="{escape(caption)}" tabindex="0"><table>'
            f"<caption>{escape(caption)}</caption>"
            f"<thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>")


def pretty(value, indent=0):
    """JSON over several lines, short lists on one."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or isinstance(value, list) and len(line) <= 60:
        return line
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [f"{pad}{json.dumps(name)}: {pretty(member, indent + 2)}" for name, member in value.items()]
    else:
        parts = [pad + pretty(member, indent + 2) for member in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n" + ",\n".join(parts) + f"\n{' ' * indent}{closing}"


def code_block(value):
    text = value if isinstance(value, str) else pretty(value)
    return f'<pre tabindex="0"><code>{escape(text)}</code></pre>'


def rules(schema):
    """What a value must be, as short phrases."""
    if schema.get("format") == "uuid":
        return "UUID, lower case, with hyphens"
    phrases = []
    if "const" in schema:
        phrases.append(f"always <code>{escape(json.dumps(schema['const']))}</code>")
    elif "enum" in schema:
        phrases.append("one of " + ", ".join(f"<code>{escape(value)}</code>" for value in schema["enum"]))
    elif "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        phrases.append(" or ".join(kinds))
    for low, high, unit in (("minLength", "maxLength", " characters"), ("minItems", "maxItems", " entries"),
                            ("minimum", "maximum", "")):
        if low in schema and high in schema:
            same = schema[low] == schema[high]
            phrases.append(f"{schema[low]}{unit}" if same else f"{schema[low]} to {schema[high]}{unit}")
        elif schema.get(low) == 1 and unit:
            phrases.append("not empty")
        elif low in schema:
            phrases.append(f"at least {schema[low]}{unit}")
    if "default" in schema:
        phrases.append(f"default <code>{escape(json.dumps(schema['default']))}</code>")
    if "pattern" in schema:
        phrases.append(f"<code class=\"pattern\">{escape(schema['pattern'])}</code>")
    return "<br>".join(phrases)


class Page:
    def __init__(self, document):
        self.document = document
        self.operations = [(method, path, item, item[method])
                           for path, item in document["paths"].items()
                           for method in METHODS if method in item]

    def resolve(self, node):
        """The node a reference stands for; a description beside the reference wins."""
        while "$ref" in node:
            target = self.document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            beside = {name: value for name, value in node.items() if name != "$ref"}
            node = {**target, **beside}
        return node

    def fields(self, schema, prefix=""):
        """Rows of name, need, rule and meaning for every member, nested ones dotted."""
        schema = self.resolve(schema)
        rows = []
        for variant in schema.get("oneOf", schema.get("anyOf", [])):
            rows += self.fields(variant, prefix)
        for name, member in schema.get("properties", {}).items():
            member = self.resolve(member)
            full = prefix + name
            need = "yes" if name in schema.get("required", ()) else "no"
            if "properties" not in member and "oneOf" not in member or "description" in member:
                rows.append((f"<code>{escape(full)}</code>", need, self.member_rules(member),
                             marked(member.get("description", ""))))
            rows += self.below(member, full)
        return rows

    def member_rules(self, member):
        own = rules(member)
        items = self.resolve(member["items"]) if "items" in member else None
        if items and "properties" not in items and rules(items):
            own += f"<br>each: {rules(items)}"
        return own

    def below(self, member, full):
        if "items" in member:
            return self.fields(member["items"], full + "[].")
        is_label = member.get("oneOf") and "const" in member["oneOf"][0]
        if "properties" in member or "oneOf" in member and not is_label:
            return self.fields(member, full + ".")
        return []

    # --- parts of an operation ---

    def access(self, operation):
        schemes = self.document["components"]["securitySchemes"]
        names = [schemes[name] for wanted in operation.get("security", []) for name in wanted]
        if not names:
            return "<p>Open to everybody.</p>"
        ways = " or ".join(
            f"header <code>{escape(scheme['name'])}</code>" if scheme["type"] == "apiKey"
            else "<code>Authorization: Bearer …</code>" for scheme in names)
        optional = {} in operation["security"]
        return f"<p>{'Where keys are configured: ' if optional else ''}{ways}.</p>"

    def parameters(self, operation, title):
        rows = []
        for parameter in map(self.resolve, operation.get("parameters", [])):
            rows.append((f"<code>{escape(parameter['name'])}</code>",
                         f"{parameter['in']}{', required' if parameter.get('required') else ''}",
                         rules(self.resolve(parameter["schema"])), marked(parameter["description"])))
        return table(f"Parameters of {title}", ("Name", "In", "Rule", "Meaning"), rows)

    def examples(self, media):
        out = ""
        for example in map(self.resolve, media.get("examples", {}).values()):
            caption = f"<figcaption>{marked(example['summary'])}</figcaption>"
            out += f"<figure>{caption}{code_block(example['value'])}</figure>"
        return out

    def request(self, operation, title):
        if "requestBody" not in operation:
            return ""
        body = operation["requestBody"]
        media = body["content"]["application/json"]
        schema = self.resolve(media["schema"])
        closed = " Unknown members are refused." if schema.get("additionalProperties") is False else ""
        return (f"<h4>Body</h4><p>{marked(body['description'])}{closed}</p>"
                + table(f"Body of {title}", ("Member", "Required", "Rule", "Meaning"),
                        self.fields(media["schema"]))
                + self.examples(media))

    def answer(self, status, response, title):
        response = self.resolve(response)
        phrase = PHRASES.get(status) or http.HTTPStatus(int(status)).phrase
        good = status.startswith("2")
        content = response.get("content", {})
        parts = table(f"Headers of {status}, {title}", ("Header", "Always", "Example", "Meaning"), [
            (f"<code>{escape(name)}</code>", "yes" if header.get("required") else "no",
             f"<code>{escape(header['example'])}</code>", marked(header["description"]))
            for name, header in ((n, self.resolve(h)) for n, h in response.get("headers", {}).items())])
        for kind, media in content.items():
            parts += f"<p><code>{escape(kind)}</code></p>"
            if good and kind == "application/json":
                parts += table(f"Body of {status}, {title}", ("Member", "Always", "Value", "Meaning"),
                               self.fields(media["schema"]))
            elif kind == "application/json" and "$ref" in media["schema"]:
                name = media["schema"]["$ref"].rsplit("/", 1)[1]
                parts += f'<p>Its members: <a href="#shape-{anchor(name)}">{escape(name)}</a>.</p>'
            parts += self.examples(media)
        return (f'<details{" open" if good else ""}><summary><span class="status s{status[0]}">{status}</span> '
                f'{escape(phrase)} <span class="about">{marked(response["description"])}</span></summary>'
                f'<div class="inside">{parts or "<p>No body.</p>"}</div></details>')

    def operation(self, method, path, item, operation):
        title = f"{method.upper()} {path}"
        where = "".join(f"<p>Listens on <code>{escape(server['url'])}</code>. {marked(server['description'])}</p>"
                        for server in item.get("servers", []))
        answers = "".join(self.answer(status, response, title)
                          for status, response in operation["responses"].items())
        return (f'<section class="route" id="{anchor(method, path)}" aria-labelledby="h-{anchor(method, path)}">'
                f'<h3 id="h-{anchor(method, path)}">{badge(method)} <code>{escape(path)}</code></h3>'
                f'<p class="summary">{marked(operation["summary"])}</p>'
                f'{paragraphs(operation["description"])}{where}{self.access(operation)}'
                f"{self.parameters(operation, title)}{self.request(operation, title)}"
                f"<h4>Answers</h4>{answers}</section>")

    # --- the page ---

    def tagged(self, tag):
        return [entry for entry in self.operations if entry[3]["tags"] == [tag["name"]]]

    def navigation(self):
        groups = ""
        for tag in self.document["tags"]:
            links = "".join(f'<li><a href="#{anchor(m, p)}">{badge(m)} <span>{escape(p)}</span></a></li>'
                            for m, p, _, _ in self.tagged(tag))
            groups += f"<h2>{escape(tag['name'])}</h2><ul>{links}</ul>"
        return groups + '<h2>Reference</h2><ul><li><a href="#labels">Error labels</a></li>' \
                        '<li><a href="#shapes">Shapes of errors</a></li>' \
                        '<li><a href="docs/openapi.json">openapi.json</a></li></ul>'

    def labels(self):
        rows = [(f"<code>{escape(label['const'])}</code>",
                 ", ".join(map(str, label["x-posthouse-statuses"])),
                 "yes" if label["x-posthouse-retryable"] else "no", marked(label["description"]))
                for label in self.document["components"]["schemas"]["ErrorLabel"]["oneOf"]]
        return table("Error labels", ("Label", "Status", "Retry helps", "Meaning"), rows)

    def shapes(self):
        names = {media["schema"]["$ref"].rsplit("/", 1)[1]
                 for *_, operation in self.operations
                 for status, response in operation["responses"].items() if not status.startswith("2")
                 for kind, media in self.resolve(response).get("content", {}).items()
                 if kind == "application/json" and "$ref" in media["schema"]}
        schemas = self.document["components"]["schemas"]
        return "".join(
            f'<section id="shape-{anchor(name)}"><h3>{escape(name)}</h3>'
            f'{paragraphs(schemas[name].get("description", ""))}'
            + table(f"Members of {name}", ("Member", "Always", "Value", "Meaning"), self.fields(schemas[name]))
            + "</section>" for name in schemas if name in names)

    def render(self, style):
        info = self.document["info"]
        groups = "".join(
            f'<section aria-labelledby="g-{anchor(tag["name"])}"><h2 id="g-{anchor(tag["name"])}">'
            f'{escape(tag["name"])}</h2>{paragraphs(tag["description"])}'
            + "".join(self.operation(*entry) for entry in self.tagged(tag)) + "</section>"
            for tag in self.document["tags"])
        return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(info["title"])} {escape(info["version"])}: HTTP interface</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><h1>{escape(info["title"])} <small>{escape(info["version"])}</small></h1>
<p>{marked(info["summary"])}</p></header>
<div class="columns">
<nav aria-label="Routes"><details open><summary>Routes</summary>{self.navigation()}</details></nav>
<main id="main">
<section class="intro">{paragraphs(info["description"])}</section>
{groups}
<section aria-labelledby="labels"><h2 id="labels">Error labels</h2>
<p>The <code>error.label</code> of a failed answer.</p>{self.labels()}</section>
<section aria-labelledby="shapes"><h2 id="shapes">Shapes of errors</h2>{self.shapes()}</section>
</main>
</div>
</body>
</html>
"""


def render(document, style):
    return Page(document).render(style)
