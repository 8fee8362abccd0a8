/* The page's languages, and the texts that are no view's own. */

export const LANGUAGES = {
  en: { name: "English", tag: "en" },
  zh: { name: "简体中文", tag: "zh-Hans" },
};

const COMMON = {
  en: {
    skip: "To the content", language: "Language", theme: "Colours", views: "Views",
    auto: "Auto", light: "Light", dark: "Dark", sentence: "Sentence",
    text: "Text", target: "Translation to follow (empty: the model's own)", go: "Look",
    broken: "This view could not be drawn; the browser's console says why.",
    waiting: "The model is at work ..", failed: "The server did not answer: {why}",
    notThere: "What this model has not got", beside: "{a}, {b}", named: "{a}: {b}",
    readOff: "The arrow keys read values off.", fromTo: "{name}: from {from} to {to}.",
    made: "Made by headway {version} of a model of type {type} with {parameters} parameters.",
    madeEarly: "Made by headway {version} of a model of type {type}.",
    counted: "Layers, heads and positions are counted from 0, as --off and --freeze count them.",
  },
  zh: {
    skip: "跳到正文", language: "语言", theme: "颜色", views: "视图",
    auto: "自动", light: "浅色", dark: "深色", sentence: "句子",
    text: "原文", target: "指定译文（留空则用模型自己的）", go: "查看",
    broken: "此视图无法绘制；原因见浏览器控制台。",
    waiting: "模型正在计算……", failed: "服务器没有回答：{why}",
    notThere: "此模型没有的", beside: "{a}，{b}", named: "{a}：{b}",
    readOff: "用方向键读出数值。", fromTo: "{name}：从 {from} 到 {to}。",
    made: "由 headway {version} 生成；模型类型 {type}，共 {parameters} 个参数。",
    madeEarly: "由 headway {version} 生成；模型类型 {type}。",
    counted: "层、头与位置都从 0 数起，与 --off 和 --freeze 一致。",
  },
};

/* A function that gives the text for a key: of the view's own words, else of the common ones. */
export function speak(language, own = {}) {
  return (key, values = {}) => {
    const text = own[language]?.[key] ?? COMMON[language][key];
    if (text === undefined) throw new Error(`no text for ${key} in ${language}`);
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
  };
}
