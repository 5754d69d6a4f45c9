"""The same C++ name under the other std::string ABI.

A mangled name is read into a tree, the types that libstdc++ has twice are exchanged, and the tree is written
again with its substitutions numbered anew. What this reader does not know gives no twin, and neither does a
name that it cannot write back byte for byte.

    old: _ZN3c105ErrorC2ENS_14SourceLocationESs
    new: _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE

One thing a name does not tell: a function that returns a string, and takes none, has a tag in the new ABI
(str[abi:cxx11]) and nothing in the old. From new to old the tag is dropped; from old to new there is no twin.
"""

STD = ("std",)
CXX11 = ("id", "__cxx11", ())
CHAR = ("b", "c")
# What libstdc++ keeps in std::__cxx11 and exists in the old ABI too.
TWICE = {"list", "basic_string", "basic_stringstream", "basic_istringstream", "basic_ostringstream",
         "basic_stringbuf", "collate", "messages", "moneypunct", "money_get", "money_put", "numpunct",
         "time_get", "regex_traits", "basic_regex", "sub_match", "match_results"}
ABBREVIATED = {"a": (STD, ("id", "allocator", ())), "b": (STD, ("id", "basic_string", ())),
               "s": (("Ss",),), "i": (("Si",),), "o": (("So",),), "d": (("Sd",),)}
OPERATORS = {"nw", "na", "dl", "da", "ps", "ng", "ad", "de", "co", "pl", "mi", "ml", "dv", "rm", "an", "or",
             "eo", "aS", "pL", "mI", "mL", "dV", "rM", "aN", "oR", "eO", "ls", "rs", "lS", "rS", "eq", "ne",
             "lt", "gt", "le", "ge", "ss", "nt", "aa", "oo", "pp", "mm", "cm", "pm", "pt", "cl", "ix", "qu"}
UNARY = {"ps", "ng", "ad", "de", "co", "nt", "nx", "sp"}


class Unknown(Exception):
    pass


class Reader:
    def __init__(self, text):
        self.text, self.at, self.seen = text, 0, []

    def peek(self, count=1):
        return self.text[self.at:self.at + count]

    def take(self, token):
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def need(self, token):
        if not self.take(token):
            raise Unknown(f"{token} expected")

    def char(self):
        if self.at >= len(self.text):
            raise Unknown("ends early")
        self.at += 1
        return self.text[self.at - 1]

    def until(self, end):
        stop = self.text.find(end, self.at)
        if stop < 0:
            raise Unknown("ends early")
        part = self.text[self.at:stop]
        self.at = stop + len(end)
        return part

    def digits(self):
        start = self.at
        while self.peek().isdigit():
            self.at += 1
        return self.text[start:self.at]

    def remember(self, node):
        self.seen.append(node)
        return node

    # Names

    def encoding(self):
        if self.peek() in ("T", "G"):
            return self.special()
        name = self.name()
        types = []
        while self.at < len(self.text) and self.peek() not in ("E", "."):
            types.append(self.type())
        return ("encoding", name, tuple(types))

    def special(self):
        kind = self.peek(2)
        if kind in ("TV", "TI", "TS", "TT"):
            self.at += 2
            return ("special", kind, self.type())
        raise Unknown(kind)

    def name(self):
        """(qualifiers, path): the path of components, and the qualifiers of a member function."""
        if self.take("N"):
            qualifiers = ""
            while self.peek() in ("r", "V", "K"):
                qualifiers += self.char()
            if self.peek() in ("R", "O"):
                qualifiers += self.char()
            return (qualifiers, self.prefix())
        if self.peek() == "Z":
            return ("", self.local())
        path = self.unscoped()
        if self.peek() == "I":
            if path[1]:
                self.remember(("path", path[0]))
            return ("", path[0] + (self.arguments(),))
        return ("", path[0])

    def unscoped(self):
        """A path and whether it is new, that is no substitution."""
        if self.peek(2) == "St":
            self.at += 2
            return (STD, self.component()), True
        if self.peek() == "S":
            node = self.substitution()
            if node[0] != "path":
                raise Unknown("substitution of no name")
            return node[1], False
        return (self.component(),), True

    def local(self):
        self.need("Z")
        encoding = self.encoding()
        self.need("E")
        if self.take("s"):
            raise Unknown("string literal")
        if self.peek() == "d":
            raise Unknown("default argument")
        if self.peek() == "N":
            raise Unknown("member of a local class")
        path = (("local", encoding), self.component())
        if self.peek() == "_":
            raise Unknown("discriminator")
        if self.peek() == "I":
            self.remember(("path", path))
            path += (self.arguments(),)
        return path

    def prefix(self):
        path = ()
        while not self.take("E"):
            if path and path != (STD,):
                last = ("path", path)
                if last not in self.seen and path not in ABBREVIATED.values() and path[-1][0] != "local":
                    self.remember(last)
            if self.peek() == "I":
                path += (self.arguments(),)
            elif self.peek(2) == "St" and not path:
                self.at += 2
                path = (STD,)
            elif self.peek() == "S" and not path:
                node = self.substitution()
                path = node[1] if node[0] == "path" else (node,)
            elif self.peek() == "T" and not path:
                path = (self.template_parameter(),)
            elif self.peek() == "Z" and not path:
                path = self.local()
            elif self.peek() == "D" and self.peek(2) in ("Dt", "DT") and not path:
                raise Unknown("decltype")
            else:
                path += (self.component(),)
        return path

    def component(self):
        char = self.peek()
        if char == "L":
            raise Unknown("internal name")
        if char.isdigit():
            size = int(self.digits())
            text = self.text[self.at:self.at + size]
            if len(text) != size:
                raise Unknown("ends early")
            self.at += size
            return ("id", text, self.tags())
        if char == "C" or (char == "D" and self.peek(2)[1:].isdigit()):
            kind = self.char() + self.char()
            if kind == "CI":
                raise Unknown("inherited constructor")
            return ("op", kind, self.tags())
        if char == "U":
            raise Unknown("unnamed type")
        code = self.peek(2)
        if code == "cv":
            self.at += 2
            return ("conversion", self.type())
        if code in OPERATORS:
            self.at += 2
            return ("op", code, self.tags())
        raise Unknown(code)

    def tags(self):
        found = ()
        while self.take("B"):
            size = int(self.digits())
            found += (self.text[self.at:self.at + size],)
            self.at += size
        return found

    def arguments(self):
        self.need("I")
        items = []
        while not self.take("E"):
            items.append(self.argument())
        return ("args", tuple(items))

    def argument(self):
        if self.take("J"):
            items = []
            while not self.take("E"):
                items.append(self.argument())
            return ("J", tuple(items))
        if self.peek() == "L":
            return self.literal()
        if self.take("X"):
            expression = self.expression()
            self.need("E")
            return ("X", expression)
        return self.type()

    def literal(self):
        self.need("L")
        if self.take("_Z"):
            inner = self.encoding()
            self.need("E")
            return ("L_Z", inner)
        kind = self.type()
        return ("L", kind, self.until("E"))

    def expression(self):
        if self.peek() == "L":
            return self.literal()
        if self.peek() == "T":
            return self.template_parameter()
        if self.take("sr"):
            owner = self.type()
            member = self.component()
            return ("sr", owner, member, self.arguments() if self.peek() == "I" else None)
        if self.take("sZ"):
            return ("sZ", self.template_parameter())
        if self.take("st"):
            return ("st", self.type())
        code = self.peek(2)
        if code in OPERATORS and code not in ("cl", "cm", "ix", "qu", "nw", "na", "dl", "da", "pt"):
            self.at += 2
            count = 1 if code in UNARY else 2
            return ("ex", code, tuple(self.expression() for _ in range(count)))
        raise Unknown(f"expression {code}")

    # Types

    def template_parameter(self):
        self.need("T")
        return self.remember(("T", self.until("_")))

    def substitution(self):
        self.need("S")
        char = self.peek()
        if char in ABBREVIATED:
            self.at += 1
            path = ABBREVIATED[char]
            return ("path", path)
        digits = self.until("_")
        index = int(digits, 36) + 1 if digits else 0
        if index >= len(self.seen):
            raise Unknown("substitution of nothing")
        return self.seen[index]

    def type(self):
        char = self.peek()
        if not char:
            raise Unknown("ends early")
        if char in "rVK":
            qualifiers = ""
            while self.peek() in ("r", "V", "K"):
                qualifiers += self.char()
            return self.remember(("cv", qualifiers, self.type()))
        if char in "PROCG":
            self.at += 1
            return self.remember(("p", char, self.type()))
        if char == "F":
            return self.remember(self.function())
        if char == "A":
            self.at += 1
            size = self.until("_")
            if not size.isdigit():
                raise Unknown("array of dependent size")
            return self.remember(("A", size, self.type()))
        if char == "M":
            self.at += 1
            owner = self.type()
            return self.remember(("M", owner, self.type()))
        if char == "T" and self.peek(2) not in ("Ts", "Tu", "Te"):
            node = self.template_parameter()
            if self.peek() == "I":
                node = self.remember(("path", (node, self.arguments())))
            return node
        if char == "D":
            return self.d_type()
        if char == "S" and self.peek(2) != "St":
            node = self.substitution()
            if self.peek() == "I":
                path = node[1] if node[0] == "path" else (node,)
                node = self.remember(("path", path + (self.arguments(),)))
            return node
        if char in "NZS" or char.isdigit():
            qualifiers, path = self.name()
            if qualifiers:
                raise Unknown("qualified type name")
            node = ("path", path)
            # The whole is a candidate, unless it is one of the abbreviations.
            return self.remember(node)
        if char in "vwbcahstijlmxynofdegz":
            self.at += 1
            return ("b", char)
        raise Unknown(f"type {char}")

    def d_type(self):
        code = self.peek(2)
        if code in ("Dn", "Di", "Ds", "Du", "Da", "Dc", "Dd", "De", "Df", "Dh"):
            self.at += 2
            return ("b", code)
        if code == "Dp":
            self.at += 2
            return self.remember(("Dp", self.type()))
        if code == "Do":
            self.at += 2
            return self.remember(("Do", self.function()))
        raise Unknown(code)

    def function(self):
        self.need("F")
        external = self.take("Y")
        types = []
        while not self.take("E"):
            if self.peek(2) in ("RE", "OE"):
                types.append(("ref", self.char()))
                continue
            types.append(self.type())
        return ("F", external, tuple(types))


class Writer:
    def __init__(self):
        self.seen = {}

    def number(self, key):
        index = self.seen[key]
        if index == 0:
            return "S_"
        index -= 1
        digits = ""
        while True:
            digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[index % 36] + digits
            index //= 36
            if not index:
                return f"S{digits}_"

    def remember(self, key):
        self.seen.setdefault(key, len(self.seen))

    def encoding(self, node):
        if node[0] == "special":
            return node[1] + self.type(node[2])
        (qualifiers, path), types = node[1], node[2]
        return self.name(qualifiers, path) + "".join(self.type(t) for t in types)

    @staticmethod
    def nested(path):
        plain = [c for c in path if c[0] != "args"]
        return len(plain) > (2 if plain[0] in (STD,) or plain[0][0] == "local" else 1)

    def name(self, qualifiers, path):
        if qualifiers or self.nested(path):
            return "N" + qualifiers + self.prefix(path[:-1]) + self.component(path[-1]) + "E"
        if path[-1][0] == "args":
            return self.prefix(path[:-1]) + self.component(path[-1])
        if len(path) == 1:
            return self.component(path[0])
        return self.start(path[:1]) + self.component(path[-1])

    def start(self, path):
        if path == (STD,):
            return "St"
        if path[0][0] == "local":
            return "Z" + self.encoding(path[0][1]) + "E"
        raise Unknown("start of a name")

    def prefix(self, path):
        for letter, abbreviated in ABBREVIATED.items():
            if path == abbreviated:
                return "S" + letter
        if len(path) == 1 and (path == (STD,) or path[0][0] == "local"):
            return self.start(path)
        if len(path) == 1 and path[0][0] in ("T", "cv", "p"):
            return self.type(path[0])
        key = ("path", path)
        if key in self.seen:
            return self.number(key)
        text = (self.prefix(path[:-1]) if len(path) > 1 else "") + self.component(path[-1])
        self.remember(key)
        return text

    def component(self, c):
        if c[0] == "id":
            return f"{len(c[1])}{c[1]}" + self.tags(c[2])
        if c[0] == "op":
            return c[1] + self.tags(c[2])
        if c[0] == "conversion":
            return "cv" + self.type(c[1])
        if c[0] == "args":
            return "I" + "".join(self.argument(a) for a in c[1]) + "E"
        raise Unknown(c[0])

    @staticmethod
    def tags(tags):
        return "".join(f"B{len(t)}{t}" for t in tags)

    def argument(self, a):
        if a[0] == "J":
            return "J" + "".join(self.argument(x) for x in a[1]) + "E"
        if a[0] == "X":
            return "X" + self.expression(a[1]) + "E"
        if a[0] in ("L", "L_Z"):
            return self.expression(a)
        return self.type(a)

    def expression(self, e):
        if e[0] == "L":
            return "L" + self.type(e[1]) + e[2] + "E"
        if e[0] == "L_Z":
            return "L_Z" + self.encoding(e[1]) + "E"
        if e[0] == "sr":
            return ("sr" + self.type(e[1]) + self.component(e[2]) +
                    (self.component(e[3]) if e[3] else ""))
        if e[0] in ("sZ", "st"):
            return e[0] + self.type(e[1])
        if e[0] == "ex":
            return e[1] + "".join(self.expression(x) for x in e[2])
        return self.type(e)

    def type(self, t):
        if t[0] == "b":
            return t[1]
        if t[0] == "ref":
            return t[1]
        if t[0] == "path":
            for letter, abbreviated in ABBREVIATED.items():
                if t[1] == abbreviated:
                    return "S" + letter
        if t in self.seen:
            return self.number(t)
        if t[0] == "path":
            path = t[1]
            if self.nested(path):
                text = "N" + self.prefix(path[:-1]) + self.component(path[-1]) + "E"
            else:
                text = self.prefix(path)
        elif t[0] == "cv":
            text = t[1] + self.type(t[2])
        elif t[0] == "p":
            text = t[1] + self.type(t[2])
        elif t[0] == "F":
            text = self.function(t)
        elif t[0] == "A":
            text = f"A{t[1]}_" + self.type(t[2])
        elif t[0] == "M":
            text = "M" + self.type(t[1])
            text += self.type(t[2])
        elif t[0] == "T":
            text = f"T{t[1]}_"
        elif t[0] == "Dp":
            text = "Dp" + self.type(t[1])
        elif t[0] == "Do":
            text = "Do" + self.function(t[1])
        else:
            raise Unknown(t[0])
        self.remember(t)
        return text

    def function(self, t):
        return "F" + ("Y" if t[1] else "") + "".join(self.type(x) for x in t[2]) + "E"


STRING_ARGUMENTS = ("args", (CHAR, ("path", (STD, ("id", "char_traits", ()), ("args", (CHAR,)))),
                             ("path", (STD, ("id", "allocator", ()), ("args", (CHAR,))))))
NEW_STRING = (STD, CXX11, ("id", "basic_string", ()), STRING_ARGUMENTS)


def path_to_new(path):
    if path[0] == ("Ss",):
        path = NEW_STRING + path[1:]
    elif path[0] == STD and len(path) > 1 and path[1][0] == "id" and path[1][1] in TWICE:
        path = (STD, CXX11) + path[1:]
    return path


def path_to_old(path):
    path = tuple((c[0], c[1], tuple(t for t in c[2] if t != "cxx11")) if c[0] in ("id", "op") else c
                 for c in path)
    if path[:4] == NEW_STRING:
        return (("Ss",),) + path[4:]
    if path[:2] == (STD, CXX11) and len(path) > 2 and path[2][0] == "id" and path[2][1] in TWICE:
        return (STD,) + path[2:]
    return path


def is_path(value):
    return bool(value) and all(isinstance(c, tuple) and c and isinstance(c[0], str) for c in value)


def exchange(node, change):
    """The tree with every path changed, the innermost first."""
    if not isinstance(node, tuple):
        return node
    if len(node) == 2 and node[0] == "path":
        return ("path", change(tuple(exchange(c, change) for c in node[1])))
    if len(node) == 3 and node[0] == "encoding":
        qualifiers, path = node[1]
        return ("encoding", (qualifiers, change(tuple(exchange(c, change) for c in path))),
                exchange(node[2], change))
    return tuple(exchange(n, change) for n in node)


def read(name):
    reader = Reader(name)
    reader.need("_Z")
    tree = reader.encoding()
    if reader.at != len(name):
        raise Unknown("more than a name")
    return tree


def write(tree):
    return "_Z" + Writer().encoding(tree)


def round_trip(name):
    return write(read(name))


def twin(name, to):
    """The name of `name` in ABI `to` ("old", "new"): itself if the ABI does not show; None if unknown."""
    marked = "__cxx11" in name or "B5cxx11" in name
    if to == "old" and not marked:
        return name
    if not name.startswith("_Z"):
        return name
    try:
        tree = read(name)
        if write(tree) != name:
            return None
        return write(exchange(tree, path_to_new if to == "new" else path_to_old))
    except (Unknown, RecursionError, ValueError, IndexError):
        return None
