/* The texts of the page, in its two languages. */

import { inChinese } from "./reasons.js";

export const LANGUAGES = {
  en: { name: "English", short: "EN", tag: "en" },
  zh: { name: "简体中文", short: "中文", tag: "zh-Hans" },
};

const WORDS = {
  en: {
    skip: "To the content", views: "Views", text: "Text", file: "File", think: "How it thinks",
    language: "Language of this page", theme: "Colours", auto: "Auto", light: "Light", dark: "Dark",
    from: "From", to: "To", swap: "Swap the languages", detect: "Detect language", tag: "Tag", noTag: "no tag",
    detected: "{language} – detected, {sure}", source: "Text to translate",
    placeholder: "Type or paste a text", clear: "Clear", copy: "Copy", copied: "Copied",
    characters: "{n} characters", tooMany: "{n} characters; at most {most} are translated at once", empty: "The translation appears here.",
    outputLabel: "Translation; each word opens others for its place",
    shade: "Shade what is less sure", sure: "{percent} sure", sureTitle: "How sure the model is that this is a good translation",
    origin_memory: "from memory", origin_correction: "corrected before", origin_fuzzy: "near match {percent} %",
    origin_model: "by the model", origin_kept: "as it is", origin_none: "left as it is", origin_pivot: "through {language}",
    foreign: "This seems to be in none of the languages that are translated from here: {languages}.", comma: ", ",
    kept: "Begins as you chose: {text}", release: "Let the model begin anew",
    also: "Also possible", others: "In this place", asking: "Looking for others …",
    noOthers: "The model sees nothing else for this place.", close: "Close",
    glossary: "Glossary", glossaryCount: "Glossary ({n})", addTerm: "Add a term", done: "Done",
    glossaryLead: "How terms are translated between these two languages. It stays in this browser.",
    term: "Term", translation: "Translation (empty: stays as it is)", removeTerm: "Remove {term}",
    history: "History", historyCount: "History ({n})", clearHistory: "Clear the history",
    historyLead: "What was translated here. It stays in this browser.", noHistory: "Nothing yet.",
    key: "This service asks for a key", useKey: "Use it",
    keyField: "Key, from whoever runs this service. It stays in this browser.",
    failed: "That did not work: {why}", gone: "The service does not answer. Is it running?",
    noPairs: "This service has no run to translate with.",
    dropHere: "Drop a file here to translate and review it", chooseFile: "Choose a file",
    kinds: "PO, XLIFF, TMX, JSON, subtitles, HTML, Markdown, Word, plain text and more",
    overwrite: "Also what is translated in it already",
    sending: "Sending {name} …", queued: "{name} is waiting for its turn …",
    translating: "Translating {name}: {done} of {units}", ready: "{name} is translated.",
    another: "Another file", download: "Download", downloadTitle: "The same file, with these translations",
    show: "Show", all: "All", check: "To check", edited: "Edited", accepted: "Accepted",
    filterCount: "{name} ({n})", number: "No.", sourceColumn: "Source", outputColumn: "Translation",
    about: "About it", accept: "Accept", acceptTitle: "Accept (Ctrl+Enter)", undo: "Take back",
    unit: "Unit {n}", editUnit: "Translation of unit {n}", progress: "{done} of {n} accepted",
    saved: "Unit {n} is accepted.", savedAll: "What was written is accepted ({n}).", takenBack: "Unit {n} is as it was.", nothingHere: "No unit is like that.",
    more: "Show {n} more", near: "From texts that are alike", reviewHint: "Ctrl+Enter accepts a unit and goes on to the next; Esc brings back what was there; an empty field leaves its unit untranslated; what is written is accepted with a download, too.",
    approved: "Accepted translations are kept as corrections, from which the next training learns; those with the flag “code” are for this file alone.",
    state_open: "open", state_edited: "edited", state_accepted: "accepted", state_left: "left untranslated",
    thinkTitle: "How the model came to its translation",
    thinkEmpty: "Write a text under “Text” first: here you see how the model translates it.",
    thinkLoading: "The model is opened and looked into …", thinkText: "Looking into “{text}”",
    made: "Made of trained runs by headway.", api: "Its interface for programs",
  },
  zh: {
    skip: "跳到正文", views: "视图", text: "文本", file: "文件", think: "模型如何思考",
    language: "界面语言", theme: "颜色", auto: "自动", light: "浅色", dark: "深色",
    from: "从", to: "译成", swap: "交换语言", detect: "检测语言", tag: "标签", noTag: "无标签",
    detected: "{language}——已检测，{sure}", source: "待译文本",
    placeholder: "输入或粘贴文本", clear: "清空", copy: "复制", copied: "已复制",
    characters: "{n} 个字符", tooMany: "{n} 个字符，一次最多翻译 {most} 个", empty: "译文会显示在这里。",
    outputLabel: "译文；点选任一词可查看该处的其他译法",
    shade: "给把握较小的词加底色", sure: "把握 {percent}", sureTitle: "模型认为译文质量好的把握",
    origin_memory: "来自记忆库", origin_correction: "曾经更正过", origin_fuzzy: "近似匹配 {percent} %",
    origin_model: "由模型翻译", origin_kept: "保持原样", origin_none: "未翻译", origin_pivot: "经由{language}",
    foreign: "这段文本似乎不属于此处可译的任何语言：{languages}。", comma: "、",
    kept: "按您的选择开头：{text}", release: "让模型重新开头",
    also: "也可以译为", others: "此处可用", asking: "正在查找其他译法……",
    noOthers: "模型认为此处没有别的译法。", close: "关闭",
    glossary: "术语表", glossaryCount: "术语表（{n}）", addTerm: "添加术语", done: "完成",
    glossaryLead: "这两种语言之间的术语译法，只保存在此浏览器中。",
    term: "术语", translation: "译法（留空则保持原样）", removeTerm: "删除 {term}",
    history: "历史记录", historyCount: "历史记录（{n}）", clearHistory: "清空历史记录",
    historyLead: "在这里翻译过的内容，只保存在此浏览器中。", noHistory: "暂无记录。",
    key: "此服务需要密钥", useKey: "使用",
    keyField: "密钥，请向服务的运营者索取；只保存在此浏览器中。",
    failed: "未能完成：{why}", gone: "服务没有回答，它在运行吗？",
    noPairs: "此服务没有可用的模型。",
    dropHere: "把文件拖到这里翻译并审校", chooseFile: "选择文件",
    kinds: "PO、XLIFF、TMX、JSON、字幕、HTML、Markdown、Word、纯文本等",
    overwrite: "已有译文的也重新翻译",
    sending: "正在发送 {name}……", queued: "{name} 正在排队……",
    translating: "正在翻译 {name}：{done} / {units}", ready: "{name} 已译完。",
    another: "换一个文件", download: "下载", downloadTitle: "同一文件，填入这些译文",
    show: "显示", all: "全部", check: "待检查", edited: "已修改", accepted: "已接受",
    filterCount: "{name}（{n}）", number: "编号", sourceColumn: "原文", outputColumn: "译文",
    about: "说明", accept: "接受", acceptTitle: "接受（Ctrl+Enter）", undo: "撤回",
    unit: "第 {n} 条", editUnit: "第 {n} 条的译文", progress: "已接受 {done} / {n}",
    saved: "第 {n} 条已接受。", savedAll: "已接受填写的内容（{n}）。", takenBack: "第 {n} 条已恢复原样。", nothingHere: "没有这样的条目。",
    more: "再显示 {n} 条", near: "来自相近的文本", reviewHint: "Ctrl+Enter 接受并跳到下一条；Esc 恢复原来的内容；清空的条目不翻译；下载时，已填写的内容也会被接受。",
    approved: "接受的译文会作为更正保存，供下次训练学习；带“代码”提示的只用于此文件。",
    state_open: "未处理", state_edited: "已修改", state_accepted: "已接受", state_left: "不翻译",
    thinkTitle: "模型如何得出译文",
    thinkEmpty: "请先在“文本”中输入内容：这里会展示模型如何翻译它。",
    thinkLoading: "正在打开并查看模型……", thinkText: "正在查看“{text}”",
    made: "由 headway 用训练好的模型提供。", api: "面向程序的接口",
  },
};

const FLAGS = {
  en: { loop: "repeats", copy: "copied", script: "other letters", number: "number", uncovered: "left out",
    code: "code", codes_at_end: "codes moved", no_match: "not in the memory", fuzzy: "near match", silent: "nothing written", cut: "too long" },
  zh: { too_short: "太短", too_long: "太长", sentences: "句数不符", loop: "重复", copy: "照抄原文", number: "数字", number_word: "数词", uncovered: "漏译",
    unknown_words: "生词", unsure: "把握不足", source_language: "原文语言不符", too_wide: "超出宽度", missing: "尚未译到", doubtful: "把握过小", code: "代码", codes_at_end: "代码移位", script: "文字不符", language: "语言不符", term: "术语", fuzzy: "近似匹配",
    no_match: "记忆库中没有", silent: "没有译出", cut: "过长", unwritable: "无法写入", choice: "选择式" },
};

let language = "en";

/* Turn everything that stands in the page's own markup into a language. */
export function speak(name) {
  language = name;
  document.documentElement.lang = LANGUAGES[name].tag;
  for (const one of document.querySelectorAll("[data-t]")) one.textContent = t(one.dataset.t);
  for (const one of document.querySelectorAll("[data-t-label]")) one.setAttribute("aria-label", t(one.dataset.tLabel));
  for (const one of document.querySelectorAll("[data-t-title]")) one.title = t(one.dataset.tTitle);
  for (const one of document.querySelectorAll("[data-t-placeholder]")) one.placeholder = t(one.dataset.tPlaceholder);
}

export function t(key, values = {}) {
  const text = WORDS[language][key];
  if (text === undefined) throw new Error(`no text for ${key} in ${language}`);
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/* What is doubtful, by its name in headway. */
export const flagged = (name) => FLAGS[language][name] ?? name.replaceAll("_", " ");

/* Why something is doubtful or refused, in words of the service. */
export const reason = (text) => (language === "zh" && inChinese(text, named)) || text;

/* Where a translation is from, by its name in the service. */
export const origin = (name, values = {}) => (`origin_${name}` in WORDS[language] ? t(`origin_${name}`, values) : name);

export const number = (value) => new Intl.NumberFormat(LANGUAGES[language].tag).format(value);
export const percent = (value) => new Intl.NumberFormat(LANGUAGES[language].tag,
  { style: "percent", maximumFractionDigits: 0 }).format(value);

/* A language by its name; a code that has none, or is none, as it is. */
export function named(code) {
  try {
    return new Intl.DisplayNames([LANGUAGES[language].tag], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}
