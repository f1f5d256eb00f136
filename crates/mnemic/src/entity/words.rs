//! Word lists and scripts: what begins a sentence without being a name, what may stand inside one, and which characters are
//! of scripts without spaces. Short on purpose: a list is a guess at a language.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Whether a character is of a script that is written without spaces between words, or whose words carry particles (Korean).
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'                                // Thai, Lao
        | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'    // Myanmar, Khmer
        | '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}'    // Hangul
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3105}'..='\u{312f}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Words that begin sentences and are no names: of English, German, French, Spanish and Italian, and the orders of notes.
pub(super) fn is_starter(word: &str) -> bool {
    STARTERS.contains(word)
}

/// Days and months, and what a capital makes of a pronoun or a short sign: no names, wherever they stand.
pub(super) fn is_never_a_name(word: &str) -> bool {
    NEVER.contains(word)
}

/// Small words inside names: `Bank of America`, `Ludwig van Beethoven`, `Rio de Janeiro`.
pub(super) fn is_particle(word: &str) -> bool {
    [
        "of", "de", "da", "di", "du", "des", "del", "della", "la", "van", "von", "bin", "ibn",
    ]
    .contains(&word)
}

/// What stands before the name of a person.
pub(super) fn is_title(word: &str) -> bool {
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "professor",
        "herr",
        "herrn",
        "frau",
        "monsieur",
        "madame",
        "señor",
        "señora",
        "sir",
    ]
    .contains(&word)
}

/// Abbreviations after which no sentence begins.
pub(super) fn is_abbreviation(word: &str) -> bool {
    [
        "mr", "mrs", "ms", "dr", "prof", "st", "vs", "z.b", "e.g", "i.e", "bzw", "ca", "cf", "no",
        "nr",
    ]
    .contains(&word)
}

/// Small words of German that other languages do not have: where there are some of them, a capital is no sign of a name.
pub(super) fn is_german(word: &str) -> bool {
    GERMAN.contains(word)
}

static GERMAN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "\
    der das und ist nicht ein eine einen einem einer mit für auf zu zum zur im den dem wir ich sie wird hat von vom \
    bei nach werden sind wenn dass wie auch noch nur seit aus über unter war hatte kein keine als die"
        .split(' ')
        .collect()
});

static NEVER: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "\
    ad am apr april asap aug august bc btw cet dec december dezember dienstag donnerstag eod eta feb februar february \
    freitag fri friday fridays fyi gmt i imho jan januar january jul juli july jun june juni mai mar march may \
    mittwoch mon monday mondays montag märz nb nov november oct october ok okay oktober pm ps rsvp samstag sat \
    saturday saturdays sep september sonntag sun sunday sundays tbd thu thursday thursdays todo tue tuesday tuesdays \
    utc wed wednesday wednesdays wip"
        .split(' ')
        .collect()
});

static STARTERS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "\
    a aber about above according actually add after again agree ahora al algo algunos all alle alles almost \
    als also although always am an and andere another antes any anyone anything apparently aquí are around as ask \
    assume así at au auch auf aujourd'hui aunque aus aussi aux außerdem avant avec avoid avons ayer back be because \
    before behind bei beide below besides between bis bitte both bring build but buy by cada call can cannot car casi \
    ce cela ces cet cette ceux che check chez chi close come comme comment como compare con consider contra cosa could \
    create cual cuando cui currently customers cuál cuándo da dabei dafür dal dalla danach dann dans daran darauf das \
    dass de debug decide degli dei dein deine del della dem demain den denn deploy depuis der des desde deshalb \
    despite di did die dies diese diesen dieser dieses disable do doch does don't donc donde done dort dos dove down \
    drop du due durch during dónde e each ecco ein eine einem einen einer eines either el ella ellas elle elles ellos \
    en enable encore ensure entre er era es esa ese eso est esta estas este esto estos está et eux even eventually \
    every everybody everyone everything except falls fast few finally find first fix follow for forget from früher fue \
    further für ganz gegen generally gestern get give gli go good ha hace had half has hasta hat hatte have having hay \
    he hello hence her here hers heute hey hi hier hinter his ho how however hoy i ich ieri if ihr ihre ihren il ils \
    im immer implement in indeed initially inside install instead into io is isn't ist it it's its ja \
    jamais je jede jeder jedes jetzt just kann kannst keep kein keine können la las last lately later le leave left \
    lei leider les less let let's leur leurs like likely lo look loro los lui ma mais make man manche many may maybe \
    mañana me meanwhile meet mein meine meinen merge mes mi mia might mio mis mit moi mon more morgen most move much \
    mucho muss must muy my más même müssen nach nachdem nada natürlich ne near neben need nein neither nel nella never \
    new next ni nicht nichts nie niemand no nobody noch noi non none nor nos nosotros nostro not note nothing notre \
    nous now nuestra nuestro nun nunca nur o ob oder of off often oggi ogni ohne old on once one only open or order \
    other others otherwise ou our out over own où par para parce pas pendant people per perché perhaps pero però pick \
    più plan please poi por porque pour pourquoi prefer previously probably puede pues put quale quand quando quanto \
    que quel quella quelle quelles quello quels questa questo qui quien quién quoi qué rather read really recently \
    remember remind remove rename replace reply restart rewrite right run sa same sans say schedule schon se \
    second see según sehr sei sein seine seit send senza ser ses set several shall she should show si sich sie siempre \
    sin since sind six so sobald sobre soll sollen sollte solo some somebody someone something sometimes son sondern \
    sono sont soon sous start statt still stop store su sua such sul suo sur sure sus sí ta take talk también tan te \
    team tell ten tes test thank thanks that the their them then there therefore these they thing things third this \
    those though three through thus ti tiene to today todo todos together toi tomorrow ton tonight too tous tout toute \
    toutes tra trotz try très tu turn tus tutti tutto two ultimately um un una unas und under une unfortunately unless \
    uno unos uns unser unsere unter until up update upgrade upon us use used user users usted usually verify very \
    viele vielleicht voi vom von vor vos vostro votre vous wait wann want war warum was watch we wegen weil weiter \
    welche welcher welches well wem wen wenn wer werden were weshalb what whatever when whenever where whether which \
    while who whoever whole whom whose why wie wieder wieso will wir wird with within without wo wofür wohin womit \
    won't work would write y ya yes yesterday yet yo you your zu zuerst zum zur zwei zwischen è él über"
        .split(' ')
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_hold_words_in_small_letters() {
        for list in [&STARTERS, &NEVER] {
            assert!(list.len() > 50);
            assert!(
                list.iter()
                    .all(|word| !word.is_empty() && word.to_lowercase() == *word)
            );
        }
        assert!(is_starter("yesterday") && is_starter("aujourd'hui") && !is_starter("anna"));
        assert!(is_never_a_name("friday") && !is_never_a_name("berlin"));
    }
}
