//! The words that the write gate knows, as data: negations, opposites, numbers, units, dates, in English, German, French,
//! Spanish, Chinese and Japanese. Lower case, NFKC, whole words (but for the scripts without spaces, at the end). It decides
//! nothing.

/// Words that negate. (French `ne` is left out: it comes with one of these.)
pub(super) const NEGATIONS: &[&str] = &[
    // English; what ends in n't is known by that.
    "not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "cannot", "without", "nowhere", "dont", "doesnt",
    "isnt", "wont", "cant", // German
    "nicht", "kein", "keine", "keinen", "keinem", "keiner", "keines", "nie", "niemals", "niemand", "nichts", "ohne", "weder",
    // French
    "pas", "jamais", "aucun", "aucune", "rien", "personne", "sans", "non", "ni", // Spanish
    "nunca", "jamás", "ningún", "ninguno", "ninguna", "nadie", "nada", "sin", "tampoco",
];

/// Pairs of opposites. A word may have several.
pub(super) const OPPOSITES: &[(&str, &str)] = &[
    // English
    ("enabled", "disabled"), ("enable", "disable"), ("enables", "disables"), ("always", "never"), ("allow", "deny"),
    ("allow", "forbid"), ("allows", "forbids"), ("allows", "denies"), ("allowed", "forbidden"), ("allowed", "denied"),
    ("allowed", "prohibited"), ("allowed", "banned"), ("permitted", "forbidden"), ("permitted", "prohibited"), ("on", "off"),
    ("true", "false"), ("yes", "no"), ("open", "closed"), ("opens", "closes"), ("public", "private"), ("internal", "external"),
    ("required", "optional"), ("mandatory", "optional"), ("with", "without"), ("before", "after"), ("above", "below"),
    ("increase", "decrease"), ("increases", "decreases"), ("increased", "decreased"), ("up", "down"), ("more", "less"),
    ("more", "fewer"), ("most", "least"), ("minimum", "maximum"), ("min", "max"), ("for", "against"), ("favour", "against"), ("favor", "against"), ("start", "stop"), ("starts", "stops"),
    ("started", "stopped"), ("begins", "ends"), ("likes", "dislikes"), ("like", "dislike"), ("loves", "hates"), ("love", "hate"),
    ("likes", "hates"), ("accept", "reject"), ("accepted", "rejected"), ("accepts", "rejects"), ("approved", "rejected"),
    ("pass", "fail"), ("passes", "fails"), ("passed", "failed"), ("succeeds", "fails"), ("succeeded", "failed"),
    ("safe", "unsafe"), ("stable", "unstable"), ("available", "unavailable"), ("supported", "unsupported"),
    ("encrypted", "unencrypted"), ("active", "inactive"), ("valid", "invalid"), ("visible", "hidden"), ("first", "last"),
    ("left", "right"), ("early", "late"), ("morning", "evening"), ("fast", "slow"), ("online", "offline"), ("inside", "outside"),
    ("cheap", "expensive"), ("high", "low"), ("higher", "lower"), ("synchronous", "asynchronous"), ("sync", "async"),
    ("include", "exclude"), ("includes", "excludes"), ("ascending", "descending"), ("read-only", "writable"), ("add", "remove"),
    ("added", "removed"), ("keep", "delete"), ("keeps", "deletes"), ("kept", "deleted"), ("beginning", "end"), ("begin", "end"), ("hot", "cold"), ("can", "cannot"), ("north", "south"),
    ("east", "west"), ("buy", "sell"), ("agree", "disagree"), ("agrees", "disagrees"), ("possible", "impossible"),
    // German
    ("aktiviert", "deaktiviert"), ("aktiv", "inaktiv"), ("erlaubt", "verboten"), ("immer", "nie"), ("an", "aus"),
    ("ein", "aus"), ("offen", "geschlossen"), ("öffentlich", "privat"), ("mit", "ohne"), ("vor", "nach"), ("mag", "hasst"),
    ("links", "rechts"), ("wahr", "falsch"), ("ja", "nein"), ("morgens", "abends"), ("intern", "extern"),
    ("möglich", "unmöglich"), ("sicher", "unsicher"), ("mehr", "weniger"), ("stets", "nie"), ("geöffnet", "geschlossen"),
    // French
    ("activé", "désactivé"), ("activée", "désactivée"), ("autorisé", "interdit"), ("autorisés", "interdits"),
    ("autorisée", "interdite"), ("toujours", "jamais"), ("avec", "sans"), ("avant", "après"), ("ouvert", "fermé"),
    ("ouverte", "fermée"), ("public", "privé"), ("oui", "non"), ("vrai", "faux"), ("gauche", "droite"), ("matin", "soir"),
    ("aime", "déteste"), ("plus", "moins"), ("obligatoire", "facultatif"),
    // Spanish
    ("activado", "desactivado"), ("activada", "desactivada"), ("permitido", "prohibido"), ("permitidos", "prohibidos"),
    ("siempre", "nunca"), ("con", "sin"), ("antes", "después"), ("abierto", "cerrado"), ("abierta", "cerrada"),
    ("público", "privado"), ("sí", "no"), ("verdadero", "falso"), ("izquierda", "derecha"), ("mañana", "noche"),
    ("más", "menos"), ("obligatorio", "opcional"), ("odia", "ama"),
];

/// Words of preference, for agent-memory's formula of a conflict; and verbs with which a note without a subject begins.
pub(super) const PREFERENCES: &[&str] = &[
    "prefer", "prefers", "preferred", "preference", "like", "likes", "love", "loves", "hate", "hates", "dislike", "dislikes",
    "want", "wants", "favorite", "favourite", "enjoys", "uses", "bevorzugt", "mag", "liebt", "hasst", "lieber", "préfère",
    "aime", "adore", "déteste", "prefiere", "gusta", "odia", "ama",
];

/// Pieces of words of preference in scripts without spaces.
pub(super) const UNSPACED_PREFERENCES: &[&str] = &["喜欢", "偏好", "偏爱", "讨厌", "爱", "好き", "好む", "嫌い", "希望"];

/// Between the two sides of a comparison: what stands before and after may not change places.
pub(super) const COMPARISONS: &[&str] = &[
    "over", "than", "before", "after", "instead", "to", "into", "als", "statt", "vor", "nach", "zu", "que", "avant", "après",
    "vers", "antes", "después", "hacia", "a", "à", "比", "而", "より",
];

/// Words that carry little: they may come and go without changing what is said.
pub(super) const FUNCTION_WORDS: &[&str] = &[
    // English
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "am", "do", "does", "did", "has", "have", "had", "will",
    "would", "shall", "should", "can", "could", "may", "might", "must", "of", "in", "on", "at", "to", "for", "from", "by",
    "with", "as", "and", "or", "but", "that", "this", "these", "those", "it", "its", "he", "she", "they", "their", "his", "her",
    "we", "our", "i", "my", "you", "your", "there", "so", "very", "just", "also", "now", "currently", "please", "than", "then",
    "which", "who", "whom", "into", "about", "any", "some", "all", "each", "every", "if", "when", "set", "s", "t", "longer",
    "anymore", "only", "ever", "let", "up", "over", "via", "per", // German
    "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "eines", "ist", "sind", "war", "waren",
    "wird", "werden", "hat", "haben", "und", "oder", "aber", "in", "im", "an", "am", "auf", "zu", "zum", "zur", "von", "vom",
    "für", "mit", "bei", "als", "es", "er", "sie", "wir", "ich", "sein", "seine", "ihr", "ihre", "man", "auch", "nun", "jetzt",
    "um", "uhr", "nach", "aus", "dass", "wenn", "kann", "soll", "muss", "darf", "dürfen", // French
    "le", "la", "les", "l", "un", "une", "des", "du", "de", "d", "et", "ou", "mais", "est", "sont", "était", "a", "ont", "à",
    "au", "aux", "en", "dans", "sur", "pour", "par", "avec", "ce", "cette", "ces", "il", "elle", "on", "nous", "ils", "elles",
    "son", "sa", "ses", "que", "qui", "ne", "n", "y", "se", "s", "qu", "c", "j", "je", "leur", "leurs", "heures", "peut", "doit",
    // Spanish
    "el", "los", "las", "un", "una", "unos", "unas", "del", "al", "y", "o", "pero", "es", "son", "era", "está", "están", "ha",
    "han", "en", "por", "para", "con", "se", "su", "sus", "lo", "le", "les", "que", "como", "ya", "muy", "esta", "este", "e",
    "debe", "puede", "hay",
];

/// Number words, with what they count. Those that are articles too (`ein`, `un`) are left out.
pub(super) const NUMBER_WORDS: &[(&str, u32)] = &[
    ("zero", 0), ("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5), ("six", 6), ("seven", 7), ("eight", 8),
    ("nine", 9), ("ten", 10), ("eleven", 11), ("twelve", 12), ("fifteen", 15), ("twenty", 20), ("thirty", 30), ("forty", 40),
    ("fifty", 50), ("sixty", 60), ("ninety", 90), ("hundred", 100), ("thousand", 1_000), ("once", 1), ("twice", 2),
    ("null", 0), ("eins", 1), ("zwei", 2), ("drei", 3), ("vier", 4), ("fünf", 5), ("sechs", 6), ("sieben", 7), ("acht", 8),
    ("neun", 9), ("zehn", 10), ("elf", 11), ("zwölf", 12), ("zwanzig", 20), ("dreißig", 30), ("fünfzig", 50), ("hundert", 100),
    ("tausend", 1_000), ("zéro", 0), ("deux", 2), ("trois", 3), ("quatre", 4), ("cinq", 5), ("sept", 7), ("huit", 8),
    ("neuf", 9), ("dix", 10), ("onze", 11), ("douze", 12), ("quinze", 15), ("vingt", 20), ("trente", 30), ("cent", 100),
    ("mille", 1_000), ("cero", 0), ("dos", 2), ("tres", 3), ("cuatro", 4), ("cinco", 5), ("seis", 6), ("siete", 7), ("ocho", 8),
    ("nueve", 9), ("diez", 10), ("doce", 12), ("veinte", 20), ("treinta", 30), ("cincuenta", 50), ("cien", 100), ("mil", 1_000),
];

/// Units: the word, what it measures, and how much of the base of that.
pub(super) const UNITS: &[(&str, &str, f64)] = &[
    ("ms", "time", 0.001), ("millisecond", "time", 0.001), ("milliseconds", "time", 0.001), ("s", "time", 1.0),
    ("sec", "time", 1.0), ("secs", "time", 1.0), ("second", "time", 1.0), ("seconds", "time", 1.0), ("sekunde", "time", 1.0),
    ("sekunden", "time", 1.0), ("seconde", "time", 1.0), ("secondes", "time", 1.0), ("segundo", "time", 1.0),
    ("segundos", "time", 1.0), ("秒", "time", 1.0), ("秒钟", "time", 1.0), ("秒間", "time", 1.0), ("毫秒", "time", 0.001),
    ("min", "time", 60.0), ("mins", "time", 60.0), ("minute", "time", 60.0), ("minutes", "time", 60.0), ("minuten", "time", 60.0),
    ("minuto", "time", 60.0), ("minutos", "time", 60.0), ("分", "time", 60.0), ("分钟", "time", 60.0), ("分間", "time", 60.0),
    ("h", "time", 3_600.0), ("hr", "time", 3_600.0), ("hrs", "time", 3_600.0), ("hour", "time", 3_600.0),
    ("hours", "time", 3_600.0), ("stunde", "time", 3_600.0), ("stunden", "time", 3_600.0), ("heure", "time", 3_600.0),
    ("hora", "time", 3_600.0), ("horas", "time", 3_600.0), ("小时", "time", 3_600.0), ("時間", "time", 3_600.0),
    ("day", "time", 86_400.0), ("days", "time", 86_400.0), ("tag", "time", 86_400.0), ("tage", "time", 86_400.0),
    ("tagen", "time", 86_400.0), ("jour", "time", 86_400.0), ("jours", "time", 86_400.0), ("día", "time", 86_400.0),
    ("días", "time", 86_400.0), ("天", "time", 86_400.0), ("日間", "time", 86_400.0), ("week", "time", 604_800.0),
    ("weeks", "time", 604_800.0), ("woche", "time", 604_800.0), ("wochen", "time", 604_800.0), ("semaine", "time", 604_800.0),
    ("semaines", "time", 604_800.0), ("semana", "time", 604_800.0), ("semanas", "time", 604_800.0), ("周", "time", 604_800.0),
    ("週間", "time", 604_800.0), ("month", "months", 1.0), ("months", "months", 1.0), ("monat", "months", 1.0),
    ("monate", "months", 1.0), ("monaten", "months", 1.0), ("mois", "months", 1.0), ("mes", "months", 1.0),
    ("meses", "months", 1.0), ("个月", "months", 1.0), ("ヶ月", "months", 1.0), ("か月", "months", 1.0), ("year", "months", 12.0),
    ("years", "months", 12.0), ("jahr", "months", 12.0), ("jahre", "months", 12.0), ("jahren", "months", 12.0),
    ("an", "months", 12.0), ("ans", "months", 12.0), ("année", "months", 12.0), ("années", "months", 12.0),
    ("año", "months", 12.0), ("años", "months", 12.0), ("b", "bytes", 1.0), ("byte", "bytes", 1.0), ("bytes", "bytes", 1.0),
    ("kb", "bytes", 1e3), ("mb", "bytes", 1e6), ("gb", "bytes", 1e9), ("tb", "bytes", 1e12), ("kib", "bytes", 1_024.0),
    ("mib", "bytes", 1_048_576.0), ("gib", "bytes", 1_073_741_824.0), ("mm", "metres", 0.001), ("cm", "metres", 0.01),
    ("m", "metres", 1.0), ("metre", "metres", 1.0), ("metres", "metres", 1.0), ("meter", "metres", 1.0), ("meters", "metres", 1.0),
    ("米", "metres", 1.0), ("km", "metres", 1e3), ("kilometers", "metres", 1e3), ("kilometres", "metres", 1e3),
    ("公里", "metres", 1e3), ("mile", "miles", 1.0), ("miles", "miles", 1.0), ("g", "grams", 1.0), ("gram", "grams", 1.0),
    ("grams", "grams", 1.0), ("kg", "grams", 1e3), ("公斤", "grams", 1e3), ("lb", "pounds", 1.0), ("lbs", "pounds", 1.0),
    ("%", "percent", 1.0), ("percent", "percent", 1.0), ("prozent", "percent", 1.0), ("pourcent", "percent", 1.0),
    ("$", "dollars", 1.0), ("usd", "dollars", 1.0), ("dollar", "dollars", 1.0), ("dollars", "dollars", 1.0),
    ("美元", "dollars", 1.0), ("€", "euros", 1.0), ("eur", "euros", 1.0), ("euro", "euros", 1.0), ("euros", "euros", 1.0),
    ("欧元", "euros", 1.0), ("ユーロ", "euros", 1.0), ("£", "pounds sterling", 1.0), ("gbp", "pounds sterling", 1.0),
    ("¥", "yen", 1.0), ("円", "yen", 1.0), ("元", "yuan", 1.0), ("ドル", "dollars", 1.0), ("°c", "celsius", 1.0),
    ("°f", "fahrenheit", 1.0), ("hz", "hertz", 1.0), ("mhz", "hertz", 1e6), ("ghz", "hertz", 1e9), ("x", "times", 1.0),
    ("times", "times", 1.0), ("mal", "times", 1.0), ("fois", "times", 1.0), ("veces", "times", 1.0), ("次", "times", 1.0),
    ("回", "times", 1.0),
];

/// Before a unit of time: how often.
pub(super) const PER: &[&str] = &["per", "pro", "par", "por", "each", "every", "a", "an", "je", "jede", "chaque", "cada"];

/// A number after one of these names a thing instead of counting.
pub(super) const NUMBERED_THINGS: &[&str] = &[
    "#", "ticket", "tickets", "issue", "issues", "pr", "bug", "case", "order", "invoice", "room", "page", "chapter", "section",
    "step", "build", "job", "user", "customer", "server", "node", "host", "line", "task", "floor", "gate", "table", "nr", "no",
    "number", "request", "raum", "rechnung", "bestellung", "seite", "kapitel", "schritt", "zimmer", "kunde", "salle", "facture",
    "commande", "chambre", "étage", "sala", "factura", "pedido", "habitación", "página", "工单", "订单", "房间", "会议室", "用户",
    "チケット", "注文", "会議室", "第",
];

/// Days of the week, from Monday as 1.
pub(super) const WEEKDAYS: &[(&str, u32)] = &[
    ("monday", 1), ("mondays", 1), ("mon", 1), ("tuesday", 2), ("tuesdays", 2), ("tue", 2), ("wednesday", 3), ("wednesdays", 3),
    ("wed", 3), ("thursday", 4), ("thursdays", 4), ("thu", 4), ("friday", 5), ("fridays", 5), ("fri", 5), ("saturday", 6),
    ("saturdays", 6), ("sunday", 7), ("sundays", 7), ("montag", 1), ("montags", 1), ("dienstag", 2), ("dienstags", 2),
    ("mittwoch", 3), ("mittwochs", 3), ("donnerstag", 4), ("donnerstags", 4), ("freitag", 5), ("freitags", 5), ("samstag", 6),
    ("samstags", 6), ("sonntag", 7), ("sonntags", 7), ("lundi", 1), ("lundis", 1), ("mardi", 2), ("mardis", 2), ("mercredi", 3),
    ("mercredis", 3), ("jeudi", 4), ("jeudis", 4), ("vendredi", 5), ("vendredis", 5), ("samedi", 6), ("samedis", 6),
    ("dimanche", 7), ("dimanches", 7), ("lunes", 1), ("martes", 2), ("miércoles", 3), ("jueves", 4), ("viernes", 5),
    ("sábado", 6), ("sábados", 6), ("domingo", 7), ("domingos", 7), ("周一", 1), ("周二", 2), ("周三", 3), ("周四", 4), ("周五", 5),
    ("周六", 6), ("周日", 7), ("周天", 7), ("星期一", 1), ("星期二", 2), ("星期三", 3), ("星期四", 4), ("星期五", 5), ("星期六", 6),
    ("星期日", 7), ("星期天", 7), ("月曜", 1), ("火曜", 2), ("水曜", 3), ("木曜", 4), ("金曜", 5), ("土曜", 6), ("日曜", 7),
];

/// Months. `may` and `march` are words too: they count only beside a number or after `in`.
pub(super) const MONTHS: &[(&str, u32)] = &[
    ("january", 1), ("jan", 1), ("february", 2), ("feb", 2), ("march", 3), ("mar", 3), ("april", 4), ("apr", 4), ("may", 5),
    ("june", 6), ("jun", 6), ("july", 7), ("jul", 7), ("august", 8), ("aug", 8), ("september", 9), ("sep", 9), ("sept", 9),
    ("october", 10), ("oct", 10), ("november", 11), ("nov", 11), ("december", 12), ("dec", 12), ("januar", 1), ("februar", 2),
    ("märz", 3), ("mai", 5), ("juni", 6), ("juli", 7), ("oktober", 10), ("dezember", 12), ("janvier", 1), ("février", 2),
    ("mars", 3), ("avril", 4), ("juin", 6), ("juillet", 7), ("août", 8), ("septembre", 9), ("octobre", 10), ("novembre", 11),
    ("décembre", 12), ("enero", 1), ("febrero", 2), ("marzo", 3), ("abril", 4), ("mayo", 5), ("junio", 6), ("julio", 7),
    ("agosto", 8), ("septiembre", 9), ("octubre", 10), ("noviembre", 11), ("diciembre", 12),
];

/// Months that are other words as well.
pub(super) const UNSURE_MONTHS: &[&str] = &["may", "march", "mar", "mars", "sept"];

/// Days told from the present, parts of the day and of the year, and how often; each by its kind and name.
pub(super) const RELATIVE_DAYS: &[(&str, &str)] = &[
    ("today", "relative today"), ("tomorrow", "relative tomorrow"), ("yesterday", "relative yesterday"), ("heute", "relative today"), ("gestern", "relative yesterday"),
    ("aujourd'hui", "relative today"), ("demain", "relative tomorrow"), ("hier", "relative yesterday"), ("hoy", "relative today"), ("ayer", "relative yesterday"),
    ("今天", "relative today"), ("明天", "relative tomorrow"), ("昨天", "relative yesterday"), ("今日", "relative today"), ("明日", "relative tomorrow"), ("昨日", "relative yesterday"),
    ("上午", "part morning"), ("下午", "part afternoon"), ("晚上", "part evening"), ("午前", "part morning"), ("午後", "part afternoon"),
    ("spring", "season spring"), ("summer", "season summer"), ("autumn", "season autumn"), ("winter", "season winter"), ("daily", "every daily"),
    ("weekly", "every weekly"), ("monthly", "every monthly"), ("yearly", "every yearly"), ("hourly", "every hourly"), ("nightly", "every daily"),
    ("täglich", "every daily"), ("wöchentlich", "every weekly"), ("monatlich", "every monthly"), ("每天", "every daily"), ("每周", "every weekly"),
    ("每月", "every monthly"), ("毎日", "every daily"), ("毎週", "every weekly"), ("毎月", "every monthly"),
];

/// Pieces of scripts without spaces that hold a negation's characters and negate nothing (or twice). Looked for first.
pub(super) const UNSPACED_EXCEPTIONS: &[&str] = &[
    "不得不", "不同", "不错", "不仅", "不但", "不过", "不断", "不久", "不管", "不少", "无论", "没错", "未来", "非常", "特别", "区别", "级别", "类别",
    "个别", "分别", "别人", "告别", "别名", "别的", "识别", "なければならない", "なければなりません", "なければいけない", "ないといけない",
    "ないといけません", "なくてはいけない", "なくてはならない", "かもしれない", "かもしれません", "に違いない", "しかない", "少ない", "危ない",
    "もったいない", "とんでもない", "つまらない", "はず", "まず", "必ず", "わずか", "いずれ", "ずっと", "ずつ", "はなし", "別々", "特別", "種別",
    "識別", "別の", "十分", "千万", "万一", "一起", "一样", "一定", "一般", "一直", "一下", "一致", "統一", "统一", "第一", "一緒", "一部", "一些",
    "三角", "四季", "百度", "千叶", "千葉", "三菱", "六本木",
];

/// Pieces of scripts without spaces that negate, the longer ones first.
pub(super) const UNSPACED_NEGATIONS: &[&str] = &[
    "ませんでした", "ません", "なかった", "なくて", "ない", "なし", "ずに", "ず", "没有", "沒有", "不", "没", "無", "无", "未", "别", "勿", "非",
];

/// Opposites in scripts without spaces.
pub(super) const UNSPACED_OPPOSITES: &[(&str, &str)] = &[
    ("启用", "禁用"), ("允许", "禁止"), ("开启", "关闭"), ("打开", "关闭"), ("喜欢", "讨厌"), ("公开", "私有"), ("总是", "从不"), ("成功", "失败"),
    ("增加", "减少"), ("之前", "之后"), ("左", "右"), ("可选", "必须"), ("支持", "反对"), ("内部", "外部"), ("同步", "异步"), ("早上", "晚上"),
    ("有効", "無効"), ("許可", "禁止"), ("好き", "嫌い"), ("公開", "非公開"), ("必須", "任意"), ("成功", "失敗"), ("増加", "減少"), ("開始", "終了"),
    ("常に", "決して"), ("朝", "夜"), ("同期", "非同期"), ("内部", "外部"), ("前", "後"), ("最大", "最小"), ("上限", "下限"),
];

/// The zeros of the decimal digits of scripts that NFKC does not make ASCII: the nine characters after each are its others.
pub(super) const ZEROS: &[char] = &[
    '0', '٠', '۰', '߀', '०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦', '๐', '໐', '༠', '၀', '០', '᠐',
];

/// Characters that count, in Chinese and Japanese.
pub(super) const HAN_DIGITS: &[(char, u32)] = &[
    ('〇', 0), ('零', 0), ('一', 1), ('二', 2), ('两', 2), ('三', 3), ('四', 4), ('五', 5), ('六', 6), ('七', 7), ('八', 8), ('九', 9),
];

/// And what they are multiplied by.
pub(super) const HAN_POWERS: &[(char, u32)] = &[('十', 10), ('百', 100), ('千', 1_000), ('万', 10_000)];
