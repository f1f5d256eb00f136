//! Which words are written as only code and codes are: paths, identifiers, ticket numbers, versions. One look at each
//! character, no regular expressions.

/// Extensions by which a name is a file's.
const EXTENSIONS: [&str; 44] = [
    "bat", "c", "cc", "cfg", "conf", "cpp", "css", "csv", "db", "doc", "docx", "go", "h", "hpp",
    "html", "ini", "ipynb", "java", "js", "json", "jsonl", "kt", "lock", "log", "md", "pdf", "php",
    "png", "proto", "py", "rb", "rs", "sh", "sql", "svg", "swift", "toml", "ts", "tsx", "txt",
    "xml", "yaml", "yml", "zip",
];

/// Ends of host names that are no words.
const DOMAINS: [&str; 12] = [
    "ai", "app", "cn", "com", "de", "dev", "eu", "fr", "io", "jp", "net", "org",
];

/// The code that a stretch without spaces is, without what surrounds it; `None` where it is none.
pub(super) fn code(chunk: &str) -> Option<&str> {
    let chunk = chunk.trim_start_matches(|c: char| {
        !c.is_alphanumeric() && !matches!(c, '/' | '~' | '.' | '-' | '_')
    });
    let chunk = chunk.trim_end_matches(|c: char| {
        !c.is_alphanumeric() && !matches!(c, '_' | '/' | '+' | '#' | ')')
    });
    let signed = chunk.trim_end_matches(')');
    if matches!(signed, "C++" | "C#" | "F#") {
        return Some(signed);
    }
    if let Some(name) = chunk.strip_suffix("()") {
        return is_path_of_names(name).then_some(name);
    }
    let core = chunk.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/'));
    let is = is_address(core)
        || is_path(core)
        || is_file(core)
        || is_flag(core)
        || is_snake(core)
        || (core.contains("::") && is_path_of_names(core))
        || is_ticket(core)
        || is_version(core)
        || is_model_number(core)
        || is_camel(core);
    if !is {
        return None;
    }
    // Of an address of the web, the host.
    match core.split_once("://") {
        Some((_, rest)) => rest
            .split(['/', '?', '#', ':'])
            .next()
            .filter(|host| !host.is_empty()),
        None => Some(core.trim_end_matches('/')),
    }
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// `foo`, `foo::bar`, `foo.bar`, of names alone.
fn is_path_of_names(text: &str) -> bool {
    let parts = text.split("::").flat_map(|part| part.split('.'));
    parts.clone().count() <= 8 && parts.into_iter().all(is_name)
}

/// `foo_bar`, `MAX_SIZE`, `__init__`.
fn is_snake(text: &str) -> bool {
    let inner = text.trim_matches('_');
    let is_marked = text.starts_with("__") && text.ends_with("__");
    (inner.contains('_') || is_marked) && inner.chars().any(char::is_alphabetic) && is_name(text)
}

/// `--dry-run`.
fn is_flag(text: &str) -> bool {
    let name = text.strip_prefix("--").unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// `me@example.com`, `https://example.com/page`, `example.com`.
fn is_address(text: &str) -> bool {
    if let Some((scheme, rest)) = text.split_once("://") {
        return matches!(scheme, "http" | "https" | "ftp" | "ssh" | "git")
            && rest.starts_with(char::is_alphanumeric);
    }
    let (user, host) = text.split_once('@').unwrap_or(("me", text));
    let part = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+'))
    };
    let end = host.rsplit('.').next().unwrap_or_default();
    host.contains('.')
        && host.split('.').all(part)
        && user.split('.').all(part)
        && (text.contains('@') || DOMAINS.contains(&end))
}

/// `src/a.rs`, `/etc/hosts`, `./run`, `crates/mnemic/src`: what has an extension, begins as a path does, or has two
/// slashes. `and/or`, `km/h` and `10/12/2025` are none.
fn is_path(text: &str) -> bool {
    let rooted = ["/", "./", "../", "~/"]
        .iter()
        .any(|start| text.starts_with(start));
    let inner = text.trim_matches('/');
    let part = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~' | '@' | '+'))
    };
    let slashes = inner.matches('/').count();
    inner.split('/').all(part)
        && inner.chars().any(char::is_alphabetic)
        && ((rooted && inner.len() > 1)
            || (slashes >= 1 && inner.rsplit('/').next().is_some_and(has_extension))
            || (slashes >= 2 && inner.split('/').all(|part| part.chars().count() > 1)))
}

/// `Cargo.toml`, `.env`.
fn is_file(text: &str) -> bool {
    if let Some(name) = text.strip_prefix('.') {
        let small = |c: char| c.is_ascii_lowercase() || matches!(c, '-' | '_');
        return (2..=20).contains(&name.len()) && name.chars().all(small);
    }

    let known = text.rsplit_once('.').is_some_and(|(name, end)| {
        name.chars().any(char::is_alphanumeric) && EXTENSIONS.contains(&end)
    });
    known
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| {
        (1..=6).contains(&end.len()) && end.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// `KX-204`, `RFC-2119`, `GPT-4`, `kx-204`: letters, a hyphen, digits. Of small letters, only with three digits or more, as
/// `top-10` is none.
fn is_ticket(text: &str) -> bool {
    let Some((letters, digits)) = text.split_once('-') else {
        return false;
    };
    let number = digits.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let capital = letters
        .chars()
        .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    (1..=12).contains(&letters.len())
        && letters.starts_with(|c: char| c.is_ascii_alphabetic())
        && letters.chars().all(|c| c.is_ascii_alphanumeric())
        && !number.is_empty()
        && digits.len() - number.len() <= 2
        && number.chars().all(|c| c.is_ascii_digit() || c == '-')
        && (capital || number.len() >= 3)
}

/// `1.2.3`, `v2`, `v0.9`, `2.0.0-rc.1`. A number with one point is a number, and what ends or begins with a year a date.
fn is_version(text: &str) -> bool {
    let marked = text.strip_prefix(['v', 'V']);
    let number = marked.unwrap_or(text);
    let (core, extra) = match number.find(['-', '+']) {
        Some(place) => (number.get(..place), number.get(place..)),
        None => (Some(number), None),
    };
    let core = core.unwrap_or_default();
    let parts = core.split('.').count();
    let digits =
        |part: &str| (1..=6).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let is_year = |part: Option<&str>| part.is_some_and(|part| part.len() == 4);
    let fits = |extra: &str| {
        extra.len() <= 24
            && extra
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'))
    };
    core.split('.').all(digits)
        && extra.is_none_or(fits)
        && parts <= 4
        && (marked.is_some() || parts >= 3)
        && (marked.is_some()
            || !(is_year(core.split('.').next()) || is_year(core.rsplit('.').next())))
}

/// `S3`, `H100`, `A17`, `EC2`: capitals, then digits, and perhaps one more letter.
fn is_model_number(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let capitals = text.len() - rest.len();
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = rest.len() - after.len();
    (1..=4).contains(&capitals)
        && (1..=6).contains(&digits)
        && after.len() <= 1
        && after.chars().all(|c| c.is_ascii_alphabetic())
}

/// `camelCase`. (What begins with a capital is a name as well: it is found among those.)
fn is_camel(text: &str) -> bool {
    is_name(text)
        && text.starts_with(char::is_lowercase)
        && text.chars().any(char::is_uppercase)
        && text.chars().count() >= 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_code_looks_like_is_code() {
        for text in [
            "src/a.rs",
            "foo::bar",
            "std::collections::HashMap",
            "snake_case",
            "MAX_SIZE",
            "__init__",
            "camelCase",
            "KX-204",
            "kx-204",
            "RFC-2119",
            "GPT-4",
            "UTF-8",
            "COVID-19",
            "1.2.3",
            "v2",
            "v0.9.1",
            "2.0.0-rc.1",
            "Cargo.toml",
            ".env",
            "/etc/hosts",
            "~/.ssh/config",
            "./run",
            "crates/mnemic/src",
            "--dry-run",
            "S3",
            "H100",
            "me@example.com",
            "docs.example.com",
            "C++",
            "C#",
            "10.0.0.1",
        ] {
            assert_eq!(code(text), Some(text));
            assert_eq!(code(&format!("({text}),")), Some(text));
        }
        assert_eq!(code("main()."), Some("main"));
        assert_eq!(code("os.path.join()"), Some("os.path.join"));
        assert_eq!(code("https://docs.rs/mnemic?x=1"), Some("docs.rs"));
        assert_eq!(code("src/bin/"), None);
        assert_eq!(code("`target/debug/`"), None);
    }

    #[test]
    fn what_people_write_is_none() {
        for text in [
            "and/or",
            "km/h",
            "he/she",
            "10/12/2025",
            "12.05.2026",
            "2026-05-01",
            "3.14",
            "top-10",
            "e.g.",
            "i.e",
            "v",
            "50%",
            "well-known",
            "1st",
            "x",
            "",
            "-",
            "--",
            "...",
            "Anna",
            "don't",
            "24/7",
            "()",
            "a.m.",
            "10:30",
            "covid",
            "state-of-the-art",
            "2026",
            "_",
            "::",
            "1-2",
            "follow-up",
        ] {
            assert_eq!(code(text), None, "{text}");
        }
    }
}
