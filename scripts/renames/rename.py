#!/usr/bin/env python3
"""Applies a list of renaming rules (standard input) to the tree in the working directory.

One rule a line; `#` begins a comment. Words separated by blanks, patterns may be quoted.

  moves
    file OLD NEW              git mv; include lines and meson.build follow; both may be missing
    stem OLD NEW GLOB...      every file below GLOB called OLD.*, OLD_test.* moves likewise
    drop PATH                 git rm; its line in meson.build goes too
  words (GLOBs after `in` choose files, after `not` leave files out)
    code OLD NEW [in ...]     a whole word in C++ code, not in strings or comments
    both OLD NEW              the same, and in C++ comments
    word OLD NEW              the same, and in the pages (README.md, docs/*.md)
    /OLD/ NEW after any of the three: a Python regular expression instead of a word
    note /OLD/ NEW            regular expression, C++ comments only
    string /OLD/ NEW          regular expression, C++ strings only (names of tests)
    page /OLD/ NEW            regular expression, pages only
    text /OLD/ NEW            regular expression on the whole text of C++ files
    build /OLD/ NEW           regular expression on the whole text of meson.build files
    script /OLD/ NEW          regular expression on *.py and *.sh
    include PATH /USE/        files whose code matches USE get `#include "PATH"`
"""
import fnmatch, os, re, shlex, subprocess, sys

ROOTS = ('src/', 'tests/')
PART = re.compile(r'''
    (?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)
  | (?P<string>(?:u8|[uUL])?R"(?P<d>[^()\\\s]*)\(.*?\)(?P=d)"|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+')
''', re.X | re.S)


def git(*args):
    return subprocess.run(['git', *args], check=True, capture_output=True, text=True).stdout


class Tree:
    def __init__(self):
        self.names = set(git('ls-files').split('\n')) - {''}
        self.names = {n for n in self.names if os.path.isfile(n) and not os.path.islink(n)}
        self.texts = {}
        self.parts = {}
        self.changed = set()

    def is_cpp(self, n):
        return n.startswith(ROOTS) and n.endswith(('.hpp', '.cpp'))

    def is_page(self, n):
        if n.startswith('docs/spec/'):
            return False
        return n == 'README.md' or (n.startswith('docs/') and n.endswith('.md'))

    def is_build(self, n):
        return os.path.basename(n) == 'meson.build'

    def is_script(self, n):
        return n.endswith(('.py', '.sh')) or n.startswith('scripts/')

    def text(self, n):
        if n not in self.texts:
            try:
                with open(n, encoding='utf-8', newline='') as f:
                    self.texts[n] = f.read()
            except UnicodeDecodeError:
                self.texts[n] = ''
        return self.texts[n]

    def put(self, n, text):
        if text != self.texts.get(n):
            self.texts[n] = text
            self.parts.pop(n, None)
            self.changed.add(n)
            return True
        return False

    def cpp_parts(self, n):
        """[(kind, text)]: kind is code, comment or string."""
        if n not in self.parts:
            out, at, text = [], 0, self.text(n)
            for m in PART.finditer(text):
                if m.start() > at:
                    out.append(('code', text[at:m.start()]))
                out.append(('comment' if m.group('comment') is not None else 'string', m.group(0)))
                at = m.end()
            out.append(('code', text[at:]))
            self.parts[n] = out
        return self.parts[n]

    def chosen(self, kind, where, without):
        for n in sorted(self.names):
            if kind(n) and (not where or any(fnmatch.fnmatch(n, g) for g in where)):
                if not any(fnmatch.fnmatch(n, g) for g in without):
                    yield n

    # --- moves

    def move(self, old, new):
        if old == new or old not in self.names:
            return 0
        text = self.text(old)
        os.makedirs(os.path.dirname(new), exist_ok=True)
        git('mv', '-f', old, new)
        self.names.remove(old)
        self.names.add(new)
        self.texts[new] = text
        self.changed.discard(old)
        self.changed.add(new)
        self.parts.pop(new, None)
        if old.endswith('.hpp'):
            self.follow_includes(old, new)
        self.follow_builds(old, new)
        return 1

    def follow_includes(self, old, new):
        def rooted(path):
            for r in ROOTS:
                if path.startswith(r):
                    return path[len(r):]
        for n in list(self.names):
            if not self.is_cpp(n):
                continue
            text = self.text(n)
            base = os.path.basename(old)
            if base not in text:
                continue
            def swap(m):
                named = m.group(2)
                if named == rooted(old):
                    return m.group(1) + rooted(new) + m.group(3)
                home = os.path.dirname(n)
                if os.path.normpath(os.path.join(home, named)) == old:
                    return m.group(1) + os.path.relpath(new, home) + m.group(3)
                return m.group(0)
            self.put(n, re.sub(r'(#\s*include\s*")([^"]+)(")', swap, text))
        # What a moved header includes beside itself is found by its full name from now on.

    def follow_builds(self, old, new):
        for n in list(self.names):
            if not self.is_build(n):
                continue
            home = os.path.dirname(n)
            was, now = os.path.relpath(old, home or '.'), os.path.relpath(new, home or '.')
            if was.startswith('..'):
                if ("'%s'" % was) not in self.text(n):
                    continue
            text = self.text(n)
            if now.startswith('..') and ("'%s'" % was) in text and old.endswith('.cpp'):
                text = re.sub(r"[ \t]*'%s',?\n" % re.escape(was), '', text)
                self.put(n, text)
                self.list_in_build(new)
            else:
                self.put(n, text.replace("'%s'" % was, "'%s'" % now))

    def list_in_build(self, path):
        """Adds a source to the first list of files in the nearest meson.build."""
        home = os.path.dirname(path)
        while home:
            n = home + '/meson.build'
            if n in self.names:
                name = os.path.relpath(path, home)
                text = self.text(n)
                if "'%s'" % name in text:
                    return
                m = re.search(r'files\(\n', text)
                if m:
                    self.put(n, text[:m.end()] + "    '%s',\n" % name + text[m.end():])
                    return
                sys.exit('no list of files in ' + n)
            home = os.path.dirname(home)
        sys.exit('no meson.build for ' + path)

    def drop(self, old):
        if old not in self.names:
            return 0
        git('rm', '-q', '-f', '--', old)
        self.names.remove(old)
        self.texts.pop(old, None)
        self.changed.discard(old)
        for n in list(self.names):
            if self.is_build(n):
                was = os.path.relpath(old, os.path.dirname(n) or '.')
                self.put(n, re.sub(r"[ \t]*'%s',?\n" % re.escape(was), '', self.text(n)))
        return 1

    # --- words

    def replace(self, kinds, pattern, new, where, without):
        count = 0
        for n in self.chosen(self.is_cpp, where, without):
            if not pattern.search(self.text(n)):
                continue
            parts, hits = [], 0
            for kind, text in self.cpp_parts(n):
                if kind in kinds:
                    text, k = pattern.subn(new, text)
                    hits += k
                parts.append((kind, text))
            if hits:
                self.put(n, ''.join(t for _, t in parts))
                count += hits
        return count

    def replace_whole(self, choose, pattern, new, where, without):
        count = 0
        for n in self.chosen(choose, where, without):
            text, k = pattern.subn(new, self.text(n))
            if k:
                self.put(n, text)
                count += k
        return count

    def include(self, path, use, where, without):
        count = 0
        for n in self.chosen(self.is_cpp, where, without):
            text = self.text(n)
            if n == 'src/' + path or '#include "%s"' % path in text:
                continue
            own = os.path.splitext(n)[0] + '.hpp'
            if n.endswith('.cpp') and own in self.names and '#include "%s"' % path in self.text(own):
                continue
            if not any(k == 'code' and use.search(t) for k, t in self.cpp_parts(n)):
                continue
            line = '#include "%s"\n' % path
            quoted = list(re.finditer(r'^#include "[^"]*"\n', text, re.M))
            first_own = quoted and n.endswith('.cpp') and os.path.basename(own) in quoted[0].group(0)
            later = quoted[1:] if first_own else quoted
            if later:
                text = text[:later[0].start()] + line + text[later[0].start():]
            else:
                angled = list(re.finditer(r'^#include .*\n', text, re.M))
                if angled:
                    text = text[:angled[-1].end()] + '\n' + line + text[angled[-1].end():]
                else:
                    once = re.search(r'^#pragma once\n', text, re.M)
                    at = once.end() if once else 0
                    text = text[:at] + '\n' + line + text[at:]
            self.put(n, text)
            count += 1
        return count

    def save(self):
        for n in sorted(self.changed):
            if n in self.names:
                with open(n, 'w', encoding='utf-8', newline='') as f:
                    f.write(self.texts[n])
                git('add', '--', n)


def split(line):
    words, out, at = line, [], 0
    token = re.compile(r"\s*(?:(/(?:[^/\\]|\\.)+/)|\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|(\S+))")
    while at < len(words):
        m = token.match(words, at)
        if not m:
            break
        if m.group(1):
            out.append(m.group(1))
        elif m.group(2) is not None:
            out.append(m.group(2).replace('\\"', '"'))
        elif m.group(3) is not None:
            out.append(m.group(3))
        elif m.group(4).startswith('#') and m.group(4) == '#':
            break
        else:
            out.append(m.group(4))
        at = m.end()
    return out


def pattern_of(word):
    if len(word) > 2 and word.startswith('/') and word.endswith('/'):
        return re.compile(word[1:-1].replace('\\/', '/'))
    return re.compile(r'(?<![\w])%s(?![\w])' % re.escape(word))


def main():
    tree = Tree()
    total = 0
    for number, line in enumerate(sys.stdin, 1):
        line = line.strip()
        if not line or line.startswith('#'):
            continue
        words = split(line)
        verb, rest = words[0], words[1:]
        where, without = [], []
        for marker, into in (('not', without), ('in', where)):
            at = 2 if verb != 'drop' else 1
            if marker in rest[at:]:
                i = rest.index(marker, at)
                j = next((k for k in range(i + 1, len(rest)) if rest[k] in ('in', 'not')), len(rest))
                into += rest[i + 1:j]
                rest = rest[:i] + rest[j:]
        if verb == 'file':
            total += tree.move(*rest)
        elif verb == 'stem':
            old, new, globs = rest[0], rest[1], rest[2:] or ['src/*', 'tests/*']
            for n in sorted(tree.names):
                m = re.fullmatch(r'(.*/)?%s((?:_test)?\.(?:cpp|hpp))' % re.escape(old), n)
                if m and any(fnmatch.fnmatch(n, g) for g in globs):
                    total += tree.move(n, (m.group(1) or '') + new + m.group(2))
        elif verb == 'drop':
            total += tree.drop(rest[0])
        elif verb in ('code', 'both', 'word'):
            kinds = ('code',) if verb == 'code' else ('code', 'comment')
            p = pattern_of(rest[0])
            total += tree.replace(kinds, p, rest[1], where, without)
            if verb == 'word':
                total += tree.replace_whole(tree.is_page, p, rest[1], [], [])
        elif verb == 'note':
            total += tree.replace(('comment',), pattern_of(rest[0]), rest[1], where, without)
        elif verb == 'string':
            total += tree.replace(('string',), pattern_of(rest[0]), rest[1], where, without)
        elif verb in ('page', 'text', 'build', 'script'):
            choose = {'page': tree.is_page, 'text': tree.is_cpp, 'build': tree.is_build,
                      'script': tree.is_script}[verb]
            flags = re.compile(pattern_of(rest[0]).pattern, re.M)
            total += tree.replace_whole(choose, flags, rest[1].replace('\\n', '\n'), where, without)
        elif verb == 'include':
            total += tree.include(rest[0], pattern_of(rest[1]), where, without)
        else:
            sys.exit(f'line {number}: no verb {verb}')
    tree.save()
    print(f'  {total} replacements, {len(tree.changed)} files' if total else '  nothing to do')


main()
