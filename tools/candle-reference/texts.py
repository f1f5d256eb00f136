"""The reference texts: fifty, from nothing to a thousand words."""

WORDS = (
    "memory agent deploy friday query passage index vector window batch token model weight layer "
    "kernel thread cache file table row column trigger commit branch merge release patch schema"
).split()


def words(count, seed):
    """Words in an order that a multiplicative generator sets, so that the texts are the same everywhere."""
    state, out = seed, []
    for _ in range(count):
        state = state * 48271 % 2147483647
        out.append(WORDS[state % len(WORDS)])
    return " ".join(out)


TEXTS = [
    "",
    " ",
    "\t\n",
    "a",
    "I",
    "?",
    "42",
    "...",
    "🎉",
    "🎉🎉 shipped! 🚀",
    "今日は東京塔の夜景を見た",
    "我喜欢在周末学习编程",
    "Привет, как дела?",
    "naïve café Straße fiancée",
    "ΑΒΓ αβγ",
    "مرحبا بالعالم",
    "안녕하세요 세계",
    "e\u0301 combining and é composed",
    "zero\u200bwidth\ufeffmarks",
    "tabs\tand\nnew\r\nlines",
    "UPPER lower MiXeD",
    "don't can't won't it's",
    "C++ / foo::bar(\"x\") % 50 -- !?",
    "https://example.org/path?query=1&other=two#part",
    "user@example.org wrote on 2024-05-08T13:07:00Z",
    "fn main() { println!(\"hello\"); }",
    "SELECT * FROM memories WHERE project = 'web' ORDER BY created_at DESC;",
    "{\"key\": [1, 2.5, null, true], \"nested\": {\"a\": \"b\"}}",
    "Antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "x" * 150,
    "ab" * 40,
    "1234567890" * 6,
    "The user prefers Ruff over Black for formatting",
    "Deploys freeze on Fridays",
    "When can I ship to production?",
    "The desk plant is a fern and wants water every third day.",
    "She moved from Lisbon to Oslo in March and started at the new company in May.",
    "Ticket KX-204 is in review; the fix touches the state-of-the-art retrieval path.",
    "Rust's borrow checker rejects programs that could have data races.",
    "The patient should take two tablets after each meal for seven days.",
    "Call me Ishmael. Some years ago, never mind how long precisely, I went to sea.",
    "To be, or not to be: that is the question.",
    "La memoria es el espejo donde vemos a los ausentes.",
    "Der Benutzer bevorzugt dunkle Farben und kurze Antworten.",
    "[CLS] literal special tokens [SEP] in a text [MASK]",
    words(30, 1),
    words(100, 2),
    words(240, 3),
    words(400, 4),
    words(1000, 5),
]
assert len(TEXTS) == 50
