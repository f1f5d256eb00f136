//! What is told of pairs of texts by their wording.

use crate::gate::assessment::{Difference, GateVerdict};
use crate::gate::compare::{Comparison, Text};
use proptest::prelude::*;

fn compared(known: &str, new: &str) -> Comparison {
    Text::new(new).beside(&Text::new(known), None)
}

/// By their wording alone, without a cosine.
#[test]
fn what_differs_is_told() {
    use GateVerdict::{Conflict, Near, New};
    let number = |new: &str, known: &str| {
        vec![Difference::Number {
            new: new.to_owned(),
            known: known.to_owned(),
        }]
    };
    let date = |new: &str, known: &str| {
        vec![Difference::Date {
            new: new.to_owned(),
            known: known.to_owned(),
        }]
    };
    let unit = |new: &str, known: &str| {
        vec![Difference::Unit {
            new: new.to_owned(),
            known: known.to_owned(),
        }]
    };
    let opposites = |new: &str, known: &str| {
        vec![Difference::Opposites {
            new: new.to_owned(),
            known: known.to_owned(),
        }]
    };
    let subject = |new: &str, known: &str| {
        vec![Difference::Subject {
            new: new.to_owned(),
            known: known.to_owned(),
        }]
    };
    let order = |new: &str, known: &str| {
        vec![Difference::Order {
            new: new.to_owned(),
            known: known.to_owned(),
        }]
    };
    let polarity = || vec![Difference::Polarity];
    for (known, new, verdict, differs) in [
        // Whole words: a notebook negates nothing, nor do nonsense and another.
        (
            "the notebook is on the desk",
            "the notebook is on the desk now",
            Near,
            vec![],
        ),
        (
            "another note is in nothingham",
            "another note is in nothingham too",
            Near,
            vec![],
        ),
        (
            "the door isn’t locked",
            "the door is locked",
            Conflict,
            polarity(),
        ),
        ("he doesn't not care", "he cares", Near, vec![]),
        ("set --no-cache", "set --cache", Conflict, polarity()),
        (
            "the limit is 1,000 rows",
            "the limit is 1000 rows",
            Near,
            vec![],
        ),
        (
            "the limit is 3,5 %",
            "the limit is 3.5 percent",
            Near,
            vec![],
        ),
        ("the limit is ٣٠ rows", "the limit is 30 rows", Near, vec![]),
        (
            "the limit is three rows",
            "the limit is 4 rows",
            Conflict,
            number("4", "3"),
        ),
        ("wait for 90 minutes", "wait for 1.5 hours", Near, vec![]),
        (
            "wait for 5 ms",
            "wait for 5 s",
            Conflict,
            unit("time", "time"),
        ),
        (
            "it is -5 °C cold",
            "it is 5 °C cold",
            Conflict,
            number("5", "-5"),
        ),
        (
            "runs on v1.2.3",
            "runs on v1.2.4",
            Conflict,
            number("1.2.4", "1.2.3"),
        ),
        ("due on May 5th, 2026", "due on 2026-05-05", Near, vec![]),
        (
            "fällig am 5. Mai",
            "fällig am 6. Mai",
            Conflict,
            date("day 6", "day 5"),
        ),
        (
            "you may go in march order",
            "you may go in march order today",
            Near,
            vec![],
        ),
        ("starts at 2 pm", "starts at 14:00", Near, vec![]),
        (
            "starts at 2 pm",
            "starts at 2 am",
            Conflict,
            date("time 2:00", "time 14:00"),
        ),
        (
            "10 calls per second",
            "10 calls per hour",
            Conflict,
            date("per 3600 time", "per 1 time"),
        ),
        (
            "alerts are always sent",
            "alerts are never sent",
            Conflict,
            polarity(),
        ),
        (
            "alerts are enabled",
            "alerts are disabled",
            Conflict,
            opposites("disabled", "enabled"),
        ),
        (
            "the user prefers tabs over spaces",
            "the user prefers spaces over tabs",
            Conflict,
            order("spaces", "tabs"),
        ),
        (
            "it reads 5 rows and writes 10 rows",
            "it reads 10 rows and writes 5 rows",
            Conflict,
            order("10", "5"),
        ),
        ("due on May 5th", "due on 5 May", Near, vec![]),
        (
            "track No. 5 is the best",
            "track No. 6 is the best",
            New,
            subject("no 6", "no 5"),
        ),
        (
            "服务器每周日重启",
            "服务器每周六重启",
            Conflict,
            date("weekday 6", "weekday 7"),
        ),
        (
            "ticket 12 is done",
            "ticket 13 is done",
            New,
            subject("ticket 13", "ticket 12"),
        ),
        (
            "host web-01 is up",
            "host web-02 is up",
            New,
            subject("web-02", "web-01"),
        ),
        ("缓存时间是五分钟", "缓存时间是300秒", Near, vec![]),
        ("二〇二六年五月三日发布", "2026年5月3日发布", Near, vec![]),
        (
            "会议在周三",
            "会议在周五",
            Conflict,
            date("weekday 5", "weekday 3"),
        ),
        ("他和我不同", "他和我不同了", Near, vec![]),
        (
            "行かなければならない",
            "行かなければならないです",
            Near,
            vec![],
        ),
        ("機能は有効です", "機能は無効です", Conflict, polarity()),
        (
            "if x == 1 { stop }",
            "if x != 1 { stop }",
            Conflict,
            polarity(),
        ),
    ] {
        let found = compared(known, new);
        assert_eq!(
            (found.verdict, found.differs),
            (verdict, differs),
            "{known} | {new}"
        );
    }
}

proptest! {
    /// Any text may be compared with any; with itself it is a duplicate, and what differs changes sides with the texts.
    #[test]
    fn any_texts_are_compared(
        a in "(the |not |never |[0-9]{1,4}[.,:/-]?|May |5th |am |# |v1\\.2 |不|三|月|日|ない|\\PC){0,14}",
        b in "(the |not |never |[0-9]{1,4}[.,:/-]?|May |5th |am |# |v1\\.2 |不|三|月|日|ない|\\PC){0,14}",
        cosine in prop::option::of(-1.0..=1.0f64),
    ) {
        let (x, y) = (Text::new(&a), Text::new(&b));
        let found = x.beside(&y, cosine);
        for share in [found.text_ratio, found.conflict, found.alike.overlap, found.alike.coverage] {
            prop_assert!((0.0..=1.0).contains(&share), "{found:?}");
        }
        prop_assert_eq!(found.verdict == GateVerdict::Duplicate, x.normal() == y.normal());
        let back = y.beside(&x, cosine);
        let polarity = |found: &Comparison| found.differs.contains(&Difference::Polarity);
        prop_assert_eq!(polarity(&found), polarity(&back));
        prop_assert_eq!(found.differs.is_empty(), back.differs.is_empty());
        prop_assert_eq!(x.beside(&x, cosine).verdict, GateVerdict::Duplicate);
    }
}
