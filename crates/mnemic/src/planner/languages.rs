//! The patterns of [`crate::RulePlanner`], by language and intent, parted by bars. Data, and nothing else.

use crate::planner::Intent;

type Patterns = [(Intent, &'static str); 5];

pub(super) const ENGLISH: Patterns = [
    (
        Intent::Causal,
        "\
         why | how come | reason for | reasons for | reason behind | the reason | what caused | what causes | \
         cause of | causes of | caused by | root cause | led to | what made | what triggered | what's behind | \
         what is behind | rationale | motivation for | motivation behind | consequence of | consequences of | \
         as a result of | because of what | what drove | what went wrong | the problem with | what was the problem | \
         is it because | was it because | due to | the cause",
    ),
    (
        Intent::Temporal,
        "\
         ^when | when did | when was | when is | when are | when were | when will | when does | when have | \
         when has | when can | when should | since when | until when | by when | how long | how recently | \
         what time | what date | which date | what day | which day | what month | which month | what year | \
         which year | last week | last month | last year | last night | last quarter | last time | last monday | \
         last tuesday | last wednesday | last thursday | last friday | last saturday | last sunday | yesterday | \
         today | tomorrow | this week | this month | this year | this morning | next week | next month | next year | \
         recently | recent | lately | latest | newest | history of | timeline | chronological | ago | so far | \
         in january | in february | in march | in april | in may | in june | in july | in august | in september | \
         in october | in november | in december | on monday | on tuesday | on wednesday | on thursday | on friday | \
         on saturday | on sunday | in <year> | since <year> | before <year> | until <year> | since we | since i | \
         at which point | at what point | happened before | happened after | this afternoon | this evening | \
         tonight | calendar | scheduled | schedule | monday | tuesday | wednesday | thursday | friday | saturday | \
         sunday | january | february | april | june | july | august | september | october | november | december",
    ),
    (
        Intent::Procedural,
        "\
         how to | how do i | how do we | how do you | how can i | how can we | how can you | how should i | \
         how should we | how would i | how would we | how would you | how could i | how could we | how did i | \
         how did we | how is * done | how are * done | how does one | steps to | steps for | the steps | \
         step by step | procedure | instructions | guide to | guide for | tutorial | recipe for | process for | \
         way to | what should i do | what should we do | what do i do | what do we do | what to do | need to do | \
         walk me through | workflow | command to | command for | checklist | runbook | playbook | commands | \
         command | help me | how we | how one | set up | which steps | what steps | walk through",
    ),
    (
        Intent::Exploratory,
        "\
         tell me about | tell me more | know about | learn about | everything | anything about | all about | \
         more about | what about | overview | summary | summarize | summarise | explore | related to | similar to | \
         ideas | brainstorm | compare | comparison | difference between | differences between | versus | vs | \
         pros and cons | advantages | tradeoffs | trade offs | options | alternatives | what else | explain | \
         describe | background on | what kind of | what kinds of | what sort of | list all | show me all | show all | \
         discuss | insights | themes | how does * work | how do * work | how is * related | how are * related | \
         said about | say about | say on | should i know | should we know | big picture | dig up | whatever we | \
         what do * think | thoughts on | opinions on | opinion on | feedback on",
    ),
    (
        Intent::Factual,
        "\
         ^what | ^who | ^whose | ^whom | ^which | ^where | ^is | ^are | ^was | ^were | ^does | ^do | ^did | ^has | \
         ^have | ^can | ^am | what is | what are | what's | who is | who's | where is | where's | how many | \
         how much | how old | how big | how large | how tall | how far | how often | how fast | name of | \
         tell me the | give me the | define | definition of | meaning of | value of | number of | which of | who | \
         whose | which | name the | where",
    ),
];

pub(super) const CHINESE: Patterns = [
    (
        Intent::Causal,
        "\
         为什么 | 为何 | 为啥 | 怎么会 | 怎么回事 | 原因 | 导致 | 引起 | 造成 | 起因 | 根源 | 缘由 | 何以 | 因为什么 | 為什麼 | 為何 | 怎麼會 | 導致 | 緣由 | 因为 | \
         由于 | 出了问题 | 出了什么问题 | 怎么了",
    ),
    (
        Intent::Temporal,
        "\
         什么时候 | 何时 | 几点 | 几号 | 几月 | 哪天 | 哪一天 | 哪年 | 哪一年 | 哪个月 | 多久 | 多长时间 | 昨天 | 今天 | 明天 | 上周 | 本周 | 这周 | 下周 | 上个月 | \
         这个月 | 下个月 | 去年 | 今年 | 明年 | 最近 | 最新 | 近期 | 上次 | 星期几 | 截止 | 时间线 | 历史 | 什麼時候 | 何時 | 多長時間 | 上週 | 歷史 | <year> 年 | \
         什么时间 | 什么时刻 | 安排 | 日程 | 下午 | 今晚",
    ),
    (
        Intent::Procedural,
        "\
         如何 | 怎么 !样 !了 | 怎样 | 步骤 | 流程 | 教程 | 操作 | 指南 | 做法 | 办法 | 方法 | 怎麼 !樣 | 怎樣 | 步驟 | 帮我 | 命令 | 搭建",
    ),
    (
        Intent::Exploratory,
        "\
         关于 | 有关 | 介绍 | 讲讲 | 说说 | 聊聊 | 谈谈 | 概述 | 概况 | 总结 | 概括 | 比较 | 对比 | 区别 | 差异 | 优缺点 | 有哪些 | 类似 | 相关 | 还有什么 | 想法 | \
         建议 | 探索 | 了解 | 解释 | 怎么样 | 所有 | 關於 | 有關 | 介紹 | 總結 | 比較 | 對比 | 區別 | 怎麼樣 | 看法 | 意见 | 资料 | 找出 | 观点 | 反馈",
    ),
    (
        Intent::Factual,
        "\
         什么 | 谁 | 哪里 | 哪儿 | 哪个 | 哪些 | 哪家 | 哪种 | 在哪 | 多少 | 几个 | 几次 | 几台 | 多大 | 多高 | 多远 | 是不是 | 有没有 | 是否 | 吗 | 什麼 | 誰 | \
         哪裡 | 哪個 | 幾個 | 嗎 | 有沒有 | 了没有 | 了没",
    ),
];

pub(super) const GERMAN: Patterns = [
    (
        Intent::Causal,
        "\
         warum | wieso | weshalb | weswegen | wodurch | welchem grund | grund für | gründe für | der grund | \
         ursache | ursachen | wie kam es | wie kommt es | verursacht | ausgelöst | führte zu | geführt | woran lag | \
         woran liegt | wegen | weil | schuld",
    ),
    (
        Intent::Temporal,
        "\
         wann | wie lange | wie spät | welchem tag | welchem datum | welches datum | welchem jahr | gestern | heute | \
         morgen | letzte woche | letzten monat | letztes jahr | letztes mal | letzten mal | diese woche | \
         diesen monat | nächste woche | nächsten monat | zuletzt | neulich | kürzlich | vor kurzem | neueste | \
         neuesten | aktuellste | verlauf | seit <year> | bis <year> | im jahr | zeitpunkt | termin | termine | \
         heute abend | steht * an",
    ),
    (
        Intent::Procedural,
        "\
         ^wie !viel !viele !oft !alt !groß !hoch !weit !heißt * ich | \
         ^wie !viel !viele !oft !alt !groß !hoch !weit !heißt * man | \
         ^wie !viel !viele !oft !alt !groß !hoch !weit !heißt * wir | wie geht | wie kann | anleitung | schritte | \
         schritt für schritt | vorgehen | ablauf | was muss ich | was soll ich | was müssen wir | was ist zu tun | \
         hilf mir | einrichten | befehl | befehle | befehlen",
    ),
    (
        Intent::Exploratory,
        "\
         erzähl | erzähle | wissen wir über | weißt du über | weiß ich über | alles über | mehr über | überblick | \
         übersicht | zusammenfassung | fasse | vergleiche | vergleich | unterschied | unterschiede | \
         vor und nachteile | ideen | alternativen | möglichkeiten | ähnlich | zusammenhang | welche arten | \
         beschreibe | erkläre | was noch | meinung | meinungen | haltet | halten wir | rückmeldung | rückmeldungen | \
         gesagt",
    ),
    (
        Intent::Factual,
        "\
         ^was | ^wer | ^wem | ^wen | ^wessen | ^wo | ^woher | ^wohin | ^welche | ^welcher | ^welches | ^welchen | \
         ^welchem | wie viele | wie viel | wie heißt | wie alt | wie groß | wie hoch | wie weit | wie oft | \
         wie lautet | ^ist | ^sind | ^hat | ^haben | ^war | ^gibt es | ^wie ist | wer | welche | welcher | welches | \
         welchen | welchem",
    ),
];
