/* Reasons of flags and of refusals in Chinese: what the service says in English, with its numbers
   and words. One that is not known here stays as it is. */

/* {1} is what the first (..) found, {@1} the language of that code. */
const CHINESE = [
  /* flags */
  [/^(.+) characters where training has about (.+)$/, "{1} 个字符，训练数据中约为 {2} 个"],
  [/^(.+) sentences of (.+)$/, "原文 {2} 句，译文 {1} 句"],
  [/^again and again: (.*)$/s, "反复出现：{1}"],
  [/^as in the source: (.*)$/s, "与原文相同：{1}"],
  [/^not among the words that it learned: (.*)$/s, "没有学过的词：{1}"],
  [/^characters that it has not learned: (.*)$/s, "没有学过的字符：{1}"],
  [/^letters spelled one by one: (.*)$/, "逐个字母拼读：{1} 个"],
  [/^letters of another script: (.*)$/, "属于其他文字：{1}"],
  [/^it seems to be (.+), not (.+)$/, "译文似乎是{@1}，而不是{@2}"],
  [/^the source seems to be (.+), not (.+)$/, "原文似乎是{@1}，而不是{@2}"],
  [/^nothing looked at: (.*)$/s, "模型没有看到：{1}"],
  [/^less sure than on text like that of training$/, "不如在训练过的那类文本上有把握"],
  [/^nothing was written$|^the model wrote nothing$/, "模型没有写出译文"],
  [/^the source as it is, as the model wrote nothing but loops$/, "模型只写出重复内容，因此保留原文"],
  [/^the model only repeated itself; the text was left$/, "模型只是在重复，因此保留原文"],
  [/^at most (.+) \((.+)\) are allowed, and it has (.+) characters$/, "最多 {1}（{2}），译文有 {3} 个字符"],
  [/^on one side only: (.*); with nothing between them in the translation alone: (.*)$/s, "只出现在一侧：{1}；只在译文中为空：{2}"],
  [/^on one side only: (.*)$/s, "只出现在一侧：{1}"],
  [/^with nothing between them in the translation alone: (.*)$/s, "只在译文中为空：{1}"],
  [/^(.+) is to be (.+), which is not there(?: (.+) times)?$/s, "{1} 应译为 {2}，译文中没有或次数不够"],
  [/^(.+) is not to be translated, and is not there(?: (.+) times)?$/s, "{1} 应保持原样，译文中没有或次数不够"],
  [/^longer than the (.+) sub-words that the model was trained to read, even in sentences$/, "超过模型训练时所读的 {1} 个子词，分句后仍然过长"],
  [/^not reached$/, "尚未译到"],
  [/^not in the memory/, "记忆库中没有"],
  [/^a choice of texts, .*: translate each branch by hand$/s, "选择式文本无法拆开：请逐个分支手工翻译"],
  [/^less sure than --leave-below asks for$/, "把握低于 --leave-below 的要求"],
  [/^the file's encoding lacks characters of the translation: /, "文件的编码缺少译文中的字符：请改用 UTF-8"],
  [/^codes that the model lost stand at the end$/, "模型遗漏的代码放在了末尾"],
  [/^a near match of ([\d,]+)%(.*)$/s, "{1}% 的近似匹配{2}"],
  [/^none against (.+)$/, "原文中没有，译文中有 {1}"],
  [/^(.+) against none$/, "原文中有 {1}，译文中没有"],
  [/^(.+) against (.+)$/, "原文 {1}，译文 {2}"],
  /* refusals */
  [/^a request has at most (.+) characters; got (.+)$/, "一次最多 {1} 个字符，收到 {2} 个"],
  [/^a request has at most (.+) texts; got (.+)$/, "一次最多 {1} 段文本，收到 {2} 段"],
  [/^a request has at most (.+) bytes$/, "一次最多 {1} 字节"],
  [/^a glossary has at most (.+) terms$/, "术语表最多 {1} 条"],
  [/^a file has at most (.+) (?:lines|texts); this has (.+)\. Split it\.$/, "一个文件最多 {1} 条文本，此文件有 {2} 条，请拆分"],
  [/^a file has at most (.+) bytes; this has (.+)\. Split it\.$/, "一个文件最多 {1} 字节，此文件有 {2} 字节，请拆分"],
  [/^a file that is translated is one of .*; got a name without a suffix\./, "文件名没有后缀，无法得知类型；请另存为 DOCX、HTML、PO、TXT 等"],
  [/^a file that is translated is one of .*; got (.+)\. Save it as one of these\.$/, "不支持 {1} 文件；请另存为 DOCX、HTML、PO、TXT 等"],
  [/^a packed file is not taken\. Unpack it first\.$/, "不接受压缩文件，请先解压"],
  [/^the file says that its .+ is (.+); (.+) was asked for\. /, "文件中写明的语言是{@1}，而选择的是{@2}；请改选，或更正文件"],
  [/^the file is nested too deeply$/, "文件嵌套过深"],
  [/^there is nothing to translate in the file /, "文件中没有需要翻译的内容"],
  [/^nothing in the file could be translated$/, "文件中的内容都未能译出"],
  [/^(\S+) is not translated into (\S+) here\./, "此处不能从{@1}译成{@2}"],
  [/^any language is not translated into (.+) here\./, "此处没有译成{@1}的模型"],
  [/^(.+) to (.+) cannot be translated just now: its run cannot be loaded$/, "暂时不能从{@1}译成{@2}：模型无法载入"],
  [/^the text is in (.+) already, or in none of .*: it is left as it is$/, "文本已经是{@1}，或不属于此处可译的任何语言，因此保持原样"],
  [/^slow down: at most (.+) requests a minute$/, "请求太快：每分钟最多 {1} 次"],
  [/^the quota of (.+) characters a month is used up$/, "本月 {1} 个字符的额度已用完"],
  [/^too much waits already; come again$|^too many requests at once$|^too many files are sent at once$|^other languages use all memory just now$|^a file of this service cannot be used$/, "服务正忙，请稍后再试"],
  [/^(.+) documents are waiting already$/, "已有 {1} 个文件在排队，请稍后再试"],
  [/^there is no room for (?:more )?documents$/, "服务没有空间存放更多文件，请稍后再试"],
  [/^it could not be begun in the time that it was given$|^this was not done in time; ask for less at once$|^the request did not come in time$/, "没有在规定时间内完成；请减少一次的内容，或稍后再试"],
  [/^the service ends, and this was not done in time; come again$|^the service was stopped before this document was finished\. /, "服务正在停止，未能完成，请稍后再试"],
  [/^there is no such document, /, "没有这个文件：文件只保留一段时间，请重新发送"],
  [/^the document is not finished yet$/, "文件尚未译完"],
  [/^this text is no longer looked at\. /, "已不再查看此文本，请重新打开"],
  [/^Please contact the server operator to get an API key$/, "请向服务的运营者索取密钥"],
  [/^Invalid API key$/, "密钥无效"],
  [/^something went wrong(?: with this document)? on our side$/, "服务内部出错"],
  [/^nobody waits for this any more$/, "请求已取消"],
  [/^this document was not sent to be reviewed$/, "此文件不是为审校而发送的"],
  [/^there is no unit with the id (.+)$/, "没有编号为 {1} 的条目"],
  [/^unit (.+): nothing was made of it that could be accepted$/, "第 {1} 条没有可以接受的译文"],
  [/^unit (.+): control characters do not belong in a text$/, "第 {1} 条含有控制字符"],
  [/^unit (.+): (.+) of the source is missing$/s, "第 {1} 条缺少原文中的 {2}"],
  [/^unit (.+): the file's encoding lacks some of its characters$/, "第 {1} 条含有文件编码所缺的字符"],
];

/* A reason in Chinese, `named` tells a language by its code; null for one that is not known. */
export function inChinese(text, named) {
  for (const [pattern, words] of CHINESE) {
    const found = text.match(pattern);
    if (found) return words.replace(/\{(@?)(\d)\}/g, (_, isCode, n) => (isCode ? named(found[n]) : found[n] ?? ""));
  }
  return null;
}
