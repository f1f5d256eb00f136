//! The planner that is built in: patterns of words tell the intent, a table says what each intent is recalled by. It reads
//! nothing but the question.

use crate::entity::is_unspaced;
use crate::planner::languages::{CHINESE, ENGLISH, GERMAN};
use crate::planner::{Intent, Plan, QueryPlanner};
use crate::recall::expand::Expand;
use crate::recall::preset::Preset;

/// Words (or characters of a script without spaces) of a question that are looked at.
const MOST_TOKENS: usize = 128;

/// Tells the intent of a question by patterns of words, in English, Chinese and German, and plans by a table.
///
/// The intents are tried in the order of [`Intent::ALL`]; the first of which a pattern is in the question is it, and
/// [`Intent::General`] where none is. A pattern is words in their order. Case does not matter, nor what stands between words.
/// Each character of a script without spaces is a word.
///
/// | in a pattern | means |
/// |---|---|
/// | `how to` | these words, one after the other, anywhere |
/// | `^when` | the question begins so |
/// | `how * work` | any words between, or none |
/// | `怎么 !样` | not followed by this word |
/// | `<year>` | a number from 1900 to 2099 |
///
/// | intent | what its plan changes |
/// |---|---|
/// | causal | entities weigh .2; the causes of the best two join, up to 5 steps back, each for .7 of the score of the last |
/// | temporal | newness is .1 of the score; `episodic` memories are raised by a tenth; entities weigh .2 |
/// | procedural | `procedural` memories are raised by a tenth |
/// | exploratory | words weigh .4, vectors .6 |
/// | factual | entities weigh .2 |
/// | general | nothing |
///
/// Other rules, languages and plans are added as data:
///
/// ```
/// use mnemic::{Intent, Plan, Preset, QueryPlanner, RulePlanner};
///
/// let planner = RulePlanner::new()
///     .rules(Intent::Causal, ["pourquoi", "à cause de quoi"])
///     .plan_for(Plan::new(Intent::Exploratory).preset(Preset::vector_only()));
/// assert_eq!(planner.plan("Pourquoi avons-nous choisi SQLite ?").intent(), Intent::Causal);
/// assert_eq!(planner.plan("我们为什么选择SQLite？").intent(), Intent::Causal);
/// ```
#[derive(Debug, Clone)]
pub struct RulePlanner {
    rules: Vec<Rule>,
    plans: Vec<Plan>,
}

#[derive(Debug, Clone)]
struct Rule {
    intent: Intent,
    text: String,
    begins: bool,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Word(String),
    /// The next word is not this.
    Not(String),
    Gap,
    Year,
}

impl Default for RulePlanner {
    fn default() -> Self {
        Self::new()
    }
}

impl RulePlanner {
    /// The rules and plans that are built in.
    #[must_use]
    pub fn new() -> Self {
        let mut planner = Self::empty();
        for (intent, patterns) in ENGLISH.into_iter().chain(CHINESE).chain(GERMAN) {
            planner = planner.rules(intent, patterns.split('|'));
        }
        let default = Preset::default;
        planner
            .plan_for(
                Plan::new(Intent::Causal)
                    .entity_weight(0.2)
                    .expand(causes()),
            )
            .plan_for(
                Plan::new(Intent::Temporal)
                    .preset(default().recency(0.1, 30.0))
                    .entity_weight(0.2)
                    .prefer_kinds(["episodic"], 0.1),
            )
            .plan_for(Plan::new(Intent::Procedural).prefer_kinds(["procedural"], 0.1))
            .plan_for(Plan::new(Intent::Exploratory).preset(default().weights(0.4, 0.6)))
            .plan_for(Plan::new(Intent::Factual).entity_weight(0.2))
    }

    /// No rules: every question is [`Intent::General`], and every plan changes nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            rules: Vec::new(),
            plans: Vec::new(),
        }
    }

    /// agent-memory's router: reciprocal rank fusion Σ 1 / (60 + rank) over words, vectors and entities, ten candidates a leg
    /// whatever the intent, and for a causal question the causes of the best two, five steps back. It returns five:
    /// say `limit(5)`.
    ///
    /// Three of its faults are mended: the kinds that an intent is about (`procedural`, and `episodic` for when) are
    /// preferred, by a tenth, and not the only ones; its rules match Chinese; and where it finds fewer than the limit the
    /// rest is filled up.
    ///
    /// ```
    /// use mnemic::{Memory, Recall, RulePlanner};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store("the key is rotated by the bot")?;
    /// let planned = memory.recall_planned(Recall::new("how to rotate the key").limit(5), &RulePlanner::agent_memory())?;
    /// assert!((planned.hits[0].score - 2.0 / 61.0).abs() < 1e-12);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[must_use]
    pub fn agent_memory() -> Self {
        let plan = |intent| {
            Plan::new(intent)
                .preset(Preset::reciprocal_rank())
                .entity_weight(1.0)
                .candidates(10)
        };
        let mut planner = Self::new();
        for intent in Intent::ALL {
            planner = planner.plan_for(match intent {
                Intent::Causal => plan(intent).expand(causes()),
                Intent::Temporal => plan(intent).prefer_kinds(["episodic"], 0.1),
                Intent::Procedural => plan(intent).prefer_kinds(["procedural"], 0.1),
                _ => plan(intent),
            });
        }
        planner
    }

    /// Adds patterns for an intent, to those there are. One without a word matches nothing.
    #[must_use]
    pub fn rules<T: AsRef<str>>(
        mut self,
        intent: Intent,
        patterns: impl IntoIterator<Item = T>,
    ) -> Self {
        let patterns = patterns.into_iter();
        self.rules
            .extend(patterns.filter_map(|pattern| Rule::parse(intent, pattern.as_ref())));
        self
    }

    /// The plan for its intent, in the place of the one there is.
    #[must_use]
    pub fn plan_for(mut self, plan: Plan) -> Self {
        self.plans.retain(|other| other.intent() != plan.intent());
        self.plans.push(plan);
        self
    }

    /// The first rule that matches, in the order of the intents, then of the rules.
    fn rule(&self, question: &str) -> Option<&Rule> {
        let tokens = tokens(question);
        Intent::ALL.into_iter().find_map(|intent| {
            let mut rules = self.rules.iter().filter(|rule| rule.intent == intent);
            rules.find(|rule| rule.matches(&tokens))
        })
    }
}

/// The causes of the best two: their causal parents, five steps back.
fn causes() -> Expand {
    Expand::new()
        .causes_alone()
        .inward()
        .depth(5)
        .from_best(2)
        .decay(0.7)
}

impl QueryPlanner for RulePlanner {
    fn plan(&self, question: &str) -> Plan {
        let rule = self.rule(question);
        let intent = rule.map_or(Intent::General, |rule| rule.intent);
        let plan = self.plans.iter().find(|plan| plan.intent() == intent);
        let plan = plan.cloned().unwrap_or_else(|| Plan::new(intent));
        match rule {
            Some(rule) => plan.because(format!("the rule {:?}", rule.text)),
            None => plan,
        }
    }
}

impl Rule {
    fn parse(intent: Intent, text: &str) -> Option<Self> {
        let pattern = text.trim();
        let begins = pattern.starts_with('^');
        let mut parts = Vec::new();
        for word in pattern.trim_start_matches('^').split_whitespace() {
            match (word, word.strip_prefix('!')) {
                ("*", _) => parts.push(Part::Gap),
                ("<year>", _) => parts.push(Part::Year),
                (_, Some(not)) => parts.extend(tokens(not).into_iter().map(Part::Not)),
                _ => parts.extend(tokens(word).into_iter().map(Part::Word)),
            }
        }
        let says = |part: &Part| matches!(part, Part::Word(_) | Part::Year);
        parts.iter().any(says).then(|| Self {
            intent,
            text: pattern.to_owned(),
            begins,
            parts,
        })
    }

    fn matches(&self, tokens: &[String]) -> bool {
        let mut segments = self.parts.split(|part| *part == Part::Gap);
        let mut from = 0;
        // The first place for each segment leaves most room for the others.
        if self.begins
            && let Some(first) = segments.next()
        {
            match stands_at(first, tokens, 0) {
                Some(end) => from = end,
                None => return false,
            }
        }
        segments.all(|segment| {
            let found = (from..=tokens.len()).find_map(|at| stands_at(segment, tokens, at));
            if let Some(end) = found {
                from = end;
            }
            found.is_some()
        })
    }
}

/// Where the words of a segment end that begin at a place, if they do.
fn stands_at(segment: &[Part], tokens: &[String], at: usize) -> Option<usize> {
    let mut at = at;
    for part in segment {
        let token = tokens.get(at);
        let (fits, length) = match part {
            Part::Word(word) => (token == Some(word), 1),
            Part::Year => (token.is_some_and(|token| is_year(token)), 1),
            Part::Not(word) => (token != Some(word), 0),
            Part::Gap => (true, 0),
        };
        if !fits {
            return None;
        }
        at += length;
    }
    Some(at)
}

fn is_year(token: &str) -> bool {
    token.len() == 4
        && (token.starts_with("19") || token.starts_with("20"))
        && token.bytes().all(|byte| byte.is_ascii_digit())
}

/// The words of a text in lower case; each character of a script without spaces is one.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() && !is_unspaced(c) {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if is_unspaced(c) {
            tokens.push(c.to_string());
        }
        if tokens.len() >= MOST_TOKENS {
            return tokens;
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, question: &str) -> bool {
        let rule = Rule::parse(Intent::Causal, pattern).unwrap();
        rule.matches(&tokens(question))
    }

    #[test]
    fn patterns_are_words_in_their_order() {
        assert!(matches("how to", "So, HOW  to do it?"));
        assert!(!matches("how to", "how do it to"));
        assert!(!matches("how to", "how tomatoes grow"));
        assert!(matches("what's", "What's up") && matches("what's", "what s up"));
        assert!(matches("^when", "When?") && !matches("^when", "and when"));
        assert!(matches("how * work", "how does it work") && matches("how * work", "how work"));
        assert!(matches("^how * we", "how did you and we") && !matches("^how * we", "and how we"));
        assert!(matches("<year>", "what was in 2024?") && !matches("<year>", "20245 or 1899"));
        assert!(matches("怎么 !样", "这个怎么做") && !matches("怎么 !样", "这个怎么样"));
        assert!(
            matches("怎么 !样", "怎么样不重要,怎么做"),
            "a later place will do"
        );
        assert!(matches("为什么", "我们为什么要这样"));
    }

    #[test]
    fn a_pattern_without_a_word_matches_nothing() {
        for pattern in ["", " ", "^", "*", "!x", "…"] {
            assert!(
                Rule::parse(Intent::Causal, pattern).is_none(),
                "{pattern:?}"
            );
        }
        let planner = RulePlanner::empty().rules(Intent::Causal, ["", "^*"]);
        assert_eq!(planner.plan("why").intent(), Intent::General);
    }

    #[test]
    fn the_order_of_the_intents_decides() {
        let plan = RulePlanner::new().plan("why does it fail when I run it, and how to mend it?");
        assert_eq!(plan.intent(), Intent::Causal);
        assert_eq!(plan.reason(), Some("the rule \"why\""));
        assert_eq!(plan.expand, Some(causes()));
    }

    proptest! {
        #[test]
        fn any_text_has_a_plan(text in any::<String>(), pattern in "[\\^*! a<>year怎]{0,12}") {
            let planner = RulePlanner::new().rules(Intent::Causal, [&pattern]);
            prop_assert_eq!(planner.plan(&text), planner.plan(&text));
        }
    }
}
