#!/usr/bin/env python3
"""Writes the man pages and the completions of a posthouse binary: pages.py BINARY EXAMPLE DIRECTORY

What the commands take is read from --help, what the configuration takes from the example, which is the table of
keys. So neither can be forgotten here."""

import os
import pathlib
import re
import subprocess
import sys

CHOICES = {"FILE": "_files", "DIR": "_files -/"}

SUMMARY = """Posthouse takes requests over HTTP, stores each one before it says yes, and sends it on to a chain at a controlled
rate and at the right time. It is one process, one binary and one SQLite file."""

FILES = [("/etc/posthouse/posthouse.toml", "The configuration of the service, see posthouse.toml(5)."),
         ("/etc/posthouse/environment", "Secrets as environment variables, readable by root only."),
         ("/var/lib/posthouse", "Everything durable; one process at a time.")]


class Command:
    """One command as its --help tells it."""

    def __init__(self, binary, *path):
        text = subprocess.run([binary, *path, "--help"], capture_output=True, text=True, timeout=30, check=True).stdout
        self.path = path
        self.name = path[-1] if path else "posthouse"
        head, _, rest = text.partition("\nUsage: ")
        self.description = " ".join(head.split())
        usage, _, rest = rest.partition("\n")
        self.usage = usage.strip()
        sections = {}
        footer = []
        for block in rest.split("\n\n"):
            title, _, lines = block.strip("\n").partition("\n")
            if title in ("Options:", "Positionals:", "Subcommands:"):
                sections[title] = self.entries(lines)
            elif block.strip():
                footer.append(block.strip("\n"))
        self.options = sections.get("Options:", [])
        self.positionals = sections.get("Positionals:", [])
        self.commands = [Command(binary, *path, name) for name, _ in sections.get("Subcommands:", [])]
        self.footer = footer

    @staticmethod
    def entries(lines):
        """Pairs of what stands on the left and its meaning, which may go on below."""
        found = []
        for line in lines.splitlines():
            if match := re.match(r"  (\S.*?)(?:\s{2,}(.*))?$", line):
                found.append([match.group(1), match.group(2) or ""])
            elif found:
                found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
        return found

    @property
    def flags(self):
        """Each option as its names and what it takes, empty when nothing."""
        for left, meaning in self.options:
            names, _, value = left.partition(" ")
            yield names.split(","), value, meaning


def roff(text):
    return re.sub(r"(?m)^([.'])", r"\\&\1", text.replace("\\", r"\e").replace("-", r"\-"))


def tagged(left, meaning):
    return f".TP\n{left}\n{roff(meaning)}\n" if meaning else f".TP\n{left}\n\\&\n"


def option_line(names, value):
    bold = ", ".join(rf"\fB{roff(name)}\fR" for name in names)
    return bold + (rf" \fI{roff(value)}\fR" if value else "")


def command_text(command):
    text = f".SS {roff(command.usage)}\n{roff(command.description)}.\n"
    for name, meaning in command.positionals:
        text += tagged(rf"\fI{roff(name.split()[0])}\fR", meaning)
    for names, value, meaning in command.flags:
        if "--help" not in names:
            text += tagged(option_line(names, value), meaning)
    for line in command.footer:
        text += f".PP\n{roff(line)}\n"
    return text + "".join(command_text(each) for each in command.commands)


def manual(top, version):
    statuses = [line.strip().split("  ", 1) for block in top.footer if block.startswith("Exit status:")
                for line in block.splitlines()[1:]]
    text = f'.TH POSTHOUSE 1 "" "posthouse {version}" "User Commands"\n'
    text += f".SH NAME\nposthouse \\- {roff('crash-safe request scheduler and transaction relayer')}\n"
    text += f".SH SYNOPSIS\n.B posthouse\n[OPTIONS] [COMMAND]\n.SH DESCRIPTION\n{roff(SUMMARY)}\n.SH OPTIONS\n"
    text += "".join(tagged(option_line(names, value), meaning) for names, value, meaning in top.flags)
    text += ".SH COMMANDS\n" + "".join(command_text(each) for each in top.commands)
    text += ".SH EXIT STATUS\n" + "".join(tagged(value, meaning) for value, meaning in statuses)
    text += ".SH ENVIRONMENT\n" + tagged(r"\fBPOSTHOUSE_\fISECTION\fB__\fIKEY\fR",
                                         "A setting; POSTHOUSE_HTTP__ENDPOINT is http.endpoint.")
    text += ".SH FILES\n" + "".join(tagged(rf"\fI{roff(path)}\fR", meaning) for path, meaning in FILES)
    return text + ".SH SEE ALSO\n.BR posthouse.toml (5),\n.BR systemctl (1)\n"


def settings_manual(example, version):
    """The example as a page: its comments are the text, its lines the keys."""
    text = f'.TH POSTHOUSE.TOML 5 "" "posthouse {version}" "File Formats"\n'
    text += ".SH NAME\nposthouse.toml \\- configuration of posthouse\n.SH DESCRIPTION\n"
    comment = []
    begun = False
    for line in example.splitlines():
        if match := re.match(r"#?(\[+[\w.]+\]+)$", line):
            text += f".SH {roff(match.group(1))}\n" + (f"{roff(' '.join(comment))}\n" if comment else "")
            comment, begun = [], True
        elif match := re.match(r"#?(\w+) = (.*)$", line):
            text += tagged(rf"\fB{roff(match.group(1))}\fR = {roff(match.group(2))}", " ".join(comment))
            comment = []
        elif line.startswith("#"):
            comment.append(line[1:].strip())
        if not begun and line in ("", "#") and any(comment):
            text += f".PP\n{roff(' '.join(comment).strip())}\n"
            comment = []
    return text + ".SH SEE ALSO\n.BR posthouse (1)\n"


def all_below(command):
    for each in command.commands:
        yield each
        yield from all_below(each)


def bash_flags(command):
    return " ".join(name for names, _, _ in command.flags for name in names)


def bash_case(command, depth):
    """What completes the word at this depth of a command line, and what the words behind it."""
    indent = " " * (4 + 8 * depth)
    lines = [f"{indent}case ${{commands[{depth}]}} in"]
    for each in command.commands:
        files = "_filedir" if any(name.split()[0] == "FILE" for name, _ in each.positionals) else ":"
        lines.append(f"{indent}    {each.name})")
        if each.commands:
            lines += [*bash_case(each, depth + 1), f"{indent}        ;;"]
        else:
            lines += [f'{indent}        if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "{bash_flags(each)}" -- "$cur"))',
                      f"{indent}        else {files}; fi ;;"]
    words = " ".join([*(each.name for each in command.commands), bash_flags(command)])
    return [*lines, f'{indent}    "") COMPREPLY=($(compgen -W "{words}" -- "$cur")) ;;', f"{indent}esac"]


def bash(top):
    lines = ["# bash completion for posthouse", "_posthouse() {", "    local cur prev words cword",
             "    _init_completion || return", "    case $prev in"]
    taking = {}
    for command in [top, *all_below(top)]:
        for names, value, _ in command.flags:
            if value:
                taking.setdefault(value, set()).update(names)
    for value, names in sorted(taking.items()):
        action = {"FILE": "_filedir", "DIR": "_filedir -d"}.get(value, ":")
        lines.append(f"        {' | '.join(sorted(names))}) {action}; return ;;")
    lines += ["    esac", "    local word commands=()",
              '    for word in "${words[@]:1:cword-1}"; do',
              '        if [[ $word != -* ]]; then commands+=("$word"); fi', "    done", *bash_case(top, 0), "}",
              "complete -F _posthouse posthouse"]
    return "\n".join(lines) + "\n"


def zsh_word(text):
    return re.sub(r"([\[\]:'\\])", lambda match: "'\\''" if match.group(1) == "'" else "\\" + match.group(1), text)


def zsh_options(command):
    for names, value, meaning in command.flags:
        for name in names:
            action = f":{zsh_word(value)}:{CHOICES.get(value, ' ')}" if value else ""
            yield f"'{name}[{zsh_word(meaning)}]{action}'"
    for name, meaning in command.positionals:
        yield f"':{zsh_word(meaning)}:{CHOICES.get(name.split()[0], ' ')}'"


def zsh_case(command):
    lines = ["_arguments -C \\", *(f"    {each} \\" for each in zsh_options(command)),
             "    '1: :->command' '*:: :->arguments'", "", "case $state in", "    command)",
             "        local -a commands=("]
    lines += [f"            '{each.name}:{zsh_word(each.description)}'" for each in command.commands]
    lines += ["        )", "        _describe command commands ;;", "    arguments)", "        case $words[1] in"]
    for each in command.commands:
        if each.commands:
            lines += [f"            {each.name})", *(" " * 16 + line for line in zsh_case(each)), " " * 16 + ";;"]
        else:
            lines.append(f"            {each.name}) _arguments {' '.join(zsh_options(each))} ;;")
    return [*lines, "        esac ;;", "esac"]


def zsh(top):
    return "\n".join(["#compdef posthouse", "", "local context state state_descr line", "typeset -A opt_args", "",
                      *zsh_case(top)]) + "\n"


def main():
    binary, example, directory = sys.argv[1:]
    out = pathlib.Path(directory)
    (out / "completions").mkdir(parents=True, exist_ok=True)
    version = subprocess.run([binary, "version"], capture_output=True, text=True, check=True).stdout.split()[1]
    top = Command(os.path.abspath(binary))
    example = pathlib.Path(example).read_text(encoding="utf-8")
    for name, text in (("posthouse.1", manual(top, version)), ("posthouse.toml.5", settings_manual(example, version)),
                       ("completions/posthouse", bash(top)), ("completions/_posthouse", zsh(top))):
        (out / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
