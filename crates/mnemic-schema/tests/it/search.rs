use mnemic_schema::{Filter, NewRow, SchemaError, Scope, Store, Token, Tokenizer, query_words};

use crate::{axis, put, row, store, time};

/// How many memories hold any word of a text.
pub(crate) fn found(store: &mut Store, text: &str) -> usize {
    words(store, text, &Filter::default()).len()
}

fn words(store: &mut Store, text: &str, filter: &Filter) -> Vec<i64> {
    let mut seqs = Vec::new();
    let tokens = Tokenizer::new()
        .unwrap()
        .tokens(&query_words(text))
        .unwrap();
    store
        .read(|s| {
            for token in &tokens {
                s.occurrences(token, filter, |seq, count| {
                    assert!(count > 0);
                    seqs.push(seq);
                })?;
            }
            Ok::<_, SchemaError>(())
        })
        .unwrap();
    seqs.sort_unstable();
    seqs.dedup();
    seqs
}

#[test]
fn words_of_scripts_without_spaces_are_found() {
    let mut store = store();
    for content in [
        "今日は東京塔の夜景を見た",
        "再試行gen-kx後",
        "서울에서 만나요",
        "สวัสดีครับ",
        "ｶﾒﾗ and Ｃafé",
    ] {
        put(&mut store, &row(content), None).unwrap();
    }
    for (query, seqs) in [
        ("夜景", vec![1]),
        ("東京塔", vec![1]),
        ("kx", vec![2]),
        ("gen", vec![2]),
        ("後", vec![2]),
        ("서울", vec![3]),
        ("สวัสดี", vec![4]),
        ("カメラ", vec![5]),
        ("cafe", vec![5]),
        ("CAFÉ", vec![5]),
        ("cafe\u{301}", vec![5]),
        ("塔", vec![1]),
        ("犬", vec![]),
    ] {
        assert_eq!(
            words(&mut store, query, &Filter::default()),
            seqs,
            "{query}"
        );
    }
}

#[test]
fn filters_are_applied_before_the_cut() {
    let mut store = store();
    for i in 0..300u16 {
        let near = NewRow {
            project: Some("near".into()),
            ..row(&format!("near {i}"))
        };
        put(&mut store, &near, Some(&axis(0, f32::from(i) / 10_000.0))).unwrap();
    }
    let far = NewRow {
        project: Some("far".into()),
        tags: vec!["Rare".into()],
        created_at: time("2020-01-01"),
        ..row("near but far")
    };
    let id = put(&mut store, &far, Some(&axis(1, 0.5))).unwrap();
    let filters = [
        Filter {
            scope: Scope::Project("far".into()),
            ..Filter::default()
        },
        Filter {
            scope: Scope::ProjectAndGlobal("far".into()),
            ..Filter::default()
        },
        Filter {
            tags_any: vec!["rare".into(), "absent".into()],
            ..Filter::default()
        },
        Filter {
            tags_all: vec!["RARE".into()],
            ..Filter::default()
        },
        Filter {
            until: Some(time("2021-01-01")),
            ..Filter::default()
        },
        Filter {
            ids: Some(vec![id.clone(), "missing".into()]),
            ..Filter::default()
        },
    ];
    for filter in filters {
        let nearest = store
            .read(|s| s.nearest(&axis(0, 0.0), 5, &filter))
            .unwrap();
        assert_eq!(
            nearest.iter().map(|n| n.0).collect::<Vec<_>>(),
            [301],
            "{filter:?}"
        );
        assert_eq!(words(&mut store, "near", &filter), [301], "{filter:?}");
        assert_eq!(
            store.read(|s| s.ids(&filter)).unwrap(),
            [id.as_str()],
            "{filter:?}"
        );
    }
    let none = Filter {
        tags_none: vec!["rare".into()],
        since: Some(time("2026-01-01")),
        ..Filter::default()
    };
    assert_eq!(
        store
            .read(|s| s.nearest(&axis(1, 0.5), 1_000, &none))
            .unwrap()
            .len(),
        300
    );
    let empty = Filter {
        ids: Some(vec![]),
        ..Filter::default()
    };
    assert_eq!(
        store.read(|s| s.nearest(&axis(0, 0.0), 5, &empty)).unwrap(),
        []
    );
}

#[test]
fn nearest_is_exact_for_any_k() {
    let mut store = store();
    store
        .write(|w| {
            let model = crate::model(4);
            for i in 0..5_000u16 {
                let vector = axis(0, f32::from(i) / 1_000.0);
                w.insert(
                    &row("x"),
                    Some(mnemic_schema::Embedded {
                        model: &model,
                        vector: &vector,
                    }),
                )?;
            }
            Ok::<_, SchemaError>(())
        })
        .unwrap();
    for k in [0, 1, 10, 4_095, 4_096, 4_097, 5_000, 50_000, usize::MAX] {
        let nearest = store
            .read(|s| s.nearest(&axis(0, 0.0), k, &Filter::default()))
            .unwrap();
        let expected: Vec<i64> = (1..=5_000).take(k).collect();
        assert_eq!(
            nearest.iter().map(|n| n.0).collect::<Vec<_>>(),
            expected,
            "k = {k}"
        );
    }
    let some = store
        .read(|s| s.distances(&axis(0, 0.0), &[1, 99_999, 5_000]))
        .unwrap();
    assert!(
        some[0].unwrap() < 1e-6 && some[1].is_none() && some[2].unwrap() > 0.5,
        "{some:?}"
    );
    let error = store
        .read(|s| s.nearest(&[1.0; 3], 5, &Filter::default()))
        .unwrap_err();
    assert!(matches!(error, SchemaError::BadVector { .. }), "{error:?}");
}

#[test]
fn rarer_words_and_denser_texts_score_better() {
    let mut store = store();
    put(&mut store, &row("zebra zebra zebra crossing"), None).unwrap();
    put(
        &mut store,
        &row(&format!("zebra {}", "filler text goes on ".repeat(30))),
        None,
    )
    .unwrap();
    for i in 0..10 {
        put(&mut store, &row(&format!("other item {i}")), None).unwrap();
    }
    let token = token("zebra");
    let mut found = Vec::new();
    store
        .read(|s| {
            s.occurrences(&token, &Filter::default(), |seq, count| {
                found.push((seq, count))
            })
        })
        .unwrap();
    assert_eq!(found, [(1, 3), (2, 1)]);
    let lengths = store.read(|s| s.lengths(&[1, 2, 3, 99])).unwrap();
    assert_eq!(lengths, [4, 121, 3, 0]);
    let all = store.read(|s| s.scope_lengths(&Scope::All)).unwrap();
    assert_eq!(all, (12, 4 + 121 + 10 * 3));
}

/// The only token of a word.
fn token(word: &str) -> Token {
    let mut tokens = Tokenizer::new()
        .unwrap()
        .tokens(&query_words(word))
        .unwrap();
    assert_eq!(tokens.len(), 1, "{word}");
    tokens.remove(0)
}

/// Every letter and digit of Unicode, stored alone and within a word, is found by itself. (Of the long uniform
/// blocks of Han, Hangul, Tangut and the like every 97th.)
#[test]
fn every_letter_is_found_by_itself() {
    let uniform = |c: &char| matches!(*c, '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{17000}'..='\u{18cff}' | '\u{20000}'..);
    let letters: Vec<char> = ('\u{0}'..=char::MAX)
        .filter(|c| c.is_alphanumeric() && (!uniform(c) || (*c as u32).is_multiple_of(97)))
        .collect();
    assert!(letters.len() > 20_000, "{}", letters.len());
    let mut store = store();
    store
        .write(|w| {
            for c in &letters {
                w.insert(&row(&format!("{c} x{c}y")), None)?;
            }
            Ok::<_, SchemaError>(())
        })
        .unwrap();
    let mut tokenizer = Tokenizer::new().unwrap();
    let lost: Vec<String> = store
        .read(|s| {
            let mut lost = Vec::new();
            for (seq, c) in (1..).zip(&letters) {
                // Within a word every seventh: the same rules, and half the time.
                let within = (seq % 7 == 0).then(|| format!("x{c}y"));
                for text in [Some(c.to_string()), within].into_iter().flatten() {
                    let mut found = false;
                    for token in tokenizer.tokens(&query_words(&text))? {
                        s.occurrences(&token, &Filter::default(), |hit, _| found |= hit == seq)?;
                    }
                    if !found && !query_words(&text).is_empty() {
                        lost.push(format!("{:x} in {text}", *c as u32));
                    }
                }
            }
            Ok::<_, SchemaError>(lost)
        })
        .unwrap();
    assert_eq!(lost, [""; 0], "{}", lost.len());
}
